"""Tables of models in groups: accuracy, ranks of difficulty, concordance, correlations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from felicity.report.choice.analysis import OVERALL, Cell
from felicity.report.choice.table import chance_words, number, show_cell
from felicity.report.groups.members import Group, Grouping
from felicity.report.text_table import NONE, TextTable
from felicity.stats.accuracy import Interval
from felicity.stats.concordance import (
    Concordance,
    Correlation,
    correlate_levels,
    difficulty_ranks,
    kendall_w,
)
from felicity.study import Design

STAR = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatistics:
    """What a group's models have in common: concordance of ranks, correlations of levels."""

    group: Group
    concordance: Concordance
    correlations: tuple[tuple[Correlation, ...], ...]


def group_statistics(grouping: Grouping, design: Design, seed: int) -> tuple[GroupStatistics, ...]:
    """Compute the statistics of every group with two models or more."""
    found = []
    for group in grouping.groups:
        accuracies = group.accuracies(design.level_keys)
        if len(accuracies) < 2:
            continue
        found.append(
            GroupStatistics(
                group=group,
                concordance=kendall_w(accuracies, np.random.default_rng(seed)),
                correlations=correlate_levels(accuracies),
            )
        )
    return tuple(found)


def grouped_table(
    grouping: Grouping,
    people: Mapping[str, Mapping[str, Cell]],
    design: Design,
    *,
    intervals: bool = False,
) -> TextTable:
    """Make the table of accuracies by group: averages below, best in bold, best average starred."""
    keys = [*design.level_keys, OVERALL]
    starred = _highest_averages(grouping, keys)
    members = [m for group in grouping.groups for m in group.members]
    of_levels = [m.cells[key] for m in (*members, *grouping.others) for key in design.level_keys]
    rows: list[tuple[str, ...]] = []
    bold: set[tuple[int, int]] = set()
    for group in grouping.groups:
        best = _best(group, keys)
        for member in group.members:
            for place, key in enumerate(keys):
                if _is(member.cells[key].accuracy, best[key]):
                    bold.add((len(rows), place + 2))
            shown = (show_cell(member.cells[key], intervals) for key in keys)
            rows.append((group.name, member.name, *shown))
        if len(group.members) > 1:
            shown = (
                number(group.average(key)) + (STAR if group.name in starred[key] else "")
                for key in keys
            )
            rows.append((group.name, "average", *shown))
    below = [(member.name, member.cells) for member in grouping.others] + list(people.items())
    rows += [
        (NONE, name, *(show_cell(cells[key], intervals) for key in keys)) for name, cells in below
    ]
    ranged = (
        " In brackets 95 % intervals: over dialogues for models, over answers for people; published"
        " accuracies have none."
        if intervals
        else ""
    )
    return TextTable(
        name="table2_intervals" if intervals else "table2",
        title=f"Accuracy by {design.factor} and group" + (" with intervals" if intervals else ""),
        header=("Group", "Participant", *(level.short for level in design.levels), "Overall"),
        rows=tuple(rows),
        people=len(people),
        note="Bold: the best of a group of several. Star: the highest average of a group. Overall: "
        f"the mean of the levels. Chance is {chance_words(of_levels)}.{ranged}",
        bold=frozenset(bold),
    )


def _best(group: Group, keys: Sequence[str]) -> dict[str, float | None]:
    best: dict[str, float | None] = {}
    for key in keys:
        values = [v for m in group.members if (v := m.cells[key].accuracy) is not None]
        best[key] = max(values) if len(group.members) > 1 and values else None
    return best


def _highest_averages(grouping: Grouping, keys: Sequence[str]) -> dict[str, set[str]]:
    """Name the groups with the highest average, level by level; none where there is one group."""
    averages = {g.name: {key: g.average(key) for key in keys} for g in grouping.groups}
    found: dict[str, set[str]] = {}
    for key in keys:
        values = {name: v for name, by in averages.items() if (v := by[key]) is not None}
        top = max(values.values(), default=None)
        found[key] = {n for n, v in values.items() if len(values) > 1 and _is(v, top)}
    return found


def _is(value: float | None, best: float | None) -> bool:
    return value is not None and best is not None and abs(value - best) < 1e-9


