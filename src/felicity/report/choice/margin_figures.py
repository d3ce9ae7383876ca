"""Figures of margins: how they are distributed, and how often wide ones are right."""

from __future__ import annotations

from typing import Any

import numpy as np

from felicity.report.choice.figures import legend_below, reference_rule, share_axis
from felicity.report.choice.margins import Margins
from felicity.report.choice.table import rivals
from felicity.report.figures import COLOURS, COLUMN, Figure
from felicity.report.groups.tables import bounds, two
from felicity.study import Design

HISTOGRAM_BINS = 40
Rows = list[dict[str, Any]]


def margins_figure(found: Margins, design: Design, number_of: int) -> Figure:
    """Draw how one participant's margins are distributed, a panel for each level."""
    import altair as alt

    everything = np.concatenate(list(found.by_level.values()))
    sides = [design.answers[0], rivals(design)]
    reach = float(np.abs(everything).max()) if len(everything) else 1.0
    edges = np.linspace(-reach, reach, HISTOGRAM_BINS + 1)
    rows: Rows = [
        {
            "level": level.short,
            "low": float(low),
            "high": float(high),
            "items": int(count),
            "side": sides[0] if low >= -1e-12 else sides[1],
        }
        for level in design.levels
        for low, high, count in zip(
            edges,
            edges[1:],
            np.histogram(found.by_level[level.key], edges)[0],
            strict=False,
        )
    ]
    bars = (
        alt.Chart()
        .mark_bar(stroke="white", strokeWidth=0.3)
        .encode(
            x=alt.X("low:Q", bin="binned", title=f"Margin ({found.score})"),
            x2="high:Q",
            y=alt.Y("items:Q", title=None, axis=alt.Axis(tickCount=2)),
            color=alt.Color(
                "side:N",
                sort=sides,
                scale=alt.Scale(domain=sides, range=[COLOURS[0], COLOURS[1]]),
                title="Higher score",
                legend=legend_below(2),
            ),
            tooltip=["level:N", "low:Q", "high:Q", "items:Q"],
        )
    )
    layered = alt.layer(bars, reference_rule("x", 0), data=alt.Data(values=rows)).properties(
        width=COLUMN - 30, height=34
    )
    chart = layered.facet(
        row=alt.Row(
            "level:N",
            title=None,
            sort=[level.short for level in design.levels],
            header=alt.Header(orient="top", labelAnchor="start", labelPadding=1),
        ),
        spacing=6,
    )
    return Figure(
        name=f"margins_{number_of}",
        title=f"{found.name}, format {found.format}: margins",
        caption=f"{found.name}, format {found.format}: items by margin, the {sides[0]}'s "
        f"{found.score} minus the {sides[1]}'s; right of 0 the {sides[0]} wins.",
        chart=chart,
    )


def calibration_figure(found: Margins, number_of: int) -> Figure | None:
    """Draw how often one participant's margins of each width are right, beside what they claim."""
    import altair as alt

    if found.calibration is None or not found.calibration.bins:
        return None
    rows: Rows = [
        {
            "expected": part.confidence,
            "accuracy": part.accuracy,
            "low": part.interval.low if part.interval else None,
            "high": part.interval.high if part.interval else None,
            "interval": bounds(part.interval),
            "n": part.n,
            "margin": f"{part.low:.2f} to {part.high:.2f}",
        }
        for part in found.calibration.bins
    ]
    x = alt.X(
        "expected:Q",
        title="Expected: logistic function of |margin|",
        scale=alt.Scale(domain=[0.5, 1]),
        axis=share_axis(),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x)
    y = alt.Y("accuracy:Q", title="Accuracy", scale=alt.Scale(domain=[0, 1]), axis=share_axis())
    dots = base.mark_point(filled=True, opacity=1, size=40, color=COLOURS[0]).encode(
        y=y, tooltip=["margin:N", "n:Q", "expected:Q", "accuracy:Q", "interval:N"]
    )
    line = base.mark_line(color=COLOURS[0], strokeWidth=1).encode(y=y)
    bars = base.mark_rule(color=COLOURS[0]).encode(y=alt.Y("low:Q", title="Accuracy"), y2="high:Q")
    ends = [{"expected": 0.5, "accuracy": 0.5}, {"expected": 1.0, "accuracy": 1.0}]
    diagonal = (
        alt.Chart(alt.Data(values=ends))
        .mark_line(color="#666666", strokeDash=[3, 2], strokeWidth=1)
        .encode(x=x, y=y)
    )
    error = found.calibration.error or 0.0
    return Figure(
        name=f"calibration_{number_of}",
        title=f"{found.name}, format {found.format}: calibration",
        caption=f"{found.name}, format {found.format}: accuracy of items in bins of about equal "
        f"number by width of the margin ({found.score}), with 95 % intervals over dialogues. On "
        "the dashed line a margin is right as often as it claims. Expected calibration error "
        f"{two(error)} over {found.calibration.n} items.",
        chart=(diagonal + bars + line + dots).properties(width=COLUMN - 40, height=130),
    )
