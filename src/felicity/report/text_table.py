"""A table as text, and the forms that it is written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from felicity.notebook import show_rows

NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table as text: every form is made from it.

    Attributes
    ----------
    name
        Stem of its files.
    header, rows
        Cells as they are shown.
    people
        How many rows at the end are people's; a rule stands above them.
    note
        Stands below.
    left
        How many columns at the left hold words; the others are figures.
    bold
        Cells (row, column) that stand out.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    people: int = 0
    note: str = ""
    left: int = 2
    bold: frozenset[tuple[int, int]] = frozenset()

    def _repr_html_(self) -> str:
        if find_spec("great_tables") is None:
            return show_rows(self.title, self.header, self.rows, self.left, self.note)
        return as_html(self)


def as_markdown(table: TextTable) -> str:
    """Write a table as Markdown."""
    lines = [_markdown_row(table.header)]
    lines.append(
        "|" + "|".join("---" if i < table.left else "---:" for i in range(len(table.header))) + "|"
    )
    for number, row in enumerate(table.rows):
        cells = [
            f"**{cell}**" if (number, place) in table.bold else cell
            for place, cell in enumerate(row)
        ]
        lines.append(_markdown_row(cells))
    note = f"\n{table.note}\n" if table.note else ""
    return f"**{table.title}**\n\n" + "\n".join(lines) + f"\n{note}"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_latex(table: TextTable) -> str:
    """Write a table as LaTeX for the booktabs package."""
    body = []
    for number, row in enumerate(table.rows):
        cells = [
            rf"\textbf{{{escape_latex(cell)}}}"
            if (number, place) in table.bold
            else escape_latex(cell)
            for place, cell in enumerate(row)
        ]
        body.append(" & ".join(cells) + r" \\")
    if table.people:
        body.insert(len(body) - table.people, r"\midrule")
    columns = "l" * table.left + "r" * (len(table.header) - table.left)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(escape_latex(cell) for cell in table.header) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escape_latex(_caption(table))}}}",
            rf"\label{{tab:{table.name}}}",
            r"\end{table}",
            "",
        ]
    )


def _caption(table: TextTable) -> str:
    return f"{table.title}. {table.note}" if table.note else f"{table.title}."


def table_csv(table: TextTable) -> str:
    """Write the cells as CSV, as they are shown; the unrounded figures are in other files."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([table.header, *table.rows])
    return stream.getvalue()


def as_html(table: TextTable) -> str:
    """Write a table as an HTML fragment (great_tables): styles inside, no script."""
    import polars as pl
    from great_tables import GT, loc, style

    columns = [f"c{place}" for place in range(len(table.header))]
    frame = pl.DataFrame(list(table.rows), schema=dict.fromkeys(columns, pl.String), orient="row")
    shown = (
        GT(frame, id=table.name)
        .tab_header(title=table.title)
        .cols_label(dict(zip(columns, table.header, strict=True)))
        .cols_align("left", columns[: table.left])
        .cols_align("right", columns[table.left :])
        .tab_options(table_font_size="13px")
    )
    for row, place in sorted(table.bold):
        shown = shown.tab_style(style.text(weight="bold"), loc.body(columns[place], [row]))
    if table.people:
        first = len(table.rows) - table.people
        shown = shown.tab_style(style.borders(sides="top", weight="1.5px"), loc.body(rows=[first]))
    if table.note:
        shown = shown.tab_source_note(table.note)
    return str(shown.as_raw_html())


LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "ρ": r"$\rho$",
    "Δ": r"$\Delta$",
}


def escape_latex(text: str) -> str:
    r"""Escape what LaTeX would take for a command.

    Examples
    --------
    >>> print(escape_latex("100 % of a_b"))
    100 \% of a\_b
    """
    return "".join(LATEX.get(character, character) for character in text)
