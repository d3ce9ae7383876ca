"""How often the first answer wins, with its interval over units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIE = 1e-5
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Wins, ties and usable items of each unit; arrays of shape (units,).

    ``asked`` counts all items, usable or not.
    """

    wins: Ints
    ties: Ints
    usable: Ints
    asked: int

    @property
    def accuracy(self) -> float:
        """Wins over usable items; a tie is no win. NaN where nothing is usable."""
        total = int(self.usable.sum())
        return float(self.wins.sum()) / total if total else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval and how it was made."""

    low: float
    high: float
    method: str


def count_wins(margins: Floats, units: NDArray[np.str_]) -> Counts:
    """Count wins per unit.

    Parameters
    ----------
    margins
        Score of the first answer minus that of the second, shape (items,), in any unit; NaN where
        a score is missing.
    units
        What each item repeats, shape (items,).

    Returns
    -------
    Counts
        A margin within ±1e-5 is a tie: scores are reproducible to 1e-5 only, and a model that
        cannot tell two answers apart must not win by rounding (decision 0004).

    Examples
    --------
    >>> counts = count_wins(np.array([0.5, -0.2, 0.0, np.nan]), np.array(["d1", "d1", "d2", "d2"]))
    >>> counts.wins, counts.ties, counts.usable, counts.asked
    (array([1, 0]), array([0, 1]), array([2, 1]), 4)
    >>> round(counts.accuracy, 3)
    0.333
    """
    _, place = np.unique(units, return_inverse=True)
    n_units = int(place.max()) + 1 if len(place) else 0
    usable = np.isfinite(margins)
    wins = usable & (margins > TIE)
    ties = usable & (np.abs(margins) <= TIE)
    per_unit = [
        np.bincount(place, weights=flag, minlength=n_units) for flag in (wins, ties, usable)
    ]
    return Counts(
        wins=per_unit[0].astype(np.int64),
        ties=per_unit[1].astype(np.int64),
        usable=per_unit[2].astype(np.int64),
        asked=len(margins),
    )


def resample_accuracy(
    counts: Counts, rng: np.random.Generator, n_resamples: int = RESAMPLES
) -> Floats:
    """Draw accuracies as they would come out with other units.

    Whole units are drawn with replacement, never single items, which are copies of one dialogue.
    Where every unit has the same accuracy such draws cannot vary; then they come from the
    Jeffreys posterior over units, Beta(w + ½, u − w + ½) with w = accuracy × u.

    Returns
    -------
    numpy.ndarray
        Shape (n_resamples,).
    """
    keep = counts.usable > 0
    wins, usable = counts.wins[keep], counts.usable[keep]
    n_units = len(usable)
    if n_units == 0:
        return np.full(n_resamples, np.nan)
    if is_degenerate(counts):
        won = counts.accuracy * n_units
        return rng.beta(won + 0.5, n_units - won + 0.5, n_resamples)
    drawn = rng.integers(0, n_units, (n_resamples, n_units))
    return np.asarray(wins[drawn].sum(axis=1) / usable[drawn].sum(axis=1), dtype=np.float64)


def is_degenerate(counts: Counts) -> bool:
    """Whether all units have the same accuracy, so that resampling them shows no spread."""
    keep = counts.usable > 0
    return len(np.unique(counts.wins[keep] / counts.usable[keep])) <= 1


def accuracy_interval(counts: Counts, draws: Floats) -> Interval | None:
    """95 % percentile interval from `resample_accuracy`; None where nothing is usable.

    Where all units agree (an accuracy of 1, say) it is Wilson's interval with units as n.

    Examples
    --------
    >>> counts = count_wins(np.ones(25), np.array([f"d{i}" for i in range(25)]))
    >>> interval = accuracy_interval(counts, np.ones(1))
    >>> round(interval.low, 3), interval.high, interval.method
    (0.867, 1.0, 'Wilson over units')
    """
    n_units = int((counts.usable > 0).sum())
    if n_units == 0:
        return None
    if is_degenerate(counts):
        share = wilson_interval(round(counts.accuracy * n_units), n_units)
        return Interval(low=share.low, high=share.high, method="Wilson over units")
    return percentile_interval(draws, "bootstrap over units")


def percentile_interval(draws: Floats, method: str, estimate: float | None = None) -> Interval:
    """2.5 % and 97.5 % of draws; widened to the estimate, where one is given, if it lies outside.

    Draws from a Beta distribution never reach 0 or 1: an estimate at an end would lie off its own
    interval. The end is then the limit, as Brown, Cai & DasGupta (2001) put it for one proportion.

    Examples
    --------
    >>> percentile_interval(np.linspace(0.5, 0.98, 101), "x", estimate=1.0).high
    1.0
    """
    low, high = np.percentile(draws, [2.5, 97.5])
    if estimate is not None:
        low, high = min(low, estimate), max(high, estimate)
    return Interval(low=float(low), high=float(high), method=method)


def wilson_interval(correct: int, asked: int) -> Interval:
    """Wilson's 95 % score interval for a proportion (Wilson 1927), from scipy.

    Examples
    --------
    >>> interval = wilson_interval(23, 40)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.422, 0.715)
    """
    found = stats.binomtest(correct, asked).proportion_ci(method="wilson")
    return Interval(low=float(found.low), high=float(found.high), method="Wilson over answers")
