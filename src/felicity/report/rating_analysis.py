"""The numbers of a rating study: each participant's measures beside people, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from felicity.errors import OptionError, RunError, one_of
from felicity.rating.run import RatingRun
from felicity.rating.study import RatingStudy
from felicity.reference_reader import axes_of
from felicity.report.rating_cells import (
    CellPair,
    Rule,
    arrange_responses,
    pair_cells,
    reference_cells,
    stats_unit,
    usable_responses,
)
from felicity.scoring.distribution import read_distribution
from felicity.stats.agreement import CCC_VARIANTS
from felicity.stats.alignment import MEASURES, Comparison, align
from felicity.stats.cells import (
    WEIGHTINGS,
    Axes,
    Cells,
    Ratings,
    Weighting,
    count_cells,
    weighting_shift,
)
from felicity.stats.effects import define_effect
from felicity.stats.missingness import Missingness, compare_missingness
from felicity.stats.noise_ceiling import NoiseCeiling, noise_ceiling
from felicity.stats.rating_resampling import RESAMPLES, AlignmentSummary, summarise_alignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Of distributions over the scale: mean entropy, and the mass that falls outside the scale."""

    entropy_bits: float
    highest_entropy_bits: float
    outside: float
    highest_outside: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingResult:
    """A participant under one prompting.

    Attributes
    ----------
    responses
        A row for each trial, with ``value`` and ``status`` as they were used.
    summary
        Every measure with its interval, and every effect's ESR.
    read_by_parser
        How many replies the run's own parser reads: under the paper's rule, what that leaves out.
    ccc_variants
        CCC by each formula, whichever is among the measures.
    other_weighting
        The measures under the weighting that was not asked for.
    largest_shift
        How far the two weightings move a design cell's mean at most, in points of the scale.
    cells
        The cells of the chosen unit.
    missingness
        Usable of asked between the levels that effects compare; empty where nothing is missing.
    alike
        Of items with two or more usable ratings, in how many all are the same; and how many those
        are.
    """

    run: RatingRun
    prompting: str
    responses: pl.DataFrame
    summary: AlignmentSummary
    read_by_parser: int
    ccc_variants: Mapping[str, float]
    other_weighting: Mapping[str, float]
    largest_shift: float
    cells: tuple[CellPair, ...]
    missingness: tuple[Missingness, ...]
    alike: tuple[int, int]

    @property
    def statuses(self) -> dict[str, int]:
        """How many replies have which status, the most frequent first."""
        return dict(self.responses["status"].value_counts(sort=True).iter_rows())

    @property
    def usable(self) -> int:
        """How many trials have a rating."""
        return self.responses["value"].count()

    @property
    def asked(self) -> int:
        """How many trials there are."""
        return self.responses.height

    @property
    def spread(self) -> Spread | None:
        """How sure the distributions are; None where replies are in words."""
        if self.run.manifest["participant"]["method"] != "expected" or not self.usable:
            return None
        texts = self.responses.filter(pl.col("value").is_not_null())["text"]
        found = [one for text in texts if (one := read_distribution(text)) is not None]
        outside = [one.outside for one in found]
        return Spread(
            entropy_bits=float(np.mean([one.entropy_bits for one in found])),
            highest_entropy_bits=math.log2(len(found[0].probabilities)),
            outside=float(np.mean(outside)),
            highest_outside=max(outside),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingAnalysis:
    """Every participant's measures under each of its promptings, and how they were had."""

    study: RatingStudy
    results: tuple[RatingResult, ...]
    ceiling: NoiseCeiling | None
    unit: str
    weighting: Weighting
    as_published: bool
    seed: int
    n_resamples: int


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
    weighted = _weighting(weighting)
    unit = unit or study.default_unit
    axes = axes_of(study)
    known = reference_cells(study, axes) if people is None else count_cells(people)
    comparison = Comparison(
        effects=tuple(define_effect(axes, e.kind, e.factors, e.attribute) for e in study.effects),
        unit=stats_unit(study, unit),
        weighting=weighted,
        ccc="as_published" if as_published else "lin",
    )
    rule = published_rule(study) if as_published else None
    results = []
    for run in _checked(runs, study):
        responses = usable_responses(run, study, rule)
        for prompting in _promptings(responses, study):
            part = responses.filter(pl.col("prompting") == prompting)
            rng = np.random.default_rng(seed)
            ratings = arrange_responses(part, axes)
            found = summarise_alignment(
                ratings, people or known, comparison, rng, n_resamples=n_resamples
            )
            results.append(_result(run, prompting, part, axes, known, found, comparison, study))
    return RatingAnalysis(
        study=study,
        results=tuple(results),
        ceiling=None
        if people is None
        else noise_ceiling(people, comparison, np.random.default_rng(seed)),
        unit=unit,
        weighting=weighted,
        as_published=as_published,
        seed=seed,
        n_resamples=n_resamples,
    )


def published_rule(study: RatingStudy) -> Rule:
    """Return the paper's rule of reading a reply; see `felicity.rating.parse`."""
    from felicity.rating.parse import parse_as_published

    def rule(text: str) -> tuple[float | None, str]:
        found = parse_as_published(text, study.scale)
        return found.value, found.status

    return rule


def _weighting(name: str) -> Weighting:
    for weighting in WEIGHTINGS:
        if name.replace("-", "_") == weighting:
            return weighting
    allowed = one_of(weighting.replace("_", "-") for weighting in WEIGHTINGS)
    raise OptionError(f'got "{name}"; expected {allowed}', where="--weighting")


def _checked(runs: Sequence[RatingRun], study: RatingStudy) -> Sequence[RatingRun]:
    if not runs:
        raise RunError("no run was given", hint="give one or more run folders")
    for run in runs:
        if run.manifest["study"] != study.name:
            raise RunError(
                f"study: got {run.manifest['study']}; expected {study.name}",
                where=str(run.folder),
                hint="report the runs of one study at a time",
            )
        if run.responses.is_empty():
            raise RunError(
                "the run has no reply yet",
                where=str(run.folder),
                hint="the command that started it goes on with it",
            )
    return runs


def _promptings(responses: pl.DataFrame, study: RatingStudy) -> list[str]:
    """List the promptings that were used, in the study's order."""
    order = list(study.promptings)
    used = sorted(responses["prompting"].unique())
    return sorted(used, key=lambda name: order.index(name) if name in order else len(order))


def _result(
    run: RatingRun,
    prompting: str,
    responses: pl.DataFrame,
    axes: Axes,
    people: Cells,
    summary: AlignmentSummary,
    comparison: Comparison,
    study: RatingStudy,
) -> RatingResult:
    cells = count_cells(arrange_responses(responses, axes))
    (other,) = (name for name in WEIGHTINGS if name != comparison.weighting)
    turned = align(cells, people, replace(comparison, weighting=other))
    variants: dict[str, float] = {
        name: float(align(cells, people, replace(comparison, ccc=name)).ccc)
        for name in CCC_VARIANTS
    }
    shift = np.abs(weighting_shift(cells))
    read = run.responses.filter(
        (pl.col("prompting") == prompting) & (pl.col("status") == "ok")
    ).height
    return RatingResult(
        run=run,
        prompting=prompting,
        responses=responses,
        summary=summary,
        read_by_parser=read,
        ccc_variants=variants,
        other_weighting={name: float(getattr(turned, name)) for name in MEASURES},
        largest_shift=float(np.nanmax(shift)) if np.isfinite(shift).any() else math.nan,
        cells=pair_cells(cells, people, axes, comparison),
        missingness=_missingness(cells, axes, study),
        alike=_alike(responses),
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


def _alike(responses: pl.DataFrame) -> tuple[int, int]:
    """Count the items whose usable ratings are all the same, of those that have several."""
    ratings = responses.filter(pl.col("value").is_not_null()).group_by("item_id")
    spread = ratings.agg(pl.len().alias("n"), pl.col("value").n_unique().alias("different"))
    several = spread.filter(pl.col("n") > 1)
    return int((several["different"] == 1).sum()), several.height
