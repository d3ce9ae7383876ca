"""Uncertainty of the measures of a rating study: resampled repeats, scenarios and participants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from felicity.errors import FelicityError, one_of
from felicity.stats.accuracy import Floats, Interval, Ints, percentile_interval
from felicity.stats.alignment import MEASURES, Alignment, Comparison, align
from felicity.stats.cells import Cells, Ratings, cells_of_values, count_cells, pool_scenarios
from felicity.stats.effects import effect_intervals

Over = Literal["repeats", "scenarios", "participants"]
OVER: tuple[Over, ...] = ("repeats", "scenarios", "participants")
RESAMPLES = 2_000

# Resamples held in memory at once.
CHUNK = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EsrEstimate:
    """One effect's ratio beside the effects that it divides.

    ``unstable`` is set where the interval of people's effect holds 0: then the ratio may be
    anything, and its own interval says little.
    """

    esr: float
    interval: Interval | None
    model_effect: float
    human_effect: float
    human_interval: Interval
    unstable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentSummary:
    """Measures with 95 % intervals; what was resampled for them.

    ``intervals`` has every name of `MEASURES`; None where no resample had a value.
    """

    point: Alignment
    intervals: Mapping[str, Interval | None]
    esr: tuple[EsrEstimate, ...]
    over: tuple[Over, ...]


def resample_alignment(
    model: Ratings,
    human: Ratings | Cells,
    comparison: Comparison,
    rng: np.random.Generator,
    *,
    over: Sequence[Over] = OVER,
    n_resamples: int = RESAMPLES,
) -> Alignment:
    """Draw the measures as they would come out with other repeats, scenarios and participants.

    A bootstrap in stages (Davison & Hinkley 1997, section 3.8): scenarios are drawn with
    replacement, the same ones for model and people, since both judge the same scenarios; in each
    drawn scenario and point, repeats of the model and participants are drawn with
    replacement, each with its ratings of all attributes. Missing ratings are drawn too, and stay
    missing.

    Parameters
    ----------
    model
        The model's single ratings.
    human
        People's single ratings, or their cells (scenario, point, attribute); with cells,
        participants cannot be drawn and are taken as fixed.
    over
        What is drawn anew; the rest is fixed.

    Returns
    -------
    Alignment
        Each field with the resamples as first axis.
    """
    _check_over(over, human)
    n_scenarios = model.values.shape[0]
    if "scenarios" in over and _scenarios(human) != n_scenarios:
        raise FelicityError(
            f"got {_scenarios(human)} scenarios of people and {n_scenarios} of the model; expected"
            " the same",
            where="over",
            hint="leave scenarios fixed where people's are not known",
        )
    drawn = []
    for size in chunk_sizes(n_resamples):
        # Two equal arrays where scenarios stay fixed, for people may then have fewer of them.
        own, theirs = (
            np.tile(np.arange(count), (size, 1)) for count in (n_scenarios, _scenarios(human))
        )
        if "scenarios" in over:
            own = theirs = rng.integers(0, n_scenarios, (size, n_scenarios))
        drawn.append(
            align(
                _draw(model, own, rng, anew="repeats" in over),
                _draw(human, theirs, rng, anew="participants" in over),
                comparison,
            )
        )
    return join_alignments(drawn)


def summarise_alignment(
    model: Ratings,
    human: Ratings | Cells,
    comparison: Comparison,
    rng: np.random.Generator,
    *,
    over: Sequence[Over] | None = None,
    n_resamples: int = RESAMPLES,
) -> AlignmentSummary:
    """Compute every measure with its 95 % interval, and flag unstable ratios.

    Parameters
    ----------
    over
        What is drawn anew; by default all that can be.

    Notes
    -----
    Intervals are percentiles of `resample_alignment`. Resampling adds noise to noise, so errors
    (RMSE, CDS) come out higher and correlations lower in resamples than they are, and the interval
    lies off the estimate accordingly. Six scenarios are few: an interval over scenarios is rough.
    The interval of people's effect is over what was drawn where participants were drawn; otherwise
    Welch's from mean, sd and n.
    """
    if over is None:
        over = OVER if isinstance(human, Ratings) else ("repeats", "scenarios")
    people = count_cells(human) if isinstance(human, Ratings) else human
    point = align(count_cells(model), people, comparison)
    draws = resample_alignment(model, human, comparison, rng, over=over, n_resamples=n_resamples)
    label = "bootstrap over " + ", ".join(over)
    if "participants" in over:
        of_people = [
            interval_of_draws(draws.human_effects[:, i], label)
            for i in range(len(comparison.effects))
        ]
    else:
        of_people = _welch(people, comparison)
    return AlignmentSummary(
        point=point,
        intervals={name: interval_of_draws(getattr(draws, name), label) for name in MEASURES},
        esr=tuple(
            EsrEstimate(
                esr=float(point.esr[i]),
                interval=interval_of_draws(draws.esr[:, i], label),
                model_effect=float(point.model_effects[i]),
                human_effect=float(point.human_effects[i]),
                human_interval=interval,
                unstable=not (interval.low > 0 or interval.high < 0),
            )
            for i, interval in enumerate(map(_known, of_people))
        ),
        over=tuple(over),
    )


def _check_over(over: Sequence[Over], human: Ratings | Cells) -> None:
    for name in over:
        if name not in OVER:
            raise FelicityError(f'got "{name}"; expected {one_of(OVER)}', where="over")
    if "participants" in over and isinstance(human, Cells):
        raise FelicityError(
            "got people's cell means; expected their single ratings to draw participants from",
            where="over",
            hint="leave participants fixed, or give individual ratings",
        )


def _scenarios(side: Ratings | Cells) -> int:
    return int(side.values.shape[0] if isinstance(side, Ratings) else side.mean.shape[0])


def chunk_sizes(total: int) -> Iterator[int]:
    """Split so many resamples into parts that fit in memory."""
    for start in range(0, total, CHUNK):
        yield min(CHUNK, total - start)


def _draw(side: Ratings | Cells, scenarios: Ints, rng: np.random.Generator, *, anew: bool) -> Cells:
    """Cells of the drawn scenarios, shape (resamples, scenario, point, attribute)."""
    if isinstance(side, Ratings) and anew:
        return draw_rows(side, scenarios, rng)
    cells = count_cells(side) if isinstance(side, Ratings) else side
    return Cells(
        mean=cells.mean[scenarios],
        sd=cells.sd[scenarios],
        n=cells.n[scenarios],
        asked=cells.asked[scenarios],
    )


def draw_rows(side: Ratings, scenarios: Ints, rng: np.random.Generator) -> Cells:
    """Draw rows anew in each of these scenarios; the cells that come of it.

    Parameters
    ----------
    side
        Single ratings.
    scenarios
        Shape (resamples, scenario): which scenario stands in which place.

    Returns
    -------
    Cells
        Shape (resamples, scenario, point, attribute).
    """
    rows = side.rows[scenarios]
    width = side.values.shape[-1]
    draw = rng.random((*rows.shape, width))
    place = np.minimum((draw * rows[..., None]).astype(np.int64), width - 1)
    place = np.broadcast_to(place[..., None, :], (*rows.shape, side.values.shape[2], width))
    values = np.take_along_axis(side.values[scenarios], place, axis=-1)
    asked = np.take_along_axis(side.asked[scenarios], place, axis=-1)
    # As many rows as there were: a shorter cell's surplus draws are no draws.
    kept = (np.arange(width) < rows[..., None])[..., None, :]
    return cells_of_values(np.where(kept, values, np.nan), asked & kept)


def join_alignments(parts: Sequence[Alignment]) -> Alignment:
    """Put resamples of several parts one after the other."""
    joined = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Alignment)
    }
    return Alignment(**joined)


def interval_of_draws(draws: Floats, method: str) -> Interval | None:
    """Middle 95 % of the draws that have a value; None where none has."""
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return None
    return percentile_interval(finite, method)


def _known(interval: Interval | None) -> Interval:
    return interval or Interval(low=float("nan"), high=float("nan"), method="no resample usable")


def _welch(people: Cells, comparison: Comparison) -> list[Interval | None]:
    found = effect_intervals(pool_scenarios(people), comparison.effects, comparison.weighting)
    return [
        Interval(low=float(low), high=float(high), method="Welch")
        for low, high in zip(found.low, found.high, strict=True)
    ]
