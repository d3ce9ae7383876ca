"""Read a study folder and find every fault in it."""

from __future__ import annotations

import csv
import itertools
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from felicity.errors import Fault, one_of
from felicity.study import PLACEHOLDER, Design, Format, Level, ReferenceGroup, Study, fill
from felicity.types import Item

Row = tuple[int, dict[str, str]]
KINDS = {str: "text", int: "a whole number", list: "a list", dict: "a table", bool: "true or false"}


class _Reader:
    """Reads one folder; keeps every fault instead of stopping at the first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: list[Fault] = []

    def fault(
        self, file: str, field: str, got: object, allowed: str, line: int | None = None
    ) -> None:
        """Note one fault."""
        self.faults.append(
            Fault(file=file, field=field, got=str(got)[:80], allowed=allowed, line=line)
        )

    def text(self, name: str) -> str | None:
        """Read a file of the folder as UTF-8; a byte-order mark is dropped."""
        try:
            return (self.folder / name).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            self.fault(name, "file", "no such file", "a file of this name in the study folder")
        except UnicodeDecodeError as error:
            self.fault(name, "encoding", f"a byte that is not UTF-8 at {error.start}", "UTF-8")
        except OSError as error:
            self.fault(name, "file", error.strerror or str(error), "a readable file")
        return None

    def rows(self, name: str) -> list[Row]:
        """Read a JSONL or CSV file as rows of text with their line numbers."""
        text = self.text(name)
        if text is None:
            return []
        suffix = Path(name).suffix.lower()
        if suffix not in {".jsonl", ".csv"}:
            self.fault(name, "file", suffix or "no suffix", ".jsonl or .csv")
            return []
        rows = list(self.csv_rows(text) if suffix == ".csv" else self.jsonl_rows(name, text))
        if not rows and not any(fault.file == name for fault in self.faults):
            self.fault(name, "rows", 0, "at least one row")
        return rows

    def jsonl_rows(self, name: str, text: str) -> Iterator[Row]:
        """Yield the objects of a JSONL text; values become text."""
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                self.fault(name, "line", f"{error.msg} at column {error.colno}", "JSON", number)
                continue
            if not isinstance(row, dict):
                self.fault(name, "line", type(row).__name__, "a JSON object", number)
                continue
            yield number, {key: "" if v is None else str(v) for key, v in row.items()}

    @staticmethod
    def csv_rows(text: str) -> Iterator[Row]:
        """Yield the rows of a CSV text; a quoted field may span lines."""
        reader = csv.DictReader(text.splitlines(keepends=True))
        for row in reader:
            yield reader.line_num, {str(k): v or "" for k, v in row.items() if k is not None}

    def get(self, table: Mapping[str, Any], path: str, kind: type, default: Any = None) -> Any:
        """Take a value of study.toml by its dotted path; note a fault where it is missing."""
        value: Any = table
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            if default is None:
                self.fault("study.toml", path, "nothing", KINDS[kind])
            return kind() if default is None else default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fault("study.toml", path, value, KINDS[kind])
            return kind() if default is None else default
        return value


def read_study(folder: Path) -> tuple[Study | None, list[Fault]]:
    """Read a study folder.

    Returns
    -------
    study, faults
        The study, or None where its study.toml cannot be used at all; and every fault found.
    """
    reader = _Reader(folder)
    text = reader.text("study.toml")
    if text is None:
        return None, reader.faults
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reader.fault("study.toml", "syntax", error, "TOML")
        return None, reader.faults
    if reader.get(table, "study.paradigm", str) != "choice":
        got = table.get("study", {}).get("paradigm", "nothing")
        reader.fault("study.toml", "study.paradigm", got, "choice")
        return None, reader.faults
    reader.text("README.md")
    design = _read_design(reader, table)
    items = _read_items(reader, table, design)
    formats, default = _read_formats(reader, table, items)
    reference = _read_reference(reader, table, design)
    if reader.faults:
        return None, reader.faults
    study = Study(
        name=reader.get(table, "study.name", str),
        title=reader.get(table, "study.title", str),
        version=reader.get(table, "study.version", str),
        paradigm="choice",
        language=reader.get(table, "study.language", str),
        licence=reader.get(table, "study.licence", str),
        folder=folder,
        design=design,
        items=items,
        formats=formats,
        default_format=default,
        reference=reference,
    )
    return (None if reader.faults else study), reader.faults


def _read_design(reader: _Reader, table: Mapping[str, Any]) -> Design:
    levels = []
    for number, level in enumerate(reader.get(table, "design.level", list), start=1):
        if not isinstance(level, dict) or not all(
            isinstance(level.get(name), str) and level[name] for name in ("key", "short", "gloss")
        ):
            reader.fault("study.toml", f"design.level {number}", level, "key, short and gloss")
            continue
        levels.append(Level(key=level["key"], short=level["short"], gloss=level["gloss"]))
    answers = tuple(map(str, reader.get(table, "items.answers", list)))
    if len(answers) != 2 or len(set(answers)) != 2:
        reader.fault("study.toml", "items.answers", list(answers), "two different labels")
    variants = reader.get(table, "design.variants", list, [])
    per_level = table.get("design", {}).get("items_per_level")
    return Design(
        factor=reader.get(table, "design.factor", str),
        levels=tuple(levels),
        variants=tuple(tuple(group) for group in variants if isinstance(group, list)),
        answers=answers,
        items_per_level=per_level if isinstance(per_level, int) else None,
        same_answers_within_unit=reader.get(table, "design.same_answers_within_unit", bool, False),
    )


def _read_items(reader: _Reader, table: Mapping[str, Any], design: Design) -> tuple[Item, ...]:
    file = reader.get(table, "items.file", str)
    unit = reader.get(table, "items.unit", str)
    pattern = reader.get(table, "items.item_id", str)
    names = [str(name) for name in table.get("names", {}).get("names", [])]
    roles = [str(role) for role in table.get("names", {}).get("roles", [])]
    if not (file and unit and pattern):
        return ()
    needed = {unit, design.factor, "question", *design.answers, *_used(pattern)} - set(roles)
    needed.update(column for group in design.variants for column in group if column not in roles)
    items: list[Item] = []
    good_rows: list[Row] = []
    for line, row in reader.rows(file):
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
        question=fill(row["question"], cast),
        answers={label: fill(row[label], cast) for label in design.answers},
        factors=factors,
    )


def _check_row(
    reader: _Reader,
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
    if len(design.answers) == 2:
        first, second = design.answers
        if row.get(first) and row.get(first) == row.get(second):
            reader.fault(file, second, row[second], f"a text other than the {first}'s", line)
        if used[first] != used[second]:
            reader.fault(file, second, row.get(second, ""), f"the same names as the {first}", line)


def _check_items(
    reader: _Reader, file: str, items: list[Item], rows: list[Row], unit: str, design: Design
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
    if design.items_per_level is not None:
        counts = Counter(item.factors[design.factor] for item in items)
        for key in design.level_keys:
            if counts[key] != design.items_per_level:
                reader.fault(
                    file,
                    design.factor,
                    f"{counts[key]} items of {key}",
                    str(design.items_per_level),
                )


def _read_formats(
    reader: _Reader, table: Mapping[str, Any], items: tuple[Item, ...]
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
    reader: _Reader, table: Mapping[str, Any], design: Design
) -> tuple[ReferenceGroup, ...]:
    if "reference" not in table:
        return ()
    file = reader.get(table, "reference.file", str)
    correct: dict[str, dict[str, int]] = defaultdict(dict)
    asked: dict[str, dict[str, int]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for line, row in reader.rows(file) if file else ():
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
