"""What a participant that scores text can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from felicity.errors import ModelError
from felicity.scoring.encode import Encoded
from felicity.types import ParticipantInfo, TextPair, TokenScores

if TYPE_CHECKING:
    from felicity.participants.memory import Scored


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

    def tokens_held(self, batch: Sequence[int]) -> int:
        """Count the tokens that scoring a batch holds in this machine's memory, at most."""
        return len(batch) * max(len(self.encoded[i].ids) for i in batch)


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


@runtime_checkable
class ManyHands(Participant, Protocol):
    """A participant that scores several batches at once, and knows what to do where one fails."""

    def score_batches(self, plan: Plan, batches: Sequence[Sequence[int]]) -> Iterator[Scored]:
        """Score batches of a plan; yield what comes back, as it comes, in any order."""
        ...

    def workers(self) -> list[dict[str, Any]]:
        """Say who has scored, for the record of a sitting."""
        ...
