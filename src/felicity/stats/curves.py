"""Learning curves: from when on a level is above chance, and in which order levels come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import stats

from felicity.stats.compare import holm

ALPHA = 0.05
# Up to 5,040 orders are tried one by one; beyond that scipy's approximation is near enough.
MOST_EXACT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """When a level comes to be above chance, over the checkpoints of one model.

    Attributes
    ----------
    p_holm
        p against chance of each checkpoint, corrected for their number; None where there is none.
    above
        Whether each checkpoint is significantly above chance.
    first
        Place of the first checkpoint that is; None where none is.
    lasting
        Place of the first from which on all are; None where the last one is not.
    """

    p_holm: tuple[float | None, ...]
    above: tuple[bool, ...]
    first: int | None
    lasting: int | None


def find_onset(
    accuracies: Sequence[float | None],
    p_values: Sequence[float | None],
    chances: Sequence[float] | None = None,
) -> Onset:
    """Find when a level comes to be above chance.

    Parameters
    ----------
    accuracies
        Of one level, in the order of training; None where nothing was usable.
    p_values
        Two-sided, against chance (`felicity.stats.compare.p_against_chance`), not yet corrected.
    chances
        Chance at each checkpoint; .50 where not given.

    Returns
    -------
    Onset
        A checkpoint is above chance where its accuracy is, and its p, corrected over the
        checkpoints (Holm 1979), is below .05.

    Examples
    --------
    >>> found = find_onset([0.5, 0.7, 0.6, 0.8], [1.0, 0.01, 0.2, 0.001])
    >>> found.above, found.first, found.lasting
    ((False, True, False, True), 1, 3)
    """
    chances = [0.5] * len(accuracies) if chances is None else chances
    places = [place for place, p in enumerate(p_values) if p is not None]
    corrected = holm([p for p in p_values if p is not None])
    p_holm: list[float | None] = [None] * len(p_values)
    for place, p in zip(places, corrected, strict=True):
        p_holm[place] = p
    above = tuple(
        accuracy is not None and accuracy > chance and p is not None and p < ALPHA
        for accuracy, p, chance in zip(accuracies, p_holm, chances, strict=True)
    )
    unbroken = 0
    while unbroken < len(above) and above[-1 - unbroken]:
        unbroken += 1
    return Onset(
        p_holm=tuple(p_holm),
        above=above,
        first=above.index(True) if any(above) else None,
        lasting=len(above) - unbroken if unbroken else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderAgreement:
    """Kendall's τ-b between two orders, its two-sided p, and how many levels were ordered."""

    tau: float
    p: float
    levels: int


def agree_on_order(
    onsets: Sequence[float | None], people: Sequence[float]
) -> OrderAgreement | None:
    """Compare the order in which levels come with people's, from easiest to hardest.

    Parameters
    ----------
    onsets
        Words seen at the onset of each level; None where it never came: then it is later than
        all that did, and ties with the others that did not.
    people
        People's accuracy on each level. What they are best at is taken to come first.

    Returns
    -------
    OrderAgreement or None
        τ-b (Kendall 1945): 1 for the same order, −1 for the reverse. p is the share of all orders
        with a τ at least as far from 0. None where either side has no order at all.

    Examples
    --------
    >>> found = agree_on_order([1e5, 1e6, None], [0.9, 0.8, 0.5])
    >>> round(found.tau, 6), round(found.p, 3)
    (1.0, 0.333)
    >>> agree_on_order([None, None], [0.9, 0.8]) is None
    True
    """
    late = np.asarray([np.inf if words is None else words for words in onsets])
    ranks, easy = stats.rankdata(late), -np.asarray(people, dtype=np.float64)
    if len(ranks) < 2 or len(np.unique(ranks)) < 2 or len(np.unique(easy)) < 2:
        return None
    found = stats.kendalltau(ranks, easy)
    tau, p = float(found.statistic), float(found.pvalue)
    if len(ranks) <= MOST_EXACT:
        # Ties are the same in every order, so τ is compared by concordant less discordant pairs.
        left, right = np.triu_indices(len(ranks), 1)
        orders = np.asarray(list(permutations(ranks)))
        agreeing = np.sign(orders[:, left] - orders[:, right]) @ np.sign(easy[left] - easy[right])
        # The first permutation is the order itself.
        p = float(np.mean(np.abs(agreeing) >= abs(agreeing[0])))
    return OrderAgreement(tau=tau, p=p, levels=len(ranks))
