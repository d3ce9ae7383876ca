"""Read a table as people keep theirs: CSV, TSV, XLSX, JSONL or Parquet, every value as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from felicity.errors import Fault, FaultsError, FelicityError, OptionError, one_of
from felicity.folder_reader import FolderReader, Row

SUFFIXES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".jsonl", ".parquet")
SPREADSHEETS = (".xlsx", ".xls", ".ods")


def read_table(path: Path, *, sheet: str | None = None) -> list[Row]:
    """Read all rows with the line that each stands on.

    Parameters
    ----------
    path
        The file.
    sheet
        Of a spreadsheet: which; the first where not given.

    Raises
    ------
    FaultsError
        With every line that cannot be read, and where there is no row.
    OptionError
        For a file of another kind, or a sheet that is not there.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(f'got "{path.name}"; expected {one_of(SUFFIXES)}', where="FILE")
    if sheet is not None and suffix not in SPREADSHEETS:
        raise OptionError(f'got "{sheet}" of {path.name}; expected a spreadsheet', where="--sheet")
    if not path.is_file():
        raise FelicityError("no such file", where=str(path))
    reader = FolderReader(path.parent)
    if suffix in (".csv", ".tsv", ".jsonl"):
        rows = _text_rows(reader, path.name, suffix)
    else:
        rows = _frame_rows(reader, path, sheet)
    if not rows and not reader.faults:
        reader.fault(path.name, "rows", 0, "at least one row")
    if reader.faults:
        raise FaultsError(reader.faults, where=str(path))
    return rows


def _text_rows(reader: FolderReader, name: str, suffix: str) -> list[Row]:
    text = reader.text(name)
    if text is None:
        return []
    if suffix == ".jsonl":
        return list(reader.jsonl_rows(name, text))
    return list(reader.csv_rows(name, text, _delimiter(text, suffix)))


def _delimiter(text: str, suffix: str) -> str:
    """Return what separates columns: spreadsheets of many countries save CSV with semicolons."""
    header = text.partition("\n")[0]
    if suffix == ".tsv" or ("\t" in header and "," not in header):
        return "\t"
    return ";" if ";" in header and "," not in header else ","


def _frame_rows(reader: FolderReader, path: Path, sheet: str | None) -> list[Row]:
    import polars as pl

    try:
        if path.suffix.lower() == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = _spreadsheet(path, sheet)
    except (pl.exceptions.PolarsError, OSError, ValueError, RuntimeError) as error:
        text = " ".join(str(error).split())[:200]
        reader.faults.append(
            Fault(file=path.name, field="file", got=text, allowed="a table that can be read")
        )
        return []
    # The header is line 1 of a sheet.
    return [
        (line, {name: _text(value) for name, value in row.items()})
        for line, row in enumerate(frame.iter_rows(named=True), start=2)
        if any(value not in (None, "") for value in row.values())
    ]


def _spreadsheet(path: Path, sheet: str | None) -> Any:
    try:
        import fastexcel
    except ImportError as error:
        raise FelicityError(
            f"spreadsheets need fastexcel, which is not there: {error}",
            where=str(path),
            hint='pip install "felicity[interop]", or save the sheet as CSV',
        ) from error
    try:
        book = fastexcel.read_excel(path)
    except fastexcel.FastExcelError as error:
        raise ValueError(str(error)) from error
    if sheet is not None and sheet not in book.sheet_names:
        raise OptionError(f'got "{sheet}"; expected {one_of(book.sheet_names)}', where="--sheet")
    # As texts: a spreadsheet's 1 is "1" and not "1.0".
    return book.load_sheet(sheet if sheet is not None else 0, dtypes="string").to_polars()


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
