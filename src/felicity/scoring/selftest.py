"""What is checked when a model is opened, before any score of it is believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from felicity.errors import ModelError
from felicity.scoring.encode import Encoded
from felicity.types import TextPair, TokenScores

PROBES = (
    TextPair(context="Where is the dog?", answer=" It is in the garden."),
    TextPair(context="What did you eat this morning?", answer=" Two eggs and some bread with jam."),
    TextPair(context="Who was it?", answer=" My aunt."),
)
EXACT = 1e-4
ROUNDED = 0.25

Scorer = Callable[[Sequence[Encoded]], list[TokenScores]]


@torch.inference_mode()
def check_causality(model: Any, probe: Encoded, label: str) -> None:
    """Refuse a model whose earlier predictions move when the last token changes.

    Raises
    ------
    ModelError
        For a bidirectional model: its score of a token would peek at that token.
    """
    device = next(model.parameters()).device
    ids = torch.tensor([probe.ids, (*probe.ids[:-1], probe.ids[0])], device=device)
    mask = torch.ones_like(ids)
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits.float()
    earlier = logits.log_softmax(-1)[:, :-1]
    moved = float((earlier[0] - earlier[1]).abs().max())
    if not moved <= EXACT:
        raise ModelError(
            f"earlier tokens see later ones (a change of the last token moves their "
            f"log-probabilities by {moved:.3g} nats), so `logprob` would be wrong",
            where=label,
            hint="for a masked model use --method pll_within_word_l2r",
        )


def check_batching(scorer: Scorer, probes: Sequence[Encoded], label: str, exact: bool) -> None:
    """Refuse a model whose scores depend on their neighbours in a batch, or are not finite.

    Raises
    ------
    ModelError
        With the size of the difference.
    """
    together = scorer(probes)
    alone = [scorer([probe])[0] for probe in probes]
    if any(scores.status != "ok" for scores in (*together, *alone)):
        raise ModelError(
            "log-probabilities are not finite", where=label, hint="try --dtype float32"
        )
    worst = largest_difference(together, alone)
    if not worst <= (EXACT if exact else ROUNDED):
        raise ModelError(
            f"scores in a batch differ from scores one by one by {worst:.3g} nats",
            where=label,
            hint="please report this model; --dtype float32 may help",
        )


def same_scores(
    left: Scorer, right: Scorer, batches: Sequence[Sequence[Encoded]], exact: bool
) -> bool:
    """Whether a short cut gives what the long way gives, batch by batch."""
    for batch in batches:
        try:
            shortcut = left(batch)
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
            # The model's class cannot take the short cut; the long way is always right.
            return False
        if not largest_difference(shortcut, right(batch)) <= (EXACT if exact else ROUNDED):
            return False
    return True


def largest_difference(left: Sequence[TokenScores], right: Sequence[TokenScores]) -> float:
    """Return the largest difference between token log-probabilities, in nats."""
    return max(
        abs(a - b)
        for one, other in zip(left, right, strict=True)
        for a, b in zip(one.log_probs, other.log_probs, strict=True)
    )
