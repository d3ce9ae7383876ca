"""`felicity build curate` and `felicity build agreement`: people judge a set."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table

if TYPE_CHECKING:
    from felicity.build.agreement import SetAgreement
    from felicity.stats.accuracy import Interval


def curate(
    folder: Annotated[Path, typer.Argument(help="The build folder.")],
    annotator: str = typer.Option(None, help="Who judges; without it the page asks."),
    run: Path = typer.Option(
        None, help="A scored run of the set: its margins are shown once an annotator has chosen."
    ),
    port: int = typer.Option(0, min=0, max=65535, help="Of the page; 0 takes a free one."),
    seed: int = typer.Option(0, help="Of the order of dialogues and of answers, for each person."),
    no_open: bool = typer.Option(False, "--no-open", help="Print the address, open nothing."),
) -> None:
    """Judge a set in the browser, on this machine only; every decision is kept at once."""
    from felicity.build.curation.office import Office
    from felicity.build.curation.server import open_server

    office = Office(folder, annotator=annotator, run=run, seed=seed)
    served = open_server(office, port)
    print(served.address, flush=True)
    note("anybody who has this address can judge; Ctrl-C stops the page, what was judged is kept")
    if not no_open:
        _open(served.address)
    try:
        served.run()
    except KeyboardInterrupt:
        note(f"stopped; the same command goes on, and `felicity build status {folder}` counts")


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        note("no browser was found; open the address above yourself")


def agreement(
    folder: Annotated[str, typer.Argument(help="The build folder.")],
    seed: int = typer.Option(0, help="Of the intervals."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Say how far annotators agree, and how often they found the violator, blind."""
    from felicity.build.agreement import set_agreement
    from felicity.build.folder import read_build

    build = read_build(folder)
    found = set_agreement(build.folder, build.wordings, seed=seed)
    if as_json:
        print_json(asdict(found))
        return
    show_agreement(found)
    if not found.choices:
        note(f"nobody has judged the set yet; felicity build curate {folder}")
        return
    short = {maxim.key: maxim.short for maxim in build.plan.maxims}
    print_table(
        ("Annotator", "Violator found", "Share", "Wilson 95 %", *short.values()),
        [
            (
                choice.annotator,
                f"{choice.right} of {choice.chosen}",
                f"{choice.right / choice.chosen:.2f}",
                _interval(choice.interval),
                *(f"{right} of {n}" if n else "" for right, n in (
                    choice.maxims.get(key, (0, 0)) for key in short)),
            )
            for choice in found.choices
        ],
        title="Choices made blind: which answer breaks the maxim",
    )  # fmt: skip


def show_agreement(found: SetAgreement) -> None:
    """Print the verdicts' agreement."""
    rows = [
        (
            " and ".join(pair.annotators),
            f"{pair.same} of {pair.lines}",
            f"{100 * pair.same / pair.lines:.0f} %",
            _interval(pair.same_interval, 100),
            "–" if pair.kappa is None else f"{pair.kappa:.2f}",
            _interval(pair.kappa_interval),
        )
        for pair in found.pairs
    ]
    if rows:
        print_table(
            ("Annotators", "Same verdict", "Percent", "95 %", "Cohen's κ", "95 % "),
            rows,
            title="Verdicts (keep or reject) on lines that both have judged",
        )
    joint = found.joint
    if joint is not None:
        alpha = "–" if joint.alpha is None else f"{joint.alpha:.2f}"
        interval = f" ({said})" if (said := _interval(joint.interval)) else ""
        print(
            f"Krippendorff's α of {len(joint.annotators)} annotators on {joint.lines} lines: "
            f"{alpha}{interval}"
        )


def _interval(interval: Interval | None, times: int = 1) -> str:
    if interval is None:
        return ""
    digits = 0 if times == 100 else 2
    return f"{times * interval.low:.{digits}f} to {times * interval.high:.{digits}f}"
