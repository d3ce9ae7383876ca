"""A masked model that is asked for the pseudo-log-likelihood of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from felicity.errors import ModelError
from felicity.participants.base import Plan, check_ids
from felicity.participants.modes import evaluating
from felicity.scoring.batches import plan_batches
from felicity.scoring.encode import Encoded, encode_pairs
from felicity.scoring.masked import head_of, score_masked
from felicity.scoring.selftest import PROBES, check_batching, same_scores
from felicity.types import ParticipantInfo, TextPair, TokenScores


@dataclass(frozen=True, kw_only=True)
class MaskedParticipant:
    """A transformers masked model under ``pll_within_word_l2r`` or ``pll_original``."""

    model: Any
    tokenizer: Any
    info: ParticipantInfo
    batch_tokens: int
    head: Any | None = None

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode with the tokenizer's own special tokens; group by length."""
        encoded = encode_pairs(
            self.tokenizer, pairs, prefix=None, max_tokens=self.info.max_tokens, names=names
        )
        check_ids(self.model, encoded, self.info.label)
        batches = plan_batches(encoded, max_tokens=self.batch_tokens, equal_length=True)
        return Plan(encoded=tuple(encoded), batches=batches)

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch."""
        with evaluating(self.model):
            return self._scores([plan.encoded[i] for i in batch])

    def _scores(self, batch: Sequence[Encoded]) -> list[TokenScores]:
        return score_masked(
            self.model,
            batch,
            method=self.info.method,
            mask_id=self.tokenizer.mask_token_id,
            max_tokens=self.batch_tokens,
            head=self.head,
        )

    def _check_words(self) -> None:
        """Refuse a tokenizer that takes a whole sentence for one word."""
        (one,) = encode_pairs(self.tokenizer, PROBES[:1], prefix=None, max_tokens=None)
        if self.info.method == "pll_within_word_l2r" and len(set(one.words) - {-1}) < 2:
            raise ModelError(
                "this tokenizer does not tell words apart, which pll_within_word_l2r needs",
                where=self.info.label,
                hint="use --method pll_original",
            )

    def checked(self) -> MaskedParticipant:
        """Run the self-test; use the vocabulary head alone where that gives the same scores."""
        self._check_words()
        narrow = replace(self, head=head_of(self.model))
        plan = self.plan(PROBES)
        with evaluating(self.model):
            short_cut = narrow.head is not None and same_scores(
                narrow._scores,
                self._scores,
                [[plan.encoded[i] for i in batch] for batch in plan.batches],
                exact=self.info.dtype == "float32",
            )
            chosen = narrow if short_cut else self
            by_length = [one for one in plan.encoded if len(one.ids) == len(plan.encoded[0].ids)]
            check_batching(
                chosen._scores,
                by_length * 2,
                self.info.label,
                exact=self.info.dtype == "float32",
            )
        return chosen
