"""An encoder-decoder model that is asked for log P(answer | question)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from felicity.errors import ModelError, OptionError
from felicity.participants.base import Plan, check_ids
from felicity.participants.modes import evaluating
from felicity.scoring.prefix import Prefix, choose_prefix
from felicity.scoring.selftest import (
    PROBES,
    check_batching,
    check_decoder_causality,
    same_scores,
)
from felicity.scoring.seq2seq import (
    EncodedPair,
    encode_questions,
    plan_questions,
    score_plain,
    score_shared,
)
from felicity.types import ParticipantInfo, TextPair, TokenScores


def decoder_start(model: Any, tokenizer: Any, policy: str = "auto") -> Prefix:
    """Return what the decoder begins with: the model's own start, and a given token after it.

    Raises
    ------
    ModelError
        Where neither configuration names the start.
    OptionError
        For a policy that is neither ``auto`` nor a token id.
    """
    found = getattr(model.config, "decoder_start_token_id", None)
    if found is None:
        found = getattr(getattr(model, "generation_config", None), "decoder_start_token_id", None)
    if found is None:
        raise ModelError(
            "its configuration does not say what its decoder begins with",
            where="decoder_start_token_id",
            hint="set it in config.json; T5 begins with its pad token",
        )
    ids: tuple[int, ...] = (int(found),)
    if policy.isdecimal():
        ids += choose_prefix(tokenizer, policy).ids
    elif policy != "auto":
        raise OptionError(
            f'got "{policy}"; expected auto or a token id',
            where="--prefix",
            hint="a decoder begins with its own start token; an id is put after it",
        )
    tokens = tuple(map(str, tokenizer.convert_ids_to_tokens(list(ids))))
    return Prefix(policy="decoder start", ids=ids, tokens=tokens)


@dataclass(frozen=True, kw_only=True)
class Seq2SeqParticipant:
    """A transformers encoder-decoder model under ``seq2seq``."""

    model: Any
    tokenizer: Any
    info: ParticipantInfo
    prefix: Prefix
    batch_tokens: int
    shares: bool = False

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> Plan:
        """Encode both sides; keep the answers to a question together."""
        encoded = self._encode(pairs, names)
        batches = plan_questions(encoded, max_tokens=self.batch_tokens)
        return Plan(encoded=tuple(encoded), batches=batches, way="seq2seq")

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch."""
        with evaluating(self.model):
            return self._scores([plan.encoded[i] for i in batch], shared=self.shares)

    def _encode(
        self, pairs: Sequence[TextPair], names: Sequence[str] | None = None
    ) -> list[EncodedPair]:
        encoded = encode_questions(
            self.tokenizer,
            pairs,
            start=self.prefix.ids,
            max_tokens=self.info.max_tokens,
            names=names,
        )
        check_ids(self.model, encoded, self.info.label)
        return encoded

    def _scores(self, batch: Sequence[Any], *, shared: bool) -> list[TokenScores]:
        # Any pad id will do, since padding stands on the right and is hidden by the masks.
        pad = self.tokenizer.pad_token_id
        scorer = score_shared if shared else score_plain
        return scorer(self.model, batch, pad_id=0 if pad is None else int(pad))

    def checked(self) -> Seq2SeqParticipant:
        """Run the self-test; encode each question once where that gives the same scores."""
        exact = self.info.dtype == "float32"
        plain = partial(self._scores, shared=False)
        encoded = self._encode(
            [*PROBES, TextPair(context=PROBES[0].context, answer=PROBES[1].answer)]
        )
        with evaluating(self.model):
            check_decoder_causality(self.model, encoded[1], self.info.label)
            check_batching(plain, encoded, self.info.label, exact)
            shares = same_scores(partial(self._scores, shared=True), plain, [encoded], exact)
        return replace(self, shares=shares)
