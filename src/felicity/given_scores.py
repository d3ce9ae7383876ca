"""Scores that another tool computed, as a run folder that reports read like any other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.errors import RunError
from felicity.manifest import claim_folder
from felicity.responses import LISTS, NUMBERS
from felicity.study import Study, fill
from felicity.tables import write_tables
from felicity.types import Item

if TYPE_CHECKING:
    import polars as pl

FILE = "given.parquet"
NOT_GIVEN = "not_given"
# What must not differ where a folder is there already.
IDENTITY = {"study": "study", "data_hash": "data", "given": "file", "format": "format"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScore:
    """The score of one answer as somebody gave it, in nats; None is not known.

    ``log_prob_sum`` and ``log_prob_mean`` may be NaN or infinite: then the answer has the status
    ``not_finite``. ``tokens`` and ``log_probs`` are empty where single tokens were not given.
    """

    item_id: str
    answer_label: str
    log_prob_sum: float | None = None
    log_prob_mean: float | None = None
    n_tokens: int | None = None
    tokens: tuple[str, ...] = ()
    log_probs: tuple[float, ...] = ()

    @property
    def status(self) -> str:
        """``ok``, ``not_finite`` or ``not_given``."""
        known = [value for value in (self.log_prob_sum, self.log_prob_mean) if value is not None]
        if not known:
            return NOT_GIVEN
        return "ok" if all(map(math.isfinite, known)) else "not_finite"


def write_given(folder: Path, manifest: dict[str, Any], scores: Sequence[GivenScore]) -> None:
    """Make the run folder.

    Raises
    ------
    RunError
        Where it holds anything else already, or cannot be written.
    """
    import polars as pl

    claim_folder(folder, manifest, IDENTITY)
    schema: dict[str, Any] = {
        "item_id": pl.String,
        "answer_label": pl.String,
        "log_prob_sum": pl.Float64,
        "log_prob_mean": pl.Float64,
        "n_tokens": pl.Int64,
        "tokens": LISTS["tokens"],
        "log_probs": LISTS["log_probs"],
    }
    try:
        pl.DataFrame([asdict(each) for each in scores], schema=schema).write_parquet(folder / FILE)
    except OSError as error:
        raise RunError(f"cannot be written: {error}", where=str(folder / FILE)) from error


def finish_given(folder: Path, responses: pl.DataFrame) -> None:
    """Write the table of responses beside what was given."""
    write_tables(folder, "responses", responses)


def given_table(folder: Path, study: Study, answer: str) -> pl.DataFrame:
    """Read what was given as a run's table of responses: a row for every answer of the study.

    An answer without a score has the status ``not_given``, so that tables say of how many they are.

    Parameters
    ----------
    folder, study
        The run folder, and the study that was scored.
    answer
        The template of what was scored, whose characters ``bits_per_character`` counts.
    """
    import polars as pl

    path = folder / FILE
    if not path.is_file():
        raise RunError("the scores that were given are not here", where=str(path))
    given = {
        (row["item_id"], row["answer_label"]): row
        for row in pl.read_parquet(path).iter_rows(named=True)
    }
    schema: dict[str, Any] = {
        "item_id": pl.String,
        "unit": pl.String,
        **dict.fromkeys(study.items[0].factors, pl.String),
        "question": pl.String,
        "answer_label": pl.String,
        "answer": pl.String,
        "status": pl.String,
        **NUMBERS,
        **LISTS,
        "key": pl.String,
    }
    rows = [
        _row(item, label, given.get((item.item_id, label)), answer)
        for item in study.items
        for label in item.answers
    ]
    return pl.DataFrame(rows, schema=schema)


def _row(
    item: Item, label: str, given: Mapping[str, Any] | None, template: str
) -> dict[str, object]:
    score = GivenScore(
        **(given or {"item_id": item.item_id, "answer_label": label})  # as it was written
    )
    text = item.answers[label]
    characters = len(fill(template, {**item.columns(), "answer": text}).strip())
    usable = score.status == "ok"
    total = score.log_prob_sum if usable else None
    return {
        "item_id": item.item_id,
        "unit": item.unit,
        **item.factors,
        "question": item.question,
        "answer_label": label,
        "answer": text,
        "status": score.status,
        "n_tokens": score.n_tokens,
        "n_characters": characters,
        "log_prob_sum": total,
        "log_prob_mean": score.log_prob_mean if usable else None,
        "bits_per_character": None if total is None else -total / math.log(2) / characters,
        "pmi": None,
        "straddles": None,
        "token_ids": [],
        "tokens": list(score.tokens),
        "log_probs": list(score.log_probs),
        "key": "",
    }
