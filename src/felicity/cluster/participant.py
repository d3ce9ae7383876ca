"""A participant whose workers are elsewhere: it plans on one of them and scores on all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from felicity.cluster.crew import Crew, Shard
from felicity.participants.base import Plan
from felicity.participants.memory import Scored
from felicity.participants.opening import Opening
from felicity.types import ParticipantInfo, TextPair, TokenScores

if TYPE_CHECKING:
    from felicity.cluster.connection import Cluster


class RayParticipant:
    """A model on the workers of a cluster. From `Cluster.open`; closed by its context manager.

    A batch is scored by one worker, and the batches are those of a plan as one machine makes it:
    so the scores are the same as there.

    Attributes
    ----------
    info
        As the first worker gave it; every other must have the same fingerprints.
    batch_tokens
        Tokens in one forward pass, as the first worker chose them; all others do the same.
    """

    def __init__(self, crew: Crew, info: ParticipantInfo, batch_tokens: int | None) -> None:
        self.info = info
        self.batch_tokens = batch_tokens
        self._crew = crew

    @classmethod
    def opened(cls, cluster: Cluster, opening: Opening, report: Callable[[str], None]) -> Self:
        """Start the first worker and wait for its model."""
        crew = Crew(cluster, opening.elsewhere(), report)
        try:
            first = crew.first()
        except BaseException:
            crew.close()
            raise
        options = {"method": opening.method or "auto", "prefix": opening.prefix}
        info = replace(
            first.info, spec=opening.spec, opened_with={**options, "dtype": opening.dtype}
        )
        return cls(crew, info, first.batch_tokens)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the workers."""
        self._crew.close()

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode all texts on a worker; raise for all that cannot be scored."""
        planned: Plan = self._crew.ask("plan", list(pairs), names)
        return planned

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch on one worker."""
        found = {
            place: scores
            for scored in self.score_batches(plan, [batch])
            for place, scores in zip(scored.places, scored.scores, strict=scored.fits)
        }
        return [found[place] for place in batch]

    def score_batches(self, plan: Plan, batches: Sequence[Sequence[int]]) -> Iterator[Scored]:
        """Score batches on all workers; yield what comes back, as it comes."""
        queue = deque(Shard(batch=tuple(batch), plan=_part(plan, batch)) for batch in batches)
        yield from self._crew.score(queue)

    def workers(self) -> list[dict[str, Any]]:
        """Say who has scored: a row for each worker that has loaded the model, dead or alive."""
        return self._crew.workers()


def _part(plan: Plan, batch: Sequence[int]) -> Plan:
    """Return a plan of one batch alone, with places that count from 0."""
    encoded = tuple(plan.encoded[place] for place in batch)
    return replace(plan, encoded=encoded, batches=(tuple(range(len(batch))),))
