"""Turn files of answers into a study's reference, with all that was left out and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from felicity.errors import Fault, FaultsError, FelicityError
from felicity.rating.study import RatingStudy
from felicity.study import Study
from felicity.survey.exclusions import Selection, select_sessions
from felicity.survey.rows import Row, read_rows
from felicity.survey.sessions import gather_sessions
from felicity.survey.tables import (
    choices_table,
    count_choices,
    participants_table,
    rating_cells,
    ratings_table,
)

HINT = "felicity survey import reads answers to this study's very items, as the page gave them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of the files.

    Attributes
    ----------
    selection
        Sessions kept and left out.
    participants, answers
        A row per session; a row per answer (choice) or rated scene (rating).
    reference
        The study's reference; None where `short` says why there is none.
    short
        Why the answers do not make a reference yet, or None.
    left_out
        Rows of sessions or participants that were named to be left out.
    """

    selection: Selection
    participants: pl.DataFrame
    answers: pl.DataFrame
    reference: pl.DataFrame | None
    short: FelicityError | None
    left_out: int


def import_answers(
    paths: Sequence[Path],
    study: Study | RatingStudy,
    *,
    group: str = "People",
    source: str | None = None,
    allow_failed: int = 0,
    complete_only: bool = False,
    without: Collection[str] = (),
) -> Imported:
    """Read files of answers to one study and make its reference.

    Parameters
    ----------
    paths
        jsPsych's JSON or CSV files, or SQLite files of `felicity survey serve`, in any mixture.
    group, source
        Choice: what the people are called in the reference, and where they are from; made from
        the sessions where not given.
    allow_failed, complete_only
        See `select_sessions`.
    without
        Sessions or participants that are to be left out before anything is checked.

    Raises
    ------
    FaultsError
        With every fault of every file.
    FelicityError
        Where no session is left.
    """
    rows, faults = read_rows(paths)
    left = [row for row in rows if not _named(row, without)]
    faults += _unknown(without, rows)
    sessions, more = gather_sessions(left, study)
    faults += more
    if faults:
        raise FaultsError(faults, where="survey import", hint=HINT)
    selection = select_sessions(sessions, allow_failed=allow_failed, complete_only=complete_only)
    if not selection.kept:
        told = "; ".join(f"{k}: {v}" for k, v in selection.counts().items() if v)
        raise FelicityError(f"no session is left ({told})", where="survey import")
    reference: pl.DataFrame | None = None
    short: FelicityError | None = None
    if isinstance(study, Study):
        answers = choices_table(selection, study)
        told = source or _source(selection)
        try:
            reference = pl.DataFrame(count_choices(selection, study, group=group, source=told))
        except FelicityError as error:
            short = error
    else:
        answers = ratings_table(selection, study)
        try:
            reference = rating_cells(answers, study)
        except FelicityError as error:
            short = error
    return Imported(
        selection=selection,
        participants=participants_table(selection),
        answers=answers,
        reference=reference,
        short=short,
        left_out=len(rows) - len(left),
    )


def _named(row: Row, names: Collection[str]) -> bool:
    return any(str(row.values.get(key) or "") in names for key in ("session", "participant"))


def _unknown(names: Collection[str], rows: Sequence[Row]) -> list[Fault]:
    there = {str(row.values.get(key)) for row in rows for key in ("session", "participant")}
    return [
        Fault(
            file="--without", field="session or participant", got=name, allowed="one that is there"
        )
        for name in sorted(set(names) - there)
    ]


def _source(selection: Selection) -> str:
    surveys = sorted({each.survey for each in selection.kept})
    days = sorted({each.started[:10] for each in selection.kept} - {""})
    when = f", {days[0]}" + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    people = len(selection.kept)
    several = "s" if people > 1 else ""
    return f"Felicity survey {', '.join(surveys)}: {people} participant{several}{when}"
