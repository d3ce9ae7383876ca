"""What a participant that scores text can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from felicity.errors import ModelError
from felicity.scoring.encode import Encoded
from felicity.types import ParticipantInfo, TextPair, TokenScores


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Texts encoded and cut into batches, before anything is scored.

    ``batches`` hold indices into ``encoded``; each index occurs once. ``way`` is how they are
    scored: ``plain``, or for causal models ``rows`` or ``tree``, which compute common beginnings
    once, or ``masked`` or ``seq2seq``.
    """

    encoded: tuple[Encoded, ...]
    batches: tuple[tuple[int, ...], ...]
    way: str = "plain"


def check_ids(model: Any, encoded: Sequence[Encoded], label: str) -> None:
    """Refuse a tokenizer that knows more tokens than the model.

    Raises
    ------
    ModelError
        Naming both sizes.
    """
    size = int(model.get_input_embeddings().num_embeddings)
    highest = max((max(one.ids) for one in encoded), default=0)
    if highest >= size:
        raise ModelError(
            f"the tokenizer gives id {highest}; the model knows ids below {size}",
            where=label,
            hint="model and tokenizer do not belong together",
        )


class Participant(Protocol):
    """A model under one way of asking it."""

    @property
    def info(self) -> ParticipantInfo:
        """All that identifies it."""
        ...

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode all texts; raise for all that cannot be scored, by name, before any is."""
        ...

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch of a plan, in its order."""
        ...
