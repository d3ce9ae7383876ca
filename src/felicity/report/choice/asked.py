"""What an asked run adds to the table of a choice study: its margins, and how far order decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from felicity.asked.run import AskedRun, is_asked_run, read_asked
from felicity.manifest import read_manifest
from felicity.runner import Run, read_run
from felicity.stats.orders import OrderEffects, order_effects

ChoiceRun = Run | AskedRun


def read_choice_run(folder: Path | str) -> ChoiceRun:
    """Read the folder of a choice study's run, whichever way it was asked."""
    if is_asked_run(read_manifest(Path(folder))):
        return read_asked(folder)
    return read_run(folder)


def pick_margins(run: AskedRun) -> pl.DataFrame:
    """Give every trial a margin: 1 where its pick is right, −1 where not, null where unusable.

    So each order counts as a copy of its item; the unit stays the dialogue.
    """
    right = pl.col("correct").cast(pl.Float64) * 2 - 1
    return run.trials.drop("order", "status", "place", "pick", "correct").with_columns(
        run.trials.select(right.alias("margin"))["margin"]
    )


def measure_orders(run: AskedRun, seed: int) -> OrderEffects:
    """Measure position bias and consistency over all items of a run."""
    first = pl.col("place").replace_strict({"first": 1.0, "second": 0.0}, default=None)
    pairs = run.trials.group_by("item_id", maintain_order=True).agg(
        pl.col("unit").first(),
        *(
            first.filter(pl.col("order") == order).first().alias(f"order_{order}")
            for order in (0, 1)
        ),
    )
    places = pairs.select(pl.col("order_0", "order_1").cast(pl.Float64).fill_null(float("nan")))
    units = np.asarray(pairs["unit"].to_list(), dtype=np.str_)
    return order_effects(places.to_numpy(), units, np.random.default_rng(seed))
