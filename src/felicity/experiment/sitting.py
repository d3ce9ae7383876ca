"""Run what is missing of an experiment; a run that fails does not stop the others."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from felicity.errors import FelicityError, RunError
from felicity.experiment.definition import Experiment
from felicity.experiment.log import Log
from felicity.experiment.state import TaskState, read_state
from felicity.experiment.tasks import Task
from felicity.rating.journal import only_run

Report = Callable[[str], None]
Jobs = Sequence[Callable[[], None]]


def _one_by_one(jobs: Jobs) -> None:
    for job in jobs:
        job()


def run_experiment(
    experiment: Experiment,
    tasks: Sequence[Task],
    run_task: Callable[[Task], str],
    report: Report = lambda _: None,
    do_all: Callable[[Jobs], None] = _one_by_one,
) -> list[TaskState]:
    """Run every task that is not done.

    Parameters
    ----------
    experiment, tasks
        From `read_experiment` and `plan_tasks`.
    run_task
        Runs one task in its folder; returns why it ended before all was asked, or nothing.
    report
        Called with a line for each task.
    do_all
        Does jobs, one for each model whose answers are scored: one by one, or several at once.
        Runs of other kinds come after them, one by one.

    Returns
    -------
    list of TaskState
        As it is in the end, in the order of ``tasks``.

    Raises
    ------
    RunError
        Where another process is running this experiment, or its folder cannot be written.
    """
    try:
        experiment.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot be made: {error.strerror}",
            where=str(experiment.out),
            hint="choose another `out`",
        ) from error
    log = Log(experiment.out)
    with only_run(experiment.out):
        last = log.last()
        before = [read_state(task, last.get(task.name)) for task in tasks]
        missing = [each for each in before if each.state != "done"]
        report(f"{len(before) - len(missing)} of {len(before)} runs are done")
        numbers = count(1)

        def run_in_turn(tasks: Sequence[Task]) -> None:
            for task in tasks:
                report(f"[{next(numbers)}/{len(missing)}] {task.name}")
                _try(task, log, run_task, report)

        scored, others = _by_model(_in_order(missing))
        do_all([partial(run_in_turn, group) for group in scored])
        run_in_turn(others)
        last = log.last()
        return [read_state(task, last.get(task.name)) for task in tasks]


def _in_order(missing: Sequence[TaskState]) -> list[TaskState]:
    """Put last the models at which the process died: they may take it down again."""
    return sorted(missing, key=lambda each: each.state == "partial" and not each.rows)


def _by_model(missing: Sequence[TaskState]) -> tuple[list[list[Task]], list[Task]]:
    """Return the runs that score answers, those of a model together, and all other runs."""
    tasks = [each.task for each in missing]
    scored: dict[str, list[Task]] = {}
    for task in tasks:
        if task.is_scored:
            scored.setdefault(task.member.spec, []).append(task)
    return list(scored.values()), [task for task in tasks if not task.is_scored]


def _try(task: Task, log: Log, run_task: Callable[[Task], str], report: Report) -> None:
    """Run one task; whatever it raises, but for an interrupt, is that task's failure."""
    log.add(task.name, "started")
    try:
        reason = run_task(task)
    except FelicityError as error:
        failure = str(error)
    except Exception as error:  # a library's own error is that model's failure, too
        failure = f"{type(error).__name__}: {error}"
        report(traceback.format_exc())
    else:
        log.add(task.name, "ended", reason)
        return
    log.add(task.name, "failed", failure)
    report(f"failed: {failure}")
