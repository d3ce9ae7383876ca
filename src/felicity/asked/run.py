"""Ask a choice study of a participant that replies in words; read such a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.asked.parse import PARSER_VERSION, parse_choice
from felicity.asked.prompts import asked_conversations, task_of
from felicity.asked.responses import items_table, trials_table
from felicity.errors import OptionError, RunError
from felicity.manifest import describe_study, read_manifest, study_of_run
from felicity.participants.chat import ChatInfo, ChatParticipant
from felicity.rating.cost import Prices
from felicity.rating.parsing import Parser
from felicity.rating.run import SMOKE, RatingRun, read_replies, reparse, run_ratings
from felicity.rating.sitting import Progress
from felicity.study import Study, load_choice_study
from felicity.tables import write_tables
from felicity.types import Message, Reply, Sampling

if TYPE_CHECKING:
    import polars as pl

METHOD = "asked"
PARSER = Parser(parse=parse_choice, version=PARSER_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRun(RatingRun):
    """An asked run as it lies on disk; ``responses`` has a row for each trial with the reply.

    Attributes
    ----------
    trials
        A row for each trial with its pick (`felicity.asked.responses.trials_table`).
    items
        A row for each item with the picks under both orders (``items_table``).
    """

    study: Study
    trials: pl.DataFrame
    items: pl.DataFrame

    __repr__ = RatingRun.__repr__


def run_asked(
    study: Study | str,
    participant: ChatParticipant,
    out: Path | str,
    *,
    sampling: Sampling,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    max_connections: int | None = None,
    smoke: int = SMOKE,
    prices: Prices | None = None,
    max_cost: float | None = None,
    progress: Progress = lambda _done, _total: None,
) -> AskedRun:
    """Ask a choice study: two answers are shown, which one is it? Each item in both orders.

    Parameters
    ----------
    study
        A choice study with a section ``[asked]``, its built-in name, or its folder.
    participant
        One that replies in words.
    out
        The run folder. One that holds the same run is gone on with; another's is refused.
    sampling, max_connections, smoke, prices, max_cost, progress
        As for `felicity.rating.run.run_ratings`.
    where, limit
        Only items with these factor levels; only so many items, each in both orders.

    Returns
    -------
    AskedRun
        With every trial in the folder that was asked.

    Raises
    ------
    OptionError
        Where the study has no task in words, or the participant no reply in words.
    RunError
        Where the folder is another run's, is in use or cannot be written, or no reply to the
        first questions is usable.
    """
    study = load_choice_study(study) if isinstance(study, str) else study
    conversations = asked_conversations(study, where=where, limit=limit)
    done = run_ratings(
        conversations,
        _Asked(participant),
        out,
        sampling=sampling,
        manifest=_describe(study),
        parser=PARSER,
        max_connections=max_connections,
        smoke=smoke,
        prices=prices,
        max_cost=max_cost,
        progress=progress,
    )
    return _exported(done, study)


def read_asked(folder: Path | str, study: Study | None = None) -> AskedRun:
    """Read the folder of an asked run; its study is found by the manifest where it is not given.

    Raises
    ------
    RunError
        Where it is no run, another kind of run, or its study has changed.
    """
    path = Path(folder)
    manifest = read_manifest(path)
    if not is_asked_run(manifest):
        raise RunError(
            "this run was not asked in words; expected one of a choice study with --method asked",
            where=str(path),
            hint="`felicity report` takes all kinds",
        )
    return _picked(read_replies(path), study_of_run(path, manifest, study))


def is_asked_run(manifest: Mapping[str, Any]) -> bool:
    """Say whether a run's manifest is that of an asked choice study."""
    return manifest.get("paradigm") == "choice" and manifest["participant"].get("method") == METHOD


def reparse_asked(folder: Path | str) -> AskedRun:
    """Parse all replies of an asked run anew, without a call; the replies stay as they are."""
    study = read_asked(folder).study
    return _exported(reparse(folder, PARSER), study)


def _picked(run: RatingRun, study: Study) -> AskedRun:
    trials = trials_table(study, run.responses)
    return AskedRun(
        folder=run.folder,
        study=study,
        manifest=run.manifest,
        responses=run.responses,
        trials=trials,
        items=items_table(trials),
        asked=run.asked,
        stopped=run.stopped,
    )


def _exported(run: RatingRun, study: Study) -> AskedRun:
    picked = _picked(run, study)
    write_tables(picked.folder, "picks", picked.items)
    return picked


def _describe(study: Study) -> dict[str, Any]:
    task = task_of(study)
    return {
        "paradigm": "choice",
        **describe_study(study),
        "format": {"name": METHOD, "prompt": task.prompt, "labels": list(task.labels)},
        "pick": task.pick,
        "words": list(task.words),
    }


class _Asked:
    """A participant under this way of asking it: its replies are told from those to ratings."""

    def __init__(self, participant: ChatParticipant) -> None:
        if participant.info.method != "sampled":
            raise OptionError(
                f"got a participant of method {participant.info.method}; expected one that "
                "replies in words",
                where=participant.info.spec,
                hint="open it as `sampled`",
            )
        self._participant = participant
        self.info: ChatInfo = replace(participant.info, method=METHOD)

    @property
    def max_connections(self) -> int:
        """How many requests may be open at once."""
        return self._participant.max_connections

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Put one request."""
        return await self._participant.ask(messages, sampling)

    async def close(self) -> None:
        """Let go of connections."""
        await self._participant.close()
