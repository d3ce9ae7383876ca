"""`felicity report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from felicity.cli import experiments
from felicity.cli.output import JSON_OPTION
from felicity.errors import OptionError, RunError


def report(
    context: typer.Context,
    run: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders of one study, or an experiment's .toml."),
    ] = None,
    out: Path = typer.Option(None, help="Where files go; default RUN/report, or report."),
    score: str = typer.Option(
        None,
        help="Choice studies: log_prob_mean (the default), log_prob_sum, bits_per_character or"
        " pmi.",
    ),
    group: list[str] = typer.Option(
        [],
        help="Choice studies: NAME=A,B puts participants (by name or run folder) into a group; may"
        " be repeated, in the order in which groups are compared.",
    ),
    published: str = typer.Option(
        None,
        help="Choice studies: CSV of published accuracies, or a study that comes with one, for the"
        " same tables and figures.",
    ),
    study: str = typer.Option(None, help="With --published and no run: the study."),
    intervals: bool = typer.Option(
        False, "--intervals", help="Choice studies: print grouped tables with intervals too."
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
        help="CSV of people to compare with in place of the study's. Choice: as a reference.csv. "
        "Rating: single ratings, which give a noise ceiling too.",
    ),
    seed: int = typer.Option(0, help="Of the resampling."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Print the tables of runs beside people; write them in many forms, and report.html."""
    runs = run or []
    if len(runs) == 1 and experiments.is_file(runs[0]):
        experiments.refuse_options(context)
        experiments.report(runs[0], as_json)
        return
    folder = out or default_folder(runs)
    choice_only = {
        "--score": score is not None,
        "--group": bool(group),
        "--published": published is not None,
        "--study": study is not None,
        "--intervals": intervals,
    }
    if not runs or paradigm_of(runs) == "choice":
        rating_only = {
            "--as-published": as_published,
            "--unit": unit is not None,
            "--weighting": weighting is not None,
        }
        _refuse(rating_only, "rating")
        from felicity.cli import choice_reports

        choice_reports.report_choice(
            runs,
            folder,
            score=score or "log_prob_mean",
            seed=seed,
            groups=group,
            published=published,
            study=study,
            intervals=intervals,
            people=people,
            as_json=as_json,
        )
        return
    _refuse(choice_only, "choice")
    from felicity.cli import rating_reports

    analysis = rating_reports.analyse(runs, as_published, unit, weighting or "pooled", people, seed)
    rating_reports.report_ratings(analysis, folder, as_json)


def default_folder(runs: list[Path]) -> Path:
    """Return where a report goes that is given no other place."""
    return runs[0] / "report" if len(runs) == 1 else Path("report")


def paradigm_of(runs: list[Path]) -> str:
    """Return the paradigm of runs; it is an error where they differ."""
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
