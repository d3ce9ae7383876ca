"""Read the files of a study folder and keep every fault, whatever the paradigm."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from felicity.errors import Fault

Row = tuple[int, dict[str, str]]
KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}


class FolderReader:
    """Reads one folder; keeps every fault instead of stopping at the first."""

    def __init__(self, folder: Path, settings: str = "study.toml") -> None:
        self.folder = folder
        self.settings = settings
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

    def toml(self, name: str) -> dict[str, Any] | None:
        """Read a TOML file of the folder."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self.fault(name, "syntax", error, "TOML")
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
        rows = list(self.csv_rows(name, text) if suffix == ".csv" else self.jsonl_rows(name, text))
        columns = set(rows[0][1]) if rows else set()
        for line, row in rows:
            if set(row) != columns:
                odd = ", ".join(sorted(set(row) ^ columns))
                self.fault(name, "columns", odd, "the same columns in every row", line)
        if not rows and not any(fault.file == name for fault in self.faults):
            self.fault(name, "rows", 0, "at least one row")
        return rows

    def jsonl_rows(self, name: str, text: str) -> Iterator[Row]:
        """Yield the objects of a JSONL text; values become text."""
        for number, row in self.jsonl_objects(name, text):
            yield number, {key: "" if v is None else str(v) for key, v in row.items()}

    def jsonl_objects(self, name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of a JSONL text as they are, with their line numbers."""
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
            yield number, row

    def csv_rows(self, name: str, text: str, delimiter: str = ",") -> Iterator[Row]:
        """Yield the rows of a CSV text; a quoted field may span lines."""
        # Not str.splitlines: a line separator of Unicode within a field ends no row.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = next(reader, [])
        for column, count in Counter(header).items():
            if count > 1:
                self.fault(name, "header", f"{column} ({count} times)", "each column once", 1)
        for row in reader:
            if row and len(row) != len(header):
                got = f"{len(row)} fields"
                self.fault(name, "line", got, f"{len(header)}, as in the header", reader.line_num)
            elif row:
                yield reader.line_num, dict(zip(header, row, strict=True))

    def get(self, table: Mapping[str, Any], path: str, kind: type, default: Any = None) -> Any:
        """Take a value of the settings by its dotted path; note a fault where it is missing."""
        value: Any = table
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            if default is None:
                self.fault(self.settings, path, "nothing", KINDS[kind])
            return kind() if default is None else default
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fault(self.settings, path, value, KINDS[kind])
            return kind() if default is None else default
        return value
