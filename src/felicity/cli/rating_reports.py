"""`felicity report` of rating studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.cli.output import print_json, print_table
from felicity.cli.report_output import (
    print_text_table,
    print_with_intervals,
    say_missing,
    say_written,
)

if TYPE_CHECKING:
    from felicity.report.rating.replies import RatingDescription


def analyse(
    run: list[Path],
    as_published: bool,
    unit: str | None,
    weighting: str,
    people: Path | None,
    seed: int,
) -> RatingDescription:
    """Analyse runs of one study; describe them where there is nothing to compare with."""
    from felicity.rating.run import read_ratings
    from felicity.reference_reader import axes_of, ratings_from_table
    from felicity.reference_reader import read_ratings as read_people
    from felicity.report import analyse_ratings, describe_ratings
    from felicity.study import load_rating_study

    runs = [read_ratings(each) for each in run]
    told = runs[0].manifest
    study = load_rating_study(told.get("study_folder") or told["study"])
    axes = axes_of(study)
    ratings = None
    if people is not None:
        ratings = ratings_from_table(read_people(people, axes, study.scale), axes)
    elif not (study.reference and study.effects):
        return describe_ratings(
            runs, study, unit=unit, weighting=weighting, as_published=as_published, seed=seed
        )
    return analyse_ratings(
        runs,
        study,
        unit=unit,
        weighting=weighting,
        as_published=as_published,
        people=ratings,
        seed=seed,
    )


def write_with_page(analysis: RatingDescription, folder: Path) -> Mapping[str, Path]:
    """Write the report and its page; print nothing."""
    from felicity.report import rating_content
    from felicity.report.content import write_content
    from felicity.report.page import PAGE, build_page
    from felicity.report.rating.files import rating_texts

    content = rating_content(analysis)
    # A run has a result for each of its promptings.
    runs = list({result.run.folder: result.run for result in analysis.results}.values())
    texts = {**rating_texts(analysis), PAGE: build_page(content, runs, analysis.study)}
    return write_content(content, folder, texts)


def report_ratings(analysis: RatingDescription, folder: Path, as_json: bool) -> None:
    """Write the report; print its first tables and what they say, or JSON."""
    from felicity.report.rating.values import as_json as plain

    paths = write_with_page(analysis, folder)
    if as_json:
        print_json(plain(analysis))
    else:
        print_ratings(analysis)
    say_written(paths)
    say_missing()


def print_ratings(analysis: RatingDescription) -> None:
    """Print the first tables and what they say."""
    from felicity.report.rating.analysis import RatingAnalysis
    from felicity.report.rating.files import first_tables
    from felicity.report.rating.table import measures_table
    from felicity.report.rating.words import in_words

    if isinstance(analysis, RatingAnalysis):
        ranged, effects = first_tables(analysis)
        print_table(effects.header, effects.rows, title=effects.title, left=2)
        short = measures_table(analysis, intervals=False)
        print_with_intervals(short, ranged, in_words(analysis), left=3, right=0)
        return
    for table in first_tables(analysis):
        print_text_table(table)
    for paragraph in in_words(analysis):
        print(paragraph + "\n")
