"""All measures of a model beside people at once: structure and magnitude."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from felicity.errors import FelicityError
from felicity.stats import agreement, effects
from felicity.stats.accuracy import Floats, Ints
from felicity.stats.agreement import CccVariant
from felicity.stats.cells import Cells, Weighting, pool_scenarios
from felicity.stats.effects import Effect

AnyArray = TypeVar("AnyArray", Floats, Ints)
Unit = Literal["design", "scenario"]
UNITS: tuple[Unit, ...] = ("design", "scenario")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is compared, and how.

    Attributes
    ----------
    effects
        The effects that people show, in the order of ``esr``.
    unit
        Cells over which agreement is taken: ``design`` (point × attribute; the paper's 24) or
        ``scenario`` (each of these per scenario; 144). Effects are always of design cells.
    weighting
        How scenarios and points weigh; see `pool_scenarios` and `effect_values`.
    ccc
        ``lin``, or ``as_published``; see `ccc`.
    """

    effects: tuple[Effect, ...]
    unit: Unit = "design"
    weighting: Weighting = "pooled"
    ccc: CccVariant = "lin"

    def __post_init__(self) -> None:
        if not self.effects:
            raise FelicityError("got no effect; expected at least one", where="effects")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Every measure, each an array of the resamples' shape (none for a point estimate).

    ``esr``, ``model_effects`` and ``human_effects`` have the effects as last axis. ``cells`` is how
    many cells both sides have; the others are left out.
    """

    cells: Ints
    spearman: Floats
    kendall: Floats
    pearson: Floats
    ccc: Floats
    rmse: Floats
    rmse_individuals: Floats
    das: Floats
    iss: Floats
    cds_main: Floats
    cds_interaction: Floats
    cds: Floats
    esr: Floats
    model_effects: Floats
    human_effects: Floats


MEASURES = (
    "spearman",
    "kendall",
    "pearson",
    "ccc",
    "rmse",
    "rmse_individuals",
    "das",
    "iss",
    "cds_main",
    "cds_interaction",
    "cds",
)


def align(model: Cells, human: Cells, comparison: Comparison) -> Alignment:
    """Compare a model's cells with people's.

    Parameters
    ----------
    model, human
        Shape (..., scenario, point, attribute). People known by design cells only have one
        "scenario"; then ``unit`` must be ``design``.
    comparison
        Effects, unit, weighting, variant of CCC.

    Raises
    ------
    FelicityError
        Where ``unit`` is ``scenario`` and the sides have different scenarios.

    Examples
    --------
    A model that answers as people do:

    >>> from felicity.stats.cells import Axes
    >>> axes = Axes(scenarios=("pasta",), attributes=("helpful",),
    ...             factors={"context": ("high", "low"), "form": ("precise", "approximate")})
    >>> twenty = np.full(axes.shape, 20)
    >>> cells = Cells(mean=np.array([6.0, 4.0, 5.0, 4.5]).reshape(axes.shape),
    ...               sd=np.ones(axes.shape), n=twenty, asked=twenty)
    >>> both = (effects.define_effect(axes, "main", ("form",), "helpful"),
    ...         effects.define_effect(axes, "interaction", ("form", "context"), "helpful"))
    >>> found = align(cells, cells, Comparison(effects=both))
    >>> found.esr.tolist(), float(found.cds), round(float(found.ccc), 9), float(found.rmse)
    ([1.0, 1.0], 0.0, 1.0, 0.0)
    """
    x, y = (pool_scenarios(side, comparison.weighting) for side in (model, human))
    model_effects, human_effects = (
        effects.effect_values(side, comparison.effects, comparison.weighting) for side in (x, y)
    )
    ratios = effects.esr(model_effects, human_effects)
    main = np.array([effect.kind == "main" for effect in comparison.effects])
    if comparison.unit == "scenario":
        if model.mean.shape[-3:] != human.mean.shape[-3:]:
            raise FelicityError(
                f"got {human.mean.shape[-3]} scenarios of people and {model.mean.shape[-3]} of the"
                " model; expected the same",
                where="unit",
                hint="compare design cells where people's scenarios are not known",
            )
        x, y, heap, axes = model, human, human, 3
    else:
        heap, axes = pool_scenarios(human), 2
    mx, my, hm, hs = (_flat(a, axes) for a in (x.mean, y.mean, heap.mean, heap.sd))
    return Alignment(
        cells=np.asarray((np.isfinite(mx) & np.isfinite(my)).sum(axis=-1)),
        spearman=agreement.spearman(mx, my),
        kendall=agreement.kendall(mx, my),
        pearson=agreement.pearson(mx, my),
        ccc=agreement.ccc(mx, my, comparison.ccc),
        rmse=agreement.rmse(mx, my),
        # Single ratings scatter around the mean of their heap, whatever the weighting.
        rmse_individuals=agreement.rmse_individuals(mx, hm, hs, _flat(heap.n, axes)),
        das=effects.das(model_effects[..., main], human_effects[..., main]),
        iss=effects.iss(model_effects[..., ~main], human_effects[..., ~main]),
        cds_main=effects.cds(ratios[..., main]),
        cds_interaction=effects.cds(ratios[..., ~main]),
        cds=effects.cds(ratios),
        esr=ratios,
        model_effects=model_effects,
        human_effects=human_effects,
    )


def _flat(values: AnyArray, axes: int) -> AnyArray:
    return values.reshape(*values.shape[:-axes], -1)
