"""Masked models: pseudo-log-likelihood, one masked copy of the text per answer token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from felicity.scoring.causal import token_scores
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.scoring.head import log_probs_of
from felicity.scoring.narrow import narrow_last
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
    narrow: bool = False,
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
    narrow
        Compute the encoder's last layer at masked positions only (`felicity.scoring.narrow`);
        changes no score.

    Returns
    -------
    list of TokenScores
        Natural-log probabilities of each answer token, from a log-softmax in float32; its word's
        later tokens hidden or not as the method says; the context is always visible.
    """
    copies, places = masked_copies(batch, method=method, mask_id=mask_id)
    width = len(batch[0].ids)
    step = max(1, max_tokens // width)
    device = input_device(model)
    wanted: list[list[tuple[int, int]]] = [[] for _ in copies]
    for index, (one, rows) in enumerate(zip(batch, places, strict=True)):
        for target, row in enumerate(rows, start=one.start):
            wanted[row].append((index, target))
    values = [[0.0] * len(rows) for rows in places]
    for first in range(0, len(copies), step):
        chunk = copies[first : first + step]
        ids = torch.tensor([ids for ids, _ in chunk], device=device)
        at = torch.tensor([target for _, target in chunk], device=device)
        logits = _logits_at(model, ids, at, head, narrow)
        asked = [
            (row, index, target)
            for row, pairs in enumerate(wanted[first : first + step])
            for index, target in pairs
        ]
        where = torch.tensor([row for row, _, _ in asked], device=device)
        tokens = torch.tensor([batch[i].ids[target] for _, i, target in asked], device=device)
        found = log_probs_of(logits, where, tokens).tolist()
        for (_, index, target), value in zip(asked, found, strict=True):
            values[index][target - batch[index].start] = value
    return [token_scores(one, log_probs) for one, log_probs in zip(batch, values, strict=True)]


def masked_copies(
    batch: Sequence[Encoded], *, method: Method, mask_id: int
) -> tuple[list[tuple[tuple[int, ...], int]], list[list[int]]]:
    """Make the masked copies of texts, each once.

    Texts that differ at hidden places alone have a copy in common.

    Returns
    -------
    copies, places
        Ids with the mask in them and the place that is asked for; and for each text the number
        of the copy for each of its answer tokens.
    """
    copies: dict[tuple[tuple[int, ...], int], int] = {}
    places = []
    for one in batch:
        rows = []
        for target in range(one.start, one.stop):
            ids = list(one.ids)
            for place in masked_positions(one, target, method):
                ids[place] = mask_id
            rows.append(copies.setdefault((tuple(ids), target), len(copies)))
        places.append(rows)
    return list(copies), places


def _logits_at(
    model: Any, ids: torch.Tensor, places: torch.Tensor, head: Any | None, narrow: bool
) -> torch.Tensor:
    """Logits at one place of each row, shape (rows, vocabulary)."""
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    rows = list(range(len(ids)))
    if narrow:
        with narrow_last(model, places):
            narrowed: torch.Tensor = model(**inputs).logits
        return narrowed[:, 0]
    if head is None:
        everywhere: torch.Tensor = model(**inputs).logits
        return everywhere[rows, places.tolist()]
    with only_at(head, rows, places.tolist()):
        chosen: torch.Tensor = model(**inputs).logits
    return chosen[0]
