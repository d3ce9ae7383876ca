"""Put every conversation of a rating study to a participant; go on where it broke off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.errors import RunError
from felicity.manifest import claim_folder, read_manifest, session, write_manifest
from felicity.notebook import show_counts, show_facts
from felicity.participants.chat import ChatInfo, ChatParticipant
from felicity.rating.cost import Budget, Prices
from felicity.rating.eventloop import complete
from felicity.rating.journal import ReplyJournal, only_run
from felicity.rating.parsing import Parser, parse_journal
from felicity.rating.records import Row
from felicity.rating.responses import responses_table
from felicity.rating.sitting import Progress, Sitting, Stopped
from felicity.tables import write_tables
from felicity.types import Conversation, Sampling

if TYPE_CHECKING:
    import polars as pl

JOURNAL = "journal.sqlite"
SMOKE = 3
# What must not differ when a run goes on. Prompts and items are in every reply's key.
IDENTITY = {
    "study": "study",
    "data_hash": "data",
    "spec": "model",
    "method": "method",
    "identity": "model weights or tokenizer",
    "sampling": "sampling",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRun:
    """A rating run as it lies on disk; ``responses`` has a row for each trial that was asked.

    ``stopped`` says why this sitting ended before all was asked: ``max_cost``, or ``errors`` (too
    many failures one after the other); None where it did not, and for a run that was only read.
    """

    folder: Path
    manifest: Mapping[str, Any]
    responses: pl.DataFrame
    asked: int
    stopped: Stopped | None = None

    @property
    def label(self) -> str:
        """The participant's name for tables."""
        return str(self.manifest["participant"]["label"])

    @property
    def answered(self) -> int:
        """Trials with a reply, usable or not."""
        return int((self.responses["finish"] != "error").sum())

    @property
    def complete(self) -> bool:
        """Whether every trial that any sitting asked has a reply."""
        return self.answered >= self.asked

    def __repr__(self) -> str:
        told = f"{self.answered:,} of {self.asked:,} replies"
        return f"{type(self).__name__}({str(self.folder)!r}, {told})"

    def _repr_html_(self) -> str:
        told = self.manifest
        return show_facts(
            f"{self.label} on {told['study']}",
            {
                "method": told["participant"]["method"],
                "replies": f"{self.answered:,} of {self.asked:,} asked",
                "statuses": show_counts(dict(self.responses["status"].value_counts().iter_rows())),
                "stopped": self.stopped or "no",
                "folder": self.folder,
            },
        )


def run_ratings(
    conversations: Sequence[Conversation],
    participant: ChatParticipant,
    out: Path | str,
    *,
    sampling: Sampling,
    manifest: Mapping[str, Any],
    parser: Parser,
    max_connections: int | None = None,
    smoke: int = SMOKE,
    prices: Prices | None = None,
    max_cost: float | None = None,
    progress: Progress = lambda _done, _total: None,
) -> RatingRun:
    """Run a rating study on one participant.

    Parameters
    ----------
    conversations
        All questions, repeats included; trial ids are unique.
    participant
        From `open_api`, or another that replies in words.
    out
        The run folder. One that holds the same run is gone on with; another's is refused.
    sampling
        As asked for. With a seed, every trial gets one derived from it.
    manifest
        What identifies the study: ``study``, ``data_hash`` and whatever else is to stand in
        run.json. Its ``paradigm`` is ``rating`` unless given.
    parser
        Parses the replies once they are in the journal.
    max_connections
        Requests open at once; the participant's own limit where it is lower or this is None.
    smoke
        How many questions are asked first. Where no reply to them is usable the run ends.
    prices, max_cost
        Stop before the run, over all its sittings, costs more.
    progress
        Called with trials answered and trials in all.

    Returns
    -------
    RatingRun
        With a row for every trial in the folder that was asked.

    Raises
    ------
    RunError
        Where the folder is another run's, is in use or cannot be written, or no reply to the
        first questions is usable.
    """
    _check_ids(conversations)
    folder, info = Path(out), participant.info
    budget = Budget(prices, max_cost, sampling.max_tokens)
    claimed = claim_folder(folder, describe(manifest, info, sampling), IDENTITY)
    width = min(participant.max_connections, max_connections or participant.max_connections)
    asked = sum(len(conversation.turns) for conversation in conversations)

    async def sit() -> RatingRun:
        with only_run(folder), ReplyJournal(folder / JOURNAL) as journal:
            sitting = Sitting(
                participant,
                journal,
                sampling=sampling,
                budget=budget,
                total=asked,
                progress=progress,
            )
            sitting.check(conversations)
            claimed["asked"] = journal.ask(t.trial_id for c in conversations for t in c.turns)
            claimed["sessions"].append(session() | {"details": dict(info.details)})
            write_manifest(folder, claimed)
            try:
                probes = _spread(conversations, smoke)
                await _smoke(sitting, journal, probes, parser, info, width)
                await sitting.put(conversations, turns=None, width=width)
            finally:
                await participant.close()
                # However it ended: what came in is parsed, and stands in the tables.
                finished = _finish(folder, claimed, journal, parser)
        return replace(finished, stopped=sitting.stopped)

    return complete(sit)


