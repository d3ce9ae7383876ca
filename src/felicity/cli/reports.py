"""`felicity report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table


def report(
    run: Annotated[list[Path], typer.Argument(help="Run folders of one study.")],
    out: Path = typer.Option(None, help="Where files go; default RUN/report, or report."),
    score: str = typer.Option(
        "log_prob_mean", help="log_prob_mean, log_prob_sum, bits_per_character or pmi."
    ),
    seed: int = typer.Option(0, help="Of the resampling."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Print the table of accuracies beside people's; write it as CSV, Markdown, LaTeX, JSON."""
    from felicity.report import analyse, write_report
    from felicity.report.files import as_json as plain
    from felicity.report.table import main_table
    from felicity.report.words import in_words
    from felicity.runner import read_run

    runs = [read_run(folder) for folder in run]
    analysis = analyse(runs, runs[0].study, score=score, seed=seed)
    folder = out or (run[0] / "report" if len(run) == 1 else Path("report"))
    paths = write_report(analysis, folder)
    if as_json:
        print_json(plain(analysis))
    else:
        table = main_table(analysis, intervals=False)
        print_table(table.header, table.rows, title=table.title, left=2)
        ranged = main_table(analysis)
        print_table(
            ("95 % intervals", *ranged.header[1:-2]),
            [
                (*row[:2], *(cell.partition(" ")[2] or cell for cell in row[2:-2]))
                for row in ranged.rows
            ],
            left=2,
        )
        for paragraph in in_words(analysis):
            print(paragraph + "\n")
    for path in paths.values():
        note(f"wrote {path}")
