"""Pairs shown in both orders: how far the place of an answer decides, and not what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from felicity.stats.accuracy import (
    Floats,
    Interval,
    accuracy_interval,
    count_wins,
    resample_accuracy,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffects:
    """How far the order of the answers decides.

    Attributes
    ----------
    position_bias
        Share of picks, among usable ones, that fall on the answer shown first: ½ is no bias, 1
        always the first, 0 always the second. None where none is usable.
    interval
        Its 95 % interval over units.
    picks
        Usable picks.
    consistency
        Share of pairs with the same answer picked in both orders; None where no pair has both.
    pairs
        Pairs that are usable in both orders.
    asked
        Pairs in all.
    """

    position_bias: float | None
    interval: Interval | None
    picks: int
    consistency: float | None
    pairs: int
    asked: int


def order_effects(
    first_picked: Floats, units: NDArray[np.str_], rng: np.random.Generator
) -> OrderEffects:
    """Measure position bias and consistency.

    Whoever picks the first place in both orders, or the second in both, has picked two different
    answers: consistent is one of each.

    Parameters
    ----------
    first_picked
        Shape (pairs, 2), a column for each order: 1 where the answer shown first is picked, 0
        where the second is, NaN where there is no usable pick.
    units
        What each pair repeats, shape (pairs,); the interval draws whole units.

    Notes
    -----
    Asking in both orders and counting the pairs with the same verdict follows Zheng et al. (2023,
    Judging LLM-as-a-judge with MT-Bench and Chatbot Arena, NeurIPS 36). They count a bias over
    pairs; here it is over picks, so that a pair with one usable pick counts too.

    Examples
    --------
    >>> always_first = np.ones((3, 2))
    >>> found = order_effects(always_first, np.array(["a", "b", "c"]), np.random.default_rng(0))
    >>> found.position_bias, found.consistency
    (1.0, 0.0)
    >>> by_content = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, np.nan]])
    >>> found = order_effects(by_content, np.array(["a", "b", "c"]), np.random.default_rng(0))
    >>> found.position_bias, found.consistency, found.picks, found.pairs
    (0.6, 1.0, 5, 2)
    """
    counts = count_wins((2 * first_picked - 1).ravel(), np.repeat(units, 2))
    picks = int(counts.usable.sum())
    both = first_picked[np.isfinite(first_picked).all(axis=1)]
    return OrderEffects(
        position_bias=counts.accuracy if picks else None,
        interval=accuracy_interval(counts, resample_accuracy(counts, rng)),
        picks=picks,
        consistency=float((both[:, 0] != both[:, 1]).mean()) if len(both) else None,
        pairs=len(both),
        asked=len(first_picked),
    )
