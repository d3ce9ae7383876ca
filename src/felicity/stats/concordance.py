"""Whether several models find the same levels hard, and how levels go together across models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from felicity.stats.accuracy import Floats, Interval
from felicity.stats.agreement import EQUAL, pearson

PERMUTATIONS = 9_999
# Fisher's z of n pairs has the standard error 1 / √(n − 3).
SMALLEST_N = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Concordance:
    """Kendall's W of several models' ranks, with and without the correction for ties.

    ``chi2``, ``df`` and ``p`` rest on the corrected W; ``p_permutation`` on shuffled ranks. All
    that is undefined (one model, one level, or every model with all levels tied) is None.
    """

    w: float | None
    w_uncorrected: float | None
    chi2: float | None
    df: int
    p: float | None
    p_permutation: float | None
    models: int


def difficulty_ranks(accuracies: Floats) -> Floats:
    """Rank levels by difficulty within each model: 1 is the hardest; ties share their mean rank.

    Parameters
    ----------
    accuracies
        Shape (models, levels), without NaN. Values within 1e-9 tie.

    Examples
    --------
    >>> difficulty_ranks(np.array([[0.5, 0.9, 0.7], [0.6, 0.6, 0.8]]))
    array([[1. , 3. , 2. ],
           [1.5, 1.5, 3. ]])
    """
    return np.asarray(stats.rankdata(np.round(accuracies / EQUAL), axis=1), dtype=np.float64)


def kendall_w(accuracies: Floats, rng: np.random.Generator) -> Concordance:
    """Kendall's coefficient of concordance (Kendall & Babington Smith 1939).

    12 S / (m² (k³ − k) − m T), S the squared deviations of the k levels' rank sums over m models
    from their mean, T the sum of t³ − t over groups of t tied levels within a model (0 for the
    uncorrected W). χ² = m (k − 1) W with k − 1 degrees of freedom is Friedman's statistic; it is
    rough for few models, so a permutation p is given beside it (ranks shuffled within each model).

    Parameters
    ----------
    accuracies
        Shape (models, levels), without NaN.
    rng
        Of the permutations.

    Notes
    -----
    Checked against scipy's ``friedmanchisquare``, which corrects for ties.

    Examples
    --------
    >>> found = kendall_w(np.array([[0.5, 0.9, 0.7], [0.4, 0.8, 0.6]]), np.random.default_rng(0))
    >>> found.w, found.chi2, found.df
    (1.0, 4.0, 2)
    """
    models, levels = accuracies.shape
    ranks = difficulty_ranks(accuracies)
    ties = sum(_tied(row) for row in ranks)
    full = models**2 * (levels**3 - levels)
    spread = full - models * ties
    if models < 2 or spread <= 0:
        return Concordance(
            w=None,
            w_uncorrected=None,
            chi2=None,
            df=levels - 1,
            p=None,
            p_permutation=None,
            models=models,
        )
    squares = _squares(ranks)
    w = 12 * squares / spread
    chi2 = models * (levels - 1) * w
    return Concordance(
        w=w,
        w_uncorrected=12 * squares / full,
        chi2=chi2,
        df=levels - 1,
        p=float(stats.chi2.sf(chi2, levels - 1)),
        p_permutation=_permute(ranks, squares, rng),
        models=models,
    )


def _tied(row: Floats) -> int:
    _, counts = np.unique(row, return_counts=True)
    return int((counts**3 - counts).sum())


def _squares(ranks: Floats) -> float:
    sums = ranks.sum(axis=0)
    return float(((sums - sums.mean()) ** 2).sum())


def _permute(ranks: Floats, observed: float, rng: np.random.Generator) -> float:
    """Share of shuffled ranks whose rank sums lie at least as far apart."""
    shuffled = rng.permuted(np.broadcast_to(ranks, (PERMUTATIONS, *ranks.shape)), axis=2)
    sums = shuffled.sum(axis=1)
    squares = ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float(((squares >= observed - 1e-9).sum() + 1) / (PERMUTATIONS + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Pearson's r of two levels across models; None where it says nothing.

    Two models always give ±1, so there is an r from three on, and an interval from four on.
    """

    r: float | None
    interval: Interval | None
    n: int


def correlate_levels(accuracies: Floats) -> tuple[tuple[Correlation, ...], ...]:
    """Correlate every level with every other across models.

    Parameters
    ----------
    accuracies
        Shape (models, levels), without NaN.

    Returns
    -------
    tuple of tuples
        Levels × levels, symmetric. Intervals are Fisher's (1921): tanh(atanh r ± 1.96 / √(n − 3)).

    Examples
    --------
    >>> found = correlate_levels(np.array([[0.1, 0.2], [0.2, 0.4], [0.3, 0.1], [0.4, 0.6]]))[0][1]
    >>> round(found.r, 3), round(found.interval.low, 3), round(found.interval.high, 3), found.n
    (0.524, -0.881, 0.988, 4)
    """
    n, levels = accuracies.shape
    rows = []
    for first in range(levels):
        row = []
        for second in range(levels):
            r = float(pearson(accuracies[:, first], accuracies[:, second])) if n > 2 else np.nan
            known = bool(np.isfinite(r))
            row.append(Correlation(r=r if known else None, interval=fisher_interval(r, n), n=n))
        rows.append(tuple(row))
    return tuple(rows)


def fisher_interval(r: float, n: int) -> Interval | None:
    """95 % interval of a correlation of n pairs; None for n < 4, and where r is ±1 or missing."""
    if n < SMALLEST_N or not np.isfinite(r) or abs(r) >= 1 - EQUAL:
        return None
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    low, high = np.tanh(np.arctanh(r) + np.array([-half, half]))
    return Interval(low=float(low), high=float(high), method="Fisher z over models")
