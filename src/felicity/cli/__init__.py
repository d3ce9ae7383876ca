"""The command line: parse arguments, call one function, print what comes back."""

from __future__ import annotations

import sys

import typer

from felicity.cli import (
    build,
    curate,
    experiments,
    interop,
    models,
    parse,
    prompts,
    reference,
    replay,
    reports,
    runs,
    studies,
    survey,
    view,
)
from felicity.cli.output import err
from felicity.errors import FelicityError

app = typer.Typer(
    name="felicity",
    help="Run studies of language use on language models as they were run on people.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from felicity import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


for command in (
    studies.studies,
    models.models,
    studies.items,
    studies.validate,
    prompts.prompts,
    runs.run,
    experiments.status,
    replay.replay,
    parse.parse,
    reports.report,
    view.view,
    reference.reference,
    models.doctor,
):
    app.command()(command)
build.app.command()(curate.curate)
build.app.command()(curate.agreement)
app.command("export")(interop.export)
app.command("import")(interop.import_)
app.command("import-scores")(interop.import_scores)
app.add_typer(build.app, name="build")
app.add_typer(survey.app, name="survey")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's mistake ends in a message and exit code 1, no traceback."""
    try:
        app(args=arguments)
    except FelicityError as error:
        err.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except SystemExit as stop:
        # Typer turns Ctrl-C into this exit code, without a word.
        if stop.code == 130:
            err.print("interrupted; what was done is kept, and the same command goes on from there")
        raise
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        sys.stderr.close()
        sys.exit(141)
