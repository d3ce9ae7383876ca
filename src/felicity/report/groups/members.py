"""Models in groups: who stands in which, with which accuracies, run here or published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from felicity.errors import OptionError
from felicity.report.choice.analysis import OVERALL, Analysis, Cell, ParticipantResult
from felicity.report.choice.table import names_of
from felicity.report.groups.published import Published
from felicity.stats.accuracy import Floats

OPTION = "--group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One row of the grouped tables.

    Attributes
    ----------
    name, architecture
        As tables name it; the architecture (of a run, from its manifest) pairs groups.
    cells
        By level and overall; of a published row the accuracies alone, without counts.
    result
        The run's; None for a published row.
    """

    name: str
    architecture: str | None
    cells: Mapping[str, Cell]
    result: ParticipantResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Models that belong together, such as those of one track of a challenge."""

    name: str
    members: tuple[Member, ...]

    def whole(self, keys: Sequence[str]) -> tuple[Member, ...]:
        """Return the members that have an accuracy at every level."""
        return tuple(m for m in self.members if all(m.cells[k].accuracy is not None for k in keys))

    def accuracies(self, keys: Sequence[str]) -> Floats:
        """Accuracies of the whole members, shape (members, levels)."""
        rows = [[m.cells[key].accuracy for key in keys] for m in self.whole(keys)]
        return np.asarray(rows, dtype=np.float64).reshape(len(rows), len(keys))

    def average(self, key: str) -> float | None:
        """Mean accuracy at a level over the members that have one; None of one member or none."""
        values = [v for m in self.members if (v := m.cells[key].accuracy) is not None]
        return float(np.mean(values)) if len(self.members) > 1 and values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Groups in their order, and the rows that stand in none."""

    groups: tuple[Group, ...]
    others: tuple[Member, ...] = ()


def group_members(
    analysis: Analysis, asked: Sequence[str] = (), published: Sequence[Published] = ()
) -> Grouping:
    """Sort runs and published rows into groups.

    Parameters
    ----------
    analysis
        The runs, if any.
    asked
        ``NAME=A,B`` each: A and B are participants' names, or run folders. Published rows can be
        named too; those that are not keep the group of their file.
    published
        Rows of a file of accuracies.

    Raises
    ------
    OptionError
        For a group without name or members, given twice, with an unknown or ambiguous member, or
        with one that another group has.
    """
    runs = _run_members(analysis)
    papers = {
        f"published:{row.group}/{row.participant}": Member(
            name=row.participant, architecture=row.architecture, cells=_plain_cells(row)
        )
        for row in published
    }
    known = runs | papers
    home = {f"published:{row.group}/{row.participant}": row.group for row in published if row.group}
    placed: dict[str, str] = {}
    names: list[str] = []
    for text in asked:
        name, members = _parse(text)
        if name in names:
            raise OptionError(f'got "{name}" twice; expected each group once', where=OPTION)
        names.append(name)
        for wanted in members:
            key = _find(wanted, known)
            if key in placed:
                raise OptionError(
                    f'got "{wanted}" in {placed[key]} and {name}; expected it in one group',
                    where=OPTION,
                )
            placed[key] = name
    for key, name in home.items():
        if key not in placed:
            placed[key] = name
            if name not in names:
                names.append(name)
    return Grouping(
        groups=tuple(
            Group(name=name, members=tuple(known[k] for k in placed if placed[k] == name))
            for name in names
        ),
        others=tuple(member for key, member in known.items() if key not in placed),
    )


def _run_members(analysis: Analysis) -> dict[str, Member]:
    """Sort runs by folder; a name says the format too where the formats differ."""
    formats = [str(r.run.manifest["format"]["name"]) for r in analysis.participants]
    names = names_of(analysis)
    members = {}
    for name, fmt, result in zip(names, formats, analysis.participants, strict=True):
        shown = f"{name}, {fmt}" if len(set(formats)) > 1 else name
        members[str(result.run.folder.resolve())] = Member(
            name=shown,
            architecture=result.run.manifest["participant"].get("architecture"),
            cells=result.cells,
            result=result,
        )
    return members


def _plain_cells(row: Published) -> dict[str, Cell]:
    values = dict(row.accuracies)
    values[OVERALL] = float(np.mean(list(values.values())))
    return {
        key: Cell(accuracy=value, interval=None, correct=0, ties=0, usable=0, asked=0, units=0)
        for key, value in values.items()
    }


def _parse(text: str) -> tuple[str, list[str]]:
    name, found, rest = text.partition("=")
    members = [part.strip() for part in rest.split(",") if part.strip()]
    if not (found and name.strip() and members):
        raise OptionError(f'got "{text}"; expected NAME=A,B', where=OPTION)
    return name.strip(), members


def _find(wanted: str, known: Mapping[str, Member]) -> str:
    """Return the key of the member that a word means: a folder, or a name."""
    folder = str(Path(wanted).resolve())
    if folder in known:
        return folder
    found = [key for key, member in known.items() if _means(wanted, key, member)]
    if len(found) == 1:
        return found[0]
    candidates = [member for key, member in known.items() if not found or key in found]
    listed = "; ".join(
        f"{member.name} ({member.result.run.folder})" if member.result else member.name
        for member in candidates
    )
    if found:
        raise OptionError(
            f'got "{wanted}", which {len(found)} have: {listed}',
            where=OPTION,
            hint="give the run's folder",
        )
    raise OptionError(f'got "{wanted}"; expected a participant of {listed}', where=OPTION)


def _means(wanted: str, key: str, member: Member) -> bool:
    if wanted in (member.name, Path(key).name):
        return True
    return member.result is not None and wanted == member.result.run.label
