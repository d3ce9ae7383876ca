"""`felicity build`: make a data set of dialogues, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import OptionError

if TYPE_CHECKING:
    from felicity.build.checks import CheckResult
    from felicity.build.folder import BuildFolder
    from felicity.build.growing import Growth
    from felicity.build.requests import Step
    from felicity.build.writers import WriterOf

app = typer.Typer(
    help="Make a data set: grow dialogues from base dialogues, check, judge and export them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
FolderArgument = Annotated[Path, typer.Argument(help="The build folder.")]
SetArgument = Annotated[
    str, typer.Argument(help="The build folder, or the name of a built-in study that is one.")
]
# Slots of a template that a model on this machine fills in.
SLOTS = 3
_WRITER = typer.Option(
    None, "--writer", help="embedded:NAME, hf:ID, hf:FOLDER, api:PROVIDER/MODEL."
)
_REPLIES = typer.Option(None, help="In place of a writer: JSON lines with step, target, reply.")
_TRIES = typer.Option(3, min=1, help="How often a text is asked for.")
_TEMPERATURE = typer.Option(0.8, min=0, help="Of the writer.")
_MAX_TOKENS = typer.Option(800, min=1, help="Longest reply.")
_SEED = typer.Option(0, help="Of sampling; another gives other replies.")
_CONNECTIONS = typer.Option(None, min=1, help="Requests open at once.")
_PRICE_IN = typer.Option(None, min=0, help="Price of a million tokens in.")
_PRICE_OUT = typer.Option(None, min=0, help="Price of a million tokens out.")
_MAX_COST = typer.Option(None, min=0, help="Stop before a step costs more.")
_DRY_RUN = typer.Option(False, "--dry-run", help="Print what would be asked; ask nothing.")


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet, or empty.")],
    base: Path = typer.Option(
        None, help="Base dialogues, CSV or JSON lines: maxim, question, follower, violator."
    ),
    by: str = typer.Option(None, help="Who wrote the base dialogues."),
    language: str = typer.Option("en", help="Of definitions, prompts, names and checks: en, de."),
    name: str = typer.Option(None, help="The set's name; default the folder's."),
    title: str = typer.Option(None, help="Its title."),
    licence: str = typer.Option("CC-BY-4.0", help="Its licence."),
    names: str = typer.Option(None, help="Speakers' names, with commas; default the language's."),
    dialogues: int = typer.Option(5, min=1, help="Of each template, its base dialogue included."),
    rewordings: int = typer.Option(2, min=0, help="Of each question."),
) -> None:
    """Start a set."""
    from felicity.build.adding import NewSet, start_build

    if base is not None and not (by or "").strip():
        raise OptionError("got nothing; expected a name with --base", where="--by")
    new = NewSet(
        name=name,
        title=title,
        language=language,
        licence=licence,
        names=tuple(part.strip() for part in names.split(",")) if names else None,
        dialogues=dialogues,
        rewordings=rewordings,
    )
    build = start_build(folder, new, base, by)
    print(folder / "build.toml")
    note(f"{len(build.originals)} base dialogues; next: felicity build expand {folder} --writer …")


@app.command()
def add(
    folder: FolderArgument,
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or JSON lines: base dialogues (maxim, question, follower, violator), "
            "dialogues (template_id as well), rewordings (dialogue_id, question)."
        ),
    ],
    by: str = typer.Option(..., help="Who wrote them."),
) -> None:
    """Add what a person has written."""
    from felicity.build.adding import add_lines

    for line in add_lines(folder, file, by):
        print(f"{line.dialogue_id} wording {line.wording}: {line.question}")


def _growing(steps: tuple[Step, ...]) -> Callable[..., None]:
    """Return the command that has these steps written."""

    def command(
        folder: FolderArgument,
        writer: str = _WRITER,
        replies: Path = _REPLIES,
        tries: int = _TRIES,
        temperature: float = _TEMPERATURE,
        max_tokens: int = _MAX_TOKENS,
        seed: int = _SEED,
        max_connections: int = _CONNECTIONS,
        price_in: float = _PRICE_IN,
        price_out: float = _PRICE_OUT,
        max_cost: float = _MAX_COST,
        dry_run: bool = _DRY_RUN,
        as_json: bool = JSON_OPTION,
    ) -> None:
        given = _Given(
            writer=writer, replies=replies, temperature=temperature, max_tokens=max_tokens,
            seed=seed, max_connections=max_connections, price_in=price_in, price_out=price_out,
            max_cost=max_cost,
        )  # fmt: skip
        _grow(folder, steps, given, tries, dry_run, as_json)

    return command


app.command(
    "expand", help="Make a template of each base dialogue, and new dialogues from each template."
)(_growing(("template", "dialogues")))
app.command("reword", help="Have each question said in other words.")(_growing(("rewordings",)))


@app.command()
def check(
    folder: SetArgument,
    run: Path = typer.Option(
        None, help="A scored run of the exported set: adds answers of outlying surprisal."
    ),
    out: Path = typer.Option(
        None, help="Where checks.csv and findings.csv go; default the folder."
    ),
    show: int = typer.Option(20, min=0, help="How many findings are printed; the files have all."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Check a set: each check a figure and a list of what it finds."""
    from felicity.build.checks import run_checks, write_checks
    from felicity.build.folder import read_build
    from felicity.study import BUILT_IN

    build = read_build(folder)
    results = run_checks(build, run)
    place = out or (None if build.folder.parent == BUILT_IN else build.folder)
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
        paths = write_checks(place, results, build.plan.maxim_keys)
    if as_json:
        print_json([asdict(r) | {"all": r.of()} for r in results])
        return
    _show_checks(build, results, show)
    if place is not None:
        note(f"wrote {paths[0]} and {paths[1]}")
    else:
        note("nothing is written beside a built-in study; --out DIR takes the tables")


