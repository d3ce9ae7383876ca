"""Effects as contrasts between design cells, and how a model's compare with people's.

Source of ESR, CDS, DAS and ISS: the social-meaning paper (see the datasheet of the study
social-meaning). An effect is a difference of means, in points of the scale.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from felicity.errors import FelicityError, one_of
from felicity.stats.accuracy import Floats
from felicity.stats.cells import Axes, Cells, Weighting, divide

Kind = Literal["main", "interaction"]
KINDS: tuple[Kind, ...] = ("main", "interaction")

# An effect nearer to 0 is 0: it differs by rounding only.
ZERO = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One contrast between the design cells of one attribute; `define_effect` makes it.

    Attributes
    ----------
    kind
        ``main`` effect of a factor, or ``interaction`` of two.
    attribute
        The attribute's place on the axes.
    groups
        Signs and the points whose means they go with: the effect is Σ sign · mean of group.
    """

    kind: Kind
    attribute: int
    groups: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectIntervals:
    """Effects with their 95 % intervals, arrays of shape (effects,)."""

    value: Floats
    low: Floats
    high: Floats

    @property
    def touches_zero(self) -> list[bool]:
        """Whether each interval holds 0: a ratio to such an effect is unstable."""
        return [not (low > 0 or high < 0) for low, high in zip(self.low, self.high, strict=True)]


def define_effect(axes: Axes, kind: Kind, factors: Sequence[str], attribute: str) -> Effect:
    """Say which cells an effect contrasts.

    Parameters
    ----------
    axes
        The study's factors and attributes.
    kind
        ``main``: the factor's first level minus its second. ``interaction``: that difference at
        the second factor's first level minus the same at its second level.
    factors
        One factor for a main effect, two for an interaction. A third level takes no part.
    attribute
        The attribute that was rated.

    Raises
    ------
    FelicityError
        For an unknown kind, factor or attribute, or a number of factors that does not fit.

    Examples
    --------
    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful",),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> define_effect(axes, "main", ("form",), "helpful").groups
    ((1, (0, 2)), (-1, (1, 3)))
    >>> define_effect(axes, "interaction", ("form", "context"), "helpful").groups
    ((1, (0,)), (-1, (1,)), (-1, (2,)), (1, (3,)))
    """
    if kind not in KINDS:
        raise FelicityError(f'got "{kind}"; expected {one_of(KINDS)}', where="effect, kind")
    if attribute not in axes.attributes:
        raise FelicityError(
            f'got "{attribute}"; expected {one_of(axes.attributes)}', where="effect, attribute"
        )
    for factor in factors:
        if factor not in axes.factors:
            raise FelicityError(
                f'got "{factor}"; expected {one_of(axes.factors)}', where="effect, factors"
            )
    wanted = 1 + KINDS.index(kind)
    if len(set(factors)) != wanted or len(factors) != wanted:
        raise FelicityError(
            f'got "{", ".join(factors)}"; expected {wanted} of {", ".join(axes.factors)}',
            where=f"effect, factors of {kind}",
        )
    signed = (1, -1)
    groups = [
        (
            int(np.prod(signs)),
            axes.points_at(
                {f: axes.factors[f][signed.index(s)] for f, s in zip(factors, signs, strict=True)}
            ),
        )
        # The first factor's levels change fastest.
        for signs in (tuple(reversed(each)) for each in itertools.product(signed, repeat=wanted))
    ]
    return Effect(kind=kind, attribute=axes.attributes.index(attribute), groups=tuple(groups))


def _weights(cells: Cells, effect: Effect, weighting: Weighting) -> Floats:
    """Signed weight of each point in an effect, shape (..., point); 0 for points not in it."""
    n = cells.n[..., effect.attribute]
    weights = np.zeros(n.shape)
    for sign, points in effect.groups:
        chosen = list(points)
        each = n[..., chosen] if weighting == "pooled" else np.ones(n[..., chosen].shape)
        weights[..., chosen] = sign * divide(each, each.sum(axis=-1, keepdims=True))
    return weights


def effect_values(
    cells: Cells, effects: Sequence[Effect], weighting: Weighting = "pooled"
) -> Floats:
    """Values of effects, shape (..., effects).

    Parameters
    ----------
    cells
        Design cells, shape (..., point, attribute).
    effects
        The contrasts, in the order wanted.
    weighting
        ``pooled``: the mean of a level is over all its ratings, so that points weigh by their n
        (the paper's). ``scenario_means``: a level's points weigh the same. They differ for main
        effects only, and only where points have different n.

    Returns
    -------
    numpy.ndarray
        In points of the scale; NaN where a cell in the contrast has no mean.

    Examples
    --------
    Precise and approximate 6 and 4 in the first context, 5 and 4 in the second; n 1 and 1, 3 and 1.
    Main effect of form, pooled: (6·1 + 5·3) / 4 − (4·1 + 4·1) / 2 = 1.25; interaction: 2 − 1.

    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful",),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> cells = Cells(mean=np.array([[6.0], [4.0], [5.0], [4.0]]), sd=np.ones((4, 1)),
    ...               n=np.array([[1], [1], [3], [1]]), asked=np.full((4, 1), 3))
    >>> both = [define_effect(axes, "main", ("form",), "helpful"),
    ...         define_effect(axes, "interaction", ("form", "context"), "helpful")]
    >>> effect_values(cells, both)
    array([1.25, 1.  ])
    >>> effect_values(cells, both, "scenario_means")
    array([1.5, 1. ])
    """
    values = []
    for effect in effects:
        weights = _weights(cells, effect, weighting)
        used = [place for _, points in effect.groups for place in points]
        # A mean that is missing must not vanish with its weight of 0.
        values.append((weights * cells.mean[..., effect.attribute])[..., used].sum(axis=-1))
    return np.stack(values, axis=-1)


