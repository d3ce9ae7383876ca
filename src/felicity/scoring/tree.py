"""Causal models, a whole batch as one prefix tree in one row: nothing is padded, all is shared.

The model's own layers run over the nodes one after the other as over any text of that length;
only attention knows of the tree (`felicity.scoring.attention`), and positions are depths. The
vocabulary head is computed once for each node that predicts anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch

from felicity.scoring.attention import CHUNK, attending, cut_chunks, tree_attention
from felicity.scoring.causal import token_scores
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.scoring.fused import fused_activations
from felicity.scoring.head import head_log_probs, log_probs_of
from felicity.scoring.packed import grow_tree, only_at
from felicity.types import TokenScores


@torch.inference_mode()
def score_tree(
    model: Any, batch: Sequence[Encoded], *, head: Any | None, chunk: int = CHUNK
) -> list[TokenScores]:
    """Score the answers of a batch; same numbers as `score_causal` where the model obeys.

    Parameters
    ----------
    model
        A transformers causal model, in eval mode, whose class takes a named attention function.
    batch
        Encoded pairs, in any order.
    head
        From `lone_head`; without one the model's own forward computes the logits, at the nodes
        that predict something.
    chunk
        Nodes that attend together; changes no score.
    """
    row, places = grow_tree(batch)
    device, dtype = input_device(model), next(model.parameters()).dtype
    # Each node that predicts an answer token once, however many texts it stands in.
    order: dict[int, int] = {}
    at = [order.setdefault(node, len(order)) for nodes in places for node in nodes]
    nodes, targets = list(order), [token for one in batch for token in one.answer_ids]
    where = torch.tensor(at, device=device), torch.tensor(targets, device=device)
    inputs = {
        "input_ids": torch.tensor([row.ids], device=device),
        "position_ids": torch.tensor([row.depths], device=device),
        # Any mask of four dimensions is handed on as it is; the tree is in the attention.
        "attention_mask": torch.ones((1, 1, 1, 1), dtype=torch.bool, device=device),
        "use_cache": False,
    }
    attention = tree_attention(cut_chunks(row.parents, row.depths, chunk), device, dtype)
    with ExitStack() as stack:
        stack.enter_context(attending(model, attention))
        stack.enter_context(fused_activations(model))
        if head is not None:
            hidden = model.base_model(**inputs).last_hidden_state[0, nodes]
            values = head_log_probs(head, hidden, *where)
        else:
            narrow = only_at(model.get_output_embeddings(), [0] * len(nodes), nodes)
            stack.enter_context(narrow)
            values = log_probs_of(model(**inputs).logits[0], *where)
    scores, flat, start = [], values.tolist(), 0
    for one in batch:
        stop = start + one.stop - one.start
        scores.append(token_scores(one, flat[start:stop]))
        start = stop
    return scores
