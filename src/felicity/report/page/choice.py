"""The items of a choice study and the scores of a run, as the page's item browser reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from felicity.report.choice.analysis import LOWER_IS_BETTER, SCORES, margins_table
from felicity.report.page.pack import coded, rounded
from felicity.runner import Run
from felicity.stats.accuracy import TIE as TIE_WIDTH
from felicity.study import Study
from felicity.types import Item

# Surprisal is shown to a tenth of a bit; a hundredth is kept.
BITS_DIGITS = 2
RIGHT, WRONG, TIE, MISSING = "r", "w", "t", "-"
# Factors with more levels than this are searched for, not chosen from a list.
MOST_LEVELS = 40


def describe_choice(study: Study) -> dict[str, Any]:
    """Return what the page must know of a choice study's design."""
    design = study.design
    return {
        "paradigm": "choice",
        "factor": design.factor,
        "glosses": {level.key: f"{level.short} – {level.gloss}" for level in design.levels},
        "answers": list(design.answers),
        "variants": [list(group) for group in design.variants],
        "scores": list(SCORES),
        "lower": list(LOWER_IS_BETTER),
        "pick": study.asked.pick if study.asked else design.answers[0],
        "filters": filters_of([item.factors for item in study.items], first=design.factor),
    }


def filters_of(rows: Sequence[Mapping[str, str]], first: str) -> list[dict[str, Any]]:
    """Return the factors that have few levels, the study's own first, each with its levels."""
    names = [first, *(name for name in rows[0] if name != first)]
    found = []
    for name in names:
        levels = list(dict.fromkeys(row[name] for row in rows))
        if 1 < len(levels) <= MOST_LEVELS:
            found.append({"name": name, "levels": levels})
    return found


def choice_items(items: Sequence[Item], labels: Sequence[str]) -> dict[str, Any]:
    """Write items as columns: id, unit, factors, question and answers."""
    return {
        "id": [item.item_id for item in items],
        "unit": coded(item.unit for item in items),
        "factors": {name: coded(i.factors[name] for i in items) for name in items[0].factors},
        "question": coded(item.question for item in items),
        # Of more than two answers an item may lack some.
        "answers": {label: coded(item.answers.get(label) for item in items) for label in labels},
    }


def score_rows(run: Run, places: Mapping[str, int]) -> dict[str, Any]:
    """Write a run by log-probability as columns: a row for each item, a side for each answer.

    Parameters
    ----------
    run
        The run.
    places
        Item id to its place among the page's items.
    """
    labels = run.study.design.answers
    table = run.responses
    ids = list(dict.fromkeys(table["item_id"]))
    margins = {score: _margins(run, score, ids) for score in SCORES}
    sides = [_in_order(table.filter(pl.col("answer_label") == label), ids) for label in labels]
    return {
        "kind": "scores",
        "format": dict(run.manifest["format"]),
        "item": [places[item_id] for item_id in ids],
        "sides": {
            label: _side(rows, run.manifest["participant"]["method"])
            for label, rows in zip(labels, sides, strict=True)
        },
        "outcome": {score: "".join(map(_outcome, of_all)) for score, of_all in margins.items()},
        "margin": {score: rounded(of_all) for score, of_all in margins.items()},
    }


def _in_order(rows: pl.DataFrame, ids: Sequence[str]) -> pl.DataFrame:
    """Return a row for each id; a run that was broken off may lack one."""
    wanted = pl.DataFrame({"item_id": list(ids)}, schema={"item_id": pl.String})
    return wanted.join(rows, on="item_id", how="left", maintain_order="left")


def _margins(run: Run, score: str, ids: Sequence[str]) -> list[float | None]:
    """Return the margin of each item, unrounded, as the tables count it."""
    table = margins_table(run, run.study.design, score)
    known: dict[str, float | None] = dict(zip(table["item_id"], table["margin"], strict=True))
    return [known.get(item_id) for item_id in ids]


def _outcome(margin: float | None) -> str:
    """Say with a letter whether the first answer wins; as in the tables, within ±1e-5 is a tie."""
    if margin is None or not math.isfinite(margin):
        return MISSING
    if abs(margin) <= TIE_WIDTH:
        return TIE
    return RIGHT if margin > 0 else WRONG


def _side(rows: pl.DataFrame, method: str) -> dict[str, Any]:
    tokens = [token for answer in rows["tokens"].to_list() for token in answer or ()]
    nats = [value for answer in rows["log_probs"].to_list() for value in answer or ()]
    return {
        "status": coded(rows["status"].fill_null("not_run").to_list()),
        "lengths": [len(answer or ()) for answer in rows["tokens"].to_list()],
        "tokens": coded(tokens),
        "bits": rounded([None if n is None else -n / math.log(2) for n in nats], BITS_DIGITS),
        "straddles": [int(bool(value)) for value in rows["straddles"].to_list()],
        "scores": {score: rounded(rows[score].to_list()) for score in SCORES},
        # Where a token is read with what follows it, its surprisal is not that of reading on.
        "both_ways": method.startswith("pll"),
    }
