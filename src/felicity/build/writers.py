"""Who writes: a model that is asked, or a file of replies that somebody has collected."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from felicity.build.requests import STEPS, Request, Step, schema_of
from felicity.build.wording import digest
from felicity.errors import Fault, FaultsError, OptionError, one_of
from felicity.participants.chat import ChatInfo, ChatParticipant
from felicity.rating.cost import Budget, Prices
from felicity.rating.journal import ReplyJournal
from felicity.rating.records import Attempt, as_json, reply_key
from felicity.rating.sitting import Progress, Sitting, Stopped
from felicity.types import Conversation, Message, Reply, Sampling, Scale, Turn

UNKNOWN = Sampling(temperature=None)
HINT = 'an entry is {"step": "rewordings", "target": "quality-01-1", "reply": "…"}'


class Writer(Protocol):
    """Whoever replies to requests; every reply goes into the journal."""

    @property
    def info(self) -> ChatInfo:
        """All that identifies them."""
        ...

    @property
    def sampling(self) -> Sampling:
        """As asked for."""
        ...

    def trial_id(self, request: Request, trial: int) -> str:
        """Name the request: the same words under the same parameters have the same name."""
        ...

    async def put(self, journal: ReplyJournal, requests: Sequence[Request], trial: int) -> None:
        """Have each request answered that is not answered yet, as far as may be."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...

    @property
    def stopped(self) -> Stopped | None:
        """Why no more was asked, where it ended early."""
        ...


