"""How well two sets of cell means agree: in order, in a line, in value.

All take arrays of shape (..., cells) and return shape (...), so that one call does many resamples.
A cell where either side is NaN is left out of that pair. A measure that is undefined (no cells, or
a side that never varies, for a correlation) is NaN.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import stats

from felicity.errors import FelicityError, one_of
from felicity.stats.accuracy import Floats, Ints
from felicity.stats.cells import divide

CccVariant = Literal["lin", "as_published"]
CCC_VARIANTS: tuple[CccVariant, ...] = ("lin", "as_published")

# Means that differ by less are equal: they differ by rounding only.
EQUAL = 1e-9


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r: covariance over the product of standard deviations (Pearson 1896).

    Examples
    --------
    >>> round(float(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0]))), 3)
    0.866
    """
    x, y = _paired(x, y)
    var_x, var_y, covariance, _ = _moments(x, y)
    flat = (var_x <= EQUAL**2) | (var_y <= EQUAL**2)
    return np.where(flat, np.nan, divide(covariance, np.sqrt(var_x * var_y)))[()]


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's ρ: Pearson's r of the ranks, ties sharing their mean rank (Spearman 1904).

    Values within 1e-9 tie.

    Examples
    --------
    >>> float(spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 9.0])))
    0.8
    """
    x, y = _paired(x, y)
    return pearson(_ranks(x), _ranks(y))


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's τ-b: (concordant − discordant) / √(pairs untied in x · untied in y) (Kendall 1945).

    Values within 1e-9 tie.

    Examples
    --------
    >>> round(float(kendall(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 9.0]))), 3)
    0.667
    """
    x, y = _paired(x, y)
    first, second = np.triu_indices(x.shape[-1], k=1)
    signs = [np.sign(_rounded(z[..., first] - z[..., second])) for z in (x, y)]
    steps_x, steps_y = (np.nan_to_num(sign) for sign in signs)
    untied = np.abs(steps_x).sum(axis=-1) * np.abs(steps_y).sum(axis=-1)
    return divide((steps_x * steps_y).sum(axis=-1), np.sqrt(untied))[()]


def ccc(x: Floats, y: Floats, variant: CccVariant = "lin") -> Floats:
    """Concordance correlation: how near the points lie to the line y = x.

    2 s_xy / (s_x² + s_y² + (x̄ − ȳ)²).

    Parameters
    ----------
    x, y
        Shape (..., cells).
    variant
        ``lin``: all three moments divide by n, as in Lin (1989), eq. 2 and its estimator.
        ``as_published``: the covariance divides by n and the variances by n − 1, as the
        social-meaning paper's code does; always nearer to 0, by about 0.03 at 24 cells. For
        reproducing that paper only.

    Notes
    -----
    Lin, L. I. (1989). A concordance correlation coefficient to evaluate reproducibility.
    Biometrics 45, 255–268. Checked against 1 − Σ(x − y)² / Σ(x − y)² under independence.

    Examples
    --------
    s_xy = 1, s_x² = 2/3, s_y² = 2, (2 − 3)² = 1; the variances are 1 and 3 as published:

    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])
    >>> round(float(ccc(x, y)), 4), float(ccc(x, y, "as_published"))
    (0.5455, 0.4)
    """
    if variant not in CCC_VARIANTS:
        raise FelicityError(f'got "{variant}"; expected {one_of(CCC_VARIANTS)}', where="ccc")
    x, y = _paired(x, y)
    var_x, var_y, covariance, n = _moments(x, y)
    if variant == "as_published":
        var_x, var_y = (divide(var * n, n - 1) for var in (var_x, var_y))
    gap = (_mean(x) - _mean(y)) ** 2
    spread = var_x + var_y + gap
    # One cell has no covariance, and equal points no spread.
    undefined = (spread <= EQUAL**2) | (n < 2)
    return np.where(undefined, np.nan, divide(2 * covariance, spread))[()]


def rmse(x: Floats, y: Floats) -> Floats:
    """Root of the mean squared difference of cell means, in points of the scale.

    Examples
    --------
    >>> round(float(rmse(np.array([1.0, 2.0]), np.array([1.0, 4.0]))), 4)
    1.4142
    """
    x, y = _paired(x, y)
    return np.sqrt(_mean((x - y) ** 2))[()]


def rmse_individuals(predicted: Floats, mean: Floats, sd: Floats, n: Ints) -> Floats:
    """Root of the mean squared difference between predictions and single ratings.

    Exact from each cell's mean, sd (divisor n − 1) and n, without the ratings, since the squares
    around any value m split as Σ (r − m)² = (n − 1) sd² + n (mean − m)²; it is
    √( Σ_cells [(n − 1) sd² + n (mean − m)²] / Σ_cells n ). Even the right means leave the people's
    own spread: compare with the value at ``predicted = mean``.

    Parameters
    ----------
    predicted
        The model's cell means, shape (..., cells).
    mean, sd, n
        The people's cells, same shape.

    Examples
    --------
    Single ratings 3, 5 and 6 in two cells, predicted as 5 and 5: √((4 + 0 + 1) / 3).

    >>> round(float(rmse_individuals(np.array([5.0, 5.0]), np.array([4.0, 6.0]),
    ...                              np.array([2**0.5, np.nan]), np.array([2, 1]))), 4)
    1.291
    """
    used = np.isfinite(predicted) & np.isfinite(mean)
    within = np.where(used & (n > 1), (n - 1) * sd**2, 0.0)
    around = np.where(used, n * (mean - predicted) ** 2, 0.0)
    total = np.where(used, n, 0).sum(axis=-1)
    return np.sqrt(divide((within + around).sum(axis=-1), total))[()]


def _paired(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Make NaN in one side NaN in both."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.shape[-1] != y.shape[-1]:
        raise FelicityError(
            f"got {x.shape[-1]} and {y.shape[-1]} cells; expected equally many", where="agreement"
        )
    lost = ~(np.isfinite(x) & np.isfinite(y))
    return np.where(lost, np.nan, x), np.where(lost, np.nan, y)


def _mean(values: Floats) -> Floats:
    there = np.isfinite(values)
    return divide(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1))


def _moments(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Variances and covariance with divisor n, and n."""
    from_x, from_y = x - _mean(x)[..., None], y - _mean(y)[..., None]
    n = np.asarray(np.isfinite(from_x).sum(axis=-1), dtype=np.int64)
    return _mean(from_x**2), _mean(from_y**2), _mean(from_x * from_y), n


def _rounded(values: Floats) -> Floats:
    return np.round(values, 9)


def _ranks(values: Floats) -> Floats:
    return np.asarray(stats.rankdata(_rounded(values), axis=-1, nan_policy="omit"))
