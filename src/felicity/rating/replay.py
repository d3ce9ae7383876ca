"""Replies that others collected, as a rating run like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from felicity.errors import RunError
from felicity.manifest import claim_folder, describe_study, session, write_manifest
from felicity.participants.chat import ChatInfo
from felicity.rating.journal import ReplyJournal, only_run
from felicity.rating.parsing import Parser
from felicity.rating.records import Attempt, reply_key
from felicity.rating.replay_reader import CollectedReply, Collection
from felicity.rating.run import IDENTITY, JOURNAL, RatingRun, describe, reparse
from felicity.rating.study import RatingStudy
from felicity.types import Reply, Sampling

METHOD = "replay"
# Neither what was sent nor how is known of a reply that somebody else collected.
UNKNOWN = Sampling(temperature=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A replay's run, and how it compares with the ratings that the files themselves give.

    ``rated`` replies come with a rating of their collectors (or with their word that there is
    none); of these the run's parser reads ``same`` as they did.
    """

    run: RatingRun
    rated: int
    same: int


def replay(collection: Collection, study: RatingStudy, out: Path, parser: Parser) -> list[Replayed]:
    """Write replies as runs: one in ``out`` itself for one model, else one in ``out/MODEL`` each.

    Parameters
    ----------
    collection
        From `read_collection`.
    study
        The study that the replies answer.
    out
        A folder that is empty, not there yet, or holds the same replay.
    parser
        Parses the replies once they are in the journal.

    Returns
    -------
    list of Replayed
        One for each model. Messages, sampling, tokens and time of a reply are not known and so not
        there (``seconds`` is 0).

    Raises
    ------
    RunError
        Where a folder holds another run or cannot be written, or two models' names make the same
        folder.
    """
    models = collection.models
    folders = [out] if len(models) == 1 else [out / folder_name(model) for model in models]
    if len({str(folder).lower() for folder in folders}) < len(folders):
        raise RunError(
            f"the names of two models make one folder: {', '.join(models)}",
            where=str(out),
            hint="replay them one by one, or rename one in the file",
        )
    return [
        _replay(model, collection, study, folder, parser)
        for model, folder in zip(models, folders, strict=True)
    ]


def folder_name(model: str) -> str:
    """Make a folder's name of a model's.

    Examples
    --------
    >>> folder_name("meta-llama/Llama 3.1")
    'meta-llama-Llama-3.1'
    """
    return "".join(c if c.isalnum() or c in "-_.@" else "-" for c in model).strip("-.") or "model"


def _replay(
    model: str, collection: Collection, study: RatingStudy, folder: Path, parser: Parser
) -> Replayed:
    replies = [reply for reply in collection.replies if reply.model == model]
    info = ChatInfo(
        spec=f"{METHOD}:{model}",
        label=model,
        method=METHOD,
        model=model,
        # A file under another name is the same; replies under another prompting are not.
        identity={
            "replies": " ".join(sorted(file.sha256 for file in collection.files)),
            "promptings": " ".join(sorted({reply.prompting for reply in replies})),
        },
    )
    told = {
        **describe_study(study),
        "replay": {"files": [asdict(file) for file in collection.files]},
    }
    claimed: dict[str, Any] = claim_folder(folder, describe(told, info, UNKNOWN), IDENTITY)
    with only_run(folder), ReplyJournal(folder / JOURNAL) as journal:
        known = {row.attempt.trial_id for row in journal.rows()}
        attempts = [(_attempt(reply, study, info), reply.created) for reply in replies]
        journal.add_collected(each for each in attempts if each[0].trial_id not in known)
        claimed["asked"] = journal.ask(reply.trial_id for reply in replies)
        claimed["sessions"].append(session())
        write_manifest(folder, claimed)
    return _compared(reparse(folder, parser), replies)


def _attempt(reply: CollectedReply, study: RatingStudy, info: ChatInfo) -> Attempt:
    return Attempt(
        trial_id=reply.trial_id,
        item_id=reply.item_id,
        conversation_id=reply.trial_id,
        prompting=reply.prompting,
        repeat=reply.repeat,
        turn=0,
        key=reply_key(info, (), UNKNOWN, UNKNOWN, reply.repeat),
        messages=(),
        scale=study.scale,
        requested=UNKNOWN,
        reply=Reply(
            text=reply.text,
            reasoning=None,
            finish=reply.finish,
            model_id=reply.model,
            effective=UNKNOWN,
            tokens_in=None,
            tokens_out=None,
            seconds=0.0,
        ),
    )


def _compared(run: RatingRun, replies: Sequence[CollectedReply]) -> Replayed:
    table = run.responses
    values = dict(zip(table["trial_id"], table["value"], strict=True))
    rated = [reply for reply in replies if reply.has_rating]
    same = sum(values[reply.trial_id] == reply.rated for reply in rated)
    return Replayed(run=run, rated=len(rated), same=same)
