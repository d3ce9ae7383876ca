"""Causal models: the log-probability of every answer token given all that stands before it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.types import TokenScores


def takes_positions(model: Any) -> bool:
    """Whether the model can compute logits at chosen positions only."""
    return "logits_to_keep" in inspect.signature(model.forward).parameters


def without_cache(model: Any) -> dict[str, bool]:
    """Return what tells a model to keep no cache: nothing where its own code knows of none."""
    named = inspect.signature(model.forward).parameters.values()
    knows = any(p.name == "use_cache" or p.kind is p.VAR_KEYWORD for p in named)
    return {"use_cache": False} if knows else {}


@torch.inference_mode()
def score_causal(model: Any, batch: Sequence[Encoded], *, pad_id: int) -> list[TokenScores]:
    """Score the answers of one batch.

    Parameters
    ----------
    model
        A transformers causal model, in eval mode.
    batch
        Encoded pairs; they are padded on the right with ``pad_id``, which the mask hides.

    Returns
    -------
    list of TokenScores
        Natural-log probabilities, from a log-softmax in float32 whatever the model's dtype.
    """
    width = max(len(one.ids) for one in batch)
    ids = torch.full((len(batch), width), pad_id, dtype=torch.long)
    mask = torch.zeros((len(batch), width), dtype=torch.long)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        mask[row, : len(one.ids)] = 1
    device = input_device(model)
    # The logits that predict position p stand at p - 1.
    low = min(one.start for one in batch) - 1
    high = max(one.stop for one in batch) - 1
    inputs: dict[str, Any] = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    if takes_positions(model):
        inputs["logits_to_keep"] = torch.arange(low, high, device=device)
    else:
        low = 0
    logits = model(**inputs, **without_cache(model)).logits
    scores = []
    for row, one in enumerate(batch):
        needed = logits[row, one.start - 1 - low : one.stop - 1 - low].float()
        targets = torch.tensor(one.answer_ids, device=device)
        chosen = needed.gather(1, targets[:, None])[:, 0] - needed.logsumexp(dim=1)
        scores.append(token_scores(one, chosen.tolist()))
    return scores


def token_scores(one: Encoded, log_probs: Sequence[float]) -> TokenScores:
    """Put an answer's tokens and their log-probabilities together."""
    return TokenScores(
        token_ids=one.answer_ids,
        tokens=one.tokens,
        log_probs=tuple(float(value) for value in log_probs),
        straddles=one.straddles,
    )
