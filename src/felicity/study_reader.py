"""Read a study folder and find every fault in it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from felicity.asked.reader import read_asked_task
from felicity.errors import Fault, FaultsError, one_of
from felicity.folder_reader import FolderReader, Row
from felicity.rating.reader import read_rating_study
from felicity.rating.study import RatingStudy
from felicity.study import PLACEHOLDER, Design, Format, Level, ReferenceGroup, Study, fill
from felicity.survey.section import read_survey_task
from felicity.types import Item

PARADIGMS = ("choice", "rating")


def read_study(folder: Path) -> tuple[Study | RatingStudy | None, list[Fault]]:
    """Read a study folder of either paradigm.

    Returns
    -------
    study, faults
        The study, or None where there is any fault; and every fault found.
    """
    reader = FolderReader(folder)
    table = reader.toml("study.toml")
    if table is None:
        return None, reader.faults
    paradigm = reader.get(table, "study.paradigm", str)
    if paradigm == "rating":
        return read_rating_study(reader, table), reader.faults
    if paradigm == "choice":
        return _read_choice_study(reader, table), reader.faults
    if not reader.faults:
        reader.fault("study.toml", "study.paradigm", paradigm, one_of(PARADIGMS))
    return None, reader.faults


def _read_choice_study(reader: FolderReader, table: Mapping[str, Any]) -> Study | None:
    reader.text("README.md")
    _check_keys(reader, table)
    design = _read_design(reader, table)
    items = _read_items(reader, table, design)
    formats, default = _read_formats(reader, table, items)
    reference = _read_reference(reader, table, design)
    asked = read_asked_task(reader, table, design.answers, items)
    columns = items[0].columns() if items else {}
    read_survey_task(reader, table, paradigm="choice", columns=columns, answers=design.answers)
    if reader.faults:
        return None
    study = Study(
        name=reader.get(table, "study.name", str),
        title=reader.get(table, "study.title", str),
        version=reader.get(table, "study.version", str),
        paradigm="choice",
        language=reader.get(table, "study.language", str),
        licence=reader.get(table, "study.licence", str),
        folder=reader.folder,
        design=design,
        items=items,
        formats=formats,
        default_format=default,
        reference=reference,
        asked=asked,
    )
    return None if reader.faults else study


# Columns of the tables of responses, margins and picks.
RESERVED = frozenset(
    {
        *("item_id", "unit", "answer_label", "answer", "status", "n_tokens", "n_characters"),
        *("log_prob_sum", "log_prob_mean", "bits_per_character", "pmi", "straddles", "token_ids"),
        *("tokens", "log_probs", "key", "margin", "second", "variant", "trial_id", "order"),
        *("value", "text", "reasoning", "finish", "correct", "pick", "picked", "usable"),
    }
)


KNOWN = {
    "study": {"name", "title", "version", "paradigm", "language", "licence"},
    "items": {"file", "item_id", "unit", "answers"},
    "names": {"names", "roles"},
    "design": {"factor", "level", "variants", "items_per_level", "same_answers_within_unit"},
    "reference": {"file"},
}
FREE = {"formats", "asked", "survey"}


def _check_keys(reader: FolderReader, table: Mapping[str, Any]) -> None:
    """Note sections and keys that mean nothing, such as misspelt ones."""
    for section, entries in table.items():
        if section not in KNOWN:
            if section not in FREE:
                reader.fault("study.toml", section, "a section", one_of([*KNOWN, *sorted(FREE)]))
            continue
        for key in entries if isinstance(entries, dict) else ():
            if key not in KNOWN[section]:
                reader.fault(
                    "study.toml", f"{section}.{key}", "a key", one_of(sorted(KNOWN[section]))
                )
    formats = table.get("formats")
    for name, entry in formats.items() if isinstance(formats, dict) else ():
        for key in entry if isinstance(entry, dict) else ():
            if key not in {"context", "answer", "baseline"}:
                reader.fault(
                    "study.toml", f"formats.{name}.{key}", "a key", "context, answer, baseline"
                )


def _read_design(reader: FolderReader, table: Mapping[str, Any]) -> Design:
    levels = []
    for number, level in enumerate(reader.get(table, "design.level", list), start=1):
        if not isinstance(level, dict) or not all(
            isinstance(level.get(name), str) and level[name] for name in ("key", "short", "gloss")
        ):
            reader.fault("study.toml", f"design.level {number}", level, "key, short and gloss")
            continue
        levels.append(Level(key=level["key"], short=level["short"], gloss=level["gloss"]))
    answers = tuple(map(str, reader.get(table, "items.answers", list)))
    if len(answers) < 2 or len(set(answers)) < len(answers):
        reader.fault("study.toml", "items.answers", list(answers), "two or more different labels")
    for label in answers:
        if "|" in label:
            reader.fault("study.toml", "items.answers", label, "a label without |")
    keys = [level.key for level in levels]
    if len(set(keys)) < len(keys):
        reader.fault("study.toml", "design.level", ", ".join(keys), "each key once")
    variants = reader.get(table, "design.variants", list, [])
    for group in variants:
        if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
            reader.fault("study.toml", "design.variants", group, "a list of lists of columns")
    per_level = table.get("design", {}).get("items_per_level")
    if per_level is not None:
        per_level = reader.get(table, "design.items_per_level", int)
    return Design(
        factor=reader.get(table, "design.factor", str),
        levels=tuple(levels),
        variants=tuple(tuple(group) for group in variants if isinstance(group, list)),
        answers=answers,
        items_per_level=per_level,
        same_answers_within_unit=reader.get(table, "design.same_answers_within_unit", bool, False),
    )


def _read_items(reader: FolderReader, table: Mapping[str, Any], design: Design) -> tuple[Item, ...]:
    file = reader.get(table, "items.file", str)
    unit = reader.get(table, "items.unit", str)
    pattern = reader.get(table, "items.item_id", str)
    names = [str(name) for name in table.get("names", {}).get("names", [])]
    roles = [str(role) for role in table.get("names", {}).get("roles", [])]
    if not (file and unit and pattern):
        return ()
    # Of more than two answers an item may lack some, but never the one that should win.
    whole = design.answers if len(design.answers) == 2 else design.answers[:1]
    needed = {unit, design.factor, *whole, *_used(pattern)} - set(roles)
    if _needs_question(table):
        needed.add("question")
    needed.update(column for group in design.variants for column in group if column not in roles)
    items: list[Item] = []
    good_rows: list[Row] = []
    rows = reader.rows(file)
    for column in sorted(_reserved(unit, pattern) & set(rows[0][1] if rows else ())):
        reader.fault(file, column, "a column of this name", "another name: responses have this one")
    for line, row in rows:
        before = len(reader.faults)
        _check_row(reader, file, line, row, needed, design, roles)
        if len(reader.faults) > before:
            continue
        good_rows.append((line, row))
        casts = itertools.permutations(names, len(roles)) if roles else [()]
        items.extend(
            _item(row, unit, pattern, design, dict(zip(roles, c, strict=True))) for c in casts
        )
    _check_items(reader, file, items, good_rows, unit, design)
    return tuple(items)


def _reserved(unit: str, pattern: str) -> frozenset[str]:
    """Names that tables of responses give a meaning of their own."""
    allowed = {unit} if unit == "unit" else set()
    allowed |= {"item_id"} if pattern == "{item_id}" else set()
    return RESERVED - allowed


def _needs_question(table: Mapping[str, Any]) -> bool:
    """Whether any format shows the question, as all do but those of whole sentences."""
    formats = table.get("formats")
    entries = formats.values() if isinstance(formats, dict) else ()
    parts = [part for part in entries if isinstance(part, dict)]
    texts = [text for part in parts for text in part.values() if isinstance(text, str)]
    return "asked" in table or not texts or any("question" in _used(text) for text in texts)


def _used(template: str) -> list[str]:
    return PLACEHOLDER.findall(template)


def _item(
    row: Mapping[str, str], unit: str, pattern: str, design: Design, cast: Mapping[str, str]
) -> Item:
    texts = ("question", *design.answers)
    factors = {key: value for key, value in row.items() if key not in texts} | dict(cast)
    return Item(
        item_id=fill(pattern, factors),
        unit=row[unit],
        question=fill(row.get("question", ""), cast),
        answers={
            label: fill(row[label], cast) for label in design.answers if row.get(label, "").strip()
        },
        factors=factors,
    )


def _check_row(
    reader: FolderReader,
    file: str,
    line: int,
    row: Mapping[str, str],
    needed: set[str],
    design: Design,
    roles: list[str],
) -> None:
    for column in sorted(needed):
        if not row.get(column, "").strip():
            reader.fault(file, column, row.get(column, "nothing"), "a text that is not empty", line)
    level = row.get(design.factor, "")
    if level and level not in design.level_keys:
        reader.fault(file, design.factor, level, one_of(design.level_keys), line)
    used = {}
    for column in ("question", *design.answers):
        used[column] = sorted(_used(row.get(column, "")))
        for name in used[column]:
            if name not in roles:
                allowed = one_of(f"{{{role}}}" for role in roles) if roles else "no placeholder"
                reader.fault(file, column, f"{{{name}}}", allowed, line)
    there = [label for label in design.answers if row.get(label, "").strip()]
    if len(design.answers) > 2 and len(there) == 1:
        reader.fault(file, "answers", f"{there[0]} alone", "two answers or more", line)
    for place, label in enumerate(there):
        for other in there[:place]:
            if row[label] == row[other]:
                reader.fault(file, label, row[label], f"a text other than the {other}'s", line)
        if used[label] != used[there[0]]:
            reader.fault(file, label, row[label], f"the same names as the {there[0]}", line)


def _check_items(
    reader: FolderReader, file: str, items: list[Item], rows: list[Row], unit: str, design: Design
) -> None:
    for item_id, count in Counter(item.item_id for item in items).items():
        if count > 1:
            reader.fault(file, "item_id", f"{item_id} ({count} times)", "each id once")
    if design.same_answers_within_unit:
        first: dict[str, tuple[int, dict[str, str]]] = {}
        for line, row in rows:
            at, model = first.setdefault(row[unit], (line, row))
            for label in design.answers:
                if row[label] != model[label]:
                    reader.fault(file, label, row[label], f"the text of line {at}", line)
    variants: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    columns = [column for group in design.variants for column in group]
    for item in items:
        variants[item.unit].add(tuple(item.factors.get(column, "") for column in columns))
    expected = set().union(*variants.values()) if variants else set()
    for name, got in variants.items():
        if got != expected:
            missing = ", ".join("/".join(variant) for variant in sorted(expected - got)[:3])
            reader.fault(file, unit, f"{name} without {missing}", "every unit under every variant")
    counts = Counter(item.factors[design.factor] for item in items)
    for key in design.level_keys:
        if rows and not counts[key]:
            reader.fault(file, design.factor, f"no item of {key}", "an item of every level")
    if design.items_per_level is not None:
        for key in design.level_keys:
            if counts[key] != design.items_per_level:
                reader.fault(
                    file,
                    design.factor,
                    f"{counts[key]} items of {key}",
                    str(design.items_per_level),
                )


def _read_formats(
    reader: FolderReader, table: Mapping[str, Any], items: tuple[Item, ...]
) -> tuple[dict[str, Format], str]:
    section = reader.get(table, "formats", dict)
    default = reader.get(table, "formats.default", str)
    columns = set(items[0].columns()) if items else set()
    formats = {}
    for name in section:
        if name == "default":
            continue
        parts = {
            part: reader.get(table, f"formats.{name}.{part}", str, "")
            for part in ("context", "answer", "baseline")
        }
        if "answer" not in _used(parts["answer"]):
            reader.fault("study.toml", f"formats.{name}.answer", parts["answer"], "{answer} in it")
        for part, template in parts.items():
            for used in _used(template) if items else ():
                if used not in columns and not (part == "answer" and used == "answer"):
                    reader.fault(
                        "study.toml",
                        f"formats.{name}.{part}",
                        f"{{{used}}}",
                        one_of(f"{{{column}}}" for column in sorted(columns)),
                    )
        formats[name] = Format(name=name, **parts)
    if default and default not in formats:
        reader.fault("study.toml", "formats.default", default, one_of(formats))
    return formats, default


def _read_reference(
    reader: FolderReader, table: Mapping[str, Any], design: Design
) -> tuple[ReferenceGroup, ...]:
    if "reference" not in table:
        return ()
    file = reader.get(table, "reference.file", str)
    return read_groups(reader, file, design) if file else ()


def replace_reference(study: Study, path: Path) -> Study:
    """Put the people of another reference.csv in the place of a study's own.

    Raises
    ------
    FaultsError
        With every fault of the file.
    """
    reader = FolderReader(path.parent)
    groups = read_groups(reader, path.name, study.design)
    if reader.faults:
        raise FaultsError(reader.faults, where=str(path))
    return replace(study, reference=groups)


def read_groups(reader: FolderReader, file: str, design: Design) -> tuple[ReferenceGroup, ...]:
    """Read groups of people from a CSV of right answers per level; note every fault of it."""
    correct: dict[str, dict[str, int]] = defaultdict(dict)
    asked: dict[str, dict[str, int]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for line, row in reader.rows(file):
        group, level = row.get("group", ""), row.get(design.factor, "")
        if level not in design.level_keys:
            reader.fault(file, design.factor, level, one_of(design.level_keys), line)
            continue
        numbers = []
        for column in ("correct", "asked"):
            value = row.get(column, "")
            if not value.isdecimal():
                reader.fault(file, column, value, "a whole number", line)
            numbers.append(int(value) if value.isdecimal() else 0)
        if numbers[1] < 1 or numbers[0] > numbers[1]:
            reader.fault(file, "correct", f"{numbers[0]} of {numbers[1]}", "0 to asked", line)
        if level in correct[group]:
            reader.fault(file, design.factor, level, f"each level once in {group}", line)
        correct[group][level], asked[group][level] = numbers[0], numbers[1]
        sources[group] = row.get("source", "")
    for group, levels in correct.items():
        for key in design.level_keys:
            if key not in levels:
                reader.fault(file, group or "group", f"no row for {key}", "a row for every level")
    return tuple(
        ReferenceGroup(
            label=group, correct=correct[group], asked=asked[group], source=sources[group]
        )
        for group in correct
    )
