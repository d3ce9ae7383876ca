"""How far a figure depends on choices that are seldom stated: the score and the dialogue format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from felicity.report.choice.analysis import (
    LOWER_IS_BETTER,
    OVERALL,
    SCORES,
    Analysis,
    chance_of,
    margins_table,
)
from felicity.report.choice.table import names_of, number
from felicity.report.text_table import TextTable
from felicity.runner import Run
from felicity.stats.accuracy import Interval, accuracy_interval, count_wins, resample_accuracy
from felicity.study import Design

SCORE_NAMES = {
    "log_prob_mean": "mean",
    "log_prob_sum": "sum",
    "bits_per_character": "bits per character",
    "pmi": "PMI",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Accuracy of one model under one format and score, at one level or overall."""

    format: str
    score: str
    level: str
    accuracy: float | None
    interval: Interval | None
    usable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoices:
    """A model's accuracies under every score × format, on the items that all its runs have.

    ``chances`` are those of the levels, each once.
    """

    name: str
    formats: tuple[str, ...]
    items: int
    choices: tuple[Choice, ...]
    chances: tuple[float, ...] = ()

    def largest_move(self) -> tuple[float, str]:
        """Return how far the choices move an accuracy at most, and at which level."""
        moves = {}
        for level in dict.fromkeys(c.level for c in self.choices):
            values = [
                c.accuracy for c in self.choices if c.level == level and c.accuracy is not None
            ]
            moves[level] = max(values) - min(values) if values else 0.0
        where = max(moves, key=lambda level: moves[level])
        return moves[where], where


def compare_choices(analysis: Analysis) -> tuple[ModelChoices, ...]:
    """Compare every score and format of each model that was scored (asked runs have no score)."""
    groups: dict[tuple[str, ...], list[tuple[str, Run]]] = {}
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        if isinstance(result.run, Run):
            told = result.run.manifest["participant"]
            same = (told["weights_fingerprint"], told["method"], told["prefix"], told["dtype"])
            groups.setdefault(tuple(map(str, same)), []).append((name, result.run))
    return tuple(
        _compare(members[0][0], [run for _, run in members], analysis)
        for members in groups.values()
    )


def _compare(name: str, runs: Sequence[Run], analysis: Analysis) -> ModelChoices:
    design = analysis.study.design
    common = set(runs[0].responses["item_id"])
    for run in runs[1:]:
        common &= set(run.responses["item_id"])
    choices = [
        choice
        for run in runs
        for score in SCORES
        # Scores that somebody gave are not given in every way.
        if score in run.manifest.get("given", {"scores": SCORES})["scores"]
        for choice in _choices(run, score, common, design, analysis.seed)
    ]
    return ModelChoices(
        name=name,
        formats=tuple(dict.fromkeys(str(run.manifest["format"]["name"]) for run in runs)),
        items=len(common),
        choices=tuple(choices),
        chances=tuple(sorted(set(_chances(runs[0], common, design)))),
    )


def _chances(run: Run, common: set[str], design: Design) -> list[float]:
    of_level: dict[str, list[str]] = {}
    for item in run.study.items:
        if item.item_id in common:
            of_level.setdefault(item.factors[design.factor], []).append(item.item_id)
    return [chance_of(run.study, ids) for ids in of_level.values()]


def _choices(run: Run, score: str, common: set[str], design: Design, seed: int) -> list[Choice]:
    margins = margins_table(run, design, score).filter(pl.col("item_id").is_in(sorted(common)))
    fmt = str(run.manifest["format"]["name"])
    rng = np.random.default_rng(seed)
    found = []
    for key in design.level_keys:
        part = margins.filter(pl.col(design.factor) == key)
        values = part["margin"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        counts = count_wins(values, np.asarray(part["unit"].to_list(), dtype=np.str_))
        usable = int(counts.usable.sum())
        found.append(
            Choice(
                format=fmt,
                score=score,
                level=key,
                accuracy=counts.accuracy if usable else None,
                interval=accuracy_interval(counts, resample_accuracy(counts, rng)),
                usable=usable,
            )
        )
    known = [choice.accuracy for choice in found if choice.accuracy is not None]
    mean = float(np.mean(known)) if len(known) == len(found) else None
    usable = sum(choice.usable for choice in found)
    overall = Choice(
        format=fmt, score=score, level=OVERALL, accuracy=mean, interval=None, usable=usable
    )
    return [*found, overall]


def choices_table(model: ModelChoices, design: Design, number_of: int) -> TextTable:
    """Make the table of one model: a row per format and score."""
    keys = [*design.level_keys, OVERALL]
    rows = []
    for fmt in model.formats:
        for score in SCORES:
            cells = {c.level: c for c in model.choices if (c.format, c.score) == (fmt, score)}
            if not cells:
                continue
            shown = (number(cells[key].accuracy) for key in keys)
            rows.append((fmt, SCORE_NAMES[score], *shown, str(cells[OVERALL].usable)))
    move, where = model.largest_move()
    short = {level.key: level.short for level in design.levels} | {OVERALL: "the overall score"}
    formats = "score and format" if len(model.formats) > 1 else "score"
    return TextTable(
        name=f"choices_{number_of}",
        title=f"{model.name}: accuracy under each score and dialogue format",
        header=("Format", "Score", *(level.short for level in design.levels), "Overall", "Usable"),
        rows=tuple(rows),
        note=f"On the {model.items} items that all its runs have. The choice of {formats} alone "
        f"moves {short[where]} by {number(move)}. Mean: log-probability per token (the papers'); "
        "sum: of the answer; PMI: sum less the sum without the question. "
        f"{', '.join(SCORE_NAMES[s] for s in LOWER_IS_BETTER).capitalize()}: lower wins.",
    )
