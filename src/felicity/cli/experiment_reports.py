"""`felicity report` of an experiment file: a report for each of its studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.cli.output import note, print_json
from felicity.errors import RunError
from felicity.experiment import Experiment, TaskState
from felicity.rating.study import RatingStudy

if TYPE_CHECKING:
    from felicity.rating.run import RatingRun
    from felicity.report.choice.asked import ChoiceRun
    from felicity.report.curves.analysis import Checkpoint


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
        study = mine[0].task.study
        folder = experiment.report.out / study.name
        if isinstance(study, RatingStudy):
            reports[study.name] = _report_ratings(experiment, study, mine, folder, as_json)
        else:
            reports[study.name] = _report_choice(experiment, mine, folder, as_json)
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
    from felicity.cli.choice_reports import print_choice
    from felicity.cli.output import print_table
    from felicity.cli.report_output import say_missing, say_written
    from felicity.report import analyse
    from felicity.report.choice.content import choice_content
    from felicity.report.choice.files import table_texts
    from felicity.report.content import write_content
    from felicity.report.curves.analysis import curve_rows, curve_table, find_curves, onset_table
    from felicity.report.curves.content import with_curves
    from felicity.report.groups.members import group_members
    from felicity.report.page import PAGE, build_page

    said = experiment.report
    runs = [_choice_run(each) for each in states]
    analysis = analyse(
        runs, runs[0].study, score=said.score or "log_prob_mean", seed=said.seed or 0
    )
    curves = find_curves(analysis, [_checkpoint(each) for each in states])
    grouping = group_members(analysis, groups_of(experiment, states))
    content = with_curves(choice_content(analysis, grouping), curves, analysis)
    texts = {**table_texts(analysis), PAGE: build_page(content, runs, analysis.study)}
    if curves:
        texts["curves.csv"] = curve_rows(curves, analysis).write_csv()
    paths = write_content(content, folder, texts)
    if not as_json:
        for table in (curve_table, onset_table) if curves else ():
            shown = table(curves, analysis)
            print_table(shown.header, shown.rows, title=shown.title, left=shown.left)
        print_choice(analysis, content, intervals=False)
    say_written(paths)
    say_missing()
    return content.values


def groups_of(experiment: Experiment, states: Sequence[TaskState]) -> list[str]:
    """Return the groups as `felicity report --group` takes them: NAME=FOLDER,FOLDER.

    Runs of different methods or formats are in groups of their own, or an average would count a
    model twice; of the checkpoints of a model the last stands for it.
    """
    last: dict[tuple[object, ...], TaskState] = {}
    for each in states:
        task, member = each.task, each.task.member
        key = (task.groups[0], member.series or task.folder, task.method, task.format)
        old = last.get(key)
        if old is None or (member.words or 0) >= (old.task.member.words or 0):
            last[key] = each
    ways = dict.fromkeys((s.task.method, s.task.format) for s in last.values())
    asked = []
    for group in experiment.groups:
        for way in ways:
            folders = [
                str(each.task.folder)
                for each in last.values()
                if each.task.groups[0] == group.name and (each.task.method, each.task.format) == way
            ]
            words = [part for part in way if part] if len(ways) > 1 else []
            if folders:
                asked.append(f"{', '.join([group.title, *words])}={','.join(folders)}")
    return asked


def _choice_run(state: TaskState) -> ChoiceRun:
    """Read a run under the name that the experiment gives it."""
    from felicity.report.choice.asked import read_choice_run

    run = read_choice_run(state.task.folder)
    return replace(run, manifest=_labelled(run.manifest, state))


def _rating_run(state: TaskState) -> RatingRun:
    from felicity.rating.run import read_ratings

    run = read_ratings(state.task.folder)
    return replace(run, manifest=_labelled(run.manifest, state))


def _labelled(manifest: Any, state: TaskState) -> dict[str, Any]:
    told = dict(manifest)
    if state.task.member.label is not None:
        told["participant"] = told["participant"] | {"label": state.task.member.label}
    return told


def _checkpoint(state: TaskState) -> Checkpoint | None:
    from felicity.report.curves.analysis import Checkpoint

    member = state.task.member
    if member.series is None or member.checkpoint is None or member.words is None:
        return None
    return Checkpoint(series=member.series, name=member.checkpoint, words=member.words)


def _report_ratings(
    experiment: Experiment,
    study: RatingStudy,
    states: Sequence[TaskState],
    folder: Path,
    as_json: bool,
) -> Any:
    from felicity.cli.rating_reports import report_ratings, write_with_page
    from felicity.report import analyse_ratings, describe_ratings
    from felicity.report.rating.values import as_json as plain

    said = experiment.report
    # Without people's ratings there is nothing to compare with, but still what the models said.
    analyse = analyse_ratings if study.reference and study.effects else describe_ratings
    analysis = analyse(
        [_rating_run(each) for each in states],
        study,
        unit=said.unit,
        weighting=said.weighting or "pooled",
        as_published=bool(said.as_published),
        seed=said.seed or 0,
    )
    if as_json:
        write_with_page(analysis, folder)
        return plain(analysis)
    report_ratings(analysis, folder, as_json=False)
    return None
