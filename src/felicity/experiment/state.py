"""How far an experiment is, read from its run folders and locks; nothing else is believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from felicity.errors import FelicityError
from felicity.experiment.definition import Experiment
from felicity.experiment.log import Entry, Log
from felicity.experiment.tasks import ASKED, Task
from felicity.journal import Journal
from felicity.manifest import describe_format, read_manifest
from felicity.rating.journal import ReplyJournal
from felicity.rating.study import RatingStudy
from felicity.runner import JOURNAL
from felicity.study import Study

State = Literal["done", "running", "failed", "partial", "waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """How far one run is.

    Attributes
    ----------
    state
        ``done``: every trial has a response. ``running``: a process is at it now. ``failed``: its
        last try ended in an error. ``partial``: broken off. ``waiting``: not begun.
    rows, asked
        Trials answered, of those that a complete run has.
    time
        Of the last try, or when what is running was begun; UTC. Empty where there was none.
    reason
        Why it failed or ended early.
    """

    task: Task
    state: State
    rows: int
    asked: int
    time: str = ""
    reason: str = ""


def read_states(experiment: Experiment, tasks: Sequence[Task]) -> list[TaskState]:
    """Return how far each run is."""
    last = Log(experiment.out).last()
    # The lock ends with its process: a log whose last word is "started" may be of a dead one.
    begun = next(reversed(last.values()), None) if is_locked(experiment.out) else None
    now = begun.task if begun is not None and begun.event == "started" else None
    return [read_state(task, last.get(task.name), running=task.name == now) for task in tasks]


def read_state(task: Task, last: Entry | None = None, *, running: bool = False) -> TaskState:
    """Return how far one run is; ``last`` is its last line in the log."""
    wanted = task.trial_ids()
    time = last.time if last else ""
    try:
        rows = len(answered(task).intersection(wanted))
    except FelicityError as error:
        reason = str(error)
        return TaskState(
            task=task, state="failed", rows=0, asked=len(wanted), time=time, reason=reason
        )
    state: State
    reason = ""
    if rows == len(wanted):
        state = "done"
    elif running or is_locked(task.folder):
        state = "running"
    elif last is not None and last.event == "failed":
        state, reason = "failed", last.reason
    elif rows or (last is not None and last.event == "started"):
        state, reason = "partial", (last.reason if last else "") or "broken off"
    else:
        state = "waiting"
    return TaskState(task=task, state=state, rows=rows, asked=len(wanted), time=time, reason=reason)


def answered(task: Task) -> set[str]:
    """Return the trials that the run folder has answers to; none where there is no folder.

    Raises
    ------
    RunError
        Where the folder holds another run.
    """
    if not (task.folder / JOURNAL).is_file():
        return set()
    _check(task)
    if isinstance(task.study, RatingStudy) or task.method == ASKED:
        with ReplyJournal(task.folder / JOURNAL, read_only=True) as replies:
            return set(replies.known())
    with Journal(task.folder / JOURNAL, read_only=True) as journal:
        return set(journal.keys())


def _check(task: Task) -> None:
    """Refuse a folder whose manifest tells of another study, data, model or format."""
    told = read_manifest(task.folder)
    expected: dict[str, object] = {
        "study": task.study.name,
        "data_hash": task.study.data_hash,
        "model": task.member.spec,
    }
    got = {
        "study": told.get("study"),
        "data_hash": told.get("data_hash"),
        "model": told["participant"]["spec"],
    }
    if isinstance(task.study, Study) and task.method != ASKED:
        expected["format"] = describe_format(task.study.format(task.format))
        got["format"] = told.get("format")
    for name, value in expected.items():
        if got[name] != value:
            raise FelicityError(
                f"this folder holds another run: its {name} differs",
                where=str(task.folder),
                hint="give the model a label, or the experiment another out",
            )


def is_locked(folder: Path) -> bool:
    """Say whether a process is writing to a folder (`felicity.rating.journal.only_run`)."""
    path = folder / "run.lock"
    if not path.is_file():
        return False
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)) as lock:
        try:
            lock.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return True
    return False
