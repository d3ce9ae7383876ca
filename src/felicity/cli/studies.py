"""`felicity studies`, `items` and `validate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import FaultsError, OptionError

if TYPE_CHECKING:
    from felicity.rating.checks import TextBalance
    from felicity.rating.study import RatingItem, RatingStudy
    from felicity.study import Format, Study
    from felicity.types import Item

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
                    **_ways(study),
                }
                for study in found
            ]
        )
        return
    print_table(
        ("Name", "Paradigm", "What it asks", "Formats or promptings", "Items", "Version"),
        [
            (
                study.name,
                study.paradigm,
                study.title,
                ", ".join(next(iter(_ways(study).values()))),
                str(len(study.items)),
                study.version,
            )
            for study in found
        ],
        left=4,
    )


def _ways(study: Study | RatingStudy) -> dict[str, Any]:
    """In which ways the study's items can be put to a participant."""
    from felicity.study import Study

    if isinstance(study, Study):
        return {"formats": list(study.formats), "default_format": study.default_format}
    return {
        "promptings": list(study.promptings),
        "default_presentation": study.presentation,
        "repeats": study.repeats,
    }


def items(
    study: StudyArgument,
    maxim: str = typer.Option(None, help="Only this maxim; short for --where maxim=…."),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    limit: int = typer.Option(None, min=1, help="Only so many."),
    format_name: str = typer.Option(None, "--format", help="Dialogue format."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show a study's items: as dialogues, or as scenes and the question about them."""
    from felicity.study import Study, load_study

    loaded = load_study(study)
    levels = parse_where(where) | ({"maxim": maxim} if maxim else {})
    if isinstance(loaded, Study):
        fmt = loaded.format(format_name)
        dialogues = loaded.select(levels, limit)
        rows = [item.columns() for item in dialogues]
        shown = [_dialogue(item, fmt, loaded.design.factor) for item in dialogues]
        how = f", format {fmt.name}"
    else:
        if format_name is not None:
            raise OptionError(
                f'got "{format_name}"; expected none for a rating study',
                where="--format",
                hint=f"`felicity prompts {study}` shows the promptings",
            )
        scenes = loaded.select(levels, limit)
        rows = [item.columns() for item in scenes]
        shown = [_scene(loaded, item) for item in scenes]
        how = ""
    if as_json:
        print_json(rows)
        return
    for text in shown:
        print(text + "\n")
    note(f"{len(rows)} of {len(loaded.items)} items{how}")


def _dialogue(item: Item, fmt: Format, factor: str) -> str:
    lines = [f"{item.factors[factor]}  {item.item_id}"]
    width = max(map(len, item.answers))
    for place, label in enumerate(item.answers):
        pair, _ = fmt.render(item, label)
        *shared, last = pair.context.split("\n")
        if place == 0:
            lines += [f"  {line}" for line in shared]
        text = f"  {label:>{width}} | {last}{pair.answer}"
        lines.append(text.replace("\n", f"\n  {'':>{width}} | "))
    return "\n".join(lines)


def _scene(study: RatingStudy, item: RatingItem) -> str:
    from felicity.rating.prompts import item_text

    return f"{item.item_id}\n" + indent(item_text(study, item), "  ")


def validate(study: StudyArgument, as_json: bool = JSON_OPTION) -> None:
    """Check a study folder whole: every fault, or counts and balance, and shallow cues."""
    from felicity.study import Study, load_study

    try:
        loaded = load_study(study)
    except FaultsError as error:
        if as_json:
            print_json({"valid": False, "faults": [asdict(fault) for fault in error.faults]})
        else:
            for fault in error.faults:
                print(fault)
            several = "" if len(error.faults) == 1 else "s"
            note(f"{len(error.faults)} fault{several} in {error.where}")
        raise typer.Exit(1) from None
    if not as_json:
        print(f"{loaded.name} {loaded.version}: valid\n")
    if isinstance(loaded, Study):
        _show_choice(loaded, as_json)
    else:
        _show_rating(loaded, as_json)


def _show_choice(study: Study, as_json: bool) -> None:
    from felicity.checks import count_items, cue_table

    counts, cues = count_items(study), cue_table(study)
    if as_json:
        plain = {rule: {k: asdict(s) for k, s in row.items()} for rule, row in cues.items()}
        print_json({"valid": True, "faults": [], "counts": counts, "cues": plain})
        return
    short = {level.key: level.short for level in study.design.levels}
    print_table(
        (study.design.factor.capitalize(), "Dialogues", "Items"),
        [(short[k], str(v["units"]), str(v["items"])) for k, v in counts["levels"].items()]
        + [("All", str(counts["units"]), str(counts["items"]))],
        title="Counts",
    )
    for name, variants in counts["variants"].items():
        print(f"By {name}: " + ", ".join(f"{v} {n}" for v, n in variants.items()))
    first = study.design.answers[0]
    print_table(
        ("Blind rule", *short.values()),
        [(rule, *(f"{row[key].share:.2f}" for key in short)) for rule, row in cues.items()],
        title=f"\nShallow cues: how often a blind rule picks the {first} (a tie is a draw)",
    )
    if "more frequent words" not in cues:
        note("the rule on word frequency needs wordfreq: pip install 'felicity[build]'")


def _show_rating(study: RatingStudy, as_json: bool) -> None:
    from felicity.rating.checks import count_rating_items, text_balance

    counts, balance = count_rating_items(study), text_balance(study)
    if as_json:
        rows = [asdict(row) for row in balance]
        print_json({"valid": True, "faults": [], "counts": counts, "balance": rows})
        return
    print(
        f"{counts['items']} items: {counts['scenes']} scenes, each for "
        f"{len(study.attributes)} attributes, from {study.scale.low} to {study.scale.high}"
    )
    for factor, levels in counts["factors"].items():
        print(f"By {factor}: " + ", ".join(f"{level} {n}" for level, n in levels.items()))
    print(
        f"Reference: {counts['reference_cells']} cells, {counts['reference_ratings']} ratings; "
        f"effects: {counts['effects']}"
    )
    print_table(
        ("Text", "Scenario", *_numbered(balance)),
        [
            (f"{row.field} by {row.factor}", row.scenario, *map(_level_words, row.words.items()))
            for row in balance
        ],
        title="\nBalance: words of each text that varies",
        left=2,
    )
    print_table(
        ("Prompting", "Blocks", "Words"),
        [
            (name, " + ".join(blocks), f"{counts['prompt_words'][name]:.0f}")
            for name, blocks in study.promptings.items()
        ],
        title="\nPromptings, with the mean length of their prompts",
        left=2,
    )


def _numbered(balance: Sequence[TextBalance]) -> list[str]:
    most = max((len(row.words) for row in balance), default=0)
    return [f"Level {number}" for number in range(1, most + 1)]


def _level_words(pair: tuple[str, int]) -> str:
    return f"{pair[0]} {pair[1]}"