def read_ratings(folder: Path | str) -> RatingRun:
    """Read the folder of a rating run.

    Raises
    ------
    RunError
        Where it is no run, or a choice study's.
    """
    path = Path(folder)
    if read_manifest(path).get("paradigm") != "rating":
        raise RunError(
            "this is the run of a choice study; expected a rating run",
            where=str(path),
            hint="`felicity report` takes both",
        )
    return read_replies(path)


def read_replies(folder: Path | str) -> RatingRun:
    """Read the folder of a run of either paradigm whose replies are in words."""
    path = Path(folder)
    manifest = read_manifest(path)
    return RatingRun(
        folder=path,
        manifest=manifest,
        responses=responses_table(path / JOURNAL),
        asked=int(manifest.get("asked", 0)),
    )


def reparse(folder: Path | str, parser: Parser) -> RatingRun:
    """Parse all replies of a run anew, without a call; the replies stay as they are."""
    path = Path(folder)
    manifest = read_replies(path).manifest
    with only_run(path), ReplyJournal(path / JOURNAL) as journal:
        journal.clear_parsed()
        return _finish(path, dict(manifest), journal, parser)


def describe(manifest: Mapping[str, Any], info: ChatInfo, sampling: Sampling) -> dict[str, Any]:
    """Return the whole manifest of a run: study, participant, sampling."""
    return {
        "felicity_run": 1,
        "paradigm": "rating",
        **manifest,
        "participant": asdict(info),
        "sampling": asdict(sampling),
        "sessions": [],
    }


def _check_ids(conversations: Sequence[Conversation]) -> None:
    counts = Counter(turn.trial_id for c in conversations for turn in c.turns)
    if not counts:
        raise RunError("there is nothing to ask", hint="the selection is empty")
    double = [trial_id for trial_id, count in counts.items() if count > 1]
    if double:
        raise RunError(
            f"{len(double)} trial ids occur more than once, the first is {double[0]}",
            where="conversations",
            hint="a trial id holds item, prompting and repeat",
        )


def _spread(conversations: Sequence[Conversation], count: int) -> list[Conversation]:
    """Take so many conversations at even distances, so that they differ."""
    count = min(count, len(conversations))
    return [conversations[place * len(conversations) // count] for place in range(count)]


async def _smoke(
    sitting: Sitting,
    journal: ReplyJournal,
    probes: Sequence[Conversation],
    parser: Parser,
    info: ChatInfo,
    width: int,
) -> None:
    """Ask a few questions of the run first; end the run where no reply can be used.

    The replies count: they are the run's own. Where the journal has a usable one nothing is asked.
    """
    parse_journal(journal, parser, info.model)
    if not probes or journal.statuses()["ok"]:
        return
    await sitting.put(probes, turns=1, width=width)
    parse_journal(journal, parser, info.model)
    if sitting.stopped is not None or journal.statuses()["ok"]:
        return
    first = {conversation.turns[0].trial_id for conversation in probes}
    last = {row.attempt.trial_id: row for row in journal.rows() if row.attempt.trial_id in first}
    raise RunError(
        f"none of the first {len(last)} replies is usable, and no more were asked for"
        + "".join(f"\n  {_shown(row)}" for row in last.values()),
        where=info.spec,
        hint="mend model, key or prompt; or smoke=0 (--smoke 0) to ask on all the same",
    )


def _shown(row: Row) -> str:
    """Show what came of one trial in a line."""
    reply = row.attempt.reply
    if reply.finish == "error":
        return f"{row.attempt.trial_id}: error: {reply.error}"
    said = " ".join(reply.text.split())
    said = said if len(said) <= 200 else f"{said[:200]}…"
    return f'{row.attempt.trial_id}: {row.status} (by {reply.model_id}, {reply.finish}): "{said}"'


def _finish(
    folder: Path, manifest: dict[str, Any], journal: ReplyJournal, parser: Parser
) -> RatingRun:
    """Parse what is new, say in run.json what was really sent, and write the tables."""
    parse_journal(journal, parser, manifest["participant"]["model"])
    effective, notes = describe_sampling(journal.samplings())
    manifest |= {
        "sampling_effective": effective,
        "sampling_notes": notes,
        "parser_version": parser.version,
    }
    write_manifest(folder, manifest)
    finished = read_replies(folder)
    write_tables(folder, "responses", finished.responses)
    return finished


def describe_sampling(
    samplings: Sequence[tuple[Sampling, Sampling, int]],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return effective samplings with counts, and in words where they are not those asked for.

    Examples
    --------
    >>> asked = Sampling(temperature=1.0)
    >>> describe_sampling([(asked, Sampling(temperature=None), 5)])[1]
    ['temperature: 1.0 was asked for, nothing was sent (5 of 5 replies)']
    """
    effective: Counter[Sampling] = Counter()
    differing: Counter[str] = Counter()
    for requested, sent, count in samplings:
        # Every trial has a seed of its own; they are in the table.
        effective[replace(sent, seed=None)] += count
        for name, value in asdict(requested).items():
            got = getattr(sent, name)
            if got != value:
                asked = "nothing" if value is None else "a seed" if name == "seed" else value
                word = "nothing" if got is None else got
                differing[f"{name}: {asked} was asked for, {word} was sent"] += count
    total = effective.total()
    return (
        [asdict(sampling) | {"replies": count} for sampling, count in effective.items()],
        [f"{text} ({count} of {total} replies)" for text, count in differing.items()],
    )
