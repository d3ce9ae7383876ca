"""The rows of a journal of replies, and the key that says when two requests are the same."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache

from felicity.participants.chat import ChatInfo
from felicity.types import Choice, Message, Reply, Sampling, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request and what came back: a row of the journal.

    ``turn`` counts from 0. An attempt is final where there is a reply, whatever it says; one that
    failed is asked again.
    """

    trial_id: str
    item_id: str
    conversation_id: str
    prompting: str
    repeat: int
    turn: int
    key: str
    messages: tuple[Message, ...]
    scale: Scale | Choice
    requested: Sampling
    reply: Reply

    @property
    def final(self) -> bool:
        """Whether there is a reply, so that the trial is not asked again."""
        return self.reply.finish != "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An attempt as it lies in the journal, with its number and what a parser made of it.

    ``span`` is where in the reply the value stands, in characters from and to.
    """

    number: int
    created: str
    attempt: Attempt
    value: float | None
    status: str | None
    span: tuple[int, int] | None
    parser_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """What a parser made of the reply of one number."""

    number: int
    value: float | None
    status: str
    span: tuple[int, int] | None
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a run must know of a trial that is answered: to check it, and to go on after it."""

    key: str
    effective: Sampling
    text: str


def reply_key(
    info: ChatInfo,
    messages: tuple[Message, ...],
    requested: Sampling,
    effective: Sampling,
    repeat: int,
) -> str:
    """Hash all that can change a reply: model, exact messages, sampling, repeat."""
    parts = [
        info.spec,
        info.method,
        sorted(info.identity.items()),
        messages_json(messages),
        as_json(requested),
        as_json(effective),
        repeat,
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


# The prompt of a trial is that of its repeats, and sampling and scale are nearly always the same:
# kept ready, they are written and read once.
@lru_cache(maxsize=256)
def messages_json(messages: tuple[Message, ...]) -> str:
    """Write messages as JSON, as they are hashed and stored."""
    return storable(json.dumps([(m.role, m.content) for m in messages], ensure_ascii=False))


@lru_cache(maxsize=256)
def read_messages(text: str) -> tuple[Message, ...]:
    """Read what `messages_json` has written."""
    return tuple(Message(role=role, content=content) for role, content in json.loads(text))


@lru_cache(maxsize=256)
def as_json(value: Sampling | Scale | Choice) -> str:
    """Write a flat value as JSON."""
    return json.dumps(asdict(value), ensure_ascii=False)


@lru_cache(maxsize=256)
def read_sampling(text: str) -> Sampling:
    """Read what `as_json` has written of a sampling."""
    return Sampling(**json.loads(text))


@lru_cache(maxsize=256)
def read_scale(text: str) -> Scale | Choice:
    """Read what `as_json` has written of a scale or a choice."""
    fields = json.loads(text)
    if "labels" not in fields:
        return Scale(**fields)
    return Choice(**{name: tuple(value) for name, value in fields.items()})


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold; half a surrogate pair, as some servers cut it, is "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")
