"""The responses of a run as one table: a row for each answer of each item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from felicity.errors import RunError
from felicity.journal import Journal
from felicity.study import Study, fill
from felicity.types import Item, Response

LISTS = {
    "token_ids": pl.List(pl.Int64),
    "tokens": pl.List(pl.String),
    "log_probs": pl.List(pl.Float64),
}
NUMBERS = {
    "n_tokens": pl.Int64,
    "n_characters": pl.Int64,
    "log_prob_sum": pl.Float64,
    "log_prob_mean": pl.Float64,
    "bits_per_character": pl.Float64,
    "pmi": pl.Float64,
    "straddles": pl.Boolean,
}


def responses_table(journal: Path, study: Study, answer: str) -> pl.DataFrame:
    """Read a journal as a table, in the study's order of items.

    Parameters
    ----------
    journal, study
        The file, and the study that was run.
    answer
        The format's template of what was scored, whose characters ``bits_per_character`` counts.

    Returns
    -------
    polars.DataFrame
        The item's columns, then ``answer_label``, ``answer``, ``status``, the scores in nats
        unless the name says otherwise, and the lists ``token_ids``, ``tokens``, ``log_probs``.
    """
    if not journal.is_file():
        raise RunError("no journal here", where=str(journal.parent))
    items = {item.item_id: item for item in study.items}
    order = {
        f"{item.item_id}|{label}": place
        for place, (item, label) in enumerate(
            (item, label) for item in study.items for label in study.design.answers
        )
    }
    with Journal(journal, read_only=True) as rows:
        responses = sorted(rows, key=lambda response: order[response.trial_id])
    factors = list(study.items[0].factors)
    schema: dict[str, Any] = {
        "item_id": pl.String,
        "unit": pl.String,
        **dict.fromkeys(factors, pl.String),
        "question": pl.String,
        "answer_label": pl.String,
        "answer": pl.String,
        "status": pl.String,
        **NUMBERS,
        **LISTS,
        "key": pl.String,
    }
    data = [
        _row(response, items[response.trial_id.rpartition("|")[0]], answer)
        for response in responses
    ]
    return pl.DataFrame(data, schema=schema)


def _row(response: Response, item: Item, template: str) -> dict[str, Any]:
    label = response.trial_id.rpartition("|")[2]
    answer = item.answers[label]
    scores, baseline = response.scores, response.baseline
    usable = response.status == "ok"
    n_characters = len(fill(template, {**item.columns(), "answer": answer}).strip())
    return {
        "item_id": item.item_id,
        "unit": item.unit,
        **item.factors,
        "question": item.question,
        "answer_label": label,
        "answer": answer,
        "status": response.status,
        "n_tokens": len(scores.log_probs),
        "n_characters": n_characters,
        "log_prob_sum": scores.log_prob_sum if usable else None,
        "log_prob_mean": scores.log_prob_mean if usable else None,
        "bits_per_character": scores.bits_per_character(n_characters) if usable else None,
        "pmi": scores.log_prob_sum - baseline.log_prob_sum if usable and baseline else None,
        "straddles": scores.straddles,
        "token_ids": list(scores.token_ids),
        "tokens": list(scores.tokens),
        "log_probs": list(scores.log_probs),
        "key": response.key,
    }
