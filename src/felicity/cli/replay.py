"""`felicity replay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from felicity.cli.output import JSON_OPTION, note, print_json
from felicity.cli.studies import StudyArgument

if TYPE_CHECKING:
    from felicity.rating.replay import Replayed


def replay(
    study: StudyArgument,
    replies: Annotated[
        list[str], typer.Argument(help="FILE or FILE=PROMPTING: JSON lines, or one JSON array.")
    ],
    out: Annotated[
        Path, typer.Option(help="The run folder; with several models, one in it for each.")
    ],
    prompting: str = typer.Option(
        None, help="Of files that do not say theirs; default the one in the file's name."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Read replies that others collected as rating runs, without any call."""
    from felicity.rating.parse import PARSER_VERSION, parse_reply
    from felicity.rating.parsing import Parser
    from felicity.rating.replay import replay as replay_collection
    from felicity.rating.replay_reader import read_collection
    from felicity.study import load_rating_study

    loaded = load_rating_study(study)
    collection = read_collection([_source(text) for text in replies], loaded, prompting)
    parser = Parser(parse=parse_reply, version=PARSER_VERSION)
    done = replay_collection(collection, loaded, out, parser)
    if as_json:
        print_json({"runs": [_summary(each) for each in done]})
        return
    for each in done:
        statuses = _summary(each)["statuses"]
        counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
        text = f"{each.run.label}: {each.run.asked} replies: {counts}"
        if each.rated:
            text += f"; {each.same} of {each.rated} rated as the file has them"
        note(text)
        print(each.run.folder / "responses.parquet")
    note(f"the table: felicity report {' '.join(str(each.run.folder) for each in done)}")


def _source(text: str) -> tuple[Path, str | None]:
    """Split FILE=PROMPTING; a file may have = in its own name."""
    name, equals, prompting = text.rpartition("=")
    if not equals or Path(text).exists():
        return Path(text), None
    return Path(name), prompting


def _summary(done: Replayed) -> dict[str, Any]:
    counts = done.run.responses["status"].value_counts(sort=True)
    return {
        "model": done.run.manifest["participant"]["model"],
        "folder": str(done.run.folder),
        "promptings": sorted(done.run.responses["prompting"].unique()),
        "asked": done.run.asked,
        "statuses": dict(counts.iter_rows()),
        "rated_in_file": done.rated,
        "rated_the_same": done.same,
    }
