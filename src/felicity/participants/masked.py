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
    """A transformers masked model under ``pll_within_word_l2r`` or ``pll_original``.

    ``head`` and ``narrow`` say what is computed at masked positions only: the vocabulary head, and
    the encoder's last layer with it.
    """

    model: Any
    tokenizer: Any
    info: ParticipantInfo
    batch_tokens: int
    head: Any | None = None
    narrow: bool = False

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode with the tokenizer's own special tokens; group by length."""
        encoded = encode_pairs(
            self.tokenizer, pairs, prefix=None, max_tokens=self.info.max_tokens, names=names
        )
        check_ids(self.model, encoded, self.info.label)
        batches = plan_batches(encoded, max_tokens=self.batch_tokens, equal_length=True)
        return Plan(encoded=tuple(encoded), batches=batches, way="masked")

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
            narrow=self.narrow,
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
        """Run the self-test; compute at masked positions alone what gives the same scores so."""
        self._check_words()
        exact = self.info.dtype == "float32"
        plan = self.plan(PROBES)
        batches = [[plan.encoded[i] for i in batch] for batch in plan.batches]
        chosen, head = self, head_of(self.model)
        with evaluating(self.model):
            for better in (replace(self, narrow=True), replace(self, head=head)):
                short_cut = better.narrow or better.head is not None
                if short_cut and same_scores(better._scores, self._scores, batches, exact):
                    chosen = better
                    break
            by_length = [one for one in plan.encoded if len(one.ids) == len(plan.encoded[0].ids)]
            check_batching(chosen._scores, by_length * 2, self.info.label, exact)
        return chosen