def ranks_table(grouping: Grouping, design: Design) -> TextTable | None:
    """Make the table of each level's rank of difficulty within each model."""
    rows = []
    for group in grouping.groups:
        members = group.whole(design.level_keys)
        if len(members) < 2:
            continue
        ranks = difficulty_ranks(group.accuracies(design.level_keys))
        for member, row in zip(members, ranks, strict=True):
            rows.append((group.name, member.name, *(f"{rank:g}" for rank in row)))
        rows.append((group.name, "mean rank", *(f"{mean:.2f}" for mean in ranks.mean(axis=0))))
    if not rows:
        return None
    cells = [m.cells[key] for g in grouping.groups for m in g.members for key in design.level_keys]
    unequal = ""
    if len({cell.chance for cell in cells}) > 1:
        unequal = (
            f" Chance is {chance_words(cells)}: models that only guess agree on these ranks, too."
        )
    return TextTable(
        name="table3",
        title=f"Rank of difficulty of each {design.factor}",
        header=("Group", "Participant", *(level.short for level in design.levels)),
        rows=tuple(rows),
        note="1 is the hardest (lowest accuracy); ties share their mean rank." + unequal,
    )


def concordance_table(statistics: Sequence[GroupStatistics]) -> TextTable | None:
    """Make the table of Kendall's W per group."""
    if not statistics:
        return None
    rows = [(s.group.name, *_concordance_cells(s.concordance)) for s in statistics]
    return TextTable(
        name="table3_concordance",
        title="Agreement of a group's models on which levels are hard (Kendall's W)",
        header=("Group", "Models", "W", "W without ties", "χ²", "df", "p", "p by permutation"),
        rows=tuple(rows),
        left=1,
        note="W is corrected for ties; beside it without the correction. χ² and p are of the "
        "corrected W, and rough for few models: p by permutation shuffles the ranks within each "
        "model.",
    )


def _concordance_cells(found: Concordance) -> tuple[str, ...]:
    w, plain = (three(value) for value in (found.w, found.w_uncorrected))
    chi2 = NONE if found.chi2 is None else f"{found.chi2:.2f}"
    p, shuffled = (p_value(value) for value in (found.p, found.p_permutation))
    return str(found.models), w, plain, chi2, str(found.df), p, shuffled


def correlations_table(statistics: Sequence[GroupStatistics], design: Design) -> TextTable | None:
    """Make the table of correlations between levels across models."""
    rows = []
    for one in statistics:
        for first, second in itertools.combinations(range(len(design.levels)), 2):
            found = one.correlations[first][second]
            names = f"{design.levels[first].short} – {design.levels[second].short}"
            rows.append(
                (one.group.name, names, three(found.r), bounds(found.interval), str(found.n))
            )
    if not rows:
        return None
    return TextTable(
        name="correlations",
        title=f"Correlation of accuracies between {design.factor}s across a group's models",
        header=("Group", "Pair", "r", "95 % interval", "n"),
        rows=tuple(rows),
        note="Pearson's r; intervals by Fisher's z with the number of models as n. Four models say "
        "little, as the intervals show. Fewer have none, and two models give "
        "±1 whatever they do, so that no r is shown.",
    )


def three(value: float | None) -> str:
    """Write a coefficient with three places.

    Examples
    --------
    >>> three(0.8076), three(-0.166), three(1.0), three(None)
    ('.808', '−.166', '1.000', '–')
    """
    if value is None:
        return NONE
    text = f"{abs(value):.3f}"
    return ("−" if value < 0 and float(text) else "") + text.removeprefix("0")


def bounds(interval: Interval | None) -> str:
    """Write an interval in brackets, with two places.

    Examples
    --------
    >>> bounds(Interval(low=-0.5, high=0.25, method="")), bounds(None)
    ('[−.50, .25]', '–')
    """
    if interval is None:
        return NONE
    return f"[{two(interval.low)}, {two(interval.high)}]"


def two(value: float) -> str:
    """Write a signed share with two places.

    Examples
    --------
    >>> two(-0.155), two(0.999), two(0.0)
    ('−.16', '1.00', '.00')
    """
    text = number(abs(value))
    return f"−{text}" if value < 0 and text != ".00" else text


def p_value(p: float | None) -> str:
    """Write a p-value with three places, never as 0.

    Examples
    --------
    >>> p_value(0.0119), p_value(0.00004), p_value(1.0), p_value(None)
    ('.012', '< .001', '1.000', '–')
    """
    return "< .001" if p is not None and p < 0.001 else three(p)
