"""Read rows of answers from files: jsPsych's JSON or CSV, or the SQLite file of a server."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from felicity.errors import Fault, FelicityError
from felicity.survey.store import AnswerStore

_SQLITE = b"SQLite format 3\x00"
# Columns that hold JSON in a CSV.
_NESTED = ("ratings", "about")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as it was read: ``place`` is its number in the file, from 1."""

    file: str
    place: int
    values: dict[str, Any]


def read_rows(paths: Sequence[Path]) -> tuple[list[Row], list[Fault]]:
    """Read all rows of all files.

    Returns
    -------
    rows, faults
        A file that cannot be read is a fault, and the others are read all the same.
    """
    rows: list[Row] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            found = [
                Row(file=path.name, place=place, values=values)
                for place, values in enumerate(_values(path), start=1)
            ]
        except (OSError, ValueError, csv.Error, RecursionError, FelicityError) as error:
            got = getattr(error, "strerror", None) or str(error).replace("\n", " ")
            allowed = "jsPsych's JSON or CSV, or a server's SQLite file"
            faults.append(Fault(file=path.name, field="file", got=got[:160], allowed=allowed))
            continue
        if not found:
            faults.append(Fault(file=path.name, field="rows", got="0", allowed="at least one"))
        rows += found
    return rows, faults


def _values(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes()
    if data.startswith(_SQLITE):
        with AnswerStore(path, read_only=True) as store:
            yield from store.rows()
        return
    text = data.decode("utf-8-sig")
    if text.lstrip().startswith(("[", "{")):
        loaded = json.loads(text)
        if not isinstance(loaded, list) or not all(isinstance(row, dict) for row in loaded):
            raise ValueError("JSON that is no list of objects")
        yield from loaded
        return
    yield from _csv_rows(text)


def _csv_rows(text: str) -> Iterator[dict[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    if "part" not in (reader.fieldnames or ()):
        raise ValueError("a text without a column part")
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(
                f"line {reader.line_num} with another number of fields than the header"
            )
        # An empty field is one that this kind of row does not have.
        values: dict[str, Any] = {name: value for name, value in row.items() if value != ""}
        for name in _NESTED:
            if name in values:
                values[name] = json.loads(values[name])
        yield values
