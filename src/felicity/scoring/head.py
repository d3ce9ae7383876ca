"""The vocabulary head and the log-softmax, a large part of a small model's work.

The log-probability of a token is its logit minus the log of the sum of exp over the vocabulary. The
logits of all places are computed for a slice of the vocabulary at a time into one buffer, and
summed up in place while they are in the processor's cache; none is kept.
"""

from __future__ import annotations

from typing import Any

import torch

from felicity.scoring.causal import without_cache

# Logits in one slice of the vocabulary; rows of it that fit into a core's cache.
SLICE = 4096
ROWS = 48


@torch.inference_mode()
def lone_head(model: Any, ids: torch.Tensor) -> Any | None:
    """Return a model's vocabulary head where its logits are the head's outputs, and nothing else.

    Some models cap or scale their logits after the head, some change what goes into it. This is
    seen by putting other logits in the head's place: they must come out of the model as they are,
    and the head must have been given what the model's body returns.

    Parameters
    ----------
    model
        A transformers language model, in eval mode.
    ids
        Any text, shape (1, tokens).

    Returns
    -------
    torch.nn.Linear or None
        None also where the head is no plain float32 linear layer.
    """
    head = model.get_output_embeddings()
    if type(head) is not torch.nn.Linear or head.weight.dtype != torch.float32:
        return None
    seen: dict[str, torch.Tensor] = {}

    def replace(_module: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> Any:
        seen["input"] = inputs[0]
        seen["output"] = (torch.arange(output.numel(), device=output.device) % 997 - 498.0).view(
            output.shape
        )
        return seen["output"]

    handle = head.register_forward_hook(replace)
    try:
        logits = model(input_ids=ids, **without_cache(model)).logits
    finally:
        handle.remove()
    try:
        body = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
    same = torch.equal(logits, seen["output"]) and torch.allclose(body, seen["input"], atol=1e-5)
    return head if same else None


@torch.inference_mode()
def head_log_probs(
    head: Any, hidden: torch.Tensor, places: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Return log P(target) at places, shape (targets,).

    Parameters
    ----------
    head
        From `lone_head`.
    hidden
        What the head reads, shape (rows, width), float32.
    places, targets
        For each score the row that predicts it, and the token.

    Examples
    --------
    >>> head = torch.nn.Linear(2, 10)
    >>> hidden = torch.randn(3, 2)
    >>> places, targets = torch.tensor([0, 2]), torch.tensor([4, 9])
    >>> by_hand = head(hidden).log_softmax(1)[places, targets]
    >>> bool((head_log_probs(head, hidden, places, targets) - by_hand).abs().max() < 1e-6)
    True
    """
    weight, bias = head.weight, head.bias
    highest = hidden.new_full((len(hidden),), -torch.inf)
    total = hidden.new_zeros(len(hidden))
    buffer = hidden.new_empty(len(hidden) * min(SLICE, len(weight)))
    for first in range(0, len(weight), SLICE):
        part = weight[first : first + SLICE]
        logits = buffer[: len(hidden) * len(part)].view(len(hidden), len(part))
        torch.mm(hidden, part.t(), out=logits)
        if bias is not None:
            logits += bias[first : first + SLICE]
        for row in range(0, len(hidden), ROWS):
            _add_up(logits[row : row + ROWS], highest[row : row + ROWS], total[row : row + ROWS])
    chosen = (hidden[places] * weight[targets]).sum(1)
    if bias is not None:
        chosen += bias[targets]
    found: torch.Tensor = chosen - (highest + total.log())[places]
    return found


def _add_up(logits: torch.Tensor, highest: torch.Tensor, total: torch.Tensor) -> None:
    """Add a slice's exp(logit − highest) to the totals; overwrites the logits."""
    top = torch.maximum(highest, logits.amax(1))
    total.mul_((highest - top).exp_()).add_(logits.sub_(top[:, None]).exp_().sum(1))
    highest.copy_(top)


def log_probs_of(logits: torch.Tensor, places: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return log P(target) at places from logits (rows, vocabulary) of any dtype, in float32."""
    totals = torch.cat([part.float().logsumexp(1) for part in logits.split(64)])
    return logits[places, targets].float() - totals[places]
