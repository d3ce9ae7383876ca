"""Rebuild a rating study's human reference from individual ratings, and test its effects.

The tests need statsmodels: ``pip install 'felicity[stats]'``.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from felicity.errors import FelicityError
from felicity.reference_reader import NamedEffect, ratings_from_table
from felicity.stats.accuracy import Floats
from felicity.stats.cells import Axes, Cells, Ratings, count_cells, pool_scenarios
from felicity.stats.effects import Kind, define_effect, effect_values

LEVEL = 0.05
CROSS = " × "


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanReference:
    """People's cells and effects.

    Attributes
    ----------
    ratings
        Single ratings as an array, for resampling.
    scenario_cells
        ``scenario``, the factors, ``attribute``, ``mean``, ``sd`` (n − 1), ``n``.
    cells
        The same, pooled over scenarios.
    effects
        A row per attribute and effect: ``attribute``, ``kind``, ``factors``, ``difference`` (of
        pooled cell means; what ESR divides by), ``estimate``, ``standard_error``, ``z``, ``p``,
        ``significant`` and ``scenario_sd`` of the mixed model, and a ``note`` on its fit.
    """

    ratings: Ratings
    scenario_cells: pl.DataFrame
    cells: pl.DataFrame
    effects: pl.DataFrame


def build_reference(ratings: pl.DataFrame, axes: Axes) -> HumanReference:
    """Make cells of individual ratings, and test every main effect and interaction.

    Parameters
    ----------
    ratings
        As `read_ratings` returns it.
    axes
        The study's scenarios, factors and attributes; each factor with two levels.

    Returns
    -------
    HumanReference
        Effects come from one linear mixed model per attribute, by restricted maximum likelihood
        (Lindstrom & Bates 1988, as in statsmodels' MixedLM): all factors sum-coded (+½ first
        level, −½ second) with their interactions, and a random intercept for scenario. So coded, a
        main effect's coefficient is a difference of means and an interaction's a difference of
        differences, in points of the scale. z and p are Wald's; p below .05 is ``significant``.

    Raises
    ------
    FelicityError
        Where statsmodels is not installed, a factor has more than two levels, or an attribute's
        ratings cannot be fitted.
    """
    for name, levels in axes.factors.items():
        if len(levels) != 2:
            raise FelicityError(f"got {len(levels)} levels; expected two", where=f"factor {name}")
    library = _statsmodels()
    arranged = ratings_from_table(ratings, axes)
    scenario_cells = count_cells(arranged)
    cells = pool_scenarios(scenario_cells)
    fits = {name: _fit(library, ratings, axes, name) for name in axes.attributes}
    rows = [
        _effect_row(fits[attribute], axes, cells, factors, attribute)
        for factors in _crossings(axes)
        for attribute in axes.attributes
    ]
    return HumanReference(
        ratings=arranged,
        scenario_cells=cell_table(scenario_cells, axes, ("scenario",)),
        cells=cell_table(cells, axes, ()),
        effects=pl.DataFrame(rows),
    )


def mark_compared(effects: pl.DataFrame, named: Sequence[NamedEffect]) -> pl.DataFrame:
    """Add ``compared``: whether the study compares models on the effect."""
    wanted = {(e.attribute, frozenset(e.factors)) for e in named}
    flags = [
        (row["attribute"], frozenset(row["factors"].split(CROSS))) in wanted
        for row in effects.to_dicts()
    ]
    return effects.with_columns(pl.Series("compared", flags, dtype=pl.Boolean))


def _statsmodels() -> ModuleType:
    try:
        return import_module("statsmodels.regression.mixed_linear_model")
    except ImportError:
        raise FelicityError(
            "the mixed model needs statsmodels, which is not installed",
            where="reference",
            hint="pip install 'felicity[stats]'",
        ) from None


def cell_table(cells: Cells, axes: Axes, before: tuple[str, ...]) -> pl.DataFrame:
    """Write cells as rows; ``before`` is ``("scenario",)`` for cells by scenario, else empty."""
    scenarios: Sequence[tuple[str, ...]] = [(s,) for s in axes.scenarios] if before else [()]
    keys = [
        (*scenario, *point, attribute)
        for scenario in scenarios
        for point in axes.points
        for attribute in axes.attributes
    ]
    names = (*before, *axes.factors, "attribute")
    table = pl.DataFrame(keys, schema=list(names), orient="row")
    return table.with_columns(
        pl.Series("mean", cells.mean.ravel()).fill_nan(None),
        pl.Series("sd", cells.sd.ravel()).fill_nan(None),
        pl.Series("n", cells.n.ravel()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """One attribute's model: term to estimate, standard error and p."""

    terms: dict[tuple[str, ...], tuple[float, float, float]]
    scenario_sd: float
    note: str


