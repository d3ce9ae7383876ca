"""What the figures of a rating study show: a row of plain values for each mark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl

from felicity.rating.study import RatingStudy
from felicity.report.rating.analysis import RatingAnalysis
from felicity.report.rating.cells import CellPair
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import figure, names_of
from felicity.scoring.distribution import read_distribution
from felicity.stats.accuracy import Interval
from felicity.types import Scale

PEOPLE = "People"
CDS = {"cds_main": "CDS_m", "cds_interaction": "CDS_i", "cds": "CDS"}
# Beyond these an effect size ratio has the colour of the bound, and an asterisk.
ESR_LOW, ESR_HIGH = -1.0, 4.5
# More values than these are put together.
MOST_BINS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which factor stands where: ``x`` along the axis, ``line`` as the kind of line, if any."""

    x: str
    line: str | None


def roles_of(study: RatingStudy) -> Roles:
    """Take the roles from the study's interaction, else from its order of factors."""
    own = [name for name in study.factors if name not in ("scenario", "attribute")]
    named = [e.factors for e in study.effects if e.kind == "interaction"]
    x, *others = dict.fromkeys(
        [*(named[0] if named else ()), *(f for e in study.effects for f in e.factors), *own[::-1]]
    )
    return Roles(x=x, line=others[0] if others else None)


def cell_marks(analysis: RatingDescription) -> pl.DataFrame:
    """List the cells that both sides have: the participant's mean beside people's."""
    rows = [
        {
            **start,
            "cell": ", ".join(cell.factors.values()),
            "people": cell.people_mean,
            "people_low": cell.people_low,
            "people_high": cell.people_high,
            "mean": cell.mean,
            "low": cell.low,
            "high": cell.high,
            "usable": f"{cell.usable} of {cell.asked}",
        }
        for start, result in _parts(analysis)
        for cell in result.cells
        if math.isfinite(cell.mean) and math.isfinite(cell.people_mean)
    ]
    return _frame(rows)


def esr_marks(analysis: RatingAnalysis) -> pl.DataFrame:
    """List every effect size ratio with what is printed of it; ``shown`` is capped."""
    rows = []
    for (start, _), result in zip(_parts(analysis), analysis.results, strict=True):
        for effect, found in zip(analysis.study.effects, result.summary.esr, strict=True):
            capped = not ESR_LOW <= found.esr <= ESR_HIGH and math.isfinite(found.esr)
            rows.append(
                {
                    **start,
                    "factors": " × ".join(effect.factors),
                    "attribute": effect.attribute,
                    "esr": found.esr,
                    "shown": min(max(found.esr, ESR_LOW), ESR_HIGH),
                    "printed": printed_ratio(found.esr) + "*" * capped + "†" * found.unstable,
                    "unstable": found.unstable,
                    **_bounds(found.interval),
                    "model_effect": found.model_effect,
                    "people_effect": found.human_effect,
                }
            )
    return _frame(rows)


def printed_ratio(value: float) -> str:
    """Write a ratio in few characters.

    Examples
    --------
    >>> printed_ratio(0.346), printed_ratio(-2.51), printed_ratio(59.02), printed_ratio(math.nan)
    ('.35', '−2.51', '59', '–')
    """
    if not math.isfinite(value) or abs(value) < 9.995:
        return figure(value, 2)
    return f"{value:.0f}".replace("-", "−") if abs(value) < 9_999.5 else f"{value:.0e}"


def cds_marks(analysis: RatingAnalysis) -> pl.DataFrame:
    """List the calibration deviations with their intervals; people's halves last, if known."""
    rows = [
        {
            **start,
            "measure": heading,
            "value": float(getattr(result.summary.point, key)),
            **_bounds(result.summary.intervals[key]),
        }
        for (start, _), result in zip(_parts(analysis), analysis.results, strict=True)
        for key, heading in CDS.items()
    ]
    ceiling = analysis.ceiling
    if ceiling is not None:
        halves = {"participant": "People, half against half", "prompting": "–"}
        rows += [
            {
                **halves,
                "measure": heading,
                "value": ceiling.mean[key],
                **_bounds(ceiling.range[key]),
            }
            for key, heading in CDS.items()
        ]
    return _frame([row for row in rows if math.isfinite(row["value"])])


