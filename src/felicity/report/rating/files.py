"""Write the files of a rating study's report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from felicity.report.content import write_content
from felicity.report.rating.analysis import RatingAnalysis
from felicity.report.rating.content import rating_content
from felicity.report.rating.paper_tables import statuses_csv, statuses_table, usable_table
from felicity.report.rating.replies import RatingDescription
from felicity.report.rating.table import (
    cells_csv,
    effects_csv,
    effects_table,
    measures_csv,
    measures_table,
)
from felicity.report.rating.words import in_words
from felicity.report.text_table import TextTable, as_latex, as_markdown


def write_rating_report(analysis: RatingDescription, folder: Path) -> Mapping[str, Path]:
    """Write the report: that of `write_content`, and the texts of `rating_texts`.

    Returns
    -------
    mapping
        Name to path.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    return write_content(rating_content(analysis), folder, rating_texts(analysis))


def rating_texts(analysis: RatingDescription) -> dict[str, str]:
    """Return table.md, table.tex, measures.csv, effects.csv, cells.csv and statuses.csv, by name.

    Where there was nothing to compare with, measures and effects are missing.
    """
    tables = first_tables(analysis)
    words = "\n\n".join(in_words(analysis))
    more = {
        "table.md": "\n".join(map(as_markdown, tables)) + f"\n{words}\n",
        "table.tex": "\n".join(map(as_latex, tables)),
        "cells.csv": cells_csv(analysis),
        "statuses.csv": statuses_csv(analysis),
    }
    if isinstance(analysis, RatingAnalysis):
        more |= {"measures.csv": measures_csv(analysis), "effects.csv": effects_csv(analysis)}
    return more


def first_tables(analysis: RatingDescription) -> tuple[TextTable, TextTable]:
    """Return the two tables that are shown first."""
    if isinstance(analysis, RatingAnalysis):
        return measures_table(analysis), effects_table(analysis)
    return statuses_table(analysis), usable_table(analysis)
