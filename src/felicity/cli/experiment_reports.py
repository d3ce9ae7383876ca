"""`felicity report` of an experiment file: a report for each of its studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.cli.output import note, print_json, print_table
from felicity.errors import RunError
from felicity.experiment import Experiment, TaskState
from felicity.study import Study

if TYPE_CHECKING:
    from felicity.report.analysis import Analysis
    from felicity.report.asked import ChoiceRun
    from felicity.report.curves import Checkpoint


def report_experiment(experiment: Experiment, states: Sequence[TaskState], as_json: bool) -> None:
    """Write the report of every study; say which runs are left out or not whole.

    Raises
    ------
    RunError
        Where no run has any response.
    """
    reports: dict[str, Any] = {}
    for source in experiment.studies:
        mine = [each for each in states if each.task.source == source and each.rows]
        if not mine:
            continue
        name = mine[0].task.study.name
        folder = experiment.report.out / name
        run = _report_choice if isinstance(mine[0].task.study, Study) else _report_ratings
        reports[name] = run(experiment, mine, folder, as_json)
    for each in states:
        if each.state != "done":
            left = "not whole" if each.rows else "left out"
            note(f"{left}: {each.task.name} ({each.state}, {each.rows} of {each.asked} rows)")
    if not reports:
        raise RunError(
            "no run has any response",
            where=str(experiment.file),
            hint=f"felicity run {experiment.file}",
        )
    if as_json:
        print_json(reports)


def _report_choice(
    experiment: Experiment, states: Sequence[TaskState], folder: Path, as_json: bool
) -> Any:
    from felicity.report import analyse, write_report
    from felicity.report.files import as_json as plain
    from felicity.report.table import main_table
    from felicity.report.words import in_words

    said = experiment.report
    runs = [_labelled(each) for each in states]
    analysis = analyse(
        runs, runs[0].study, score=said.score or "log_prob_mean", seed=said.seed or 0
    )
    paths = dict(write_report(analysis, folder))
    if not as_json:
        table = main_table(analysis, intervals=False)
        print_table(table.header, table.rows, title=table.title, left=2)
        for paragraph in in_words(analysis):
            print(paragraph + "\n")
    paths |= _write_curves(analysis, [_checkpoint(each) for each in states], folder, as_json)
    for path in paths.values():
        note(f"wrote {path}")
    return plain(analysis)


def _labelled(state: TaskState) -> ChoiceRun:
    """Read a run under the name that the experiment gives it."""
    from felicity.report.asked import read_choice_run

    run = read_choice_run(state.task.folder)
    if state.task.member.label is None:
        return run
    told = dict(run.manifest)
    told["participant"] = told["participant"] | {"label": state.task.member.label}
    return replace(run, manifest=told)


def _checkpoint(state: TaskState) -> Checkpoint | None:
    from felicity.report.curves import Checkpoint

    member = state.task.member
    if member.series is None or member.checkpoint is None or member.words is None:
        return None
    return Checkpoint(series=member.series, name=member.checkpoint, words=member.words)


def _write_curves(
    analysis: Analysis,
    checkpoints: Sequence[Checkpoint | None],
    folder: Path,
    as_json: bool,
) -> dict[str, Path]:
    """Write the learning curves of the models that have some."""
    from felicity.report.curves import (
        curve_rows,
        curve_table,
        curve_words,
        find_curves,
        onset_table,
    )
    from felicity.report.files import write_texts
    from felicity.report.text_table import as_latex, as_markdown, table_csv

    curves = find_curves(analysis, checkpoints)
    if not curves:
        return {}
    tables = (curve_table(curves, analysis), onset_table(curves, analysis))
    texts = {"curves.csv": curve_rows(curves, analysis).write_csv()}
    for table in tables:
        texts |= {
            f"{table.name}.md": as_markdown(table),
            f"{table.name}.tex": as_latex(table),
            f"{table.name}.csv": table_csv(table),
        }
    if not as_json:
        for table in tables:
            print_table(table.header, table.rows, title=table.title, left=table.left)
        for paragraph in curve_words(curves, analysis):
            print(paragraph + "\n")
    paths = dict(write_texts(folder / "curves", texts))
    try:
        import altair  # noqa: F401 - only to see whether it is there
        import vl_convert  # noqa: F401
    except ImportError:
        note("figures need felicity[report]: pip install 'felicity[report]'")
        return paths
    from felicity.report.curve_figures import curve_figures
    from felicity.report.figures import write_figures

    return paths | dict(write_figures(curve_figures(curves, analysis), folder / "curves"))


def _report_ratings(
    experiment: Experiment, states: Sequence[TaskState], folder: Path, as_json: bool
) -> Any:
    from felicity.rating.run import read_ratings
    from felicity.rating.study import RatingStudy
    from felicity.report import analyse_ratings, write_rating_report
    from felicity.report.rating_files import as_json as plain
    from felicity.report.rating_table import measures_table
    from felicity.report.rating_words import in_words

    said, study = experiment.report, states[0].task.study
    assert isinstance(study, RatingStudy)
    runs = []
    for each in states:
        run, label = read_ratings(each.task.folder), each.task.member.label
        told = dict(run.manifest)
        if label is not None:
            told["participant"] = told["participant"] | {"label": label}
        runs.append(replace(run, manifest=told))
    analysis = analyse_ratings(
        runs,
        study,
        unit=said.unit,
        weighting=said.weighting or "pooled",
        as_published=bool(said.as_published),
        seed=said.seed or 0,
    )
    paths = write_rating_report(analysis, folder)
    if not as_json:
        table = measures_table(analysis, intervals=False)
        print_table(table.header, table.rows, title=table.title, left=table.left)
        for paragraph in in_words(analysis):
            print(paragraph + "\n")
    for path in paths.values():
        note(f"wrote {path}")
    return plain(analysis)
