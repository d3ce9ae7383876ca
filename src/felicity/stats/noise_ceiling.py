"""How well one half of the people predicts the other: what a model can be expected to reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from felicity.stats.accuracy import Floats, Interval
from felicity.stats.alignment import MEASURES, Comparison, align
from felicity.stats.cells import Cells, Ratings, cells_of_values
from felicity.stats.rating_resampling import chunk_sizes, interval_of_draws, join_alignments


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCeiling:
    """How well one half of the people predicts the other half.

    ``mean`` and ``range`` (middle 95 % of splits) have every name of `MEASURES`. A half is noisier
    than the whole, so a model can come out above it; see `noise_ceiling`.
    """

    mean: Mapping[str, float]
    range: Mapping[str, Interval | None]
    splits: int


def noise_ceiling(
    human: Ratings, comparison: Comparison, rng: np.random.Generator, n_splits: int = 1_000
) -> NoiseCeiling:
    """Split people at random into halves and measure one as if it were the model.

    The participants of each scenario and point are split, so that both halves cover the
    design; of an odd number the odd one goes to either half. Not corrected for the halves' size:
    with all the people, the ceiling would be higher.

    Parameters
    ----------
    human
        People's single ratings.
    comparison
        Effects, unit, weighting, variant of CCC.
    """
    found = []
    for size in chunk_sizes(n_splits):
        first, second = _halves(human, size, rng)
        found.append(align(first, second, comparison))
    joined = join_alignments(found)
    values = {name: getattr(joined, name) for name in MEASURES}
    return NoiseCeiling(
        mean={name: _mean(draws) for name, draws in values.items()},
        range={name: interval_of_draws(draws, "split halves") for name, draws in values.items()},
        splits=n_splits,
    )


def _halves(human: Ratings, size: int, rng: np.random.Generator) -> tuple[Cells, Cells]:
    rows = human.rows
    width = human.values.shape[-1]
    there = np.arange(width) < rows[..., None]
    keys = np.where(there, rng.random((size, *rows.shape, width)), np.inf)
    rank = keys.argsort(axis=-1).argsort(axis=-1)
    odd_one = rng.integers(0, 2, (size, *rows.shape)) * (rows % 2)
    in_first = rank < (rows // 2 + odd_one)[..., None]
    masks = (there & in_first, there & ~in_first)
    first, second = (
        cells_of_values(
            np.where(mask[..., None, :], human.values, np.nan),
            human.asked & mask[..., None, :],
        )
        for mask in masks
    )
    return first, second


def _mean(draws: Floats) -> float:
    finite = draws[np.isfinite(draws)]
    return float(finite.mean()) if len(finite) else float("nan")
