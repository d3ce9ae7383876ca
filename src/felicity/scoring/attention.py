"""Attention over a prefix tree that stands in one row, chunk by chunk.

A tree's nodes stand in depth-first order. What a chunk of consecutive nodes may see is then the
path from the root to the chunk's first node, and the chunk itself: an ancestor of any node of the
chunk that stands before the chunk is an ancestor of its first node too. So keys and values are
gathered for each chunk, about a hundred of them, instead of computing a whole row against itself
under a mask, and a batch of any size is one row without padding.

transformers lets an attention function be named in a model's configuration; `attending` names ours
for as long as a batch is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

NAME = "felicity_tree"
# Nodes in a chunk: of 32, 64 and rows of 128, 64 took the least time on two models (decision 10).
CHUNK = 64
_numbers = count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """What the chunks of a tree see.

    Attributes
    ----------
    keys
        Nodes whose keys a chunk may see, shape (chunks, keys); short ones are filled up with 0.
    sees
        Which of them each node sees, shape (chunks, nodes of a chunk, keys).
    """

    keys: torch.Tensor
    sees: torch.Tensor


def cut_chunks(parents: Sequence[int], depths: Sequence[int], size: int = CHUNK) -> Chunks:
    """Cut a tree in depth-first order into chunks.

    Parameters
    ----------
    parents, depths
        For each node its parent (−1 for none) and how many ancestors it has.
    size
        Nodes of a chunk; the last one may have fewer.

    Examples
    --------
    >>> chunks = cut_chunks([-1, 0, 1, 0], [0, 1, 2, 1], size=2)
    >>> chunks.keys.tolist()
    [[0, 1, 0, 0], [0, 1, 2, 3]]
    >>> chunks.sees.int().tolist()[1]
    [[1, 1, 1, 0], [1, 0, 0, 1]]
    """
    seen: list[list[int]] = []
    starts = range(0, len(parents), size)
    paths: list[int] = []
    for first in starts:
        path = []
        node = parents[first]
        while node >= 0:
            path.append(node)
            node = parents[node]
        paths.append(len(path))
        seen.append([*reversed(path), *range(first, min(first + size, len(parents)))])
    width = max(map(len, seen))
    keys = np.zeros((len(seen), width), dtype=np.int64)
    sees = np.zeros((len(seen), size, width), dtype=bool)
    # Nodes that fill the last chunk up see one key, so that no row of the mask is empty.
    sees[-1, :, 0] = True
    for chunk, first in enumerate(starts):
        keys[chunk, : len(seen[chunk])] = seen[chunk]
        for row, parent in enumerate(parents[first : first + size]):
            if parent >= first:
                sees[chunk, row] = sees[chunk, parent - first]
            else:
                # The path stands in order of depth.
                sees[chunk, row] = False
                sees[chunk, row, : depths[parent] + 1 if parent >= 0 else 0] = True
            sees[chunk, row, paths[chunk] + row] = True
    return Chunks(keys=torch.from_numpy(keys), sees=torch.from_numpy(sees))


def tree_attention(chunks: Chunks, device: torch.device, dtype: torch.dtype) -> Callable[..., Any]:
    """Return an attention function, as transformers calls them, for the one row that is a tree."""
    chunk_count, size, width = chunks.sees.shape
    flat = chunks.keys.reshape(-1).to(device)
    bias = torch.zeros(chunks.sees.shape, dtype=dtype)
    bias = bias.masked_fill_(~chunks.sees, torch.finfo(dtype).min).to(device)
    biases: dict[int, torch.Tensor] = {}

    def attend(
        _module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        _mask: Any = None,
        *,
        scaling: float | None = None,
        dropout: float = 0.0,
        softcap: float | None = None,
        s_aux: Any = None,
        **_others: Any,
    ) -> tuple[torch.Tensor, None]:
        if dropout or softcap is not None or s_aux is not None:
            raise ValueError("attention with dropout, a cap or sinks")
        _, heads, nodes, _ = query.shape
        kinds = key.shape[1]
        group = heads // kinds
        # Heads that share keys are put into one block of queries. All is node by node in memory,
        # as the projections left it, so that with one head to a key nothing is copied.
        rows = F.pad(query[0], (0, 0, 0, chunk_count * size - nodes)).transpose(0, 1)
        asked = rows.reshape(chunk_count, size, kinds, group, -1).permute(0, 2, 3, 1, 4)
        if group not in biases:
            biases[group] = bias.repeat(1, group, 1)[:, None]
        found = F.scaled_dot_product_attention(
            asked.reshape(chunk_count, kinds, group * size, -1),
            _gather(key, flat, chunk_count, width),
            _gather(value, flat, chunk_count, width),
            attn_mask=biases[group].expand(-1, kinds, -1, -1),
            scale=scaling,
        )
        found = found.reshape(chunk_count, kinds, group, size, -1).permute(0, 3, 1, 2, 4)
        return found.reshape(chunk_count * size, heads, -1)[None, :nodes], None

    return attend


def _gather(states: torch.Tensor, flat: torch.Tensor, count: int, width: int) -> torch.Tensor:
    """Keys or values (1, kinds, nodes, size) of all chunks: (chunks, kinds, keys, size)."""
    kinds, nodes, size = states.shape[1:]
    by_node = states[0].transpose(0, 1).reshape(nodes, kinds * size)
    return by_node.index_select(0, flat).view(count, width, kinds, size).transpose(1, 2)


@contextmanager
def attending(model: Any, attention: Callable[..., Any]) -> Iterator[None]:
    """Let a model use an attention function, and put its own back."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    before = model.config._attn_implementation
    # A name of its own for each batch, since other threads may score other models.
    name = f"{NAME}_{next(_numbers)}"
    ALL_ATTENTION_FUNCTIONS[name] = attention
    model.config._attn_implementation = name
    try:
        yield
    finally:
        model.config._attn_implementation = before
        del ALL_ATTENTION_FUNCTIONS[name]
