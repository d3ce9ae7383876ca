"""The tables of a rating study: a row per participant and prompting; a row per effect."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

from felicity.report.rating.analysis import RatingAnalysis, RatingResult
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.text_table import NONE, TextTable
from felicity.stats.accuracy import Interval
from felicity.stats.alignment import MEASURES
from felicity.stats.rating_resampling import EsrEstimate

# Measures of the main table, with what papers call them; the others are in the files.
HEADINGS = {
    "spearman": "ρ",
    "ccc": "CCC",
    "rmse": "RMSE",
    "rmse_individuals": "RMSE ind.",
    "das": "DAS",
    "iss": "ISS",
    "cds_main": "CDS_m",
    "cds_interaction": "CDS_i",
    "cds": "CDS",
}


def figure(value: float | None, decimals: int = 3) -> str:
    """Write a measure as papers do: three decimals, no leading zero.

    Examples
    --------
    >>> figure(0.8562), figure(-0.1), figure(1.0), figure(float("nan"))
    ('.856', '−.100', '1.000', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{abs(value):.{decimals}f}".removeprefix("0")
    return f"−{text}" if value < 0 and text.strip(".0") else text


def with_interval(value: float, interval: Interval | None) -> str:
    """Write a measure with its interval in brackets."""
    if interval is None:
        return figure(value)
    return f"{figure(value)} [{figure(interval.low)}, {figure(interval.high)}]"


def names_of(analysis: RatingDescription) -> list[str]:
    """Name each participant; add the method, then the folder, where two would be the same."""
    results = analysis.results
    names = [result.run.label for result in results]
    for extra in (
        [f"method {result.run.manifest['participant']['method']}" for result in results],
        [result.run.folder.name for result in results],
    ):
        places = list(zip(names, (result.prompting for result in results), strict=True))
        twice = {result.run.folder for result, place in zip(results, places, strict=True)
                 if places.count(place) > 1}  # fmt: skip
        names = [
            f"{name}, {more}" if result.run.folder in twice else name
            for name, more, result in zip(names, extra, results, strict=True)
        ]
    return names


def measures_table(analysis: RatingAnalysis, *, intervals: bool = True) -> TextTable:
    """Make the main table: agreement, structure and magnitude."""
    rows = [
        (
            name,
            result.prompting,
            f"{result.usable} of {result.asked}",
            *(_measure(result, key, intervals) for key in HEADINGS),
        )
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
    ]
    ceiling = analysis.ceiling
    if ceiling is not None:
        shown = (
            with_interval(ceiling.mean[key], ceiling.range[key] if intervals else None)
            for key in HEADINGS
        )
        rows.append(("People, half against half", NONE, NONE, *shown))
    return TextTable(
        name="table",
        left=3,
        title=f"{analysis.study.title} Agreement with people",
        header=("Participant", "Prompting", "Usable", *HEADINGS.values()),
        rows=tuple(rows),
        people=0 if ceiling is None else 1,
        note=_note(analysis),
    )


def _measure(result: RatingResult, key: str, intervals: bool) -> str:
    interval = result.summary.intervals[key] if intervals else None
    return with_interval(float(getattr(result.summary.point, key)), interval)


def _note(analysis: RatingAnalysis) -> str:
    cells = math.prod(
        len(analysis.study.factors[name]) for name in analysis.study.units[analysis.unit]
    )
    text = (
        f"ρ (Spearman), CCC and RMSE over {cells} cell means ({analysis.unit},"
        f" {analysis.weighting.replace('_', ' ')}); RMSE ind.: against single ratings of people."
        " DAS, ISS: share of main effects and interactions with people's sign. CDS: mean of"
        " |ESR − 1| over main effects (m), interactions (i), all; 0 is perfect."
    )
    if analysis.as_published:
        text += (
            " As published: replies read by the paper's one-digit rule, and the paper's CCC, whose"
            " covariance divides by n and variances by n − 1."
        )
    over = {over for result in analysis.results for over in result.summary.over}
    return f"{text} In brackets 95 % intervals, bootstrap over {', '.join(sorted(over))}."


def effects_table(analysis: RatingAnalysis) -> TextTable:
    """Make the table of effect size ratios, people's effects beside them."""
    names = names_of(analysis)
    several = len({result.prompting for result in analysis.results}) > 1
    headed = [
        f"{name} {result.prompting}" if several else name
        for name, result in zip(names, analysis.results, strict=True)
    ]
    rows = []
    for place, effect in enumerate(analysis.study.effects):
        estimates = [result.summary.esr[place] for result in analysis.results]
        people = with_interval(estimates[0].human_effect, estimates[0].human_interval)
        shown = (_ratio(estimate) for estimate in estimates)
        rows.append((effect.attribute, " × ".join(effect.factors), people, *shown))
    return TextTable(
        name="effects",
        title=f"{analysis.study.title} Effect size ratios (ESR)",
        header=("Attribute", "Effect", "People's Δ", *headed),
        rows=tuple(rows),
        people=0,
        note=(
            "ESR: the participant's effect over people's; 1 is as strong as people's, above 1"
            " exaggerated, below 0 the other way round. Δ in points of the scale with its 95 %"
            " interval; * unstable: that interval holds 0."
        ),
    )


def _ratio(estimate: EsrEstimate) -> str:
    return figure(estimate.esr) + ("*" if estimate.unstable else "")


def measures_csv(analysis: RatingAnalysis) -> str:
    """Write a row per participant, prompting and measure; numbers are not rounded."""
    start = ("participant", "method", "prompting")
    shared = (analysis.unit, analysis.weighting, analysis.as_published)
    header = (*start, "unit", "weighting", "as_published", "usable", "asked", "cells")
    rows = [
        (
            *_start(name, result),
            *shared,
            result.usable,
            result.asked,
            int(result.summary.point.cells),
            key,
            _plain(float(getattr(result.summary.point, key))),
            *_bounds(result.summary.intervals[key]),
        )
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
        for key in MEASURES
    ]
    return write_csv((*header, "measure", "value", "low", "high", "interval"), rows)


def effects_csv(analysis: RatingAnalysis) -> str:
    """Write a row per participant, prompting and effect; numbers are not rounded."""
    rows = [
        (
            *_start(name, result),
            effect.kind,
            " × ".join(effect.factors),
            effect.attribute,
            _plain(estimate.model_effect),
            _plain(estimate.human_effect),
            *_bounds(estimate.human_interval)[:2],
            _plain(estimate.esr),
            *_bounds(estimate.interval),
            estimate.unstable,
        )
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
        for effect, estimate in zip(analysis.study.effects, result.summary.esr, strict=True)
    ]
    header = (
        *("participant", "method", "prompting", "kind", "factors", "attribute"),
        *("model_effect", "human_effect", "human_low", "human_high"),
        *("esr", "low", "high", "interval", "unstable"),
    )
    return write_csv(header, rows)


def cells_csv(analysis: RatingDescription) -> str:
    """Write a row per participant, prompting and cell; numbers are not rounded."""
    factors = analysis.study.units[analysis.unit]
    rows = [
        (
            *_start(name, result),
            *(cell.factors[factor] for factor in factors),
            *(_plain(value) for value in (cell.mean, cell.sd)),
            cell.usable,
            cell.asked,
            *(_plain(value) for value in (cell.people_mean, cell.people_sd)),
            cell.people_n,
            *(_plain(value) for value in (cell.low, cell.high, cell.people_low, cell.people_high)),
        )
        for name, result in zip(names_of(analysis), analysis.results, strict=True)
        for cell in result.cells
    ]
    numbers = (
        *("mean", "sd", "usable", "asked", "people_mean", "people_sd", "people_n"),
        *("low", "high", "people_low", "people_high"),
    )
    return write_csv(("participant", "method", "prompting", *factors, *numbers), rows)


def _start(name: str, result: RatingReplies) -> tuple[str, str, str]:
    return name, str(result.run.manifest["participant"]["method"]), result.prompting


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _bounds(interval: Interval | None) -> tuple[float | None, float | None, str | None]:
    if interval is None:
        return None, None, None
    return _plain(interval.low), _plain(interval.high), interval.method


def write_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write rows as CSV text."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
