"""All that the report of a rating study holds, before it is a file."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from felicity.report.citations import bibliography
from felicity.report.content import ReportContent
from felicity.report.figures import missing_packages
from felicity.report.rating.analysis import RatingAnalysis, RatingResult
from felicity.report.rating.cells import CellPair
from felicity.report.rating.methods import rating_methods
from felicity.report.rating.paper_tables import paper_tables, statuses_table, usable_table
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import effects_table, measures_table, names_of, with_interval
from felicity.report.rating.values import as_json
from felicity.report.rating.words import careful, nothing_to_compare
from felicity.report.text_table import NONE, TextTable
from felicity.stats.accuracy import Interval
from felicity.stats.alignment import MEASURES

RESULTS: dict[str, Any] = {
    "participant": pl.String,
    "method": pl.String,
    "prompting": pl.String,
    "kind": pl.String,
    "name": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "interval": pl.String,
    "usable": pl.Int64,
    "asked": pl.Int64,
    "people": pl.Float64,
    "people_low": pl.Float64,
    "people_high": pl.Float64,
    "people_n": pl.Int64,
    "unstable": pl.Boolean,
}


def rating_content(analysis: RatingDescription) -> ReportContent:
    """Put a rating study's report together.

    Parameters
    ----------
    analysis
        A `RatingAnalysis`, or a description of runs that there is nothing to compare with: then
        the report has cells, statuses and replies alone, and says so.

    Returns
    -------
    ReportContent
        Without figures where the packages of felicity[report] are not installed. ``results`` has
        a row for each measure, ESR, cell and status (``kind``) of each participant and prompting.
    """
    manifests = {str(result.run.folder): result.run.manifest for result in analysis.results}
    return ReportContent(
        title=analysis.study.title,
        ran=_ran(analysis),
        headline=_headline(analysis),
        cautions=_cautions(analysis),
        tables=_tables(analysis),
        figures=() if missing_packages() else _figures(analysis),
        results=_results(analysis),
        methods=rating_methods(analysis),
        citations=bibliography(analysis.study.folder, list(manifests.values())),
        values=as_json(analysis),
    )


def _figures(analysis: RatingDescription) -> Any:
    # Altair is not there in a light install.
    from felicity.report.rating.figures import rating_figures

    return rating_figures(analysis)


def _tables(analysis: RatingDescription) -> tuple[TextTable, ...]:
    counts = (statuses_table(analysis), usable_table(analysis))
    if not isinstance(analysis, RatingAnalysis):
        return counts
    return (
        measures_table(analysis),
        *paper_tables(analysis),
        effects_table(analysis),
        *counts,
    )


def _ran(analysis: RatingDescription) -> TextTable:
    rows = []
    for name, result in zip(names_of(analysis), analysis.results, strict=True):
        told = result.run.manifest["participant"]
        revision = told.get("details", {}).get("revision", NONE)
        rows.append(
            (
                name,
                str(told["spec"]),
                NONE if revision == "none named" else str(revision),
                str(told["method"]),
                result.prompting,
                f"{result.usable} of {result.asked}",
            )
        )
    return TextTable(
        name="ran",
        title="What was run",
        header=("Participant", "Model", "Revision", "Method", "Prompting", "Usable"),
        rows=tuple(rows),
        left=5,
    )


def _headline(analysis: RatingDescription) -> tuple[str, ...]:
    names = names_of(analysis)
    if not isinstance(analysis, RatingAnalysis):
        return (nothing_to_compare(analysis),)
    return tuple(
        _found(f"{name}, {result.prompting}", result)
        for name, result in zip(names, analysis.results, strict=True)
    )


def _found(head: str, result: RatingResult) -> str:
    if not result.usable:
        return f"{head}: no reply is usable."
    known = [e for e in result.summary.esr if math.isfinite(e.esr)]
    if not known:
        return f"{head}: no effect can be compared."
    same = sum(e.esr > 0 for e in known)
    above = sum(e.interval is not None and e.interval.low > 1 for e in known)
    below = sum(e.interval is not None and e.interval.high < 1 for e in known)
    point, intervals = result.summary.point, result.summary.intervals
    rho = with_interval(float(point.spearman), intervals["spearman"])
    deviation = with_interval(float(point.cds), intervals["cds"])
    return (
        f"{head}: {same} of {len(known)} effects have people's sign (structure; ρ {rho});"
        f" {above} are stronger than people's and {below} weaker beyond their intervals"
        f" (magnitude; CDS {deviation})."
    )


def _cautions(analysis: RatingDescription) -> tuple[str, ...]:
    return tuple(
        f"{name}, {result.prompting}: {said}"
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
        for said in careful(result, analysis)
    )


def _results(analysis: RatingDescription) -> pl.DataFrame:
    factors = analysis.study.units[analysis.unit]
    rows: list[dict[str, Any]] = []
    for name, result in zip(names_of(analysis), analysis.results, strict=True):
        start = {
            "participant": name,
            "method": str(result.run.manifest["participant"]["method"]),
            "prompting": result.prompting,
        }
        found = [*_measure_rows(result, analysis), *_count_rows(result)]
        found += [_cell_row(cell) for cell in result.cells]
        rows += [start | row for row in found]
    schema = RESULTS | {_column(factor): pl.String for factor in factors}
    table = pl.DataFrame(
        [{column: row.get(column) for column in schema} for row in rows], schema=schema
    )
    return table.with_columns(pl.selectors.float().fill_nan(None))


def _measure_rows(result: RatingReplies, analysis: RatingDescription) -> list[dict[str, Any]]:
    if not isinstance(result, RatingResult):
        return []
    counts = {"usable": result.usable, "asked": result.asked}
    rows = [
        {
            "kind": "measure",
            "name": key,
            "value": float(getattr(result.summary.point, key)),
            **_bounds(result.summary.intervals[key]),
            **counts,
        }
        for key in MEASURES
    ]
    rows += [
        {
            "kind": "esr",
            "name": effect.name,
            "value": found.esr,
            **_bounds(found.interval),
            **counts,
            "people": found.human_effect,
            "people_low": found.human_interval.low,
            "people_high": found.human_interval.high,
            "unstable": found.unstable,
            "attribute": effect.attribute,
        }
        for effect, found in zip(analysis.study.effects, result.summary.esr, strict=True)
    ]
    return rows


def _count_rows(result: RatingReplies) -> list[dict[str, Any]]:
    return [
        {"kind": "status", "name": status, "value": float(count), "asked": result.asked}
        for status, count in result.statuses.items()
    ]


def _cell_row(cell: CellPair) -> dict[str, Any]:
    return {
        "kind": "cell",
        "name": ", ".join(cell.factors.values()),
        "value": cell.mean,
        "low": cell.low,
        "high": cell.high,
        "interval": "bootstrap" if math.isfinite(cell.low) else None,
        "usable": cell.usable,
        "asked": cell.asked,
        "people": cell.people_mean,
        "people_low": cell.people_low,
        "people_high": cell.people_high,
        "people_n": cell.people_n,
        **{_column(factor): level for factor, level in cell.factors.items()},
    }


def _column(factor: str) -> str:
    """Name a factor's column; one that is called as a column of ours is marked."""
    return f"factor_{factor}" if factor in RESULTS else factor


def _bounds(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {}
    return {"low": interval.low, "high": interval.high, "interval": interval.method}
