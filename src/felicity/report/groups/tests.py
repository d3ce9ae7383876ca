"""Tests over a group's models: gains from one group to the next, and a logistic mixed model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from felicity.report.choice.analysis import ParticipantResult
from felicity.report.groups.members import Grouping, Member
from felicity.stats.accuracy import TIE, Floats
from felicity.stats.compare import holm
from felicity.stats.gains import Gain, paired_gain
from felicity.stats.mixed_logit import (
    LikelihoodRatio,
    MixedLogit,
    compare_fits,
    fit_mixed_logit,
)
from felicity.study import Design

# With fewer dialogues a level their spread cannot be told.
FEWEST_UNITS = 5
NO_MAXIMUM = (
    "The likelihood has no maximum that was found (where models agree on every dialogue it has "
    "none)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GainRow:
    """One gain: of which architecture, at which level, from which group to which."""

    first: str
    second: str
    architecture: str
    level: str
    gain: Gain
    p_holm: float | None = None


def group_gains(
    grouping: Grouping, design: Design, seed: int
) -> tuple[tuple[GainRow, ...], tuple[str, ...]]:
    """Compare each group with the next, architecture by architecture, item by item.

    Returns
    -------
    rows, remarks
        p corrected (Holm) over all gains of a step; and what could not be paired, in words.
    """
    rows: list[GainRow] = []
    remarks: list[str] = []
    for first, second in zip(grouping.groups, grouping.groups[1:], strict=False):
        step: list[GainRow] = []
        sides = [_by_architecture(group.members) for group in (first, second)]
        for architecture in sorted(set(sides[0]) & set(sides[1])):
            pair = [side[architecture] for side in sides]
            if any(len(results) > 1 for results in pair):
                remarks.append(
                    f"{architecture} stands more than once in {first.name} or {second.name}: its "
                    "gain is not computed."
                )
                continue
            for level in design.level_keys:
                gain = _gain(pair[0][0], pair[1][0], design, level, seed)
                step.append(
                    GainRow(
                        first=first.name,
                        second=second.name,
                        architecture=architecture,
                        level=level,
                        gain=gain,
                    )
                )
        if not step:
            remarks.append(
                f"{first.name} and {second.name} have no architecture in common with a run in "
                "each: no gain is computed."
            )
        rows += _corrected(step)
    return tuple(rows), tuple(remarks)


def _by_architecture(members: Sequence[Member]) -> dict[str, list[ParticipantResult]]:
    found: dict[str, list[ParticipantResult]] = {}
    for member in members:
        if member.result is not None and member.architecture:
            found.setdefault(member.architecture, []).append(member.result)
    return found


def _gain(
    first: ParticipantResult, second: ParticipantResult, design: Design, level: str, seed: int
) -> Gain:
    tables = [result.margins.filter(pl.col(design.factor) == level) for result in (first, second)]
    keys = [c for c in tables[0].columns if c != "margin" and c in tables[1].columns]
    both = tables[0].join(
        tables[1].select(*keys, pl.col("margin").alias("second")), on=keys, maintain_order="left"
    )
    sides = [
        both[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        for name in ("margin", "second")
    ]
    units = np.asarray(both["unit"].to_list(), dtype=np.str_)
    return paired_gain(sides[0], sides[1], units, np.random.default_rng(seed))


def _corrected(step: Sequence[GainRow]) -> list[GainRow]:
    corrected = iter(holm([row.gain.p for row in step if row.gain.p is not None]))
    return [replace(row, p_holm=next(corrected)) if row.gain.p is not None else row for row in step]


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedModel:
    """The mixed model's tests, or why there are none.

    Attributes
    ----------
    tests
        Of the factor, of model, and of their interaction, each beside the fit without it.
    fit
        The whole model, in cells: a log-odds for each of ``cells``.
    remarks
        What was left out, or why nothing could be fitted.
    """

    tests: tuple[tuple[str, LikelihoodRatio], ...]
    fit: MixedLogit | None
    cells: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


def mixed_model(
    results: Sequence[ParticipantResult], names: Sequence[str], design: Design
) -> MixedModel:
    """Fit won ~ factor × model with a random intercept for dialogue.

    The copies of a dialogue are one answer each model gives many times, so that a row here is a
    dialogue of a model, won where it wins more than half of its copies; a dialogue that is won in
    just half is left out. A level at which some model wins all dialogues or none has no finite
    log-odds (separation) and is left out, and said.
    """
    rows, halves = _rows(results, names, design)
    if len(names) < 2:
        return _unfitted(f"got {len(names)} model; expected two or more.")
    remarks = [f"Left out, won in just half of their copies: {halves}."] if halves else []
    shares = rows.group_by(design.factor, "model").agg(
        pl.col("won").mean().alias("share"), pl.len().alias("n")
    )
    few = {r[design.factor] for r in shares.to_dicts() if r["n"] < FEWEST_UNITS}
    apart = {r[design.factor] for r in shares.to_dicts() if r["share"] in (0.0, 1.0)} - few
    few |= {k for k in design.level_keys if shares[design.factor].to_list().count(k) < len(names)}
    short = {level.key: level.short for level in design.levels}
    keys = [key for key in design.level_keys if key not in few | apart]
    for reason, left in ((f"fewer than {FEWEST_UNITS} dialogues", few), ("separation", apart)):
        if left:
            listed = ", ".join(short[key] for key in design.level_keys if key in left)
            remarks.append(f"Left out for {reason}: {listed}.")
    if len(keys) < 2:
        return _unfitted(" ".join([*remarks, "Fewer than two levels remain."]))
    rows = rows.filter(pl.col(design.factor).is_in(keys))
    return _fit(rows, keys, list(names), design.factor, remarks)


def _unfitted(reason: str) -> MixedModel:
    return MixedModel(tests=(), fit=None, cells=(), remarks=(f"Not fitted: {reason}",))


def _rows(
    results: Sequence[ParticipantResult], names: Sequence[str], design: Design
) -> tuple[pl.DataFrame, int]:
    tables = [
        result.margins.filter(pl.col("margin").is_not_null())
        .group_by("unit", design.factor, maintain_order=True)
        .agg((pl.col("margin") > TIE).mean().alias("share"))
        .with_columns(pl.lit(name).alias("model"))
        for result, name in zip(results, names, strict=True)
    ]
    rows = pl.concat(tables)
    clear = rows.filter(pl.col("share") != 0.5)
    return clear.with_columns((pl.col("share") > 0.5).alias("won")), rows.height - clear.height


def _fit(
    rows: pl.DataFrame, keys: list[str], names: list[str], factor: str, remarks: list[str]
) -> MixedModel:
    cells = [(name, key) for name in names for key in keys]
    levels, models = rows[factor].to_list(), rows["model"].to_list()
    won = rows["won"].to_numpy()
    units = np.asarray(rows["unit"].to_list(), dtype=np.str_)
    by_level = _dummies(levels, keys)
    by_model = _dummies(models, names)
    whole = fit_mixed_logit(won, _dummies(list(zip(models, levels, strict=True)), cells), units)
    additive = fit_mixed_logit(won, np.column_stack([by_level, by_model[:, 1:]]), units)
    level_only = fit_mixed_logit(won, by_level, units)
    model_only = fit_mixed_logit(won, by_model, units)
    fits = (whole, additive, level_only, model_only)
    if not all(fit.converged for fit in fits):
        return _unfitted(" ".join([*remarks, NO_MAXIMUM]))
    return MixedModel(
        tests=(
            (factor, compare_fits(model_only, additive)),
            ("model", compare_fits(level_only, additive)),
            (f"{factor} × model", compare_fits(additive, whole)),
        ),
        fit=whole,
        cells=tuple(cells),
        remarks=tuple(remarks),
    )


def _dummies(values: Sequence[object], kinds: Sequence[object]) -> Floats:
    rows = [[float(value == kind) for kind in kinds] for value in values]
    return np.array(rows, dtype=np.float64)