def effect_intervals(
    cells: Cells, effects: Sequence[Effect], weighting: Weighting = "pooled"
) -> EffectIntervals:
    """Effects with Welch's 95 % intervals, from the cells' mean, sd and n alone.

    An effect is a weighted sum Σ w·mean of cells; its variance is Σ v, and its degrees of freedom
    (Σ v)² / Σ v² / (n − 1), with v = w² sd² / n (Satterthwaite 1946, Welch 1947).
    Under ``scenario_means`` the heap's sd and n stand in for those of each scenario. Single ratings
    allow better: resample their participants (`rating_resampling`).

    Parameters
    ----------
    cells
        Design cells, shape (point, attribute).

    Examples
    --------
    Four cells of 50 ratings with sd 1: the interaction's standard error is √(4 / 50) = 0.283.

    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful",),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> cells = Cells(mean=np.array([[6.0], [4.0], [5.0], [4.0]]), sd=np.ones((4, 1)),
    ...               n=np.full((4, 1), 50), asked=np.full((4, 1), 50))
    >>> effect = define_effect(axes, "interaction", ("form", "context"), "helpful")
    >>> found = effect_intervals(cells, [effect])
    >>> round(float(found.low[0]), 3), round(float(found.high[0]), 3), found.touches_zero
    (0.442, 1.558, [False])
    """
    half = []
    for effect in effects:
        weights = _weights(cells, effect, weighting)
        used = weights != 0
        n = cells.n[used, effect.attribute]
        variances = divide((weights[used] * cells.sd[used, effect.attribute]) ** 2, n)
        error = float(np.sqrt(variances.sum()))
        freedom = divide(variances.sum() ** 2, divide(variances**2, n - 1).sum())
        half.append(error * float(stats.t.ppf(0.975, freedom)) if error > 0 else error)
    value = effect_values(cells, effects, weighting)
    return EffectIntervals(value=value, low=value - np.array(half), high=value + np.array(half))


def esr(model: Floats, human: Floats) -> Floats:
    """Effect size ratio of each effect: the model's over people's.

    1: as strong as people's; above: exaggerated; between 0 and 1: weaker; below 0: the other way
    round. NaN where people's effect is 0 or either is missing.

    Examples
    --------
    >>> esr(np.array([0.5, 2.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    array([0.5, 2. , nan])
    """
    usable = np.abs(human) > ZERO
    return np.asarray(np.where(usable, model / np.where(usable, human, 1.0), np.nan))


def cds(ratios: Floats) -> Floats:
    """Calibration deviation: mean of |ESR − 1| over effects, shape (..., effects) → (...).

    0 is perfect. Over the main effects it is the paper's CDS_m, over the interactions CDS_i, over
    all of them CDS. Effects whose ESR is NaN are left out; NaN where none is left.

    Examples
    --------
    >>> float(cds(np.array([0.5, 2.0, np.nan])))
    0.75
    """
    there = np.isfinite(ratios)
    off = np.where(there, np.abs(ratios - 1), 0.0)
    return divide(off.sum(axis=-1), there.sum(axis=-1))[()]


def das(model: Floats, human: Floats) -> Floats:
    """Direction: the share of main effects that have people's sign, shape (..., effects) → (...).

    A model's effect of 0 has no sign and so not people's. Effects that are missing on either side,
    or 0 among people, are left out; NaN where none is left.

    Examples
    --------
    >>> float(das(np.array([0.5, -0.1, 0.0, 3.0]), np.array([1.0, 1.0, 1.0, 1.0])))
    0.5
    """
    return _same_sign(model, human)


def iss(model: Floats, human: Floats) -> Floats:
    """Interaction sign: the same share as `das`, of the interactions of form and context.

    Examples
    --------
    >>> float(iss(np.array([0.5, -0.1]), np.array([1.0, 1.0])))
    0.5
    """
    return _same_sign(model, human)


def _same_sign(model: Floats, human: Floats) -> Floats:
    counted = np.isfinite(model) & (np.abs(human) > ZERO)
    same = counted & (np.abs(model) > ZERO) & (np.sign(model) == np.sign(human))
    return divide(same.sum(axis=-1), counted.sum(axis=-1))[()]