def _show_checks(build: BuildFolder, results: list[CheckResult], show: int) -> None:
    maxims = build.plan.maxims
    print_table(
        ("Check", "Allowed", "Flagged", "All", *(maxim.short for maxim in maxims)),
        [
            (
                r.name,
                r.allowed,
                f"{len(r.flagged)} of {len(r.values)}",
                *(_figure(r, key) for key in (None, *build.plan.maxim_keys)),
            )
            for r in results
        ],
        title=f"{build.plan.name}: {len(build.originals)} dialogues, {len(build.wordings)} lines",
        left=2,
    )
    found = [(r, value) for r in results for value in r.flagged]
    if found and show:
        print_table(
            ("Check", "Where", "What"),
            [
                (r.name, value.unit + (f"/{value.wording}" if value.wording else ""), value.problem)
                for r, value in found[:show]
            ],
            left=3,
        )
    more = f"; {show} shown" if len(found) > show else ""
    note(f"{len(found)} findings{more}")


def _figure(result: CheckResult, maxim: str | None) -> str:
    value = result.of(maxim)
    if value is None:
        return ""
    return (
        f"{value:.0f}" if result.name.startswith("balance") and value % 1 == 0 else f"{value:.2f}"
    )


@app.command()
def export(
    folder: SetArgument,
    study: Path = typer.Option(..., help="The study's folder, not there yet or empty."),
    take: str = typer.Option(
        None, help="accepted, not-rejected or all; default accepted once anybody has judged."
    ),
    run: Path = typer.Option(None, help="A scored run, for the datasheet's check on grammar."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write a study from a set, with a datasheet and Croissant metadata."""
    from felicity.build.export import export_study

    done = export_study(folder, study, take=take, run=run)
    if as_json:
        print_json(asdict(done) | {"folder": str(done.folder)})
        return
    for name in done.files:
        print(done.folder / name)
    for text in done.notes:
        note(f"note: {text}")
    note(f"{done.dialogues} dialogues, {done.items} items; felicity run {done.folder} --model …")


@app.command()
def status(folder: SetArgument, as_json: bool = JSON_OPTION) -> None:
    """Say how far a set is: what is there, what is missing, what was judged."""
    from felicity.build.folder import read_build
    from felicity.build.status import build_status

    build = read_build(folder)
    found = build_status(build)
    if as_json:
        print_json(asdict(found))
        return
    short = {maxim.key: maxim.short for maxim in build.plan.maxims}
    names = ("base", "templates", "dialogues", "rewordings")
    print_table(
        ("Maxim", *(f"{name.capitalize()}" for name in names)),
        [
            (short[key], *(f"{row[name][0]} of {row[name][1]}" for name in names))
            for key, row in found.maxims.items()
        ],
        title=f"{build.plan.name}, {build.plan.language.name}",
    )
    for writer, counts in found.writers.items():
        statuses = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"replies of {writer}: {statuses}")
    states = ", ".join(f"{count} {name}" for name, count in found.decisions.items())
    print(f"lines by decision: {states}" if found.judged else "nobody has judged the set yet")
    if found.judged:
        from felicity.build.agreement import set_agreement
        from felicity.cli.curate import show_agreement

        show_agreement(set_agreement(build.folder, build.wordings))


class _Given:
    """What `expand` and `reword` were told of the writer."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def opener(self, build: BuildFolder) -> WriterOf:
        """Return what opens a writer for a step; a model on this machine is loaded once.

        Raises
        ------
        OptionError
            Where there is neither a writer nor a file of replies, or both.
        """
        from felicity.build.writers import ReplayedWriter

        spec, replies = self.options["writer"], self.options["replies"]
        if (spec is None) == (replies is None):
            got = "neither" if spec is None else "both"
            raise OptionError(f"got {got}; expected --writer or --replies", where="felicity build")
        if replies is not None:
            writer = ReplayedWriter(replies)
            return lambda _step: writer
        from felicity.cli.writers import opener_of

        plan = build.plan
        most: dict[Step, int] = {
            "template": SLOTS,
            "dialogues": max(1, plan.dialogues - 1),
            "rewordings": max(1, plan.rewordings),
        }
        return opener_of(most=most, **{k: v for k, v in self.options.items() if k != "replies"})


def _grow(
    folder: Path,
    steps: tuple[Step, ...],
    given: _Given,
    tries: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    from felicity.build.folder import read_build
    from felicity.build.growing import grow
    from felicity.build.requests import requests_of

    if dry_run:
        build = read_build(folder)
        asked = [request for step in steps for request in requests_of(build, step)]
        if as_json:
            print_json([asdict(request) for request in asked])
            return
        for request in asked:
            print(f"[{request.step} {request.target}]\n{request.prompt}\n\n{'-' * 72}")
        note(f"{len(asked)} requests now; later steps ask about what these bring")
        return
    grown = grow(folder, steps, given.opener(read_build(folder)), tries=tries)
    if as_json:
        print_json([asdict(growth) for growth in grown])
    else:
        _show_growth(grown, tries)
    if any(growth.missing for growth in grown):
        raise typer.Exit(1)


def _show_growth(grown: list[Growth], tries: int) -> None:
    for growth in grown:
        statuses = ", ".join(f"{count} {name}" for name, count in growth.statuses.items())
        said = f" (replies: {statuses})" if statuses else ""
        print(f"{growth.step}: {growth.taken} of {growth.asked} that were missing{said}")
        if growth.stopped is not None:
            note(f"stopped before the end: {growth.stopped}")
        for target, why in growth.missing.items():
            note(f"still missing: {growth.step} of {target}: {why}")
        if growth.missing:
            note(f"--tries {tries + 3} asks on; another --seed or writer asks anew")
