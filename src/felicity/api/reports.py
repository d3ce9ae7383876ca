"""Read runs of any kind, analyse them, write their report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.api.options import refuse
from felicity.asked.run import AskedRun, is_asked_run, read_asked
from felicity.errors import RunError
from felicity.manifest import read_manifest
from felicity.rating.run import RatingRun, read_ratings
from felicity.rating.study import RatingStudy
from felicity.runner import Run
from felicity.runner import read_run as read_scored
from felicity.study import Study

if TYPE_CHECKING:
    from felicity.report.choice.analysis import Analysis
    from felicity.report.content import ReportContent
    from felicity.report.rating.replies import RatingDescription

AnyRun = Run | AskedRun | RatingRun


def read_run(folder: Path | str, study: Study | None = None) -> Run | AskedRun | RatingRun:
    """Read a run folder of any kind.

    Parameters
    ----------
    folder
        The run folder.
    study
        Of a choice study's run; found by what the run says of it where it is not given.

    Returns
    -------
    Run, AskedRun or RatingRun
        ``responses`` is a polars frame.

    Raises
    ------
    RunError
        Where it is no run folder, or its study has changed.
    """
    manifest = read_manifest(Path(folder))
    if manifest.get("paradigm") == "rating":
        return read_ratings(folder)
    if is_asked_run(manifest):
        return read_asked(folder, study)
    return read_scored(folder, study)


def analyse(
    runs: AnyRun | Path | str | Sequence[AnyRun | Path | str],
    study: Study | RatingStudy | None = None,
    *,
    score: str | None = None,
    unit: str | None = None,
    weighting: str | None = None,
    people: Path | str | None = None,
    seed: int = 0,
) -> Analysis | RatingDescription:
    """Compute the tables of runs of one study, beside people.

    Parameters
    ----------
    runs
        One run or several, or their folders.
    study
        Theirs; found by what the runs say of it where it is not given.
    score
        Choice: ``log_prob_mean`` (the default), ``log_prob_sum``, ``bits_per_character``, ``pmi``.
    unit, weighting
        Rating: one of the study's units; ``pooled`` (the default) or ``scenario-means``.
    people
        Rating: CSV of people's single ratings, in place of the study's cells.
    seed
        Of the resampling.

    Returns
    -------
    Analysis, RatingAnalysis or RatingDescription
        The last where a rating study has nobody to compare with.

    Raises
    ------
    RunError, OptionError
        For no run, or runs of different studies; for an option of the other kind of study.
    """
    read = _read_all(runs)
    ratings = [each for each in read if _is_rating(each)]
    if ratings and len(ratings) < len(read):
        raise RunError(
            "got runs of choice and of rating studies",
            where="runs",
            hint="analyse the runs of one study at a time",
        )
    if not ratings:
        from felicity.report.choice.analysis import analyse as analyse_choices

        refuse("a choice study", {"unit": unit, "weighting": weighting, "people": people})
        scored: list[Any] = read
        chosen = study if isinstance(study, Study) else scored[0].study
        return analyse_choices(scored, chosen, score=score or "log_prob_mean", seed=seed)
    refuse("a rating study", {"score": score})
    rating_study = study if isinstance(study, RatingStudy) else _rating_study(read[0])
    scored = ratings
    return _analyse_ratings(scored, rating_study, unit, weighting or "pooled", people, seed)


def _analyse_ratings(
    runs: Sequence[RatingRun],
    study: RatingStudy,
    unit: str | None,
    weighting: str,
    people: Path | str | None,
    seed: int,
) -> RatingDescription:
    from felicity.reference_reader import axes_of, ratings_from_table, read_ratings
    from felicity.report import analyse_ratings, describe_ratings

    if people is None and not (study.reference and study.effects):
        return describe_ratings(runs, study, unit=unit, weighting=weighting, seed=seed)
    known = None
    if people is not None:
        axes = axes_of(study)
        known = ratings_from_table(read_ratings(Path(people), axes, study.scale), axes)
    return analyse_ratings(runs, study, unit=unit, weighting=weighting, people=known, seed=seed)


def write_report(
    runs: Analysis | RatingDescription | AnyRun | Path | str | Sequence[AnyRun | Path | str],
    out: Path | str = "report",
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    published: Path | str | None = None,
) -> Mapping[str, Path]:
    """Write the whole report of runs: tables, figures, methods, and the page report.html.

    Parameters
    ----------
    runs
        What `analyse` returned; or runs or their folders, which are analysed by default.
    out
        The folder.
    groups
        Choice: name to members, each a participant's name, its run folder's name, or the folder.
    published
        Choice: a CSV of others' accuracies, or a study that has one (docs/report.md).

    Returns
    -------
    Mapping
        Each file's name to its path.

    Raises
    ------
    RunError
        Where the folder cannot be written; or as for `analyse`.
    """
    from felicity.report.choice.analysis import Analysis
    from felicity.report.choice.files import table_texts
    from felicity.report.content import write_content
    from felicity.report.page import PAGE, build_page
    from felicity.report.rating.content import rating_content
    from felicity.report.rating.files import rating_texts
    from felicity.report.rating.replies import RatingDescription

    found = runs if isinstance(runs, (Analysis, RatingDescription)) else analyse(runs)
    if isinstance(found, Analysis):
        content, texts = _choice_content(found, groups, published), table_texts(found)
        page = build_page(content, [result.run for result in found.participants], found.study)
    else:
        refuse("a rating study", {"groups": groups, "published": published})
        content, texts = rating_content(found), rating_texts(found)
        # A run has a result for each of its promptings.
        unique = list({result.run.folder: result.run for result in found.results}.values())
        page = build_page(content, unique, found.study)
    return write_content(content, Path(out), {**texts, PAGE: page})


def _choice_content(
    found: Analysis, groups: Mapping[str, Sequence[str]] | None, published: Path | str | None
) -> ReportContent:
    from felicity.report.choice.content import choice_content
    from felicity.report.groups.members import group_members
    from felicity.report.groups.published import published_file, read_published

    rows = []
    if published is not None:
        rows = list(read_published(published_file(str(published)), found.study.design))
    asked = [f"{name}={','.join(members)}" for name, members in (groups or {}).items()]
    return choice_content(found, group_members(found, asked, rows))


def _read_all(runs: Any) -> list[Any]:
    several = isinstance(runs, Sequence) and not isinstance(runs, str)
    each = list(runs) if several else [runs]
    if not each:
        raise RunError("no run was given", hint="give one or more runs, or their folders")
    return [read_run(one) if isinstance(one, (str, Path)) else one for one in each]


def _is_rating(run: AnyRun) -> bool:
    return isinstance(run, RatingRun) and not isinstance(run, AskedRun)


def _rating_study(run: RatingRun) -> RatingStudy:
    from felicity.study import load_rating_study

    told = run.manifest
    return load_rating_study(told.get("study_folder") or told["study"])
