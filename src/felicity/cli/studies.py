"""`felicity studies`, `items` and `validate`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import FaultsError

StudyArgument = Annotated[str, typer.Argument(help="A built-in study's name, or a folder.")]


def studies(as_json: bool = JSON_OPTION) -> None:
    """List the studies that come with Felicity."""
    from felicity.study import list_studies, load_study

    found = [load_study(name) for name in list_studies()]
    if as_json:
        print_json(
            [
                {
                    "name": study.name,
                    "title": study.title,
                    "version": study.version,
                    "paradigm": study.paradigm,
                    "language": study.language,
                    "licence": study.licence,
                    "items": len(study.items),
                    "formats": list(study.formats),
                    "default_format": study.default_format,
                }
                for study in found
            ]
        )
        return
    print_table(
        ("Name", "What it asks", "Formats", "Items", "Version"),
        [(s.name, s.title, ", ".join(s.formats), str(len(s.items)), s.version) for s in found],
        left=3,
    )


def items(
    study: StudyArgument,
    maxim: str = typer.Option(None, help="Only this maxim; short for --where maxim=…."),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    limit: int = typer.Option(None, min=1, help="Only so many."),
    format_name: str = typer.Option(None, "--format", help="Dialogue format."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show a study's items as dialogues."""
    from felicity.study import load_study

    loaded = load_study(study)
    fmt = loaded.format(format_name)
    levels = parse_where(where) | ({"maxim": maxim} if maxim else {})
    chosen = loaded.select(levels, limit)
    if as_json:
        print_json([item.columns() for item in chosen])
        return
    for item in chosen:
        print(f"{item.factors[loaded.design.factor]}  {item.item_id}")
        width = max(map(len, item.answers))
        for place, label in enumerate(item.answers):
            pair, _ = fmt.render(item, label)
            *shared, last = pair.context.split("\n")
            if place == 0:
                print("".join(f"  {line}\n" for line in shared), end="")
            print(
                f"  {label:>{width}} | {last}{pair.answer}".replace("\n", f"\n  {'':>{width}} | ")
            )
        print()
    note(f"{len(chosen)} of {len(loaded.items)} items, format {fmt.name}")


def validate(study: StudyArgument, as_json: bool = JSON_OPTION) -> None:
    """Check a study folder whole: every fault, or counts, balance and shallow cues."""
    from felicity.checks import count_items, cue_table
    from felicity.study import load_study

    try:
        loaded = load_study(study)
    except FaultsError as error:
        if as_json:
            print_json({"valid": False, "faults": [asdict(fault) for fault in error.faults]})
        else:
            for fault in error.faults:
                print(fault)
            note(f"{len(error.faults)} faults in {error.where}")
        raise typer.Exit(1) from None
    counts, cues = count_items(loaded), cue_table(loaded)
    if as_json:
        plain = {rule: {k: asdict(s) for k, s in row.items()} for rule, row in cues.items()}
        print_json({"valid": True, "faults": [], "counts": counts, "cues": plain})
        return
    print(f"{loaded.name} {loaded.version}: valid\n")
    short = {level.key: level.short for level in loaded.design.levels}
    print_table(
        (loaded.design.factor.capitalize(), "Dialogues", "Items"),
        [(short[k], str(v["units"]), str(v["items"])) for k, v in counts["levels"].items()]
        + [("All", str(counts["units"]), str(counts["items"]))],
        title="Counts",
    )
    for name, variants in counts["variants"].items():
        print(f"By {name}: " + ", ".join(f"{v} {n}" for v, n in variants.items()))
    first = loaded.design.answers[0]
    print_table(
        ("Blind rule", *short.values()),
        [(rule, *(f"{row[key].share:.2f}" for key in short)) for rule, row in cues.items()],
        title=f"\nShallow cues: how often a blind rule picks the {first} (ties count half)",
    )
    if "more frequent words" not in cues:
        note("the rule on word frequency needs wordfreq: pip install 'felicity[build]'")
