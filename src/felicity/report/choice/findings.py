"""What is computed of a choice study beside its main table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from felicity.report.choice.analysis import Analysis
from felicity.report.choice.margins import Margins, measure_margins
from felicity.report.choice.silent_choices import ModelChoices, compare_choices
from felicity.report.groups.members import Grouping, Member
from felicity.report.groups.tables import GroupStatistics, group_statistics
from felicity.report.groups.tests import GainRow, MixedModel, group_gains, mixed_model


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceFindings:
    """What is computed beside the main table: over groups, over choices, over margins.

    ``model`` is None with fewer than two participants.
    """

    grouping: Grouping
    statistics: tuple[GroupStatistics, ...]
    gains: tuple[GainRow, ...]
    gain_remarks: tuple[str, ...]
    model: MixedModel | None
    choices: tuple[ModelChoices, ...]
    margins: tuple[Margins, ...]


def find_out(analysis: Analysis, grouping: Grouping) -> ChoiceFindings:
    """Compute all that a choice report holds beside the main table."""
    design, seed = analysis.study.design, analysis.seed
    gains, remarks = group_gains(grouping, design, seed)
    runs = [m for m in (*_members(grouping), *grouping.others) if m.result is not None]
    model = None
    if len(runs) > 1:
        results = [m.result for m in runs if m.result is not None]
        model = mixed_model(results, _distinct([m.name for m in runs]), design)
    return ChoiceFindings(
        grouping=grouping,
        statistics=group_statistics(grouping, design, seed),
        gains=gains,
        gain_remarks=remarks,
        model=model,
        choices=compare_choices(analysis),
        margins=measure_margins(analysis),
    )


def _members(grouping: Grouping) -> list[Member]:
    return [member for group in grouping.groups for member in group.members]


def _distinct(names: Sequence[str]) -> list[str]:
    """Set apart names that are the same, so that each stands for one model."""
    return [
        f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]
