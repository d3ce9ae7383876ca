"""Run an experiment file, or read how far it is, and its runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.api.reports import AnyRun, read_run
from felicity.experiment import (
    Experiment,
    TaskState,
    plan_tasks,
    read_experiment,
    read_states,
)
from felicity.experiment import run_experiment as run_tasks
from felicity.notebook import show_rows

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRuns:
    """An experiment with how far each of its runs is.

    ``states`` are in the order of the file, a row each in ``table``.
    """

    experiment: Experiment
    states: tuple[TaskState, ...]

    @property
    def complete(self) -> bool:
        """Whether every run is done."""
        return all(each.state == "done" for each in self.states)

    @property
    def table(self) -> pl.DataFrame:
        """A row for each run: study, groups, model, method, format, state, rows, reason, folder."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "study": each.task.study.name,
                    "groups": list(each.task.groups),
                    "model": each.task.member.spec,
                    "label": each.task.label,
                    "words": each.task.member.words,
                    "method": each.task.method,
                    "format": each.task.format,
                    "state": each.state,
                    "rows": each.rows,
                    "asked": each.asked,
                    "reason": each.reason or None,
                    "folder": str(each.task.folder),
                }
                for each in self.states
            ],
            infer_schema_length=None,
        )

    def runs(self, study: str | None = None) -> list[AnyRun]:
        """Read the runs that have any response, under the labels of the file.

        Parameters
        ----------
        study
            Only of this study.
        """
        return [
            read_labelled(each)
            for each in self.states
            if each.rows and study in (None, each.task.study.name)
        ]

    def __repr__(self) -> str:
        done = sum(each.state == "done" for each in self.states)
        return f"ExperimentRuns({str(self.experiment.file)!r}, {done} of {len(self.states)} done)"

    def _repr_html_(self) -> str:
        header = ("study", "model", "format", "state", "rows", "asked", "reason")
        rows = [
            ["" if row[name] is None else str(row[name]) for name in header]
            for row in self.table.with_columns(model="label").iter_rows(named=True)
        ]
        return show_rows(str(self.experiment.file), header, rows, 4, "")


def run_experiment(file: Path | str) -> ExperimentRuns:
    """Run what is missing of an experiment file; the same call again tries what is not done.

    A model that does not load, or breaks off, is a failed row with its reason, and the others are
    run. How far it is, is said on standard error.

    Parameters
    ----------
    file
        The experiment's .toml (docs/experiments.md).

    Raises
    ------
    FelicityError
        Where the file has faults, or another process is running the experiment.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... [experiment]
    ... name = "two-formats"
    ... studies = ["gricean-maxims"]
    ... [settings]
    ... formats = ["names", "plain"]
    ... limit = 2
    ... [[group]]
    ... name = "small"
    ... models = ["embedded:smollm2-135m"]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two-formats.toml"
    ...     _ = file.write_text(text)
    ...     done = run_experiment(file)
    >>> done.complete, done.table["state"].to_list(), done.table["rows"].to_list()
    (True, ['done', 'done'], [4, 4])
    """
    from felicity.running.kept import Kept
    from felicity.running.tasks import task_runner
    from felicity.running.voice import note

    experiment = read_experiment(Path(file))
    kept = Kept()
    try:
        states = run_tasks(experiment, plan_tasks(experiment), task_runner(kept), note)
    finally:
        kept.let_go()
    return ExperimentRuns(experiment=experiment, states=tuple(states))


def read_experiment_runs(file: Path | str) -> ExperimentRuns:
    """Read how far an experiment is, and run nothing."""
    experiment = read_experiment(Path(file))
    states = read_states(experiment, plan_tasks(experiment))
    return ExperimentRuns(experiment=experiment, states=tuple(states))


def read_labelled(state: TaskState) -> AnyRun:
    """Read a run under the name that the experiment gives it."""
    run = read_run(state.task.folder)
    if state.task.member.label is None:
        return run
    told = dict(run.manifest)
    told["participant"] = told["participant"] | {"label": state.task.member.label}
    return replace(run, manifest=told)
