"""Figures of a choice study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from felicity.report.choice.analysis import OVERALL, Cell
from felicity.report.choice.silent_choices import SCORE_NAMES, ModelChoices
from felicity.report.choice.table import number
from felicity.report.figures import COLOURS, COLUMN, SHAPES, Figure
from felicity.report.groups.members import Grouping
from felicity.report.groups.tables import GroupStatistics, bounds, two
from felicity.study import Design

# Of the 8 cm what the names of levels leave for the marks.
PLOT = COLUMN - 62
# From one side of zero to the other, told apart in grey by the sign that stands in the cell.
DIVERGING = ("#b35806", "#f7f7f7", "#0072b2")
Rows = list[dict[str, Any]]


def accuracy_figure(
    grouping: Grouping, people: Mapping[str, Mapping[str, Cell]], design: Design
) -> Figure:
    """Draw every participant's accuracy by level, with its interval, and people's."""
    import altair as alt

    members = [m for group in grouping.groups for m in group.members] + list(grouping.others)
    cells = [(m.name, m.cells) for m in members] + list(people.items())
    names = [name for name, _ in cells]
    rows: Rows = [
        _cell_row(name, level.short, by[level.key]) for name, by in cells for level in design.levels
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y(
            "level:N", sort=[level.short for level in design.levels], title=None, axis=_names_axis()
        ),
        yOffset=alt.YOffset("participant:N", sort=names),
    )
    accuracy = alt.X(
        "accuracy:Q", title="Accuracy", scale=alt.Scale(domain=[0, 1]), axis=share_axis()
    )
    legend = alt.Legend(title=None, orient="bottom", columns=1, direction="vertical")
    dots = base.mark_point(filled=True, opacity=1).encode(
        x=accuracy,
        shape=alt.Shape("participant:N", sort=names, legend=legend, scale=_scale(names, SHAPES)),
        color=alt.Color("participant:N", sort=names, legend=legend, scale=_scale(names, COLOURS)),
        tooltip=["participant:N", "level:N", "accuracy:Q", "interval:N", "n:Q"],
    )
    bars = base.mark_rule(strokeWidth=1).encode(
        x=alt.X("low:Q", title="Accuracy"),
        x2="high:Q",
        color=alt.Color("participant:N", sort=names, legend=legend, scale=_scale(names, COLOURS)),
    )
    step = max(30, 7 * len(names) + 6)
    chances = {m.cells[key].chance for m in members for key in design.level_keys} or {0.5}
    # Where levels differ in chance no line is theirs.
    line = [reference_rule("x", chances.pop())] if len(chances) == 1 else []
    chart = alt.layer(*line, bars, dots).properties(width=PLOT, height=step * len(design.levels))
    return Figure(
        name="accuracy",
        title=f"Accuracy by {design.factor}",
        caption=f"Accuracy by {design.factor}, people last. Bars: 95 % intervals, over dialogues "
        "for models and over answers for people; published accuracies have none. The line is "
        "chance, where it is the same at all levels.",
        chart=chart,
    )


def _cell_row(name: str, level: str, cell: Cell) -> dict[str, Any]:
    interval = cell.interval
    return {
        "participant": name,
        "level": level,
        "accuracy": cell.accuracy,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "interval": bounds(interval),
        "n": cell.usable,
    }


def correlations_figure(statistics: Sequence[GroupStatistics], design: Design) -> Figure | None:
    """Draw the correlations between levels across a group's models, a heat map for each group."""
    import altair as alt

    shown = [s for s in statistics if s.concordance.models > 2]
    if not shown:
        return None
    titles = [level.short for level in design.levels]
    maps = [_heat_map(one, titles) for one in shown]
    chart = maps[0] if len(maps) == 1 else alt.vconcat(*maps, spacing=14)
    return Figure(
        name="figure1",
        title=f"Correlations between {design.factor}s across models",
        caption=f"Pearson's r of accuracies between {design.factor}s across the models of a group, "
        "with 95 % intervals by Fisher's z. With four models they are very wide; "
        "with three there is none.",
        chart=chart,
    )


