"""Somebody's items on the way to a study folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from felicity.errors import Fault
from felicity.interop.texts import jsonl
from felicity.study import PLACEHOLDER
from felicity.study_reader import RESERVED

QUESTION, UNIT, ITEM_ID = "question", "unit", "item_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """Rows with the columns of a choice study, and what the study says of them.

    Attributes
    ----------
    rows
        Line in the source, and the row: ``item_id``, ``unit``, the factor, the answers, mostly
        ``question``, and whatever else the source has.
    answers
        Labels; the first should win.
    factor, levels
        The column that is compared, and for each level its key, short title and gloss.
    context
        The format's context, and ``answer`` what is scored after it.
    """

    rows: tuple[tuple[int, dict[str, str]], ...]
    answers: tuple[str, ...]
    factor: str
    levels: tuple[tuple[str, str, str], ...]
    context: str
    answer: str = " {answer}"
    variants: tuple[tuple[str, ...], ...] = ()


def levels_of(
    rows: Sequence[tuple[int, Mapping[str, str]]], factor: str
) -> tuple[tuple[str, str, str], ...]:
    """Return the levels in the order in which they come."""
    keys = dict.fromkeys(row[factor] for _, row in rows if row.get(factor, "").strip())
    return tuple((key, key, key) for key in keys)


def find_faults(materials: Materials, file: str) -> list[Fault]:
    """Find what no study can be made of, by the lines of the source."""
    faults: list[Fault] = []

    def fault(line: int, field: str, got: str, allowed: str) -> None:
        faults.append(Fault(file=file, line=line, field=field, got=got[:80], allowed=allowed))

    first, *others = materials.answers
    needed = [first, materials.factor, UNIT, ITEM_ID]
    needed += others if len(others) == 1 else []
    needed += [QUESTION] if "{question}" in materials.context else []
    counts = Counter(row.get(ITEM_ID, "") for _, row in materials.rows)
    for line, row in materials.rows:
        for column in needed:
            if not row.get(column, "").strip():
                fault(line, column, row.get(column, "nothing"), "a text that is not empty")
        there = [label for label in materials.answers if row.get(label, "").strip()]
        if len(others) > 1 and there == [first]:
            fault(line, "answers", f"{first} alone", "two answers or more")
        for place, label in enumerate(there):
            for other in there[:place]:
                if row[label].strip() == row[other].strip():
                    fault(line, label, row[label], f"a text other than the {other}'s")
        for column in (QUESTION, *there):
            for name in PLACEHOLDER.findall(row.get(column, "")):
                fault(line, column, f"{{{name}}}", "no word in braces, which a study fills in")
        if counts[row.get(ITEM_ID, "")] > 1:
            fault(line, ITEM_ID, row.get(ITEM_ID, ""), "each id once")
    return faults


def study_files(
    materials: Materials, *, name: str, title: str, language: str, licence: str, source: str
) -> dict[str, str]:
    """Return the study folder: study.toml, items.jsonl, README.md."""
    plain = [_plain_row(row, materials) for _, row in materials.rows]
    columns = dict.fromkeys(name for row in plain for name in row)
    rows = [{name: row.get(name, "") for name in columns} for row in plain]
    levels = "".join(
        f"\n[[design.level]]\nkey = {_quote(key)}\n"
        f"short = {_quote(short)}\ngloss = {_quote(gloss)}\n"
        for key, short, gloss in materials.levels
    )
    toml = f"""\
[study]
name = {_quote(name)}
title = {_quote(title)}
version = "0.1"
paradigm = "choice"
language = {_quote(language)}
licence = {_quote(licence)}

[items]
file = "items.jsonl"
item_id = "{{item_id}}"
unit = "unit"
answers = {json.dumps(list(materials.answers), ensure_ascii=False)}   # the first should win

[design]
factor = {_quote(materials.factor)}
variants = {json.dumps([list(group) for group in materials.variants], ensure_ascii=False)}
{levels}
[formats]
default = "imported"

[formats.imported]
context = {_quote(materials.context)}
answer = {_quote(materials.answer)}
baseline = ""
"""
    readme = (
        f"# {name}\n\nMade by `felicity import` of {source}. Licence: {licence}.\n\n"
        "Put down here where the items come from, who has rated them, and what is known to be "
        "wrong with them.\n"
    )
    return {"study.toml": toml, "items.jsonl": jsonl(rows), "README.md": readme}


def _plain_row(row: Mapping[str, str], materials: Materials) -> dict[str, str]:
    """Keep all columns; one that would be mistaken for a column of responses is renamed."""
    own = {QUESTION, UNIT, ITEM_ID, materials.factor, *materials.answers}
    kept = {name: row.get(name, "") for name in (ITEM_ID, UNIT, materials.factor)}
    kept |= {name: row.get(name, "").strip() for name in (QUESTION, *materials.answers)}
    for name, value in row.items():
        if name and name not in own:
            kept[f"source_{name}" if name in RESERVED else name] = value
    return kept


def _quote(text: str) -> str:
    """Write a text as TOML does, which is as JSON does but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
