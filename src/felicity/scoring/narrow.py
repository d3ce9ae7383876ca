"""The last layer of an encoder at one place of each row only.

Of a masked copy nothing is wanted but the prediction at its masked place. The last layer there
needs keys and values of the whole row, and all else at that place alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name


class LastLayer(torch.nn.Module):
    """A BERT-like layer (attention, add and norm, feed-forward, add and norm) at chosen places.

    Rows are whole texts without padding. It returns (rows, 1, width). Whether a model's layer is
    of this kind is for the self-test to find out.
    """

    def __init__(self, layer: Any, places: torch.Tensor) -> None:
        super().__init__()
        # In a list, so that the layer does not become this module's child.
        self._layer = [layer]
        self._places = places

    def forward(self, hidden: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        """Compute the layer's output at the places."""
        layer = self._layer[0]
        own = layer.attention.self
        rows, size = hidden.shape[0], hidden.shape[2]
        heads = own.num_attention_heads
        at = hidden[torch.arange(rows, device=hidden.device), self._places][:, None]

        def split(states: torch.Tensor) -> torch.Tensor:
            return states.view(rows, -1, heads, size // heads).transpose(1, 2)

        found = F.scaled_dot_product_attention(
            split(own.query(at)), split(own.key(hidden)), split(own.value(hidden))
        )
        found = found.transpose(1, 2).reshape(rows, 1, size)
        result: torch.Tensor = layer.feed_forward_chunk(layer.attention.output(found, at))
        return result


@contextmanager
def narrow_last(model: Any, places: torch.Tensor) -> Iterator[None]:
    """Let the last layer of ``model.base_model.encoder`` run at one place of each row only.

    The model's outputs then have one place, (rows, 1, …).
    """
    layers = model.base_model.encoder.layer
    before = layers[-1]
    layers[len(layers) - 1] = LastLayer(before, places)
    try:
        yield
    finally:
        layers[len(layers) - 1] = before
