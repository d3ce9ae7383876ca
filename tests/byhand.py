"""Scores the slow way: one forward pass per token, no batch, no padding, no packing."""

from __future__ import annotations

from collections.abc import Sequence

import torch


@torch.no_grad()
def causal(model, ids: Sequence[int], start: int, stop: int) -> list[float]:
    """log P(ids[p] | ids[:p]) for p from start to stop."""
    values = []
    for place in range(start, stop):
        logits = model(input_ids=torch.tensor([ids[:place]])).logits[0, -1]
        values.append(float(logits.double().log_softmax(-1)[ids[place]]))
    return values


@torch.no_grad()
def masked(model, ids: Sequence[int], hidden: Sequence[Sequence[int]], mask_id: int) -> list[float]:
    """For each list of hidden places: log P of the first of them."""
    values = []
    for places in hidden:
        copy = list(ids)
        for place in places:
            copy[place] = mask_id
        logits = model(input_ids=torch.tensor([copy])).logits[0, places[0]]
        values.append(float(logits.double().log_softmax(-1)[ids[places[0]]]))
    return values


@torch.no_grad()
def seq2seq(model, source: Sequence[int], ids: Sequence[int], start: int, stop: int) -> list[float]:
    """log P(ids[p] | source, ids[:p]) for p from start to stop; ids begin as the decoder does."""
    values = []
    for place in range(start, stop):
        logits = model(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([ids[:place]])
        ).logits[0, -1]
        values.append(float(logits.double().log_softmax(-1)[ids[place]]))
    return values
