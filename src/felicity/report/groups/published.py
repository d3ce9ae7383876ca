"""Accuracies that others published, as rows for the tables of runs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from felicity.errors import Fault, FaultsError, RunError, one_of
from felicity.study import Design, list_studies, study_folder

FILE = "published.csv"
COLUMNS = ("group", "participant", "architecture", "accuracy", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A participant of a paper: its group there, and its accuracy at each level.

    ``group`` is "" for a row that stands by itself; ``architecture`` pairs groups, or is None.
    """

    group: str
    participant: str
    architecture: str | None
    accuracies: Mapping[str, float]
    source: str


def published_file(name: str) -> Path:
    """Return the file that a name means: a CSV file, or that of a study.

    Raises
    ------
    RunError
        Where the study has none.
    """
    if name not in list_studies() and not Path(name).is_dir():
        return Path(name)
    path = study_folder(name) / FILE
    if not path.is_file():
        raise RunError(
            f"this study has no {FILE}",
            where=name,
            hint=f"give a CSV file with {', '.join(COLUMNS)} and the study's factor",
        )
    return path


def read_published(path: Path, design: Design) -> tuple[Published, ...]:
    """Read accuracies from a CSV file, a row for each participant and level.

    Parameters
    ----------
    path
        With the columns ``group`` (empty for a row by itself), ``participant``, ``architecture``
        (may be empty), the study's factor, ``accuracy`` (0 to 1) and ``source``.
    design
        The study's: its factor and levels.

    Raises
    ------
    FaultsError
        With every fault of the file.
    RunError
        Where it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"cannot be read: {error}", where=str(path)) from error
    rows = csv.DictReader(text.splitlines())
    needed = {*COLUMNS, design.factor} - set(rows.fieldnames or ())
    faults = [_fault(path, column, "no such column", "a column", 1) for column in sorted(needed)]
    found: dict[tuple[str, str], dict[str, float]] = {}
    told: dict[tuple[str, str], tuple[str, str]] = {}
    for row in rows if not faults else ():
        key = (row["group"] or "", row["participant"] or "")
        new, value = _check(path, rows.line_num, row, design, found.get(key, {}))
        faults += new
        if not new:
            found.setdefault(key, {})[row[design.factor]] = value
            told.setdefault(key, (row["architecture"] or "", row["source"] or ""))
    for (group, participant), levels in found.items():
        missing = [key for key in design.level_keys if key not in levels]
        if missing and not faults:
            named = f"{group}/{participant}" if group else participant
            faults.append(_fault(path, named, f"no row for {', '.join(missing)}", "every level"))
    if not faults and not found:
        faults.append(_fault(path, "accuracy", "no row", "a row per participant and level"))
    if faults:
        raise FaultsError(faults, where=str(path))
    return tuple(
        Published(
            group=group,
            participant=participant,
            architecture=told[group, participant][0] or None,
            accuracies={key: levels[key] for key in design.level_keys},
            source=told[group, participant][1],
        )
        for (group, participant), levels in found.items()
    )


def _check(
    path: Path,
    line: int,
    row: Mapping[str, str | None],
    design: Design,
    before: Mapping[str, float],
) -> tuple[list[Fault], float]:
    faults = []
    level, shown = row[design.factor] or "", row["accuracy"] or ""
    if not row["participant"]:
        faults.append(_fault(path, "participant", "", "a name", line))
    if level not in design.level_keys:
        faults.append(_fault(path, design.factor, level, one_of(design.level_keys), line))
    elif level in before:
        faults.append(_fault(path, design.factor, level, "each level once a participant", line))
    try:
        value = float(shown)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        faults.append(_fault(path, "accuracy", shown, "a number from 0 to 1", line))
    return faults, value


def _fault(path: Path, field: str, got: str, allowed: str, line: int | None = None) -> Fault:
    return Fault(file=path.name, field=field, got=got, allowed=allowed, line=line)
