"""The replies of an asked run as picks: a row for each trial, and a row for each item."""

from __future__ import annotations

from typing import Any

import polars as pl

from felicity.asked.prompts import shown_answers, task_of
from felicity.study import Study

PLACES = ("first", "second")


def trials_table(study: Study, replies: pl.DataFrame) -> pl.DataFrame:
    """Say which answer each reply picks.

    Parameters
    ----------
    study
        The study that was asked.
    replies
        Of `felicity.rating.responses.responses_table`; ``value`` is the place, 0 or 1, of the
        answer that a reply names.

    Returns
    -------
    polars.DataFrame
        In the study's order of items: ``item_id``, ``unit``, the factors, ``order`` (0: the
        study's first answer is shown first), ``shown_first`` (its label), ``status``, ``place``
        (``first`` or ``second`` as shown), ``pick`` (the label of the answer picked) and
        ``correct``; null where the status is not ``ok``.
    """
    items = {item.item_id: item for item in study.items}
    places = {item.item_id: place for place, item in enumerate(study.items)}
    task = task_of(study)
    rows = []
    for reply in replies.iter_rows(named=True):
        item, order = items[reply["item_id"]], int(reply["trial_id"].rpartition("|")[2])
        shown = shown_answers(study.design.answers, order)
        place = None if reply["value"] is None else int(reply["value"])
        pick = None if place is None else shown[place]
        rows.append(
            {
                "item_id": item.item_id,
                "unit": item.unit,
                **item.factors,
                "order": order,
                "shown_first": shown[0],
                "status": reply["status"],
                "place": None if place is None else PLACES[place],
                "pick": pick,
                "correct": None if pick is None else pick == task.pick,
            }
        )
    rows.sort(key=lambda row: (places[row["item_id"]], row["order"]))
    return pl.DataFrame(rows, schema=_schema(study), orient="row")


def _schema(study: Study) -> dict[str, Any]:
    return {
        "item_id": pl.String,
        "unit": pl.String,
        **dict.fromkeys(study.items[0].factors, pl.String),
        "order": pl.Int64,
        "shown_first": pl.String,
        "status": pl.String,
        "place": pl.String,
        "pick": pl.String,
        "correct": pl.Boolean,
    }


def items_table(trials: pl.DataFrame) -> pl.DataFrame:
    """Put both orders of an item into one row.

    Returns
    -------
    polars.DataFrame
        The item's columns, then ``pick_0``, ``pick_1`` (the label picked under either order),
        ``status_0``, ``status_1``, ``asked`` and ``usable`` (of the two orders), ``correct`` (the
        share of usable orders with the right pick: 1, ½ or 0) and ``same_pick`` (null unless both
        are usable).
    """
    columns = trials.columns
    keep = columns[: columns.index("order")]

    def under(order: int, column: str) -> pl.Expr:
        return pl.col(column).filter(pl.col("order") == order).first().alias(f"{column}_{order}")

    table = trials.group_by("item_id", maintain_order=True).agg(
        *(pl.col(name).first() for name in keep if name != "item_id"),
        under(0, "pick"),
        under(1, "pick"),
        under(0, "status"),
        under(1, "status"),
        pl.len().cast(pl.Int64).alias("asked"),
        pl.col("pick").count().cast(pl.Int64).alias("usable"),
        pl.col("correct").cast(pl.Float64).mean(),
    )
    return table.with_columns((pl.col("pick_0") == pl.col("pick_1")).alias("same_pick"))
