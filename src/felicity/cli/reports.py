"""`felicity report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import OptionError, RunError

if TYPE_CHECKING:
    from felicity.report.rating_analysis import RatingAnalysis
    from felicity.report.text_table import TextTable


def report(
    run: Annotated[list[Path], typer.Argument(help="Run folders of one study.")],
    out: Path = typer.Option(None, help="Where files go; default RUN/report, or report."),
    score: str = typer.Option(
        None,
        help="Choice studies: log_prob_mean (the default), log_prob_sum, bits_per_character or"
        " pmi.",
    ),
    as_published: bool = typer.Option(
        False,
        "--as-published",
        help="Rating studies: the paper's one-digit parsing and its CCC, to reproduce its tables.",
    ),
    unit: str = typer.Option(
        None, help="Rating studies: one of the study's units (cells, scenario-cells)."
    ),
    weighting: str = typer.Option(
        None, help="Rating studies: pooled (the default) or scenario-means."
    ),
    people: Path = typer.Option(
        None,
        help="Rating studies: CSV of people's single ratings, to compare with in place of the "
        "study's cells; they give a noise ceiling too.",
    ),
    seed: int = typer.Option(0, help="Of the resampling."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Print the tables of runs beside people; write them as CSV, Markdown, LaTeX, JSON."""
    folder = out or (run[0] / "report" if len(run) == 1 else Path("report"))
    if _paradigm(run) == "choice":
        rating_only = {
            "--as-published": as_published,
            "--unit": unit is not None,
            "--weighting": weighting is not None,
            "--people": people is not None,
        }
        _refuse(rating_only, "rating")
        _report_choice(run, folder, score or "log_prob_mean", seed, as_json)
        return
    _refuse({"--score": score is not None}, "choice")
    analysis = _analyse_ratings(run, as_published, unit, weighting or "pooled", people, seed)
    _report_ratings(analysis, folder, as_json)


def _paradigm(runs: list[Path]) -> str:
    from felicity.manifest import read_manifest

    found = [str(read_manifest(folder).get("paradigm", "choice")) for folder in runs]
    if len(set(found)) > 1:
        other = next(place for place, paradigm in enumerate(found) if paradigm != found[0])
        raise RunError(
            f"got a {found[other]} run; expected a {found[0]} run like the first",
            where=str(runs[other]),
            hint="report the runs of one study at a time",
        )
    return found[0]


def _refuse(given: Mapping[str, bool], paradigm: str) -> None:
    for name, is_given in given.items():
        if is_given:
            raise OptionError(f"this is an option for {paradigm} studies", where=name)


def _report_choice(run: list[Path], folder: Path, score: str, seed: int, as_json: bool) -> None:
    from felicity.report import analyse, write_report
    from felicity.report.asked import read_choice_run
    from felicity.report.files import as_json as plain
    from felicity.report.table import main_table
    from felicity.report.words import in_words

    runs = [read_choice_run(each) for each in run]
    analysis = analyse(runs, runs[0].study, score=score, seed=seed)
    paths = write_report(analysis, folder)
    if as_json:
        print_json(plain(analysis))
    else:
        short, ranged = main_table(analysis, intervals=False), main_table(analysis)
        _print_tables(short, ranged, in_words(analysis), left=2, right=2)
    _wrote(paths)


def _analyse_ratings(
    run: list[Path],
    as_published: bool,
    unit: str | None,
    weighting: str,
    people: Path | None,
    seed: int,
) -> RatingAnalysis:
    from felicity.rating.run import read_ratings
    from felicity.reference_reader import axes_of, ratings_from_table
    from felicity.reference_reader import read_ratings as read_people
    from felicity.report import analyse_ratings
    from felicity.study import load_rating_study

    runs = [read_ratings(each) for each in run]
    told = runs[0].manifest
    study = load_rating_study(told.get("study_folder") or told["study"])
    axes = axes_of(study)
    ratings = None
    if people is not None:
        ratings = ratings_from_table(read_people(people, axes, study.scale), axes)
    return analyse_ratings(
        runs,
        study,
        unit=unit,
        weighting=weighting,
        as_published=as_published,
        people=ratings,
        seed=seed,
    )


def _report_ratings(analysis: RatingAnalysis, folder: Path, as_json: bool) -> None:
    from felicity.report import write_rating_report
    from felicity.report.rating_files import as_json as plain
    from felicity.report.rating_table import effects_table, measures_table
    from felicity.report.rating_words import in_words

    paths = write_rating_report(analysis, folder)
    if as_json:
        print_json(plain(analysis))
    else:
        effects = effects_table(analysis)
        print_table(effects.header, effects.rows, title=effects.title, left=2)
        short, ranged = measures_table(analysis, intervals=False), measures_table(analysis)
        _print_tables(short, ranged, in_words(analysis), left=3, right=0)
    _wrote(paths)


def _print_tables(
    short: TextTable, ranged: TextTable, words: list[str], *, left: int, right: int
) -> None:
    """Print a table, its intervals as a second one, and the words."""
    print_table(short.header, short.rows, title=short.title, left=left)
    end = len(ranged.header) - right
    rows = [
        (*row[:left], *(cell.partition(" ")[2] or cell for cell in row[left:end]))
        for row in ranged.rows
    ]
    print_table(("95 % intervals", *ranged.header[1:end]), rows, left=left)
    for paragraph in words:
        print(paragraph + "\n")


def _wrote(paths: Mapping[str, Path]) -> None:
    for path in paths.values():
        note(f"wrote {path}")
