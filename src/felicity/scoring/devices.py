"""Where a model's inputs go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def input_device(model: Any) -> torch.device:
    """Return the device that inputs are to be put on.

    Weights of a model that is spread over devices (``device_map``) may rest anywhere, on disk even;
    its own hooks then move inputs to each layer, and outputs back to where the inputs were.

    Examples
    --------
    >>> str(input_device(torch.nn.Linear(2, 2)))
    'cpu'
    """
    placed: Mapping[str, Any] = getattr(model, "hf_device_map", None) or {}
    if len(set(placed.values())) <= 1 and "disk" not in placed.values():
        device: torch.device = next(model.parameters()).device
        return device
    computing = [place for place in placed.values() if place not in ("cpu", "disk")]
    return torch.device(computing[0] if computing else "cpu")
