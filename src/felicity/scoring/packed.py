"""Causal models, packed: what texts have in common at their beginning is computed once.

The texts of a batch are merged into prefix trees. A row of the input holds the nodes of one tree;
a node sees its ancestors and nothing else (a 4-D mask) and has its own depth as position. Not every
architecture obeys such a mask; the self-test compares with `score_causal`, which always is right.
`felicity.scoring.tree` does better where a model takes an attention function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch

from felicity.scoring.causal import token_scores
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded
from felicity.scoring.head import log_probs_of
from felicity.types import TokenScores

ROW_TOKENS = 128


@dataclass(slots=True)
class Row:
    """One row: tree nodes in order; a parent stands before its children, −1 is no parent."""

    ids: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)

    def add(self, ids: Sequence[int], path: list[int], shared: int) -> list[int]:
        """Add a text that shares its first ``shared`` tokens with ``path``; return its path."""
        new = path[:shared]
        for token in ids[shared:]:
            self.parents.append(new[-1] if new else -1)
            self.depths.append(len(new))
            new.append(len(self.ids))
            self.ids.append(token)
        return new


def read_part(one: Encoded) -> tuple[int, ...]:
    """Ids that must be read to score a text: all before its last answer token."""
    return one.ids[: one.stop - 1]


def plan_packed(encoded: Sequence[Encoded], *, max_tokens: int) -> tuple[tuple[int, ...], ...]:
    """Sort texts so that common beginnings meet, and cut into batches of ``max_tokens`` nodes.

    What two texts share is lost where a batch ends between them, so each ends where the least is
    shared, among its last eighth.
    """
    order = sorted(range(len(encoded)), key=lambda i: (read_part(encoded[i]), encoded[i].start))
    parts = [read_part(encoded[i]) for i in order]
    shared = [0, *(common_length(a, b) for a, b in pairwise(parts))]
    batches: list[tuple[int, ...]] = []
    first = 0
    while first < len(order):
        # Nodes up to and with each text of this batch.
        sizes = [len(parts[first])]
        while first + len(sizes) < len(order):
            at = first + len(sizes)
            size = sizes[-1] + len(parts[at]) - shared[at]
            if size > max_tokens:
                break
            sizes.append(size)
        stop = first + len(sizes)
        if stop < len(order):
            full = [first + n for n, size in enumerate(sizes, 1) if size * 8 >= sizes[-1] * 7]
            stop = min(full, key=lambda end: (shared[end], -end))
        batches.append(tuple(order[first:stop]))
        first = stop
    return tuple(batches)


def common_length(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the tokens that two texts share at their beginning.

    Examples
    --------
    >>> common_length((1, 2, 3), (1, 2, 4, 5))
    2
    """
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count


def grow_tree(batch: Sequence[Encoded]) -> tuple[Row, list[list[int]]]:
    """Merge texts into one row; with it, for each text the nodes that predict its answer.

    Nodes stand in depth-first order.
    """
    (row,), places = pack(batch, row_tokens=None)
    return row, [nodes for _, nodes in places]


def pack(
    batch: Sequence[Encoded], *, row_tokens: int | None = ROW_TOKENS
) -> tuple[list[Row], list[tuple[int, list[int]]]]:
    """Merge texts into rows of at most so many nodes (one text may be longer).

    Returns
    -------
    rows, places
        The rows; and for each text the number of its row and the nodes that predict its answer.
    """
    rows: list[Row] = []
    places: list[tuple[int, list[int]]] = [(0, [])] * len(batch)
    path: list[int] = []
    before: Sequence[int] = ()
    for index in sorted(range(len(batch)), key=lambda i: read_part(batch[i])):
        part = read_part(batch[index])
        shared = common_length(part, before) if rows else 0
        full = row_tokens and rows and len(rows[-1].ids) + len(part) - shared > row_tokens
        if not rows or full:
            rows.append(Row())
            path, shared = [], 0
        path = rows[-1].add(part, path, shared)
        before = part
        places[index] = (len(rows) - 1, path[batch[index].start - 1 :])
    return rows, places


@torch.inference_mode()
def score_packed(model: Any, batch: Sequence[Encoded], *, pad_id: int) -> list[TokenScores]:
    """Score the answers of a batch; same numbers as `score_causal` where the mask is obeyed."""
    rows, places = pack(batch)
    device, dtype = input_device(model), next(model.parameters()).dtype
    width = max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), width), pad_id, dtype=torch.long)
    positions = torch.zeros((len(rows), width), dtype=torch.long)
    # A padded node sees itself alone, so that no row of the mask is empty.
    sees = torch.eye(width, dtype=torch.bool).repeat(len(rows), 1, 1)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = torch.tensor(row.ids)
        positions[number, : len(row.ids)] = torch.tensor(row.depths)
        for node, parent in enumerate(row.parents):
            if parent >= 0:
                sees[number, node] |= sees[number, parent]
    mask = torch.zeros(sees.shape, dtype=dtype).masked_fill_(~sees, torch.finfo(dtype).min)
    node_rows = [number for number, nodes in places for _ in nodes]
    node_places = [node for _, nodes in places for node in nodes]
    with only_at(model.get_output_embeddings(), node_rows, node_places):
        logits = model(
            input_ids=ids.to(device),
            attention_mask=mask[:, None].to(device),
            position_ids=positions.to(device),
            use_cache=False,
        ).logits[0]
    wanted = torch.tensor([token for one in batch for token in one.answer_ids], device=device)
    chosen = log_probs_of(logits, torch.arange(len(logits), device=device), wanted).tolist()
    scores, at = [], 0
    for one in batch:
        size = one.stop - one.start
        scores.append(token_scores(one, chosen[at : at + size]))
        at += size
    return scores


@contextmanager
def only_at(head: Any, rows: Sequence[int], places: Sequence[int]) -> Iterator[None]:
    """Let a head of input (rows, places, width) see chosen places only, as (1, chosen, width).

    What the model does to its logits after the head (a cap, a scale) still happens.
    """

    def narrow(_module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (inputs[0][list(rows), list(places)][None], *inputs[1:])

    handle = head.register_forward_pre_hook(narrow)
    try:
        yield
    finally:
        handle.remove()
