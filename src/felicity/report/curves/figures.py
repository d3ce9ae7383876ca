"""Figures of learning curves: accuracy, and how well the language is known, against words seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from felicity.report.choice.analysis import OVERALL, Analysis
from felicity.report.curves.analysis import Curve
from felicity.report.figures import COLOURS, COLUMN, SHAPES, Figure

# Two panels side by side in a column, with room for the axis.
PANEL = (COLUMN - 52) // 2


def curve_figures(curves: Sequence[Curve], analysis: Analysis) -> tuple[Figure, ...]:
    """Make the figures of all curves; needs felicity[report]."""
    figures = [_accuracy(curves, analysis)]
    if any(bits for curve in curves for bits in curve.bits):
        figures.append(_bits(curves, analysis))
    return tuple(figures)


def _accuracy(curves: Sequence[Curve], analysis: Analysis) -> Figure:
    import altair as alt

    levels = analysis.study.design.levels
    titles = {level.key: level.short for level in levels} | {OVERALL: "Overall"}
    people = next(iter(analysis.people), None)
    rows = [
        _row(curve, place, key, titles[key], analysis, people)
        for curve in curves
        for place in range(len(curve.points))
        for key in titles
    ]
    axis = _words_axis(alt, curves)
    share = alt.Y("accuracy:Q", title="Accuracy", scale=alt.Scale(domain=[0, 1]))
    chance = alt.Chart().mark_rule(strokeDash=[2, 2], color="#888888")
    layers = [chance.encode(y=alt.Y("mean(chance):Q", title="Accuracy"))]
    if people is not None:
        # One line a panel, though every checkpoint carries the figure.
        line = alt.Chart().mark_rule(color="#000000", strokeWidth=0.8)
        layers.append(line.encode(y=alt.Y("mean(people):Q", title="Accuracy")))
    layers += [
        alt.Chart().mark_line(strokeWidth=1).encode(x=axis, y=share, color=_colour(alt, curves)),
        alt.Chart()
        .mark_rule(strokeWidth=1)
        .encode(
            x=axis, y=alt.Y("low:Q", title="Accuracy"), y2="high:Q", color=_colour(alt, curves)
        ),
        alt.Chart()
        .mark_point(size=22, strokeWidth=1, filled=True, opacity=1)
        .encode(
            x=axis,
            y=share,
            stroke=_colour(alt, curves),
            fill=alt.condition("datum.above", _colour(alt, curves), alt.value("white")),
            shape=_shape(alt, curves),
            tooltip=["model:N", "words:Q", "level:N", "accuracy:Q", "low:Q", "high:Q", "usable:Q"],
        ),
    ]
    facet = alt.Facet(
        "level:N",
        title=None,
        sort=list(titles.values()),
        header=alt.Header(labelPadding=2),
    )
    chart = (
        alt.layer(*layers, data=alt.Data(values=rows))
        .properties(width=PANEL, height=64)
        .facet(facet=facet, columns=2, spacing={"row": 10, "column": 12})
    )
    beside = f", solid line {people}" if people else ""
    return Figure(
        name="curve",
        title=f"Accuracy by {analysis.study.design.factor} against words seen",
        caption=(
            f"Accuracy against words seen (log scale). Bars: 95 % intervals over dialogues. Dashed "
            f"line: chance{beside}. Filled: above chance (test over dialogues, Holm over "
            "checkpoints, α = .05); Overall is not tested."
        ),
        chart=chart,
    )


def _row(
    curve: Curve, place: int, key: str, title: str, analysis: Analysis, people: str | None
) -> dict[str, Any]:
    checkpoint, result = curve.points[place]
    cell, onset = result.cells[key], curve.onsets.get(key)
    return {
        "model": curve.name,
        "words": checkpoint.words,
        "level": title,
        "accuracy": cell.accuracy,
        "low": cell.interval.low if cell.interval else None,
        "high": cell.interval.high if cell.interval else None,
        "usable": cell.usable,
        "above": bool(onset and onset.above[place]),
        "chance": cell.chance,
        "people": analysis.people[people][key].accuracy if people else None,
    }


def _bits(curves: Sequence[Curve], analysis: Analysis) -> Figure:
    import altair as alt

    rows = [
        {"model": curve.name, "words": point[0].words, "answer": label, "bits": value}
        for curve in curves
        for point, bits in zip(curve.points, curve.bits, strict=True)
        for label, value in zip(analysis.study.design.answers, bits, strict=False)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_words_axis(alt, curves),
        y=alt.Y("bits:Q", title="Bits per character", scale=alt.Scale(zero=False)),
        color=_colour(alt, curves),
    )
    line = base.mark_line(strokeWidth=1).encode(
        strokeDash=alt.StrokeDash(
            "answer:N", title=None, sort=None, legend=alt.Legend(orient="top", offset=4)
        )
    )
    points = base.mark_point(size=22, filled=True, opacity=1).encode(
        shape=_shape(alt, curves), tooltip=["model:N", "words:Q", "answer:N", "bits:Q"]
    )
    return Figure(
        name="curve-bits",
        title="Bits per character of the answers against words seen",
        caption=(
            "Mean bits per character of the answers, given their questions, against words seen "
            "(log scale); lower is more probable."
        ),
        chart=alt.layer(line, points).properties(width=COLUMN - 46, height=90),
    )


def _words_axis(alt: Any, curves: Sequence[Curve]) -> Any:
    """Log scale, a label at each power of ten."""
    words = [point[0].words for curve in curves for point in curve.points]
    domain = [min(words) / 1.3, max(words) * 1.3]
    decades = range(math.ceil(math.log10(domain[0])), math.floor(math.log10(domain[1])) + 1)
    axis = alt.Axis(format="~s", values=[10**power for power in decades], grid=False)
    return alt.X(
        "words:Q",
        title="Words seen",
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=axis,
    )


def _colour(alt: Any, curves: Sequence[Curve]) -> Any:
    names = [curve.name for curve in curves]
    legend = (
        alt.Legend(title=None, orient="bottom", columns=2, offset=4) if len(names) > 1 else None
    )
    scale = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    return alt.Color("model:N", scale=scale, legend=legend)


def _shape(alt: Any, curves: Sequence[Curve]) -> Any:
    names = [curve.name for curve in curves]
    legend = (
        alt.Legend(title=None, orient="bottom", columns=2, offset=4) if len(names) > 1 else None
    )
    scale = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    return alt.Shape("model:N", scale=scale, legend=legend)
