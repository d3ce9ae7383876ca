"""A causal model that is asked for log P(answer | context)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from felicity.participants.base import Plan, check_ids
from felicity.participants.limits import sliding_window
from felicity.participants.modes import evaluating
from felicity.scoring.batches import plan_batches
from felicity.scoring.causal import score_causal
from felicity.scoring.encode import Encoded, encode_pairs
from felicity.scoring.packed import plan_packed, score_packed
from felicity.scoring.prefix import Prefix
from felicity.scoring.selftest import PROBES, check_batching, check_causality, same_scores
from felicity.types import ParticipantInfo, TextPair, TokenScores

UNSHARED = (
    "this architecture does not let texts share their common beginnings, so scoring is slower"
)


@dataclass(frozen=True, kw_only=True)
class CausalParticipant:
    """A transformers causal model under ``logprob``.

    The text is scored as it stands: no chat template is applied.
    """

    model: Any
    tokenizer: Any
    info: ParticipantInfo
    prefix: Prefix
    batch_tokens: int
    packs: bool = False

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode with the prefix in front; sort into batches."""
        encoded = encode_pairs(
            self.tokenizer,
            pairs,
            prefix=self.prefix,
            max_tokens=self.info.max_tokens,
            names=names,
        )
        check_ids(self.model, encoded, self.info.label)
        packed = self.packs and self._in_window(encoded)
        cut = plan_packed if packed else plan_batches
        batches = cut(encoded, max_tokens=self.batch_tokens)
        return Plan(encoded=tuple(encoded), batches=batches, packed=packed)

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch."""
        with evaluating(self.model):
            return self._scores([plan.encoded[i] for i in batch], packed=plan.packed)

    def _scores(self, batch: Sequence[Encoded], *, packed: bool) -> list[TokenScores]:
        # Any pad id will do, since padding stands on the right and is hidden by the mask.
        pad = self.tokenizer.pad_token_id
        scorer = score_packed if packed else score_causal
        return scorer(self.model, batch, pad_id=0 if pad is None else int(pad))

    def _in_window(self, encoded: Sequence[Encoded]) -> bool:
        """Whether no text is longer than the model's attention reaches; packing ignores that."""
        window = sliding_window(self.model.config)
        return window is None or all(len(one.ids) <= window for one in encoded)

    def checked(self) -> CausalParticipant:
        """Run the self-test; pack common beginnings where that gives the same scores."""
        exact = self.info.dtype == "float32"
        plain = partial(self._scores, packed=False)
        encoded = encode_pairs(
            self.tokenizer,
            [*PROBES, TextPair(context=PROBES[0].context, answer=PROBES[1].answer)],
            prefix=self.prefix,
            max_tokens=self.info.max_tokens,
        )
        check_ids(self.model, encoded, self.info.label)
        with evaluating(self.model):
            check_causality(self.model, encoded[0], self.info.label)
            check_batching(plain, encoded, self.info.label, exact)
            packs = same_scores(partial(self._scores, packed=True), plain, [encoded], exact)
        if packs:
            return replace(self, packs=True)
        return replace(self, info=replace(self.info, notes=(*self.info.notes, UNSHARED)))
