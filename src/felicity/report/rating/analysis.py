"""The numbers of a rating study: each participant's measures beside people, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from felicity.errors import OptionError
from felicity.rating.run import RatingRun
from felicity.rating.study import RatingStudy
from felicity.reference_reader import axes_of
from felicity.report.rating.cells import arrange_responses, reference_cells, stats_unit
from felicity.report.rating.replies import (
    RatingDescription,
    RatingReplies,
    parts_of,
    published_rule,
    replies_of,
    weighting_of,
)
from felicity.stats.agreement import CCC_VARIANTS
from felicity.stats.alignment import MEASURES, Comparison, align
from felicity.stats.cells import WEIGHTINGS, Axes, Cells, Ratings, count_cells, weighting_shift
from felicity.stats.effects import define_effect
from felicity.stats.missingness import Missingness, compare_missingness
from felicity.stats.noise_ceiling import NoiseCeiling, noise_ceiling
from felicity.stats.rating_resampling import RESAMPLES, AlignmentSummary, summarise_alignment


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingResult(RatingReplies):
    """A participant under one prompting, beside people.

    Attributes
    ----------
    summary
        Every measure with its interval, and every effect's ESR.
    ccc_variants
        CCC by each formula, whichever is among the measures.
    other_weighting
        The measures under the weighting that was not asked for.
    largest_shift
        How far the two weightings move a design cell's mean at most, in points of the scale.
    missingness
        Usable of asked between the levels that effects compare; empty where nothing is missing.
    """

    summary: AlignmentSummary
    ccc_variants: Mapping[str, float]
    other_weighting: Mapping[str, float]
    largest_shift: float
    missingness: tuple[Missingness, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingAnalysis(RatingDescription):
    """Every participant's measures under each of its promptings, and how they were had.

    Attributes
    ----------
    people_floor
        RMSE of people's own cell means against their single ratings: no rater who gives one value
        per cell comes nearer to individuals.
    """

    results: tuple[RatingResult, ...]
    ceiling: NoiseCeiling | None
    people_floor: float

    __repr__ = RatingDescription.__repr__


def analyse_ratings(
    runs: Sequence[RatingRun],
    study: RatingStudy,
    *,
    unit: str | None = None,
    weighting: str = "pooled",
    as_published: bool = False,
    people: Ratings | None = None,
    seed: int = 0,
    n_resamples: int = RESAMPLES,
) -> RatingAnalysis:
    """Compute every measure of a rating study, for each participant and prompting.

    Parameters
    ----------
    runs
        Rating runs of this study.
    study
        The study, with a human reference and effects.
    unit
        One of the study's units of comparison; its default where not given.
    weighting
        ``pooled`` or ``scenario_means`` (or with a hyphen); see `felicity.stats.pool_scenarios`.
    as_published
        Reproduce the social-meaning paper: its one-digit rule reads the replies, and its CCC is
        taken.
    people
        People's single ratings. With them, participants are resampled too, and there is a noise
        ceiling; without, the study's cells are taken as they are.
    seed, n_resamples
        Of the bootstrap.

    Raises
    ------
    OptionError, RunError
        For an option that is not allowed; for no runs, runs of different studies or of changed
        items.
    """
    weighted = weighting_of(weighting)
    unit = unit or study.default_unit
    axes = axes_of(study)
    known = _reference(study, axes) if people is None else count_cells(people)
    comparison = Comparison(
        effects=tuple(define_effect(axes, e.kind, e.factors, e.attribute) for e in study.effects),
        unit=stats_unit(study, unit),
        weighting=weighted,
        ccc="as_published" if as_published else "lin",
    )
    rule = published_rule(study) if as_published else None
    results = []
    for run, prompting, part in parts_of(runs, study, rule):
        replies = replies_of(
            run, prompting, part, known, axes, comparison.unit, weighted, seed, n_resamples
        )
        found = summarise_alignment(
            arrange_responses(part, axes),
            people or known,
            comparison,
            np.random.default_rng(seed),
            n_resamples=n_resamples,
        )
        results.append(_result(replies, axes, known, found, comparison, study))
    return RatingAnalysis(
        study=study,
        results=tuple(results),
        ceiling=None
        if people is None
        else noise_ceiling(people, comparison, np.random.default_rng(seed)),
        people_floor=float(align(known, known, comparison).rmse_individuals),
        unit=unit,
        weighting=weighted,
        as_published=as_published,
        seed=seed,
        n_resamples=n_resamples,
    )


def _reference(study: RatingStudy, axes: Axes) -> Cells:
    if not (study.reference and study.effects):
        lacking = "human reference" if not study.reference else "effects to compare"
        raise OptionError(
            f"the study has no {lacking}; expected a rating study that has both",
            where=study.name,
            hint="name a [reference] and [[effect]] entries in study.toml",
        )
    return reference_cells(study, axes)


def _result(
    replies: RatingReplies,
    axes: Axes,
    people: Cells,
    summary: AlignmentSummary,
    comparison: Comparison,
    study: RatingStudy,
) -> RatingResult:
    cells = count_cells(arrange_responses(replies.responses, axes))
    (other,) = (name for name in WEIGHTINGS if name != comparison.weighting)
    turned = align(cells, people, replace(comparison, weighting=other))
    variants: dict[str, float] = {
        name: float(align(cells, people, replace(comparison, ccc=name)).ccc)
        for name in CCC_VARIANTS
    }
    shift = np.abs(weighting_shift(cells))
    same = {field.name: getattr(replies, field.name) for field in fields(replies)}
    return RatingResult(
        **same,
        summary=summary,
        ccc_variants=variants,
        other_weighting={name: float(getattr(turned, name)) for name in MEASURES},
        largest_shift=float(np.nanmax(shift)) if np.isfinite(shift).any() else math.nan,
        missingness=_missingness(cells, axes, study),
    )


def _missingness(cells: Cells, axes: Axes, study: RatingStudy) -> tuple[Missingness, ...]:
    """Compare the levels that effects take the difference of."""
    if (cells.n == cells.asked).all():
        return ()
    scale = (study.scale.low, study.scale.high)
    return tuple(
        found
        for factor in dict.fromkeys(effect.factors[0] for effect in study.effects)
        for found in compare_missingness(cells, axes, factor, scale)
    )
