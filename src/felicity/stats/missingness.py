"""Missing ratings: whether two levels lack differently many, and what that may do to Δ."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from felicity.stats.cells import Axes, Cells, divide


@dataclass(frozen=True, slots=True, kw_only=True)
class Missingness:
    """Usable of asked at the two levels (forms) that a difference Δ (first − second) compares.

    Attributes
    ----------
    attribute, within
        The attribute, and the levels of other factors that the comparison is within; none: all.
    usable, asked
        At the first and at the second level.
    p
        Two-sided, Fisher's exact test of usable against missing by level. It takes replies as
        independent; replies of one scenario are not quite, so read it as a warning, not a result.
    difference
        Δ of the ratings that there are, each weighing the same.
    difference_imputed
        Δ with every missing rating put at the mean of its own scenario's cell; NaN where such a
        cell has no rating. What it differs by is what missing ratings do to Δ by weighing
        scenarios unevenly.
    difference_low, difference_high
        The bounds of Δ with every missing rating at one end or the other of the scale: no
        pattern of missingness can lead beyond them.
    """

    attribute: str
    within: Mapping[str, str]
    usable: tuple[int, int]
    asked: tuple[int, int]
    p: float
    difference: float
    difference_imputed: float
    difference_low: float
    difference_high: float

    @property
    def differs(self) -> bool:
        """Whether to warn: p below .05."""
        return self.p < 0.05


def compare_missingness(
    cells: Cells, axes: Axes, factor: str, scale: tuple[float, float]
) -> tuple[Missingness, ...]:
    """Compare missing ratings at a factor's first and second level, for each attribute.

    Parameters
    ----------
    cells
        Shape (scenario, point, attribute).
    axes
        What the axes are.
    factor
        The factor whose levels are compared: ``form``.
    scale
        Lowest and highest value of the scale.

    Returns
    -------
    tuple of Missingness
        Per attribute, first over everything, then at each combination of the other factors' levels.

    Examples
    --------
    One scenario and attribute; the precise form lacks 8 of 10 ratings in the first context:

    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful",),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> cells = Cells(mean=np.array([6.0, 4.0, 5.0, 5.0]).reshape(axes.shape),
    ...               sd=np.ones(axes.shape), n=np.array([2, 10, 10, 10]).reshape(axes.shape),
    ...               asked=np.full(axes.shape, 10))
    >>> found = compare_missingness(cells, axes, "form", (1, 7))[1]
    >>> found.within, found.usable, found.asked, round(found.p, 4), found.differs
    ({'context': 'high'}, (2, 10), (10, 10), 0.0007, True)
    >>> found.difference, found.difference_low, found.difference_high
    (2.0, -2.0, 2.8)
    """
    others = {name: levels for name, levels in axes.factors.items() if name != factor}
    places: list[dict[str, str]] = [{}]
    if others:
        combinations = itertools.product(*others.values())
        places += [dict(zip(others, levels, strict=True)) for levels in combinations]
    found = []
    for place, attribute in enumerate(axes.attributes):
        for within in places:
            first, second = (
                _tally(cells, list(axes.points_at({**within, factor: level})), place, scale)
                for level in axes.factors[factor][:2]
            )
            found.append(_compare(first, second, attribute, within))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tally:
    """One side of the comparison: its counts, and its mean under each way with missing ratings."""

    usable: int
    asked: int
    mean: float
    imputed: float
    lowest: float
    highest: float


def _tally(cells: Cells, points: list[int], attribute: int, scale: tuple[float, float]) -> _Tally:
    n, asked, means = (
        values[:, points, attribute] for values in (cells.n, cells.asked, cells.mean)
    )
    total = float(np.where(n > 0, n * means, 0.0).sum())
    # A cell asked without any mean makes the imputed mean unknown; one never asked does not.
    imputed = np.where(asked > 0, asked * means, 0.0).sum()
    missing = int((asked - n).sum())
    return _Tally(
        usable=int(n.sum()),
        asked=int(asked.sum()),
        mean=float(divide(total, n.sum())),
        imputed=float(divide(imputed, asked.sum())),
        lowest=float(divide(total + missing * scale[0], asked.sum())),
        highest=float(divide(total + missing * scale[1], asked.sum())),
    )


def _compare(
    first: _Tally, second: _Tally, attribute: str, within: Mapping[str, str]
) -> Missingness:
    table = np.array([[side.usable, side.asked - side.usable] for side in (first, second)])
    return Missingness(
        attribute=attribute,
        within=within,
        usable=(first.usable, second.usable),
        asked=(first.asked, second.asked),
        p=float(stats.fisher_exact(table).pvalue),
        difference=first.mean - second.mean,
        difference_imputed=first.imputed - second.imputed,
        difference_low=first.lowest - second.highest,
        difference_high=first.highest - second.lowest,
    )
