"""Results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console

from felicity.running.voice import err, note

__all__ = ["JSON_OPTION", "err", "note", "print_json", "print_table"]

JSON_OPTION = typer.Option(False, "--json", help="Print JSON alone on standard output.")


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None, left: int = 1
) -> None:
    """Print a table; the first ``left`` columns are text, the others numbers.

    On a terminal it fits the window; in a file or pipe lines are as long as they need be.
    """
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, name in enumerate(header):
        table.add_column(name, justify="left" if index < left else "right")
    for row in rows:
        table.add_row(*row)
    out = Console(markup=False, highlight=False)
    if not out.is_terminal:
        wide = Console(markup=False, highlight=False, width=10_000)
        out = Console(markup=False, highlight=False, width=wide.measure(table).maximum)
    out.print(table)
