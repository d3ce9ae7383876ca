"""A causal model that is asked for log P(answer | context)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch

from felicity.participants.base import Plan, check_ids
from felicity.participants.limits import sliding_window
from felicity.participants.modes import evaluating
from felicity.scoring.attention import CHUNK
from felicity.scoring.batches import plan_batches
from felicity.scoring.causal import score_causal
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded, encode_pairs
from felicity.scoring.head import lone_head
from felicity.scoring.packed import plan_packed, score_packed
from felicity.scoring.prefix import Prefix
from felicity.scoring.selftest import PROBES, check_batching, check_causality, same_scores
from felicity.scoring.tree import score_tree
from felicity.types import ParticipantInfo, TextPair, TokenScores

# plain: padded batches, always right. rows: common beginnings once, in rows under a 4-D mask.
# tree: a whole batch in one row, with an attention function of our own.
Way = Literal["plain", "rows", "tree"]
# In the self-test a tree is cut into small chunks, so that there are several.
PROBE_CHUNK = 8
UNSHARED = (
    "this architecture does not let texts share their common beginnings, so scoring is slower"
)


@dataclass(frozen=True, kw_only=True)
class CausalParticipant:
    """A transformers causal model under ``logprob``.

    The text is scored as it stands: no chat template is applied. ``way`` says how common
    beginnings are shared, and ``head`` is the vocabulary head where it can be computed apart.
    """

    model: Any
    tokenizer: Any
    info: ParticipantInfo
    prefix: Prefix
    batch_tokens: int
    way: Way = "plain"
    head: Any | None = None

    @property
    def packs(self) -> bool:
        """Whether common beginnings are computed once."""
        return self.way != "plain"

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
        way: Way = self.way if self._in_window(encoded) else "plain"
        cut = plan_batches if way == "plain" else plan_packed
        batches = cut(encoded, max_tokens=self.batch_tokens)
        return Plan(encoded=tuple(encoded), batches=batches, way=way)

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch."""
        with evaluating(self.model):
            return self._scores([plan.encoded[i] for i in batch], way=plan.way)

    def _scores(
        self, batch: Sequence[Encoded], *, way: str, chunk: int = CHUNK
    ) -> list[TokenScores]:
        if way == "tree":
            return score_tree(self.model, batch, head=self.head, chunk=chunk)
        # Any pad id will do, since padding stands on the right and is hidden by the mask.
        pad = self.tokenizer.pad_token_id
        scorer = score_packed if way == "rows" else score_causal
        return scorer(self.model, batch, pad_id=0 if pad is None else int(pad))

    def _in_window(self, encoded: Sequence[Encoded]) -> bool:
        """Whether no text is longer than the model's attention reaches; packing ignores that."""
        window = sliding_window(self.model.config)
        return window is None or all(len(one.ids) <= window for one in encoded)

    def checked(self) -> CausalParticipant:
        """Run the self-test; share common beginnings in the best way that gives the same scores."""
        exact = self.info.dtype == "float32"
        plain = partial(self._scores, way="plain")
        encoded = encode_pairs(
            self.tokenizer,
            [TextPair(context=a.context, answer=b.answer) for a in PROBES for b in PROBES],
            prefix=self.prefix,
            max_tokens=self.info.max_tokens,
        )
        check_ids(self.model, encoded, self.info.label)
        with evaluating(self.model):
            check_causality(self.model, encoded[0], self.info.label)
            check_batching(plain, encoded[: len(PROBES)], self.info.label, exact)
            for better in self._better():
                scorer = partial(better._scores, way=better.way, chunk=PROBE_CHUNK)
                if same_scores(scorer, plain, [encoded], exact):
                    return better
        return replace(self, info=replace(self.info, notes=(*self.info.notes, UNSHARED)))

    def _better(self) -> list[CausalParticipant]:
        """Return this participant in each way that is faster than the plain one, fastest first."""
        device = input_device(self.model)
        head = lone_head(self.model, torch.tensor([[0, 1, 2, 1]], device=device))
        ways: list[CausalParticipant] = [replace(self, way="tree"), replace(self, way="rows")]
        return [replace(self, way="tree", head=head), *ways] if head is not None else ways
