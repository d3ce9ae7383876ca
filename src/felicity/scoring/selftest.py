"""What is checked when a model is opened, before any score of it is believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from felicity.errors import ModelError
from felicity.scoring.causal import without_cache
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.scoring.seq2seq import EncodedPair
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
    ids = _two_endings(model, probe)
    mask = torch.ones_like(ids)
    moved = _moved(model(input_ids=ids, attention_mask=mask, **without_cache(model)).logits)
    if not moved <= EXACT:
        raise ModelError(
            f"earlier tokens see later ones (a change of the last token moves their "
            f"log-probabilities by {moved:.3g} nats), so `logprob` would be wrong",
            where=label,
            hint="for a masked model use --method pll_within_word_l2r",
        )


@torch.inference_mode()
def check_decoder_causality(model: Any, probe: EncodedPair, label: str) -> None:
    """Refuse an encoder-decoder model whose decoder looks ahead.

    Raises
    ------
    ModelError
        Its score of a token would peek at that token.
    """
    answers = _two_endings(model, probe)
    source = torch.tensor([probe.source] * 2, device=answers.device)
    logits = model(
        input_ids=source,
        attention_mask=torch.ones_like(source),
        decoder_input_ids=answers,
        use_cache=False,
    ).logits
    moved = _moved(logits)
    if not moved <= EXACT:
        raise ModelError(
            f"earlier tokens of the decoder see later ones (a change of the last token moves their "
            f"log-probabilities by {moved:.3g} nats), so `seq2seq` would be wrong",
            where=label,
        )


def _two_endings(model: Any, probe: Encoded) -> torch.Tensor:
    """Return a text twice, the second time with another last token."""
    return torch.tensor([probe.ids, (*probe.ids[:-1], probe.ids[0])], device=input_device(model))


def _moved(logits: torch.Tensor) -> float:
    earlier = logits.float().log_softmax(-1)[:, :-1]
    return float((earlier[0] - earlier[1]).abs().max())


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
