"""`felicity report` on choice studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.cli.output import print_json
from felicity.cli.report_output import (
    print_text_table,
    print_with_intervals,
    say_missing,
    say_written,
)
from felicity.errors import OptionError, RunError

if TYPE_CHECKING:
    from felicity.report.choice.analysis import Analysis
    from felicity.report.content import ReportContent
    from felicity.study import Study

# Printed where there are groups; everything else is in files.
GROUPED = ("table2", "table3", "table3_concordance", "gains", "mixed_model")


def report_choice(
    runs: Sequence[Path],
    folder: Path,
    *,
    score: str,
    seed: int,
    groups: Sequence[str],
    published: str | None,
    study: str | None,
    intervals: bool,
    people: Path | None,
    as_json: bool,
) -> None:
    """Print and write the report of runs, of published accuracies, or of both."""
    from felicity.report.choice.content import choice_content
    from felicity.report.groups.members import group_members
    from felicity.report.groups.published import published_file, read_published

    analysis = _analyse(runs, score, seed, published, study, people)
    rows = []
    if published is not None:
        rows = list(read_published(published_file(published), analysis.study.design))
    content = choice_content(analysis, group_members(analysis, groups, rows))
    paths = _write(analysis, content, folder)
    if as_json:
        print_json(content.values)
    else:
        print_choice(analysis, content, intervals)
    say_written(paths)
    say_missing()


def _analyse(
    runs: Sequence[Path],
    score: str,
    seed: int,
    published: str | None,
    study: str | None,
    people: Path | None = None,
) -> Analysis:
    from felicity.report import analyse
    from felicity.report.choice.analysis import analyse_people
    from felicity.report.choice.asked import read_choice_run

    if runs:
        if study is not None:
            raise OptionError("this is an option for --published without runs", where="--study")
        read = [read_choice_run(each) for each in runs]
        return analyse(read, _with_people(read[0].study, people), score=score, seed=seed)
    if published is None:
        raise RunError("no run was given", hint="give run folders, or --published")
    return analyse_people(_with_people(_study_of(published, study), people), seed=seed)


def _with_people(study: Study, people: Path | None) -> Study:
    from felicity.study_reader import replace_reference

    return study if people is None else replace_reference(study, people)


def _study_of(published: str, study: str | None) -> Study:
    from felicity.study import list_studies, load_choice_study

    if study is None and published not in list_studies() and not Path(published).is_dir():
        raise OptionError(
            f'got "{published}" alone; expected a study too',
            where="--published",
            hint="name it with --study, such as --study gricean-maxims",
        )
    return load_choice_study(study or published)


def write_plain(runs: Sequence[Path], folder: Path) -> None:
    """Write the report of runs under the defaults, and print nothing."""
    from felicity.report.choice.content import choice_content

    analysis = _analyse(runs, "log_prob_mean", 0, None, None)
    _write(analysis, choice_content(analysis), folder)


def _write(analysis: Analysis, content: ReportContent, folder: Path) -> Mapping[str, Path]:
    from felicity.report.choice.files import table_texts
    from felicity.report.content import write_content
    from felicity.report.page import PAGE, build_page

    runs = [result.run for result in analysis.participants]
    texts = {PAGE: build_page(content, runs, analysis.study)}
    return write_content(content, folder, {**(table_texts(analysis) if runs else {}), **texts})


def print_choice(analysis: Analysis, content: ReportContent, intervals: bool) -> None:
    """Print the main table, those of the groups, and what is found."""
    from felicity.report.choice.table import main_table

    if analysis.participants:
        short, ranged = main_table(analysis, intervals=False), main_table(analysis)
        print_with_intervals(short, ranged, (), left=2, right=2)
    wanted = (*GROUPED, "table2_intervals") if intervals else GROUPED
    grouped = {table.name: table for table in content.tables if table.name in wanted}
    if "table2" in grouped:
        for table in grouped.values():
            print_text_table(table)
    for paragraph in content.headline:
        print(paragraph + "\n")
    if "table2" in grouped:
        for caution in content.cautions:
            print(f"Careful: {caution}")
