"""Run what is missing of an experiment; a run that fails does not stop the others."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence

from felicity.errors import FelicityError, RunError
from felicity.experiment.definition import Experiment
from felicity.experiment.log import Log
from felicity.experiment.state import TaskState, read_state
from felicity.experiment.tasks import Task
from felicity.rating.journal import only_run

Report = Callable[[str], None]


def run_experiment(
    experiment: Experiment,
    tasks: Sequence[Task],
    run_task: Callable[[Task], str],
    report: Report = lambda _: None,
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
        for number, each in enumerate(_in_order(missing), start=1):
            report(f"[{number}/{len(missing)}] {each.task.name}")
            _try(each.task, log, run_task, report)
        last = log.last()
        return [read_state(task, last.get(task.name)) for task in tasks]


def _in_order(missing: Sequence[TaskState]) -> list[TaskState]:
    """Put last the models at which the process died: they may take it down again."""
    return sorted(missing, key=lambda each: each.state == "partial" and not each.rows)


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