def profile_marks(analysis: RatingDescription) -> pl.DataFrame:
    """List design cells' means for lines: people's and the participant's rows, ``who`` says which.

    Factors that have neither role stay apart in ``panel``, after the attribute.
    """
    roles = roles_of(analysis.study)
    rows: list[dict[str, Any]] = []
    for start, result in _parts(analysis):
        for cell in result.design_cells:
            place = {**start, **_place(cell, roles)}
            own: dict[str, Any] = {
                "who": start["participant"],
                "mean": cell.mean,
                "low": cell.low,
                "high": cell.high,
                "n": f"{cell.usable} of {cell.asked}",
            }
            people: dict[str, Any] = {
                "who": PEOPLE,
                "mean": cell.people_mean,
                "low": cell.people_low,
                "high": cell.people_high,
                "n": str(cell.people_n),
            }
            rows += [{**place, **side} for side in (people, own) if math.isfinite(side["mean"])]
    return _frame(rows)


def reply_marks(analysis: RatingDescription) -> pl.DataFrame:
    """List how the usable replies of each design cell spread over the scale.

    ``share`` is of the cell's usable replies; a distribution counts by its probabilities. ``side``
    is 1 for the first level of the factor along the axis, −1 for the others.
    """
    study, rows = analysis.study, []
    roles, points = roles_of(study), bins_of(study.scale)
    for start, result in _parts(analysis):
        heaps = _heaps(result, study)
        for cell in result.design_cells:
            key = tuple(cell.factors.values())
            counts = sum(heaps.get(key, []), start=np.zeros(len(points) - 1))
            place = _place(cell, roles)
            side = 1 if place["x"] == study.factors[roles.x][0] else -1
            rows += [
                {
                    **start,
                    **place,
                    "from": low,
                    "to": high,
                    "share": side * count / max(cell.usable, 1),
                    "n": f"{cell.usable} of {cell.asked}",
                    "people": cell.people_mean,
                    "side": side,
                }
                for low, high, count in zip(points[:-1], points[1:], counts.tolist(), strict=True)
            ]
    return _frame(rows)


def bins_of(scale: Scale) -> list[float]:
    """Edges of a histogram's bins: one for each value of the scale, or twenty of a long scale.

    Examples
    --------
    >>> bins_of(Scale(low=1, high=3, low_label="", high_label=""))
    [0.5, 1.5, 2.5, 3.5]
    """
    values = scale.high - scale.low + 1
    return [float(x) for x in np.linspace(scale.low - 0.5, scale.high + 0.5,
                                          min(values, MOST_BINS) + 1)]  # fmt: skip


def _heaps(result: RatingReplies, study: RatingStudy) -> Mapping[tuple[str, ...], list[Any]]:
    """Gather the histograms of single replies by design cell."""
    factors = [name for name in study.factors if name != "scenario"]
    edges = bins_of(study.scale)
    expected = result.run.manifest["participant"]["method"] == "expected"
    usable = result.responses.filter(pl.col("value").is_not_null()).sort(factors)
    heaps: dict[tuple[str, ...], list[Any]] = {}
    columns = usable.select(*factors, "value", "text").iter_rows()
    for key, group in groupby(columns, lambda row: row[:-2]):
        replies = list(group)
        if expected:
            found = [one for *_, text in replies if (one := read_distribution(text)) is not None]
            heaps[key] = [
                np.histogram(list(each.normalised), edges, weights=list(each.normalised.values()))[
                    0
                ]
                for each in found
            ]
        else:
            heaps[key] = [np.histogram([value for *_, value, _ in replies], edges)[0]]
    return heaps


def _place(cell: CellPair, roles: Roles) -> dict[str, str]:
    rest = [v for k, v in cell.factors.items() if k not in (roles.x, roles.line, "attribute")]
    return {
        "x": cell.factors[roles.x],
        "line": cell.factors[roles.line] if roles.line else "",
        "panel": ", ".join([cell.factors["attribute"], *rest]),
    }


def _parts(analysis: RatingDescription) -> Iterator[tuple[dict[str, Any], RatingReplies]]:
    for name, result in zip(names_of(analysis), analysis.results, strict=True):
        yield {"participant": name, "prompting": result.prompting}, result


def _bounds(interval: Interval | None) -> dict[str, float]:
    if interval is None:
        return {"low": math.nan, "high": math.nan}
    return {"low": interval.low, "high": interval.high}


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Make a frame in which what is missing is null, as JSON needs it."""
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.selectors.float().fill_nan(None)
    )
