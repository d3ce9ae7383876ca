"""What a participant that replies in words can do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from felicity.types import Message, Reply, Sampling

# What a provider appends to a name for one dated or numbered release of it.
RELEASE = re.compile(r"[-@:](\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{2}|\d{4}|00\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatInfo:
    """Everything about a participant that can change its replies, and how it is called.

    Attributes
    ----------
    spec, label
        As the user names it; a short name for tables.
    method
        ``sampled``, or another way of having a reply.
    model
        The model as the provider knows it. A reply from another is ``model_mismatch``; None where
        replies name no model.
    identity
        What else can change a reply (fingerprints of weights and tokenizer, a chat template): part
        of every reply's key.
    details
        What is good to know and changes no reply: the server's address, limits.
    notes
        Warnings for the user.
    """

    spec: str
    label: str
    method: str
    model: str | None
    identity: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class ChatParticipant(Protocol):
    """Whoever replies to messages."""

    @property
    def info(self) -> ChatInfo:
        """All that identifies it."""
        ...

    @property
    def max_connections(self) -> int:
        """How many requests may be open at once; 1 for a model in this process."""
        ...

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Put one request and return what came back.

        A failure of the provider is a reply with ``finish`` ``error``, never an exception; an
        exception ends the run.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; a later `ask` opens them again."""
        ...


def is_same_model(asked: str, answered: str) -> bool:
    """Say whether the model that answered is the one that was asked.

    It may be a dated or numbered release of that name, and either may lack the maker's part.

    Examples
    --------
    >>> is_same_model("gpt-4o-mini", "gpt-4o-mini-2024-07-18")
    True
    >>> is_same_model("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022")
    True
    >>> is_same_model("gpt-4o", "gpt-4o-mini"), is_same_model("gpt-4o-2024-08-06", "gpt-4o")
    (False, False)
    >>> is_same_model("meta-llama/Llama-3.1-8B", "llama-3.1-8b")
    True
    """
    names = [name.lower().removeprefix("models/") for name in (asked, answered)]
    if "/" not in names[0] or "/" not in names[1]:
        names = [name.rpartition("/")[2] for name in names]
    base, found = names[0].removesuffix("-latest"), names[1]
    if found == names[0]:
        return True
    rest = found.removeprefix(base)
    return found.startswith(base) and (not rest or RELEASE.fullmatch(rest) is not None)
