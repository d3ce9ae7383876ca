"""GPT-2's activation in few steps.

transformers computes it as 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), in eight passes over memory:
a tenth of a small model's time on a processor. The same formula is x·σ(2·√(2/π)·(x + 0.044715·x³)),
here in four passes over rows that stay in the processor's cache (torch's own GELU takes the time of
both together).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

SLOPE = 2 * math.sqrt(2 / math.pi)
# Numbers in a block: a megabyte of float32 in and out.
BLOCK = 2**17


class FewSteps(torch.nn.Module):
    """GELU by tanh, `transformers.activations.NewGELUActivation`.

    Examples
    --------
    >>> x = torch.linspace(-6, 6, 50)
    >>> bool((FewSteps()(x) - torch.nn.functional.gelu(x, approximate="tanh")).abs().max() < 1e-6)
    True
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply it to every number."""
        flat = x.reshape(-1)
        found = torch.empty_like(flat)
        slope = flat.new_tensor(SLOPE)
        for part, into in zip(flat.split(BLOCK), found.split(BLOCK), strict=True):
            torch.addcmul(slope, part, part, value=0.044715 * SLOPE, out=into)
            into.mul_(part).sigmoid_().mul_(part)
        return found.view(x.shape)


@contextmanager
def fused_activations(model: Any) -> Iterator[None]:
    """Put `FewSteps` in the place of activations that are this formula; put them back."""
    from transformers.activations import NewGELUActivation

    replaced = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is NewGELUActivation
    ]
    try:
        for parent, name, _ in replaced:
            setattr(parent, name, FewSteps())
        yield
    finally:
        for parent, name, child in replaced:
            setattr(parent, name, child)
