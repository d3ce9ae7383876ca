"""Figures of how means go with form and context, and of how replies spread over the scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import altair as alt
import polars as pl

from felicity.report.figures import COLOURS, COLUMN, Figure
from felicity.report.rating.charts import (
    BETWEEN,
    WIDE,
    header,
    legend_below,
    names_in,
    rounded,
    slug,
)
from felicity.report.rating.marks import PEOPLE, bins_of, profile_marks, reply_marks, roles_of
from felicity.report.rating.replies import RatingDescription
from felicity.types import Scale

# Blue and black, and their lighter fellows: apart in grey too.
FIRST, SECOND = "#0072b2", "#8cc8ea"
DASHES = ([1, 0], [3, 2], [1, 2])
# What is longer than eight letters is cut.
SHORT = "length(datum.label) > 8 ? slice(datum.label, 0, 6) + '.' : datum.label"


def profile_figures(analysis: RatingDescription) -> Iterator[Figure]:
    """Draw each participant's means with people's, in a panel per attribute and prompting."""
    marks = profile_marks(analysis)
    for name, stem in _stems(names_in(marks, "participant")):
        part = marks.filter(pl.col("participant") == name)
        yield _profile(part, name, f"means-{stem}", analysis, COLUMN)
        yield _profile(part, name, f"means-{stem}-wide", analysis, WIDE)


def _profile(
    marks: pl.DataFrame, name: str, stem: str, analysis: RatingDescription, width: int
) -> Figure:
    """In one column attributes go down and promptings across; in two the other way round."""
    roles = roles_of(analysis.study)
    narrow = width == COLUMN
    across, down = ("prompting", "panel") if narrow else ("panel", "prompting")
    columns, rows = names_in(marks, across), names_in(marks, down)
    room = width - 46 - BETWEEN * (len(columns) - 1)
    side = min(max(room // len(columns), 30), 80)
    chart = _profile_layers(name, analysis).properties(width=side, height=50 if narrow else 70)
    return Figure(
        name=stem,
        title=f"{name}: means by {' and '.join(filter(None, (roles.x, roles.line)))}",
        caption=_profile_caption(analysis, name),
        chart=chart.facet(
            column=header(alt.Column, across, columns),
            row=header(alt.Row, down, rows, labelFontSize=7),
            data=marks,
            spacing=BETWEEN,
        ),
    )


def _profile_layers(name: str, analysis: RatingDescription) -> alt.LayerChart | alt.FacetChart:
    """Layer lines, intervals and points; data come with the panels."""
    roles, study = roles_of(analysis.study), analysis.study
    low, high = study.scale.low, study.scale.high
    who = [PEOPLE, name]
    lines = list(study.factors[roles.line]) if roles.line else [""]
    kinds = alt.Scale(domain=lines)
    dashes = alt.Scale(domain=lines, range=[DASHES[i % len(DASHES)] for i in range(len(lines))])
    below = legend_below(roles.line) if roles.line else None
    # Layers that share an axis must agree on it.
    up: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(domain=[low, high]),
        "axis": alt.Axis(values=[low, (low + high) / 2, high]),
    }
    y = alt.Y("mean:Q", **up)
    base = alt.Chart().encode(
        x=alt.X(
            "x:N",
            title=None,
            sort=list(study.factors[roles.x]),
            axis=alt.Axis(labelAngle=0, labelExpr=SHORT, grid=False),
            scale=alt.Scale(padding=0.5),
        ),
        xOffset=alt.XOffset("who:N", sort=who),
        color=alt.Color(
            "who:N",
            title=None,
            scale=alt.Scale(domain=who, range=["#000000", FIRST]),
            legend=legend_below(None, symbolType="stroke", symbolStrokeWidth=2),
        ),
        tooltip=[
            *("who:N", "prompting:N", "panel:N", "x:N", "line:N", "n:N"),
            *rounded("mean", "low", "high"),
        ],
    )
    dash = alt.StrokeDash("line:N", title=roles.line, scale=dashes, legend=below)
    shape = alt.Shape("line:N", title=roles.line, scale=kinds, legend=below)
    return alt.layer(
        base.mark_line(strokeWidth=1.1).encode(y=y, strokeDash=dash, detail="line:N"),
        base.mark_rule(strokeWidth=0.8).encode(y=alt.Y("low:Q", **up), y2="high:Q"),
        base.mark_point(filled=True, size=14, opacity=1).encode(y=y, shape=shape),
    )


def _profile_caption(analysis: RatingDescription, name: str) -> str:
    roles = roles_of(analysis.study)
    lines = f", a line for each {roles.line}" if roles.line else ""
    return (
        f"Mean ratings by {roles.x}{lines}. Lines that are not parallel: an interaction. 95 %"
        f" intervals: of {name} bootstrap over scenarios and repeats, of people Student's t over"
        " ratings."
    )


def reply_figures(analysis: RatingDescription) -> Iterator[Figure]:
    """Draw histograms of replies, a figure for each participant and prompting."""
    marks = reply_marks(analysis)
    pairs = marks.select("participant", "prompting").unique(maintain_order=True).rows()
    stems = dict(_stems(dict.fromkeys(name for name, _ in pairs)))
    for name, prompting in pairs:
        part = marks.filter(participant=name, prompting=prompting)
        stem = f"replies-{stems[name]}-{slug(prompting)}"
        yield _replies(part, name, prompting, stem, analysis)


def _replies(
    marks: pl.DataFrame, name: str, prompting: str, stem: str, analysis: RatingDescription
) -> Figure:
    roles, study = roles_of(analysis.study), analysis.study
    first, *others = study.factors[roles.x]
    lines = list(study.factors[roles.line]) if roles.line else [""]
    side = (COLUMN - 72 - BETWEEN * (len(lines) - 1)) // len(lines)
    words = {"labelAlign": "left", "labelAngle": 0, "labelFontSize": 7}
    chart = alt.layer(*_reply_layers(analysis)).properties(width=side, height=34)
    return Figure(
        name=stem,
        title=f"{name}, {prompting}: replies",
        caption=(
            f"Shares of the usable replies in each cell: {first} upwards,"
            f" {' and '.join(others)} downwards. Dashed: people's mean."
        ),
        chart=chart.facet(
            column=header(alt.Column, "line", [f"{roles.line}: {level}" for level in lines]),
            row=header(alt.Row, "panel", names_in(marks, "panel"), **words),
            data=marks.with_columns(line=pl.format("{}: {}", pl.lit(roles.line or ""), "line")),
            spacing={"row": 5, "column": BETWEEN},
        ),
    )


def _reply_layers(analysis: RatingDescription) -> tuple[alt.Chart, alt.Chart]:
    roles, study = roles_of(analysis.study), analysis.study
    levels, edges = list(study.factors[roles.x]), bins_of(study.scale)
    # Layers that share an axis must agree on it.
    across: dict[str, Any] = {
        "title": "Rating",
        "scale": alt.Scale(domain=[edges[0], edges[-1]], nice=False),
        "axis": alt.Axis(format="d", grid=False, values=_ticks(study.scale)),
    }
    up: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(domain=[-1, 1]),
        "axis": alt.Axis(values=[-1, 0, 1], labelExpr="abs(datum.value)"),
    }
    shades = alt.Scale(domain=levels, range=[FIRST, SECOND, *COLOURS[1:]][: len(levels)])
    base = alt.Chart().transform_calculate(zero="0")
    bars = base.mark_rect(stroke="white", strokeWidth=0.4).encode(
        x=alt.X("from:Q", **across),
        x2="to:Q",
        y=alt.Y("share:Q", **up),
        y2="zero:Q",
        color=alt.Color("x:N", title=roles.x, scale=shades, legend=legend_below(roles.x)),
        tooltip=["x:N", "line:N", "panel:N", "from:Q", "to:Q", "n:N", *rounded("share")],
    )
    people = (
        base.mark_rule(color="black", strokeWidth=1, strokeDash=[2, 1.5])
        .encode(x=alt.X("people:Q", **across), y=alt.Y("zero:Q", **up), y2="side:Q")
        .transform_filter(f"datum.from == {edges[0]} && datum.people != null")
    )
    return bars, people


def _ticks(scale: Scale) -> list[int]:
    return list(range(scale.low, scale.high + 1, max(1, (scale.high - scale.low) // 6)))


def _stems(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each participant a stem of its own for files."""
    taken: set[str] = set()
    for name in names:
        stem, number = slug(name), 2
        while stem in taken:
            stem, number = f"{slug(name)}-{number}", number + 1
        taken.add(stem)
        yield name, stem
