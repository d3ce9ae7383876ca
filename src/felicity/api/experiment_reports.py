"""The reports of an experiment: one for each of its studies, as its file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.api.experiments import ExperimentRuns, read_labelled
from felicity.errors import RunError
from felicity.experiment import Experiment, TaskState
from felicity.rating.study import RatingStudy

if TYPE_CHECKING:
    from felicity.report.choice.analysis import Analysis
    from felicity.report.content import ReportContent
    from felicity.report.curves.analysis import Checkpoint, Curve
    from felicity.report.rating.replies import RatingDescription


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """The report of one study of an experiment, ready to be written to ``folder``.

    ``curves`` are those of a choice study whose models have checkpoints.
    """

    analysis: Analysis | RatingDescription
    content: ReportContent
    texts: Mapping[str, str]
    folder: Path
    curves: tuple[Curve, ...] = ()


def experiment_reports(done: ExperimentRuns) -> list[StudyReport]:
    """Make the report of each study that has a response, as the file says.

    Raises
    ------
    RunError
        Where no run has any response.
    """
    found = []
    for source in done.experiment.studies:
        mine = [each for each in done.states if each.task.source == source and each.rows]
        if mine and isinstance(mine[0].task.study, RatingStudy):
            found.append(_rating_report(done.experiment, mine[0].task.study, mine))
        elif mine:
            found.append(_choice_report(done.experiment, mine))
    if not found:
        raise RunError(
            "no run has any response",
            where=str(done.experiment.file),
            hint=f"felicity run {done.experiment.file}",
        )
    return found


def write_experiment_reports(done: ExperimentRuns) -> dict[str, Path]:
    """Write a report for each study of an experiment; return each study's report folder.

    Raises
    ------
    RunError
        Where no run has any response, or a folder cannot be written.
    """
    from felicity.report.content import write_content

    folders = {}
    for report in experiment_reports(done):
        write_content(report.content, report.folder, report.texts)
        folders[report.folder.name] = report.folder
    return folders


def _choice_report(experiment: Experiment, states: Sequence[TaskState]) -> StudyReport:
    from felicity.report import analyse
    from felicity.report.choice.content import choice_content
    from felicity.report.choice.files import table_texts
    from felicity.report.curves.analysis import curve_rows, find_curves
    from felicity.report.curves.content import with_curves
    from felicity.report.groups.members import group_members
    from felicity.report.page import PAGE, build_page

    said = experiment.report
    runs: list[Any] = [read_labelled(each) for each in states]
    analysis = analyse(
        runs, runs[0].study, score=said.score or "log_prob_mean", seed=said.seed or 0
    )
    curves = find_curves(analysis, [_checkpoint(each) for each in states])
    grouping = group_members(analysis, groups_of(experiment, states))
    content = with_curves(choice_content(analysis, grouping), curves, analysis)
    texts = {**table_texts(analysis), PAGE: build_page(content, runs, analysis.study)}
    if curves:
        texts["curves.csv"] = curve_rows(curves, analysis).write_csv()
    return StudyReport(
        analysis=analysis,
        content=content,
        texts=texts,
        folder=experiment.report.out / analysis.study.name,
        curves=curves,
    )


def _rating_report(
    experiment: Experiment, study: RatingStudy, states: Sequence[TaskState]
) -> StudyReport:
    from felicity.report import analyse_ratings, describe_ratings
    from felicity.report.page import PAGE, build_page
    from felicity.report.rating.content import rating_content
    from felicity.report.rating.files import rating_texts

    said = experiment.report
    # Without people's ratings there is nothing to compare with, but still what the models said.
    analyse = analyse_ratings if study.reference and study.effects else describe_ratings
    runs: list[Any] = [read_labelled(each) for each in states]
    analysis = analyse(
        runs,
        study,
        unit=said.unit,
        weighting=said.weighting or "pooled",
        as_published=bool(said.as_published),
        seed=said.seed or 0,
    )
    content = rating_content(analysis)
    return StudyReport(
        analysis=analysis,
        content=content,
        texts={**rating_texts(analysis), PAGE: build_page(content, runs, study)},
        folder=experiment.report.out / study.name,
    )


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


def _checkpoint(state: TaskState) -> Checkpoint | None:
    from felicity.report.curves.analysis import Checkpoint

    member = state.task.member
    if member.series is None or member.checkpoint is None or member.words is None:
        return None
    return Checkpoint(series=member.series, name=member.checkpoint, words=member.words)
