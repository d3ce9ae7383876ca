"""The responses of a rating run as one table: a row for each trial."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from felicity.rating.journal import ReplyJournal
from felicity.rating.records import Row

COLUMNS: dict[str, Any] = {
    "trial_id": pl.String,
    "item_id": pl.String,
    "conversation_id": pl.String,
    "prompting": pl.String,
    "repeat": pl.Int64,
    "turn": pl.Int64,
    "status": pl.String,
    "value": pl.Float64,
    "text": pl.String,
    "reasoning": pl.String,
    "finish": pl.String,
    "error": pl.String,
    "model_id": pl.String,
    "temperature_requested": pl.Float64,
    "temperature_effective": pl.Float64,
    "top_p_effective": pl.Float64,
    "max_tokens_effective": pl.Int64,
    "seed_effective": pl.Int64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "seconds": pl.Float64,
    "attempts": pl.Int64,
    "parser_version": pl.String,
    "created": pl.String,
    "key": pl.String,
}


def responses_table(journal: Path) -> pl.DataFrame:
    """Read a journal of replies as a table, by prompting, item, repeat.

    Returns
    -------
    polars.DataFrame
        For each trial its final reply, or the last failed attempt with status ``error``;
        ``attempts`` counts both. ``seconds`` is the time that the answered request took.
    """
    with ReplyJournal(journal, read_only=True) as rows:
        data = [
            _cells(list(tries)) for _, tries in groupby(rows.rows(), lambda r: r.attempt.trial_id)
        ]
    table = pl.DataFrame(data, schema=COLUMNS)
    return table.sort("prompting", "conversation_id", "turn", "repeat", "trial_id")


def _cells(tries: list[Row]) -> dict[str, Any]:
    row = next((row for row in tries if row.attempt.final), tries[-1])
    attempt, reply = row.attempt, row.attempt.reply
    return {
        "trial_id": attempt.trial_id,
        "item_id": attempt.item_id,
        "conversation_id": attempt.conversation_id,
        "prompting": attempt.prompting,
        "repeat": attempt.repeat,
        "turn": attempt.turn,
        "status": row.status if attempt.final else "error",
        "value": row.value,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "error": reply.error,
        "model_id": reply.model_id,
        "temperature_requested": attempt.requested.temperature,
        "temperature_effective": reply.effective.temperature,
        "top_p_effective": reply.effective.top_p,
        "max_tokens_effective": reply.effective.max_tokens,
        "seed_effective": reply.effective.seed,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "seconds": reply.seconds,
        "attempts": len(tries),
        "parser_version": row.parser_version,
        "created": row.created,
        "key": attempt.key,
    }
