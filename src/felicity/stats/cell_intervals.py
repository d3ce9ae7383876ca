"""95 % intervals of cell means: of a participant by resampling, of people from mean, sd and n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from felicity.stats.accuracy import Floats
from felicity.stats.alignment import Unit
from felicity.stats.cells import Cells, Ratings, Weighting, count_cells, divide, pool_scenarios
from felicity.stats.rating_resampling import RESAMPLES, chunk_sizes, draw_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Ends of the intervals, arrays of the cells' shape; NaN where there is no interval."""

    low: Floats
    high: Floats


def resample_means(
    ratings: Ratings,
    rng: np.random.Generator,
    *,
    unit: Unit = "design",
    weighting: Weighting = "pooled",
    n_resamples: int = RESAMPLES,
) -> Bounds:
    """Intervals of a participant's cell means, by the bootstrap of `resample_alignment`.

    For design cells scenarios are drawn and, in each, repeats; for scenario cells repeats alone.

    Parameters
    ----------
    ratings
        Single ratings, shape (scenario, point, attribute, row).
    unit
        ``design`` gives bounds of shape (point, attribute), ``scenario`` one axis more before.

    Returns
    -------
    Bounds
        NaN for a cell with fewer than two usable ratings: nothing varies there.

    Examples
    --------
    Two scenarios that give 2 and 4 without fail: a drawn mean is 2, 3 or 4.

    >>> values = np.array([2.0, 2, 4, 4]).reshape(2, 1, 1, 2)
    >>> ratings = Ratings(values=values, asked=np.ones(values.shape, dtype=np.bool_))
    >>> found = resample_means(ratings, np.random.default_rng(0))
    >>> float(found.low[0, 0]), float(found.high[0, 0])
    (2.0, 4.0)
    """
    count = ratings.values.shape[0]
    drawn = []
    for size in chunk_sizes(n_resamples):
        scenarios = np.tile(np.arange(count), (size, 1))
        if unit == "design":
            scenarios = rng.integers(0, count, (size, count))
        cells = draw_rows(ratings, scenarios, rng)
        drawn.append((pool_scenarios(cells, weighting) if unit == "design" else cells).mean)
    means = np.concatenate(drawn)
    own = count_cells(ratings)
    n = pool_scenarios(own, weighting).n if unit == "design" else own.n
    low, high = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    several = n > 1
    if not several.any():
        return Bounds(low=low, high=high)
    # A resample may draw no rating of a cell at all.
    low[several], high[several] = np.nanquantile(means[:, several], (0.025, 0.975), axis=0)
    return Bounds(low=low, high=high)


def mean_intervals(cells: Cells) -> Bounds:
    """Student's t intervals of cell means, from mean, sd and n alone.

    Examples
    --------
    Sixteen ratings with sd 2: 2.131 standard errors of 0.5 to either side.

    >>> one = Cells(mean=np.array([5.0]), sd=np.array([2.0]), n=np.array([16]),
    ...             asked=np.array([16]))
    >>> found = mean_intervals(one)
    >>> round(float(found.low[0]), 3), round(float(found.high[0]), 3)
    (3.934, 6.066)
    """
    several = cells.n > 1
    t = stats.t.ppf(0.975, np.where(several, cells.n - 1, 1))
    half = np.where(several, t * np.sqrt(divide(cells.sd**2, cells.n)), np.nan)
    return Bounds(low=cells.mean - half, high=cells.mean + half)
