"""A model in eval mode for as long as it is scored, and back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Switch dropout off; leave a model that was in train mode in train mode."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
