"""Tests: whether an accuracy is above chance, and whether it differs from people's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from felicity.stats.accuracy import Counts, Floats, Interval, percentile_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Model minus people: the difference of accuracies, its 95 % interval, two-sided p."""

    value: float
    interval: Interval
    p: float


def p_against_chance(
    counts: Counts, rng: np.random.Generator, chance: float = 0.5, n_resamples: int = 9_999
) -> float:
    """Two-sided p that units' accuracies lie around chance.

    A sign-flip permutation test (Fisher 1935) of the units' differences from chance, by
    `scipy.stats.permutation_test`; exact where all flips are few enough to be tried.

    Examples
    --------
    >>> from felicity.stats.accuracy import count_wins
    >>> ones = count_wins(np.ones(8), np.array(list("abcdefgh")))
    >>> p_against_chance(ones, np.random.default_rng(0))
    0.0078125
    """
    keep = counts.usable > 0
    differences = counts.wins[keep] / counts.usable[keep] - chance
    if len(differences) < 2 or not differences.any():
        return 1.0
    found = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=n_resamples,
        vectorized=True,
        rng=rng,
    )
    return float(found.pvalue)


def p_against_share(
    counts: Counts, chance: float, rng: np.random.Generator, n_resamples: int = 9_999
) -> float:
    """Two-sided p that an accuracy is chance, where chance is not one half.

    Signs cannot be flipped around a share that is not in the middle. So units are drawn as won or
    lost whole, with the probability ``chance``, which is as far as items of one unit can go along
    with each other: the test is on the safe side.

    Examples
    --------
    >>> from felicity.stats.accuracy import count_wins
    >>> ones = count_wins(np.ones(8), np.array(list("abcdefgh")))
    >>> p_against_share(ones, 0.25, np.random.default_rng(0)) < 0.001
    True
    """
    usable = counts.usable[counts.usable > 0]
    if len(usable) < 2:
        return 1.0
    drawn = (rng.random((n_resamples, len(usable))) < chance) @ usable / usable.sum()
    far = np.abs(drawn - chance) >= abs(counts.accuracy - chance) - 1e-12
    return float((far.sum() + 1) / (n_resamples + 1))


def compare_with_people(
    accuracy: float, draws: Floats, correct: int, asked: int, rng: np.random.Generator
) -> Difference:
    """Compare a model's accuracy with a group of people's.

    The model varies over units (``draws`` of `resample_accuracy`); the people's answers, of which
    only the count is known, by the Jeffreys posterior Beta(correct + ½, wrong + ½). The p-value is
    twice the smaller share of differences on one side of 0, never below 2 / (draws + 1).
    """
    people = draw_people(correct, asked, len(draws), rng)
    return difference_of_draws(accuracy - correct / asked, draws - people)


def draw_people(correct: int, asked: int, n: int, rng: np.random.Generator) -> Floats:
    """Draw shares of right answers from the Jeffreys posterior, shape (n,)."""
    return rng.beta(correct + 0.5, asked - correct + 0.5, n)


def difference_of_draws(value: float, differences: Floats) -> Difference:
    """Summarise drawn differences: interval and two-sided p."""
    n = len(differences)
    below = int((differences <= 0).sum())
    above = int((differences >= 0).sum())
    p = min(1.0, 2 * (min(below, above) + 1) / (n + 1))
    return Difference(value=value, interval=percentile_interval(differences, "resampling"), p=p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
