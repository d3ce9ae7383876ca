"""Masked models: pseudo-log-likelihood, one masked copy of the text per answer token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from felicity.scoring.causal import token_scores
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.scoring.packed import only_at
from felicity.types import Method, TokenScores

HEADS = ("cls", "lm_head", "predictions", "vocab_projector", "generator_lm_head", "head")


def masked_positions(one: Encoded, target: int, method: Method) -> list[int]:
    """Say which positions are hidden when the token at ``target`` is scored.

    ``pll_original`` (Salazar et al. 2020) hides the target alone. ``pll_within_word_l2r`` (Kauf &
    Ivanova 2023) hides the target and the later tokens of its word, so that the end of a word
    does not give its beginning away.
    """
    if method == "pll_original":
        return [target]
    word = one.words[target]
    return [p for p in range(target, len(one.ids)) if p == target or one.words[p] == word]


def head_of(model: Any) -> Any | None:
    """Return the child module that is a stock masked model's vocabulary head, if it has one."""
    return next((getattr(model, name) for name in HEADS if hasattr(model, name)), None)


@torch.inference_mode()
def score_masked(
    model: Any,
    batch: Sequence[Encoded],
    *,
    method: Method,
    mask_id: int,
    max_tokens: int,
    head: Any | None = None,
) -> list[TokenScores]:
    """Score the answers of texts that all have one length, so that nothing is padded.

    Parameters
    ----------
    model
        A transformers masked model, in eval mode.
    batch
        Encoded pairs of one length.
    max_tokens
        At most this many tokens in one forward pass: a long text goes through in chunks.
    head
        The vocabulary head, to compute logits at masked positions only; without it all are.

    Returns
    -------
    list of TokenScores
        Natural-log probabilities of each answer token, from a log-softmax in float32; its word's
        later tokens hidden or not as the method says; the context is always visible.
    """
    rows: list[tuple[int, int]] = [
        (index, target) for index, one in enumerate(batch) for target in range(one.start, one.stop)
    ]
    width = len(batch[0].ids)
    step = max(1, max_tokens // width)
    device = input_device(model)
    values: list[list[float]] = [[] for _ in batch]
    for first in range(0, len(rows), step):
        chunk = rows[first : first + step]
        ids = torch.tensor([batch[index].ids for index, _ in chunk])
        for row, (index, target) in enumerate(chunk):
            ids[row, masked_positions(batch[index], target, method)] = mask_id
        targets = [target for _, target in chunk]
        logits = _logits_at(model, ids.to(device), targets, head)
        wanted = torch.tensor([batch[index].ids[target] for index, target in chunk], device=device)
        chosen = logits.gather(1, wanted[:, None])[:, 0] - logits.logsumexp(dim=1)
        for (index, _), value in zip(chunk, chosen.tolist(), strict=True):
            values[index].append(value)
    return [token_scores(one, log_probs) for one, log_probs in zip(batch, values, strict=True)]


def _logits_at(
    model: Any, ids: torch.Tensor, positions: Sequence[int], head: Any | None
) -> torch.Tensor:
    """Logits in float32 at one position of each row, shape (rows, vocabulary)."""
    rows = list(range(len(ids)))
    mask = torch.ones_like(ids)
    if head is None:
        everywhere: torch.Tensor = model(input_ids=ids, attention_mask=mask).logits
        return everywhere[rows, list(positions)].float()
    with only_at(head, rows, positions):
        narrowed: torch.Tensor = model(input_ids=ids, attention_mask=mask).logits
    return narrowed[0].float()
