"""What a report holds, of either paradigm, and how it is written to a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from felicity.report.choice.files import write_texts
from felicity.report.figures import Figure, missing_packages, write_figures
from felicity.report.text_table import TextTable, as_html, as_latex, as_markdown, table_csv


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """All that a report says, before it is a file.

    Attributes
    ----------
    title
        The study's.
    ran
        What was run: a row of words for each participant (model, revision, method, format or
        prompting, usable of asked).
    headline
        What was found, a sentence each.
    cautions
        What to be careful about: missing replies, ties, unstable ratios, shallow cues, mismatches.
    tables, figures
        In the order in which they are read.
    results
        Tidy, unrounded: a row per participant and figure, for R and pandas.
    methods
        A paragraph of Markdown to paste.
    citations
        BibTeX.
    values
        Everything as plain values: report.json.
    """

    title: str
    ran: TextTable
    headline: tuple[str, ...]
    cautions: tuple[str, ...]
    tables: tuple[TextTable, ...]
    figures: tuple[Figure, ...]
    results: pl.DataFrame
    methods: str
    citations: str
    values: Mapping[str, Any]


def write_content(
    content: ReportContent, folder: Path, more: Mapping[str, str] | None = None
) -> Mapping[str, Path]:
    """Write tables (tables/), figures (figures/), results, methods, citations and report.json.

    Without the packages of felicity[report] there is no HTML; figures there are none then.

    Parameters
    ----------
    content
        The report.
    folder
        Where; made if it is not there.
    more
        Further texts, by file name.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    texts = {
        "methods.md": content.methods + "\n",
        "citations.bib": content.citations,
        "report.json": json.dumps(content.values, indent=2, ensure_ascii=False) + "\n",
        **(more or {}),
    }
    paths = dict(write_texts(folder, texts))
    paths |= _prefixed("tables", write_texts(folder / "tables", _table_files(content.tables)))
    if content.figures:
        paths |= _prefixed("figures", write_figures(content.figures, folder / "figures"))
    paths["results.parquet"] = folder / "results.parquet"
    content.results.write_parquet(paths["results.parquet"])
    return paths


def _table_files(tables: Sequence[TextTable]) -> dict[str, str]:
    files = {}
    for table in tables:
        files[f"{table.name}.md"] = as_markdown(table)
        files[f"{table.name}.tex"] = as_latex(table)
        files[f"{table.name}.csv"] = table_csv(table)
        if not missing_packages():
            files[f"{table.name}.html"] = as_html(table)
    return files


def _prefixed(folder: str, paths: Mapping[str, Path]) -> dict[str, Path]:
    return {f"{folder}/{name}": path for name, path in paths.items()}
