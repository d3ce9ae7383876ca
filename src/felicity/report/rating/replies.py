"""A rating run's replies under one prompting, and their cells: what needs no people to be said."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from felicity.errors import OptionError, RunError, one_of
from felicity.rating.run import RatingRun
from felicity.rating.study import RatingStudy
from felicity.reference_reader import axes_of
from felicity.report.rating.cells import (
    CellPair,
    Rule,
    arrange_responses,
    pair_cells,
    reference_cells,
    stats_unit,
    usable_responses,
)
from felicity.scoring.distribution import read_distribution
from felicity.stats.alignment import Unit
from felicity.stats.cells import WEIGHTINGS, Axes, Cells, Weighting
from felicity.stats.rating_resampling import RESAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Of distributions over the scale: mean entropy, and the mass that falls outside the scale."""

    entropy_bits: float
    highest_entropy_bits: float
    outside: float
    highest_outside: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingReplies:
    """A participant under one prompting.

    Attributes
    ----------
    responses
        A row for each trial, with ``value`` and ``status`` as they were used.
    read_by_parser
        How many replies the run's own parser reads: under the paper's rule, what that leaves out.
    cells
        The cells of the chosen unit.
    design_cells
        The same, pooled over scenarios; ``cells`` themselves where these are.
    alike
        Of items with two or more usable ratings, in how many all are the same; and how many those
        are.
    """

    run: RatingRun
    prompting: str
    responses: pl.DataFrame
    read_by_parser: int
    cells: tuple[CellPair, ...]
    design_cells: tuple[CellPair, ...]
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
class RatingDescription:
    """Every participant's replies under each of its promptings, and how they were read."""

    study: RatingStudy
    results: tuple[RatingReplies, ...]
    unit: str
    weighting: Weighting
    as_published: bool
    seed: int
    n_resamples: int

    def __repr__(self) -> str:
        names = ", ".join(f"{result.run.label} {result.prompting}" for result in self.results)
        return f"{type(self).__name__}({self.study.name!r}: {names})"

    def _repr_html_(self) -> str:
        from felicity.report.rating.files import first_tables

        return "".join(table._repr_html_() for table in first_tables(self))


def describe_ratings(
    runs: Sequence[RatingRun],
    study: RatingStudy,
    *,
    unit: str | None = None,
    weighting: str = "pooled",
    as_published: bool = False,
    seed: int = 0,
    n_resamples: int = RESAMPLES,
) -> RatingDescription:
    """Describe rating runs without comparing: of a study with no reference or no effects.

    Parameters and errors are those of `analyse_ratings`.
    """
    weighted = weighting_of(weighting)
    unit = unit or study.default_unit
    axes = axes_of(study)
    people = reference_cells(study, axes)
    chosen = stats_unit(study, unit)
    rule = published_rule(study) if as_published else None
    results = tuple(
        replies_of(run, prompting, part, people, axes, chosen, weighted, seed, n_resamples)
        for run, prompting, part in parts_of(runs, study, rule)
    )
    return RatingDescription(
        study=study,
        results=results,
        unit=unit,
        weighting=weighted,
        as_published=as_published,
        seed=seed,
        n_resamples=n_resamples,
    )


def parts_of(
    runs: Sequence[RatingRun], study: RatingStudy, rule: Rule | None
) -> Iterator[tuple[RatingRun, str, pl.DataFrame]]:
    """Go through runs and their promptings; the responses to each as `usable_responses` has them.

    Raises
    ------
    RunError
        For no runs, runs of different studies or of changed items.
    """
    for run in _checked(runs, study):
        responses = usable_responses(run, study, rule)
        for prompting in _promptings(responses, study):
            yield run, prompting, responses.filter(pl.col("prompting") == prompting)


def replies_of(
    run: RatingRun,
    prompting: str,
    responses: pl.DataFrame,
    people: Cells,
    axes: Axes,
    unit: Unit,
    weighting: Weighting,
    seed: int,
    n_resamples: int,
) -> RatingReplies:
    """Sum up one participant under one prompting, people's scenario cells beside it."""
    ratings = arrange_responses(responses, axes)

    def pairs(unit: Unit) -> tuple[CellPair, ...]:
        rng = np.random.default_rng(seed)
        return pair_cells(
            ratings, people, axes, rng, unit=unit, weighting=weighting, n_resamples=n_resamples
        )

    design = pairs("design")
    read = (pl.col("prompting") == prompting) & (pl.col("status") == "ok")
    return RatingReplies(
        run=run,
        prompting=prompting,
        responses=responses,
        read_by_parser=run.responses.filter(read).height,
        cells=design if unit == "design" else pairs(unit),
        design_cells=design,
        alike=_alike(responses),
    )


def published_rule(study: RatingStudy) -> Rule:
    """Return the paper's rule of reading a reply; see `felicity.rating.parse`."""
    from felicity.rating.parse import parse_as_published

    def rule(text: str) -> tuple[float | None, str]:
        found = parse_as_published(text, study.scale)
        return found.value, found.status

    return rule


def weighting_of(name: str) -> Weighting:
    """Find a weighting by its name; a hyphen may stand for the underscore."""
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


def _alike(responses: pl.DataFrame) -> tuple[int, int]:
    """Count the items whose usable ratings are all the same, of those that have several."""
    ratings = responses.filter(pl.col("value").is_not_null()).group_by("item_id")
    spread = ratings.agg(pl.len().alias("n"), pl.col("value").n_unique().alias("different"))
    several = spread.filter(pl.col("n") > 1)
    return int((several["different"] == 1).sum()), several.height
