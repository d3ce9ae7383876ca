"""From ratings to cells: mean, sd, n, and how many of how many were usable.

Arrays have the axes scenario, point, attribute; functions allow any axes before them (one per
resample). A point is one combination of the study's own factors (context and form, say). Pooled
over scenarios, a design cell has the last two axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from felicity.errors import FelicityError, one_of
from felicity.stats.accuracy import Floats, Ints

Bools = NDArray[np.bool_]
Weighting = Literal["pooled", "scenario_means"]
WEIGHTINGS: tuple[Weighting, ...] = ("pooled", "scenario_means")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Scenarios, the study's own factors with their levels, and attributes, in the arrays' order.

    The order gives effects their sign: first level of a factor minus second.

    Examples
    --------
    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful", "pedantic"),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> axes.shape, axes.points[1], axes.points_at({"form": "precise"})
    ((1, 4, 2), ('high', 'approximate'), (0, 2))
    """

    scenarios: tuple[str, ...]
    factors: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, levels in self.factors.items():
            if len(levels) < 2:
                raise FelicityError(f"got {len(levels)} levels; expected two or more", where=name)

    @property
    def points(self) -> tuple[tuple[str, ...], ...]:
        """Every combination of levels; the last factor changes fastest."""
        return tuple(itertools.product(*self.factors.values()))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of scenarios, points and attributes."""
        return len(self.scenarios), len(self.points), len(self.attributes)

    def points_at(self, levels: Mapping[str, str]) -> tuple[int, ...]:
        """Places of the points that have these levels."""
        wanted = [levels.get(name) for name in self.factors]
        return tuple(
            place
            for place, point in enumerate(self.points)
            if all(want in (None, got) for want, got in zip(wanted, point, strict=True))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Single ratings, shape (scenario, point, attribute, row).

    A row is what repeats: a repeat of a model, a participant among people. A row holds the
    ratings of all attributes, so that what was rated together is drawn together.

    Attributes
    ----------
    values
        NaN where there is no usable rating.
    asked
        Whether there was such a trial at all; rows that were asked come first.
    """

    values: Floats
    asked: Bools

    @property
    def rows(self) -> Ints:
        """Number of rows, shape (scenario, point)."""
        return np.asarray(self.asked.any(axis=2).sum(axis=-1), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Mean, sd (divisor n − 1) and usable n of each cell, of ``asked``; arrays of one shape.

    A cell with no usable rating has the mean NaN, never 0; one with fewer than two, the sd NaN.
    """

    mean: Floats
    sd: Floats
    n: Ints
    asked: Ints


def arrange_ratings(
    axes: Axes,
    columns: Mapping[str, Sequence[str]],
    row: Sequence[str] | Sequence[int],
    values: Floats,
) -> Ratings:
    """Put ratings given one by one, as equally long columns, into an array.

    Parameters
    ----------
    axes
        The levels, in order.
    columns
        ``scenario``, each of the study's own factors and ``attribute``: each rating's level.
    row
        The repeat or the participant of each rating.
    values
        The ratings; NaN where there is no usable one.

    Raises
    ------
    FelicityError
        For no rating, for a level that is not in ``axes``, for two ratings of one row in one cell.

    Examples
    --------
    >>> axes = Axes(scenarios=("pasta",), factors={"form": ("precise", "approximate")},
    ...             attributes=("helpful",))
    >>> columns = {"scenario": ["pasta"] * 3, "form": ["precise"] * 3, "attribute": ["helpful"] * 3}
    >>> ratings = arrange_ratings(axes, columns, row=[0, 1, 2], values=np.array([6.0, 7, np.nan]))
    >>> cells = count_cells(ratings)
    >>> float(cells.mean[0, 0, 0]), int(cells.n[0, 0, 0]), int(cells.asked[0, 0, 0])
    (6.5, 2, 3)
    """
    if not len(values):
        raise FelicityError("got no rating; expected at least one", where="ratings")
    scenario = _places("scenario", axes.scenarios, columns)
    attribute = _places("attribute", axes.attributes, columns)
    own = [_places(name, levels, columns) for name, levels in axes.factors.items()]
    sizes = [len(levels) for levels in axes.factors.values()]
    point = np.asarray(np.ravel_multi_index(own, sizes), dtype=np.int64)
    slot = _slots(scenario, point, np.asarray(row), axes.shape[:2])
    shape = (*axes.shape, int(slot.max()) + 1)
    where = (scenario, point, attribute, slot)
    flat = np.ravel_multi_index(where, shape)
    twice = np.flatnonzero(np.bincount(flat, minlength=int(np.prod(shape)))[flat] > 1)
    if len(twice):
        first = int(twice[0])
        cell = ", ".join(column[first] for column in columns.values())
        raise FelicityError(
            f"got two ratings of row {row[first]} in the cell {cell}; expected one",
            where="ratings",
        )
    filled = np.full(shape, np.nan)
    filled[where] = values
    asked = np.zeros(shape, dtype=np.bool_)
    asked[where] = True
    return Ratings(values=filled, asked=asked)


def _places(name: str, levels: tuple[str, ...], columns: Mapping[str, Sequence[str]]) -> Ints:
    index = {level: place for place, level in enumerate(levels)}
    unknown = sorted(set(columns[name]) - set(index))
    if unknown:
        raise FelicityError(f'got "{unknown[0]}"; expected {one_of(levels)}', where=name)
    return np.array([index[level] for level in columns[name]], dtype=np.int64)


def _slots(scenario: Ints, point: Ints, row: NDArray[np.generic], shape: tuple[int, int]) -> Ints:
    """Give the rows of each (scenario, point) numbers from 0."""
    group = np.ravel_multi_index((scenario, point), shape)
    slot = np.zeros(len(group), dtype=np.int64)
    for number in np.unique(group):
        mine = group == number
        slot[mine] = np.unique(row[mine], return_inverse=True)[1]
    return slot


def count_cells(ratings: Ratings) -> Cells:
    """Mean, sd, n and asked of each cell, shape (scenario, point, attribute)."""
    return cells_of_values(ratings.values, ratings.asked)


def cells_of_values(values: Floats, asked: Bools) -> Cells:
    """Summarise the last axis; NaN values are left out and not counted in n."""
    usable = np.isfinite(values)
    n = usable.sum(axis=-1)
    mean = divide(np.where(usable, values, 0.0).sum(axis=-1), n)
    squares = (np.where(usable, values - mean[..., None], 0.0) ** 2).sum(axis=-1)
    return Cells(
        mean=mean,
        sd=np.sqrt(divide(squares, n - 1)),
        n=np.asarray(n, dtype=np.int64),
        asked=np.asarray(asked.sum(axis=-1), dtype=np.int64),
    )


def divide(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Divide; NaN where the denominator is not above 0."""
    over, under = np.asarray(numerator, dtype=np.float64), np.asarray(denominator)
    fine = under > 0
    return np.asarray(np.where(fine, over / np.where(fine, under, 1), np.nan))


def squares_within(cells: Cells) -> Floats:
    """Sum of squared distances of each cell's ratings from its mean: (n − 1) sd²."""
    return np.asarray(np.where(cells.n > 1, (cells.n - 1) * cells.sd**2, 0.0))


def pool_scenarios(cells: Cells, weighting: Weighting = "pooled") -> Cells:
    """Turn scenario cells into design cells, shape (..., point, attribute).

    Parameters
    ----------
    cells
        Shape (..., scenario, point, attribute).
    weighting
        ``pooled``: every rating weighs the same, as if the scenarios' ratings lay in one heap
        (the paper's). ``scenario_means``: every scenario that has a rating weighs the same. They
        differ only where scenarios have different n.

    Returns
    -------
    Cells
        Exact, no single rating being needed: with N = Σ n and M = Σ n·mean / N, the pooled
        sd² = Σ [(n − 1) sd² + n (mean − M)²] / (N − 1). sd, n and asked are those of the heap
        under either weighting.

    Examples
    --------
    Ratings 1, 3 in one scenario and 6 in another:

    >>> cells = Cells(mean=np.array([2.0, 6.0]).reshape(2, 1, 1),
    ...               sd=np.array([np.sqrt(2), np.nan]).reshape(2, 1, 1),
    ...               n=np.array([2, 1]).reshape(2, 1, 1),
    ...               asked=np.array([2, 1]).reshape(2, 1, 1))
    >>> pooled = pool_scenarios(cells)
    >>> round(float(pooled.mean[0, 0]), 3), round(float(pooled.sd[0, 0]), 3)
    (3.333, 2.517)
    >>> float(pool_scenarios(cells, "scenario_means").mean[0, 0])
    4.0
    """
    axis = -3
    n = cells.n.sum(axis=axis)
    there = cells.n > 0
    means = np.where(there, cells.mean, 0.0)
    pooled = divide((cells.n * means).sum(axis=axis), n)
    between = np.where(there, cells.n * (means - np.expand_dims(pooled, axis)) ** 2, 0.0)
    squares = (squares_within(cells) + between).sum(axis=axis)
    if weighting == "scenario_means":
        mean = divide(means.sum(axis=axis), there.sum(axis=axis))
    else:
        mean = pooled
    return Cells(
        mean=mean, sd=np.sqrt(divide(squares, n - 1)), n=n, asked=cells.asked.sum(axis=axis)
    )


def weighting_shift(cells: Cells) -> Floats:
    """Pooled minus mean of scenario means, per design cell: 0 where the weighting is no matter."""
    return pool_scenarios(cells).mean - pool_scenarios(cells, "scenario_means").mean
