"""`felicity run`, `status` and `report` of an experiment file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import OptionError

if TYPE_CHECKING:
    from felicity.experiment import Task, TaskState
    from felicity.running.places import Place

# All that could be run was run, but not all of it came to an end.
INCOMPLETE = 3
# Options that say where an experiment is computed, which its file does not say.
BESIDE = ("as_json", "on", "gpus_per_task", "cpus_per_task", "workers")
STATES = ("done", "running", "failed", "partial", "waiting")


def is_file(text: str | Path) -> bool:
    """Say whether an argument is taken for an experiment file."""
    path = Path(text)
    return path.suffix == ".toml" and path.name != "study.toml"


def refuse_options(context: typer.Context) -> None:
    """Refuse options beside an experiment file, which has a key for each."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        given = source is not None and source.name == "COMMANDLINE"
        if given and parameter.opts[0].startswith("--") and parameter.name not in BESIDE:
            raise OptionError(
                "got an option; expected none beside an experiment file",
                where=parameter.opts[0],
                hint="say it in the file: docs/experiments.md shows every key",
            )


def run(file: Path, place: Place, as_json: bool) -> None:
    """Run what is missing of an experiment; exit with 3 where some of it failed or broke off."""
    from felicity.experiment import plan_tasks, read_experiment, run_experiment
    from felicity.running.tasks import task_runner

    experiment = read_experiment(file)
    tasks = plan_tasks(experiment)
    states = run_experiment(experiment, tasks, task_runner(place.kept), note, place.do_all)
    _show(states, as_json)
    if any(each.state != "done" for each in states):
        raise typer.Exit(INCOMPLETE)
    note(f"the reports: felicity report {file}")


def status(
    experiment: Annotated[Path, typer.Argument(help="An experiment's .toml.")],
    as_json: bool = JSON_OPTION,
) -> None:
    """Show how far an experiment is: done, running, failed, partial or waiting, run by run."""
    from felicity.api.experiments import read_experiment_runs

    _show(read_experiment_runs(experiment).states, as_json)


def report(file: Path, as_json: bool) -> None:
    """Write a report for each study of an experiment."""
    from felicity.api.experiments import read_experiment_runs
    from felicity.cli.experiment_reports import report_experiment

    report_experiment(read_experiment_runs(file), as_json)


def _show(states: Sequence[TaskState], as_json: bool) -> None:
    """Print the table of runs; reasons stand below it."""
    counts = Counter[str](each.state for each in states)
    if as_json:
        print_json(
            {
                "runs": [_plain(each) for each in states],
                "counts": {state: counts[state] for state in STATES},
            }
        )
        return
    rows = [
        (
            each.task.study.name,
            ", ".join(each.task.groups),
            each.task.label,
            _asked_by(each.task),
            each.state,
            f"{each.rows} of {each.asked}",
            each.time.replace("T", " ").removesuffix("+00:00"),
        )
        for each in states
    ]
    print_table(("Study", "Group", "Model", "Asked", "State", "Rows", "Tried (UTC)"), rows, left=5)
    for each in states:
        if each.reason:
            print(f"{each.state}: {each.task.name}\n  {each.reason}\n")
    said = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    note(f"{', '.join(said)}, of {len(states)} runs")


def _asked_by(task: Task) -> str:
    from felicity.study import Study

    if not isinstance(task.study, Study):
        return task.method or "sampled"
    if task.method == "asked":
        return task.method
    parts = [task.method, task.format or task.study.default_format]
    return ", ".join(part for part in parts if part)


def _plain(each: TaskState) -> dict[str, Any]:
    task = each.task
    return {
        "study": task.study.name,
        "groups": list(task.groups),
        "model": task.member.spec,
        "label": task.label,
        "checkpoint": task.member.checkpoint,
        "words": task.member.words,
        "method": task.method,
        "format": task.format,
        "folder": str(task.folder),
        "state": each.state,
        "rows": each.rows,
        "asked": each.asked,
        "time": each.time or None,
        "reason": each.reason or None,
    }
