"""How `felicity report` prints tables and names its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.cli.output import note, print_table

if TYPE_CHECKING:
    from felicity.report.text_table import TextTable


def print_text_table(table: TextTable) -> None:
    """Print a table and its note."""
    # As a line of its own: a title within a narrow table is broken to its width.
    print(table.title)
    print_table(table.header, table.rows, left=table.left)
    if table.note:
        print(table.note + "\n")


def print_with_intervals(
    short: TextTable, ranged: TextTable, words: Sequence[str], *, left: int, right: int
) -> None:
    """Print a table, its intervals as a second one, and the words."""
    print_table(short.header, short.rows, title=short.title, left=left)
    end = len(ranged.header) - right
    rows = [
        (*row[:left], *(cell.partition(" ")[2] or cell for cell in row[left:end]))
        for row in ranged.rows
    ]
    print_table(("95 % intervals", *ranged.header[1:end]), rows, left=left)
    for paragraph in words:
        print(paragraph + "\n")


def say_written(paths: Mapping[str, Path]) -> None:
    """Name the files of the report's folder, and how many lie in each folder below it."""
    below: dict[Path, int] = {}
    for name, path in paths.items():
        if "/" in name:
            below[path.parent] = below.get(path.parent, 0) + 1
        else:
            note(f"wrote {path}")
    for folder, count in below.items():
        note(f"wrote {count} files in {folder}")


def say_missing() -> None:
    """Say what to install where figures and HTML could not be made."""
    from felicity.report.figures import missing_packages

    missing = missing_packages()
    if missing:
        note(
            f"no figures and no HTML: {', '.join(missing)} not installed "
            "(pip install 'felicity[report]')"
        )
