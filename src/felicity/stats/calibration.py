"""Whether a wide margin is more often right than a narrow one, and as often as it claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from felicity.stats.accuracy import (
    TIE,
    Floats,
    Interval,
    accuracy_interval,
    count_wins,
    resample_accuracy,
)

BINS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Items whose margins are about as wide: how sure, and how often right."""

    low: float
    high: float
    n: int
    units: int
    confidence: float
    accuracy: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """``error`` is the expected calibration error; None where no item has a usable margin."""

    bins: tuple[CalibrationBin, ...]
    error: float | None
    n: int
    ties: int


def calibrate(
    margins: Floats, units: NDArray[np.str_], rng: np.random.Generator, bins: int = BINS
) -> Calibration:
    """Sort items by the size of their margin into bins of about equal number.

    The confidence of an item is the logistic function of |margin|: what the model would give the
    answer it prefers if it chose between the two in proportion to their (length-normalised)
    probabilities. The expected calibration error (Naeini, Cooper & Hauskrecht 2015) is the mean
    over items of |accuracy − mean confidence| of their bin. Ties have no preference: they are
    counted, and are in no bin.

    Parameters
    ----------
    margins
        First answer's score minus the second's, in nats, shape (items,); NaN where missing.
    units
        What each item repeats, shape (items,); intervals resample it.

    Examples
    --------
    >>> found = calibrate(np.array([0.1, -0.1, 2.0, 2.0]), np.array(list("abcd")),
    ...                   np.random.default_rng(0), bins=2)
    >>> [(b.n, b.accuracy, round(b.confidence, 3)) for b in found.bins], round(found.error, 3)
    ([(2, 0.5, 0.525), (2, 1.0, 0.881)], 0.072)
    """
    known = np.isfinite(margins)
    clear = known & (np.abs(margins) > TIE)
    ties = int(known.sum() - clear.sum())
    sizes = np.abs(margins[clear])
    if not len(sizes):
        return Calibration(bins=(), error=None, n=0, ties=ties)
    edges = np.unique(np.quantile(sizes, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, max(len(edges) - 2, 0))
    found = [
        _bin(margins[clear][place == one], units[clear][place == one], rng)
        for one in np.unique(place)
    ]
    error = sum(b.n * abs(b.accuracy - b.confidence) for b in found) / len(sizes)
    return Calibration(bins=tuple(found), error=float(error), n=len(sizes), ties=ties)


def _bin(margins: Floats, units: NDArray[np.str_], rng: np.random.Generator) -> CalibrationBin:
    counts = count_wins(margins, units)
    sizes = np.abs(margins)
    return CalibrationBin(
        low=float(sizes.min()),
        high=float(sizes.max()),
        n=len(margins),
        units=len(counts.usable),
        confidence=float(expit(sizes).mean()),
        accuracy=counts.accuracy,
        interval=accuracy_interval(counts, resample_accuracy(counts, rng)),
    )