def _crossings(axes: Axes) -> list[tuple[str, ...]]:
    """Name single factors, then pairs; the last factor first, as form × context is named."""
    names = tuple(reversed(list(axes.factors)))
    return [(name,) for name in names] + list(itertools.combinations(names, 2))


def _fit(library: ModuleType, ratings: pl.DataFrame, axes: Axes, attribute: str) -> _Fit:
    used = ratings.filter(pl.col(attribute).is_not_null())
    halves = {
        name: np.where((used[name] == levels[0]).to_numpy(), 0.5, -0.5)
        for name, levels in axes.factors.items()
    }
    terms: list[tuple[str, ...]] = [
        chosen
        for size in range(len(halves) + 1)
        for chosen in itertools.combinations(reversed(list(halves)), size)
    ]
    design = np.column_stack([_product(halves, chosen, used.height) for chosen in terms])
    if np.linalg.matrix_rank(design) < len(terms) or used["scenario"].n_unique() < 2:
        raise FelicityError(
            f"got {used.height} ratings; expected some at every combination of levels, and two or"
            " more scenarios",
            where=f"mixed model of {attribute}",
        )
    outcome = used[attribute].cast(pl.Float64).to_numpy()
    # Failed optimisers are tried one after the other, each with a warning; what counts is the end.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = library.MixedLM(outcome, design, groups=used["scenario"].to_numpy()).fit(reml=True)
    variance = float(np.asarray(fitted.cov_re)[0, 0])
    values = zip(fitted.fe_params, fitted.bse_fe, fitted.pvalues, strict=False)
    return _Fit(
        terms={
            t: (float(b), float(e), float(p)) for t, (b, e, p) in zip(terms, values, strict=True)
        },
        scenario_sd=variance**0.5,
        note=_note(fitted.converged, variance, [str(each.message) for each in caught]),
    )


def _product(halves: dict[str, Floats], chosen: tuple[str, ...], rows: int) -> Floats:
    columns = [halves[name] for name in chosen]
    return np.asarray(np.prod(columns, axis=0)) if columns else np.ones(rows)


def _note(converged: bool, variance: float, messages: Sequence[str]) -> str:
    if not converged:
        return "did not converge: " + "; ".join(messages)
    return "scenarios do not differ (variance at 0)" if variance < 1e-8 else ""


def _effect_row(
    fit: _Fit, axes: Axes, cells: Cells, factors: tuple[str, ...], attribute: str
) -> dict[str, Any]:
    kind: Kind = "main" if len(factors) == 1 else "interaction"
    effect = define_effect(axes, kind, factors, attribute)
    estimate, error, p = fit.terms[factors]
    return {
        "attribute": attribute,
        "kind": kind,
        "factors": CROSS.join(factors),
        "difference": float(effect_values(cells, [effect])[0]),
        "estimate": estimate,
        "standard_error": error,
        "z": estimate / error,
        "p": p,
        "significant": p < LEVEL,
        "scenario_sd": fit.scenario_sd,
        "note": fit.note,
    }
