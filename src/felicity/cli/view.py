"""`felicity view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from felicity.cli.output import note


def view(
    run: Annotated[list[Path], typer.Argument(help="Run folders of one study.")],
    out: Path = typer.Option(None, help="The report's folder; default RUN/report, or report."),
    no_open: bool = typer.Option(False, "--no-open", help="Print the page's path, open nothing."),
) -> None:
    """Open the report of runs in the browser; write it first where it is not there or is old."""
    from felicity.cli.reports import default_folder, paradigm_of
    from felicity.report.page import PAGE, is_page_of

    paradigm = paradigm_of(run)
    page = (out or default_folder(run)) / PAGE
    if is_page_of(run, page):
        note("the report is there already, and of these runs as they are")
    else:
        _write(run, paradigm, page.parent)
    print(page)
    if not no_open:
        _open(page)


def _write(runs: list[Path], paradigm: str, folder: Path) -> None:
    if paradigm == "choice":
        from felicity.cli.choice_reports import write_plain

        write_plain(runs, folder)
        return
    from felicity.cli.rating_reports import analyse, write_with_page

    write_with_page(analyse(runs, False, None, "pooled", None, 0), folder)


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        note("no browser was found; open the file above yourself")
