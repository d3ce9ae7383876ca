"""How much one model wins over another on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from felicity.stats.accuracy import RESAMPLES, TIE, Floats, Interval, percentile_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Accuracy of the second minus that of the first on their common usable items.

    ``interval`` is None where all units gain alike, so that resampling them shows no spread;
    ``value`` and ``p`` are None where no item is common.
    """

    value: float | None
    interval: Interval | None
    p: float | None
    items: int
    units: int


def paired_gain(
    first: Floats, second: Floats, units: NDArray[np.str_], rng: np.random.Generator
) -> Gain:
    """Compare two models' margins item by item, units being what repeats.

    Parameters
    ----------
    first, second
        Margins of both on the same items, shape (items,); NaN where missing.
    units
        What each item repeats, shape (items,).
    rng
        Of bootstrap and permutation.

    Returns
    -------
    Gain
        Interval: percentile bootstrap over units. p: two-sided sign-flip permutation test (Fisher
        1935) of the units' mean gains. An item with a margin within ±1e-5 is not won.

    Examples
    --------
    >>> gain = paired_gain(np.array([-1.0, -1.0, 1.0]), np.array([1.0, 1.0, 1.0]),
    ...                    np.array(["a", "a", "b"]), np.random.default_rng(0))
    >>> round(gain.value, 3), gain.items, gain.units
    (0.667, 3, 2)
    """
    usable = np.isfinite(first) & np.isfinite(second)
    _, place = np.unique(units[usable], return_inverse=True)
    n_units = int(place.max()) + 1 if len(place) else 0
    if n_units == 0:
        return Gain(value=None, interval=None, p=None, items=0, units=0)
    moved = (second[usable] > TIE).astype(np.float64) - (first[usable] > TIE)
    sums = np.bincount(place, weights=moved, minlength=n_units)
    counts = np.bincount(place, minlength=n_units)
    means = sums / counts
    interval = None
    if np.ptp(means) > 0:
        drawn = rng.integers(0, n_units, (RESAMPLES, n_units))
        draws = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
        interval = percentile_interval(draws, "bootstrap over units")
    return Gain(
        value=float(moved.mean()),
        interval=interval,
        p=_sign_flip(means, rng),
        items=int(usable.sum()),
        units=n_units,
    )


def _sign_flip(means: Floats, rng: np.random.Generator) -> float:
    if len(means) < 2 or not means.any():
        return 1.0
    found = stats.permutation_test(
        (means,), np.mean, permutation_type="samples", n_resamples=9_999, vectorized=True, rng=rng
    )
    return float(found.pvalue)
