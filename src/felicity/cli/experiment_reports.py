"""`felicity report` of an experiment file: a report for each of its studies."""

from __future__ import annotations

from typing import Any

from felicity.api.experiment_reports import StudyReport, experiment_reports
from felicity.api.experiments import ExperimentRuns
from felicity.cli.output import note, print_json
from felicity.cli.report_output import say_missing, say_written
from felicity.report.choice.analysis import Analysis


def report_experiment(done: ExperimentRuns, as_json: bool) -> None:
    """Write the report of every study; say which runs are left out or not whole.

    Raises
    ------
    RunError
        Where no run has any response.
    """
    from felicity.report.content import write_content

    for each in done.states:
        if each.state != "done":
            left = "not whole" if each.rows else "left out"
            note(f"{left}: {each.task.name} ({each.state}, {each.rows} of {each.asked} rows)")
    reports: dict[str, Any] = {}
    for report in experiment_reports(done):
        paths = write_content(report.content, report.folder, report.texts)
        if not as_json:
            _print(report)
        reports[report.folder.name] = _values(report)
        say_written(paths)
    say_missing()
    if as_json:
        print_json(reports)


def _values(report: StudyReport) -> Any:
    from felicity.report.rating.values import as_json as plain

    if isinstance(report.analysis, Analysis):
        return report.content.values
    return plain(report.analysis)


def _print(report: StudyReport) -> None:
    from felicity.cli.choice_reports import print_choice
    from felicity.cli.output import print_table
    from felicity.cli.rating_reports import print_ratings
    from felicity.report.curves.analysis import curve_table, onset_table

    if not isinstance(report.analysis, Analysis):
        print_ratings(report.analysis)
        return
    for table in (curve_table, onset_table) if report.curves else ():
        shown = table(report.curves, report.analysis)
        print_table(shown.header, shown.rows, title=shown.title, left=shown.left)
    print_choice(report.analysis, report.content, intervals=False)
