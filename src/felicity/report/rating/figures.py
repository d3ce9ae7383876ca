"""The figures of a rating study, for a column of 8 cm, and wide ones where that is not enough."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from felicity.report.figures import COLUMN, Figure
from felicity.report.rating.analysis import RatingAnalysis
from felicity.report.rating.charts import (
    BETWEEN,
    WIDE,
    header,
    legend_below,
    names_in,
    rounded,
)
from felicity.report.rating.marks import (
    CDS,
    ESR_HIGH,
    ESR_LOW,
    cds_marks,
    cell_marks,
    esr_marks,
)
from felicity.report.rating.profiles import profile_figures, reply_figures
from felicity.report.rating.replies import RatingDescription

# Room for an axis with its title; for the attributes' names.
LEFT, NAMES = 30, 80
# Narrower columns hold no number.
NARROWEST = 18
# Mean width of a letter of a name.
LETTER = 4
BLUE, RED = "#2166ac", "#b2182b"


def rating_figures(analysis: RatingDescription) -> tuple[Figure, ...]:
    """Draw every figure that there is something to draw for, in the order of reading."""
    found: list[Figure] = []
    cells = cell_marks(analysis)
    if cells.height:
        found += [_cells(analysis, cells, COLUMN), _cells(analysis, cells, WIDE)]
    if isinstance(analysis, RatingAnalysis):
        ratios, deviations = esr_marks(analysis), cds_marks(analysis)
        found += [_ratios(ratios, COLUMN), _ratios(ratios, WIDE)]
        if deviations.height:
            found.append(_deviations(deviations, analysis))
    return (*found, *profile_figures(analysis), *reply_figures(analysis))


def _cells(analysis: RatingDescription, cells: pl.DataFrame, width: int) -> Figure:
    names = names_in(cells, "participant")
    columns = min(len(names), 2 if width == COLUMN else 4)
    side = min(width // columns - LEFT, 140)
    panels = [
        _cell_panel(cells.filter(participant=name), name, analysis, side, left=not place % columns)
        for place, name in enumerate(names)
    ]
    return Figure(
        name="cells" if width == COLUMN else "cells-wide",
        title="Cell means beside people's",
        caption=(
            f"A mark is a cell ({analysis.unit}); on the dashed line a participant rates as people"
            " do. Steeper than the line: exaggerated; flatter: weaker."
        ),
        chart=alt.concat(*panels, columns=columns, spacing=BETWEEN),
    )


def _cell_panel(
    cells: pl.DataFrame, name: str, analysis: RatingDescription, side: int, *, left: bool
) -> alt.LayerChart | alt.FacetChart:
    scale = analysis.study.scale
    promptings = list(dict.fromkeys(result.prompting for result in analysis.results))
    ends = alt.Scale(domain=[scale.low, scale.high], nice=False)
    kinds = alt.Scale(domain=promptings)
    axis = alt.Axis(tickCount=min(scale.high - scale.low + 1, 7), format="d")
    below = legend_below("Prompting")
    line = alt.Chart(alt.Data(values=[{"at": scale.low}, {"at": scale.high}])).encode(
        x=alt.X("at:Q", scale=ends), y=alt.Y("at:Q", scale=ends)
    )
    columns = ("mean", "low", "high", "people", "people_low", "people_high")
    points = alt.Chart(cells).encode(
        x=alt.X("people:Q", title="People's mean", scale=ends, axis=axis),
        y=alt.Y("mean:Q", title="Participant's mean" if left else None, scale=ends, axis=axis),
        color=alt.Color("prompting:N", title="Prompting", scale=kinds, legend=below),
        shape=alt.Shape("prompting:N", title="Prompting", scale=kinds, legend=below),
        tooltip=["participant:N", "prompting:N", "cell:N", "usable:N", *rounded(*columns)],
    )
    return alt.layer(
        line.mark_line(color="#555555", strokeWidth=0.8, strokeDash=[3, 2]),
        points.mark_point(filled=True, opacity=0.8, size=16, clip=False),
        title=alt.TitleParams(name, anchor="middle", fontSize=8, limit=side + 10),
    ).properties(width=side, height=side)


def _ratios(ratios: pl.DataFrame, width: int) -> Figure:
    """Set as many participants side by side as find room, and the others below them."""
    names, promptings = names_in(ratios, "participant"), names_in(ratios, "prompting")
    each = len(promptings)
    # Names stand above: long ones get more room, and the longest are cut.
    longest = min(LETTER * max(map(len, names)), 60 if width == COLUMN else 100)
    most = max((width - NAMES) // (max(NARROWEST * each, longest) + BETWEEN), 1)
    rows = -(-len(names) // most)
    most = -(-len(names) // rows)
    step = min(
        max(((width - NAMES) // most - BETWEEN) // each, NARROWEST), max(36, longest // each)
    )
    blocks = [
        _ratio_block(ratios.filter(pl.col("participant").is_in(names[at : at + most])), kind, step)
        for at in range(0, len(names), most)
        for kind in names_in(ratios, "factors")
    ]
    return Figure(
        name="esr" if width == COLUMN else "esr-wide",
        title="Effect size ratios",
        caption=(
            "The participant's effect over people's. White is 1, as strong as people's; red"
            " stronger, blue weaker, full blue as strong the other way round. * the colour stops at"
            f" {ESR_LOW:.0f} and {ESR_HIGH}; † unstable: the 95 % interval of people's effect"
            " holds 0."
        ),
        chart=alt.vconcat(*blocks, spacing=6),
    )


def _ratio_block(ratios: pl.DataFrame, kind: str, step: int) -> alt.FacetChart:
    names, promptings = names_in(ratios, "participant"), names_in(ratios, "prompting")
    part = ratios.filter(factors=kind)
    columns = ("esr", "low", "high", "model_effect", "people_effect")
    base = alt.Chart().encode(
        x=alt.X(
            "prompting:N",
            title=None,
            sort=promptings,
            axis=alt.Axis(labelAngle=0, domain=False, ticks=False, grid=False),
        ),
        y=alt.Y(
            "attribute:N",
            title=kind,
            sort=names_in(part, "attribute"),
            axis=alt.Axis(domain=False, ticks=False, grid=False),
        ),
        tooltip=["participant:N", "prompting:N", "attribute:N", "factors:N", *rounded(*columns)],
    )
    colours = alt.Scale(
        domain=[ESR_LOW, 1, ESR_HIGH], range=[BLUE, "#ffffff", RED], interpolate="rgb", clamp=True
    )
    bar = legend_below("ESR", values=[-1, 0, 1, 2, 3, 4], gradientLength=125, gradientThickness=8)
    squares = base.mark_rect(stroke="#bbbbbb", strokeWidth=0.5).encode(
        color=alt.Color("shown:Q", title="ESR", scale=colours, legend=bar)
    )
    dark = "datum.shown > 3.5 || datum.shown < -0.7"
    text = base.mark_text(fontSize=7 if step > 20 else 6).encode(
        text="printed:N", color=alt.condition(dark, alt.value("white"), alt.value("black"))
    )
    return (
        alt.layer(squares, text)
        .properties(width=alt.Step(step), height=alt.Step(13))
        .facet(
            column=header(alt.Column, "participant", names, labelLimit=step * len(promptings) + 6),
            data=part,
            spacing=BETWEEN,
        )
    )


def _deviations(deviations: pl.DataFrame, analysis: RatingAnalysis) -> Figure:
    top = max(value for column in ("value", "high") for value in deviations[column].drop_nulls())
    over = sorted({each for result in analysis.results for each in result.summary.over})
    names = names_in(deviations, "participant")
    panels = [
        _deviation_panel(deviations.filter(participant=name), name, top, last=name == names[-1])
        for name in names
    ]
    return Figure(
        name="cds",
        title="Calibration deviation",
        caption=(
            "Mean of |ESR − 1| over main effects (CDS_m), interactions (CDS_i) and all (CDS), with"
            f" 95 % intervals, bootstrap over {', '.join(over)}. 0 is perfect; a participant that"
            " rates all cells alike gets 1 (dashed)."
        ),
        chart=alt.vconcat(*panels, spacing=BETWEEN),
    )


def _deviation_panel(
    part: pl.DataFrame, name: str, top: float, *, last: bool
) -> alt.LayerChart | alt.FacetChart:
    measures = list(CDS.values())
    ends = alt.Scale(domain=[0, max(top, 1)], nice=True)
    kinds, below = alt.Scale(domain=measures), legend_below(None)
    rows = part.with_columns(row=pl.format("{}|{}", "prompting", "measure"))
    # A prompting's name stands at the middle one of its three measures.
    label = f"split(datum.label, '|')[1] == '{measures[1]}' ? split(datum.label, '|')[0] : ''"
    title = "Calibration deviation" if last else None
    across: dict[str, Any] = {"scale": ends, "title": title, "axis": alt.Axis(tickCount=5)}
    base = alt.Chart().encode(
        y=alt.Y(
            "row:N",
            title=None,
            sort=names_in(rows, "row"),
            axis=alt.Axis(labelExpr=label, ticks=False, grid=False),
        ),
        color=alt.Color("measure:N", title=None, scale=kinds, legend=below),
        tooltip=["participant:N", "prompting:N", "measure:N", *rounded("value", "low", "high")],
    )
    alike = alt.Chart(alt.Data(values=[{"at": 1}])).mark_rule(color="#555555", strokeDash=[3, 2])
    lines = base.mark_rule(strokeWidth=1.2).encode(x=alt.X("low:Q", **across), x2="high:Q")
    dots = base.mark_point(filled=True, size=22, opacity=1).encode(
        x=alt.X("value:Q", **across),
        shape=alt.Shape("measure:N", title=None, scale=kinds, legend=below),
    )
    return alt.layer(
        alike.encode(x=alt.X("at:Q", **across)),
        lines,
        dots,
        data=rows,
        title=alt.TitleParams(name, fontSize=8, limit=COLUMN),
    ).properties(width=COLUMN - 40, height=alt.Step(8))