def _heat_map(one: GroupStatistics, titles: Sequence[str]) -> Any:
    import altair as alt

    rows: Rows = []
    for i in range(1, len(titles)):
        for j in range(i):
            found = one.correlations[i][j]
            rows.append(
                {
                    "row": titles[i],
                    "column": titles[j],
                    "r": found.r,
                    "shown": "–" if found.r is None else two(found.r),
                    "interval": bounds(found.interval),
                    "n": found.n,
                    "dark": found.r is not None and abs(found.r) > 0.85,
                }
            )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("column:N", sort=list(titles), title=None, axis=_bare_axis()),
        y=alt.Y("row:N", sort=list(titles), title=None, axis=_bare_axis()),
    )
    ink = alt.condition("datum.dark", alt.value("white"), alt.value("black"))
    scale = alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING))
    tiles = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color("r:Q", scale=scale, legend=None),
        tooltip=["row:N", "column:N", "r:Q", "interval:N", "n:Q"],
    )
    words = base.mark_text(dy=-4, fontSize=9, fontWeight="bold").encode(text="shown:N", color=ink)
    ranges = base.mark_text(dy=6, fontSize=6).encode(text="interval:N", color=ink)
    n = one.concordance.models
    return (tiles + words + ranges).properties(
        width=PLOT + 6, height=28 * (len(titles) - 1), title=f"{one.group.name} (n = {n} models)"
    )


def choices_figure(model: ModelChoices, design: Design, number_of: int) -> Figure:
    """Draw one model's accuracy under every score and format."""
    import altair as alt

    titles = {level.key: level.short for level in design.levels} | {OVERALL: "Overall"}
    rows: Rows = [
        {
            "format": f"format {choice.format}",
            "score": SCORE_NAMES[choice.score],
            "level": titles[choice.level],
            "accuracy": choice.accuracy,
            "interval": bounds(choice.interval),
            "n": choice.usable,
        }
        for choice in model.choices
        if choice.accuracy is not None
    ]
    scores = list(SCORE_NAMES.values())
    below = legend_below(2)
    dots = (
        alt.Chart()
        .mark_point(filled=True, opacity=1)
        .encode(
            x=alt.X(
                "accuracy:Q", title="Accuracy", scale=alt.Scale(domain=[0, 1]), axis=share_axis()
            ),
            y=alt.Y("level:N", sort=list(titles.values()), title=None, axis=_names_axis()),
            yOffset=alt.YOffset("score:N", sort=scores),
            color=alt.Color("score:N", title="Score", legend=below, scale=_scale(scores, COLOURS)),
            shape=alt.Shape("score:N", title="Score", legend=below, scale=_scale(scores, SHAPES)),
            tooltip=["format:N", "score:N", "level:N", "accuracy:Q", "interval:N", "n:Q"],
        )
    )
    # Where levels differ in chance no line is theirs.
    line = [reference_rule("x", model.chances[0])] if len(model.chances) == 1 else []
    layered = alt.layer(*line, dots, data=alt.Data(values=rows)).properties(
        width=PLOT, height=24 * len(titles)
    )
    chart = layered.facet(
        row=alt.Row(
            "format:N",
            title=None,
            sort=[f"format {name}" for name in model.formats],
            header=alt.Header(orient="top", labelAnchor="start", labelPadding=2),
        )
    )
    at = f" The line at {number(model.chances[0])} is chance." if line else ""
    return Figure(
        name=f"choices_{number_of}",
        title=f"{model.name}: score and dialogue format",
        caption=f"{model.name}: accuracy by {design.factor} under each score, a panel for each "
        f"dialogue format, on the {model.items:,} items that all its runs have.{at}",
        chart=chart,
    )


def reference_rule(channel: str, value: float) -> Any:
    """Draw a dashed line at a value of ``x`` or ``y``."""
    import altair as alt

    rule = alt.Chart(alt.Data(values=[{}])).mark_rule(color="#666666", strokeDash=[3, 2])
    return rule.encode(**{channel: alt.datum(value)})


def share_axis() -> Any:
    """Mark an axis of shares at quarters."""
    import altair as alt

    return alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")


def _names_axis() -> Any:
    import altair as alt

    return alt.Axis(grid=False, ticks=False, domain=False, labelPadding=4)


def _bare_axis() -> Any:
    import altair as alt

    return alt.Axis(grid=False, ticks=False, domain=False, labelAngle=0, labelPadding=3)


def legend_below(columns: int) -> Any:
    """Put a legend below, in so many columns."""
    import altair as alt

    return alt.Legend(orient="bottom", columns=columns, titleOrient="left")


def _scale(domain: Sequence[str], values: Sequence[str]) -> Any:
    """Give each name a value; equal domains of colour and shape make one legend of both."""
    import altair as alt

    chosen = [values[place % len(values)] for place in range(len(domain))]
    return alt.Scale(domain=list(domain), range=chosen)
