"""Write a run's table for R, pandas and spreadsheets."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from felicity.errors import RunError


def write_tables(folder: Path, name: str, table: pl.DataFrame) -> tuple[Path, Path]:
    """Write a table as NAME.parquet and NAME.csv (lists as JSON there); return the paths.

    Raises
    ------
    RunError
        Where they cannot be written.
    """
    parquet, csv = folder / f"{name}.parquet", folder / f"{name}.csv"
    lists = [column for column, kind in table.schema.items() if isinstance(kind, pl.List)]
    flat = table.with_columns(
        pl.col(column).map_elements(
            lambda value: json.dumps(value.to_list(), ensure_ascii=False), return_dtype=pl.String
        )
        for column in lists
    )
    try:
        table.write_parquet(parquet)
        flat.write_csv(csv)
    except OSError as error:
        raise RunError(
            f"the tables cannot be written: {error}",
            where=str(folder),
            hint="the journal is whole; make room and run the same command again",
        ) from error
    return parquet, csv