class AskedWriter:
    """A model that is asked, through the sitting that runs of studies use."""

    def __init__(
        self,
        participant: ChatParticipant,
        *,
        sampling: Sampling,
        max_connections: int | None = None,
        prices: Prices | None = None,
        max_cost: float | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self._participant = participant
        self.info = participant.info
        self.sampling = sampling
        self._width = min(
            participant.max_connections, max_connections or participant.max_connections
        )
        self._prices, self._max_cost = prices, max_cost
        self._progress = progress
        self.stopped: Stopped | None = None

    def trial_id(self, request: Request, trial: int) -> str:
        """Name the request by its words, its form and the sampling."""
        what = [request.prompt, schema_of(request.step), as_json(self.sampling)]
        return f"{request.step}|{request.target}|{trial}|{digest(what)}"

    async def put(self, journal: ReplyJournal, requests: Sequence[Request], trial: int) -> None:
        """Ask; what is answered already is not asked again."""
        sitting = Sitting(
            self._participant,
            journal,
            sampling=self.sampling,
            budget=Budget(self._prices, self._max_cost, self.sampling.max_tokens),
            total=len(requests),
            progress=self._progress,
        )
        conversations = [self._conversation(request, trial) for request in requests]
        sitting.check(conversations)
        await sitting.put(conversations, turns=None, width=self._width)
        self.stopped = sitting.stopped

    async def close(self) -> None:
        """Close connections."""
        await self._participant.close()

    def _conversation(self, request: Request, trial: int) -> Conversation:
        name = self.trial_id(request, trial)
        return Conversation(
            conversation_id=name,
            prompting=request.step,
            repeat=trial,
            system=None,
            turns=(Turn(trial_id=name, item_id=request.target, text=request.prompt),),
            scale=counted(request),
        )


def counted(request: Request) -> Scale:
    """Return the range of what a reply is worth: so many texts taken of those asked for."""
    return Scale(low=0, high=request.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedDraft:
    """One reply of a file."""

    text: str
    finish: str


class ReplayedWriter:
    """Replies that somebody has collected: those to one target are its tries, in their order."""

    def __init__(self, path: Path, model: str | None = None) -> None:
        self._replies, sha256, named = read_replies(path)
        name = model or named or path.stem
        self.info = ChatInfo(
            spec=f"replay:{name}",
            label=name,
            method="replay",
            model=None,
            identity={},
            details={"file": path.name, "sha256": sha256},
        )
        self.sampling = UNKNOWN
        self.stopped: Stopped | None = None

    def trial_id(self, request: Request, trial: int) -> str:
        """Name the request by the reply itself: another file may hold another."""
        reply = self._of(request, trial)
        return f"{request.step}|{request.target}|{trial}|{digest([reply.text, reply.finish])}"

    def has(self, request: Request, trial: int) -> bool:
        """Whether there is a reply to this try."""
        return trial < len(self._replies.get((request.step, request.target), ()))

    def _of(self, request: Request, trial: int) -> CollectedDraft:
        found = self._replies.get((request.step, request.target), [])
        return found[trial] if trial < len(found) else CollectedDraft(text="", finish="none")

    async def put(self, journal: ReplyJournal, requests: Sequence[Request], trial: int) -> None:
        """Put the file's replies into the journal; a target without one stays unanswered."""
        known = journal.known()
        attempts = []
        for request in requests:
            name, reply = self.trial_id(request, trial), self._of(request, trial)
            if self.has(request, trial) and name not in known:
                attempts.append(self._attempt(request, trial, name, reply))
        if attempts:
            journal.add(attempts)

    async def close(self) -> None:
        """Do nothing."""

    def _attempt(self, request: Request, trial: int, name: str, found: CollectedDraft) -> Attempt:
        # The prompt as it would have been put: what the collectors put is not known.
        messages = (Message(role="user", content=request.prompt),)
        return Attempt(
            trial_id=name,
            item_id=request.target,
            conversation_id=name,
            prompting=request.step,
            repeat=trial,
            turn=0,
            key=reply_key(self.info, messages, UNKNOWN, UNKNOWN, trial),
            messages=messages,
            scale=counted(request),
            requested=UNKNOWN,
            reply=Reply(
                text=found.text,
                reasoning=None,
                finish=found.finish,
                model_id=None,
                effective=UNKNOWN,
                tokens_in=None,
                tokens_out=None,
                seconds=0.0,
            ),
        )


WriterOf = Callable[[Step], Writer]


def read_replies(
    path: Path,
) -> tuple[Mapping[tuple[str, str], list[CollectedDraft]], str, str | None]:
    """Read a file of replies, JSON lines with ``step``, ``target``, ``reply`` and maybe ``finish``.

    Returns
    -------
    replies, sha256, model
        By step and target; the hash of the file; the one ``model`` that entries name, if any.

    Raises
    ------
    FaultsError
        With every fault of the file.
    """
    try:
        raw = path.read_bytes()
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        got = f"a byte that is not UTF-8 at {error.start}"
        fault = Fault(file=path.name, field="encoding", got=got, allowed="UTF-8")
        raise FaultsError([fault], where=str(path)) from error
    except OSError as error:
        raise OptionError(
            f"{error.strerror}; expected a file of replies", where=str(path)
        ) from None
    found: dict[tuple[str, str], list[CollectedDraft]] = defaultdict(list)
    faults: list[Fault] = []
    models: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if line.strip():
            _read_entry(path.name, number, line, found, faults, models)
    if len(models) > 1:
        got = ", ".join(sorted(models))
        faults.append(Fault(file=path.name, field="model", got=got, allowed="one model"))
    if not found and not faults:
        faults.append(Fault(file=path.name, field="entries", got="0", allowed="at least one"))
    if faults:
        raise FaultsError(faults, where=str(path), hint=HINT)
    return found, hashlib.sha256(raw).hexdigest(), next(iter(models), None)


def _read_entry(
    file: str,
    number: int,
    line: str,
    found: dict[tuple[str, str], list[CollectedDraft]],
    faults: list[Fault],
    models: set[str],
) -> None:
    def fault(field: str, got: object, allowed: str) -> None:
        faults.append(
            Fault(file=file, line=number, field=field, got=str(got)[:80], allowed=allowed)
        )

    try:
        entry: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        fault("line", error, "JSON")
        return
    if not isinstance(entry, dict):
        fault("line", type(entry).__name__, "a JSON object")
        return
    before = len(faults)
    step, target, reply = (entry.get(name, "nothing") for name in ("step", "target", "reply"))
    finish, model = entry.get("finish", "stop"), entry.get("model")
    if step not in STEPS:
        fault("step", step, one_of(STEPS))
    if not isinstance(target, str) or "target" not in entry:
        fault("target", target, "a template's or dialogue's id")
    if not isinstance(reply, str | None) or "reply" not in entry:
        fault("reply", reply, "text, or null for none")
    if not isinstance(finish, str) or finish == "error":
        fault("finish", finish, "stop, length or another word for how it ended")
    if not isinstance(model, str | None):
        fault("model", model, "a name")
    if len(faults) == before:
        found[step, target].append(CollectedDraft(text=reply or "", finish=finish))
        models |= {model} if model else set()
