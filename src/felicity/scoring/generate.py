"""Replies sampled token by token from a text that is read once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch

from felicity.scoring.reading import Ids, Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How each token is chosen.

    Attributes
    ----------
    temperature
        0 is greedy: always the most probable token, the first of equals.
    top_p
        Only the fewest tokens whose probability reaches this are drawn from; None is all.
    seed
        Of the random numbers. The same text, draw and seed give the same reply, whatever was
        sampled before. Not used by greedy.
    max_tokens
        After which a reply is cut off.
    """

    temperature: float
    top_p: float | None
    seed: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Sampled ids, without the one that ended the reply; ``sampled`` counts that one too."""

    ids: Ids
    finish: Literal["stop", "length"]
    sampled: int


def generate(
    reader: Reader,
    text: Ids,
    draw: Draw,
    *,
    end_ids: frozenset[int],
    ended: Callable[[Ids], bool] = lambda _: False,
) -> Generated:
    """Sample one reply.

    Parameters
    ----------
    reader
        Reads ``text`` once for all replies to it that are sampled one after the other.
    text
        The prompt.
    draw
        Temperature and the like.
    end_ids
        Tokens that end a reply.
    ended
        Asked after every token whether the reply is over for another reason.
    """
    generator = torch.Generator("cpu").manual_seed(draw.seed)
    ids: Ids = ()
    log_probs = reader.read(text)
    while True:
        token = choose_token(log_probs, draw, generator)
        if token in end_ids:
            return Generated(ids=ids, finish="stop", sampled=len(ids) + 1)
        ids = (*ids, token)
        if ended(ids):
            return Generated(ids=ids, finish="stop", sampled=len(ids))
        if len(ids) >= draw.max_tokens:
            return Generated(ids=ids, finish="length", sampled=len(ids))
        log_probs = reader.follow(ids)


def choose_token(log_probs: torch.Tensor, draw: Draw, generator: torch.Generator) -> int:
    """Choose a token: where one uniform number falls among the cumulated probabilities.

    In float64, so that a temperature near 0 or a large vocabulary loses no token.

    Examples
    --------
    >>> draw = Draw(temperature=0, top_p=None, seed=1, max_tokens=1)
    >>> choose_token(torch.tensor([0.2, 0.5, 0.3]).log(), draw, torch.Generator())
    1
    """
    if draw.temperature == 0:
        return int(log_probs.argmax())
    probabilities = (log_probs.double() / draw.temperature).softmax(-1)
    if draw.top_p is None:
        return _draw_from(probabilities, generator)
    ordered, tokens = probabilities.sort(descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    return int(tokens[_draw_from(ordered.masked_fill(before >= draw.top_p, 0.0), generator)])


def _draw_from(weights: torch.Tensor, generator: torch.Generator) -> int:
    sums = weights.cumsum(-1)
    point = torch.rand((), generator=generator, dtype=torch.float64) * sums[-1]
    # Right of equal sums: a token of weight 0 is never drawn.
    place = int(torch.searchsorted(sums, point, right=True))
    return min(place, int(weights.nonzero()[-1]))
