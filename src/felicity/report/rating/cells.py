"""From a rating run and a study's reference to the arrays that the measures take."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from felicity.errors import OptionError, RunError, one_of
from felicity.rating.run import RatingRun
from felicity.rating.study import RatingStudy
from felicity.stats.alignment import Unit
from felicity.stats.cell_intervals import mean_intervals, resample_means
from felicity.stats.cells import (
    Axes,
    Cells,
    Ratings,
    Weighting,
    arrange_ratings,
    count_cells,
    pool_scenarios,
)

# Not a reply of the participant: neither rule of parsing may give it a value.
NO_REPLY = ("error", "model_mismatch")
Rule = Callable[[str], tuple[float | None, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPair:
    """One cell: the participant's ratings beside people's.

    ``low`` to ``high`` is the 95 % interval of the mean. All of these are NaN where there is none.
    """

    factors: Mapping[str, str]
    mean: float
    sd: float
    low: float
    high: float
    usable: int
    asked: int
    people_mean: float
    people_sd: float
    people_low: float
    people_high: float
    people_n: int


def usable_responses(run: RatingRun, study: RatingStudy, rule: Rule | None = None) -> pl.DataFrame:
    """Return a run's responses with their factors; ``value`` is null unless ``status`` is ``ok``.

    Parameters
    ----------
    run
        A run of this study.
    study
        The study.
    rule
        Reads the replies' texts anew, in place of the values that the run has. Replies of another
        model and failed requests stay what they are; a distribution over the scale has no text to
        read.

    Raises
    ------
    RunError
        Where the study's items have changed since the run, or it has replies that no parser has
        read.
    """
    if run.manifest["data_hash"] != study.data_hash:
        raise RunError(
            f"data: got {study.data_hash}; expected {run.manifest['data_hash']}",
            where=str(run.folder),
            hint="the study's items have changed since this run; run it again in a new folder",
        )
    table = run.responses
    if table["status"].null_count():
        raise RunError(
            f"{table['status'].null_count()} replies are not parsed",
            where=str(run.folder),
            hint="`felicity parse RUN` reads them again without a call",
        )
    if rule is not None and run.manifest["participant"]["method"] != "expected":
        read = [
            (None, status) if status in NO_REPLY else rule(text)
            for text, status in table.select("text", "status").iter_rows()
        ]
        table = table.with_columns(
            pl.Series("value", [value for value, _ in read], dtype=pl.Float64),
            pl.Series("status", [status for _, status in read], dtype=pl.String),
        )
    usable = pl.when(pl.col("status") == "ok").then(pl.col("value"))
    factors = pl.DataFrame(
        [{"item_id": item.item_id, **item.factors} for item in study.items],
        schema=["item_id", *study.factors],
    )
    return table.with_columns(usable.alias("value")).join(
        factors, on="item_id", how="left", maintain_order="left"
    )


def arrange_responses(responses: pl.DataFrame, axes: Axes) -> Ratings:
    """Arrange one prompting's responses as an array; a row is a repeat."""
    names = ("scenario", *axes.factors, "attribute")
    return arrange_ratings(
        axes,
        {name: responses[name].to_list() for name in names},
        row=responses["repeat"].to_list(),
        values=responses["value"].fill_null(math.nan).to_numpy(),
    )


def reference_cells(study: RatingStudy, axes: Axes) -> Cells:
    """Arrange people's cells, shape (scenario, point, attribute); n 0 without a reference."""
    mean, sd = np.full(axes.shape, np.nan), np.full(axes.shape, np.nan)
    n = np.zeros(axes.shape, dtype=np.int64)
    for cell in study.reference:
        place = (
            axes.scenarios.index(cell.factors["scenario"]),
            axes.points.index(tuple(cell.factors[name] for name in axes.factors)),
            axes.attributes.index(cell.factors["attribute"]),
        )
        mean[place], sd[place], n[place] = cell.mean, cell.sd, cell.n
    return Cells(mean=mean, sd=sd, n=n, asked=n)


def pair_cells(
    ratings: Ratings,
    people: Cells,
    axes: Axes,
    rng: np.random.Generator,
    *,
    unit: Unit,
    weighting: Weighting,
    n_resamples: int,
) -> tuple[CellPair, ...]:
    """List a participant's cells beside people's scenario cells, with intervals of both means."""
    names: tuple[str, ...] = ("scenario", *axes.factors, "attribute")
    scenarios: Sequence[tuple[str, ...]] = [(scenario,) for scenario in axes.scenarios]
    model = count_cells(ratings)
    if unit == "design":
        names, scenarios = names[1:], [()]
        model, people = (pool_scenarios(side, weighting) for side in (model, people))
    keys = [
        (*scenario, *point, attribute)
        for scenario, point, attribute in itertools.product(scenarios, axes.points, axes.attributes)
    ]
    own = resample_means(ratings, rng, unit=unit, weighting=weighting, n_resamples=n_resamples)
    theirs = mean_intervals(people)
    columns = {
        "mean": model.mean,
        "sd": model.sd,
        "low": own.low,
        "high": own.high,
        "usable": model.n,
        "asked": model.asked,
        "people_mean": people.mean,
        "people_sd": people.sd,
        "people_low": theirs.low,
        "people_high": theirs.high,
        "people_n": people.n,
    }
    rows = zip(*(values.ravel().tolist() for values in columns.values()), strict=True)
    return tuple(
        CellPair(factors=dict(zip(names, key, strict=True)), **dict(zip(columns, row, strict=True)))
        for key, row in zip(keys, rows, strict=True)
    )


def stats_unit(study: RatingStudy, unit: str) -> Unit:
    """Find which cells a study's unit of comparison means.

    Raises
    ------
    OptionError
        For a unit that the study does not name, or one that keeps too few factors apart.
    """
    if unit not in study.units:
        raise OptionError(f'got "{unit}"; expected {one_of(study.units)}', where="--unit")
    apart = set(study.factors) - set(study.units[unit])
    if apart not in (set(), {"scenario"}):
        raise OptionError(
            f'"{unit}" averages over {", ".join(sorted(apart))}; expected a unit that averages'
            " over scenario or nothing",
            where="--unit",
        )
    return "design" if apart else "scenario"
