"""Read people's individual ratings, and arrange them for the measures."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl

from felicity.errors import Fault, FaultsError, FelicityError, one_of
from felicity.stats.cells import Axes, Ratings, arrange_ratings
from felicity.types import Scale

Line = tuple[int, Mapping[Any, Any]]


class NamedEffect(Protocol):
    """An effect as a study names it."""

    @property
    def kind(self) -> str:
        """``main`` or ``interaction``."""

    @property
    def factors(self) -> tuple[str, ...]:
        """The factor, or the two that interact."""

    @property
    def attribute(self) -> str:
        """The attribute that was rated."""


@runtime_checkable
class RatingDesign(Protocol):
    """What is needed of a rating study: its factors, its scale and the effects it compares.

    ``factors`` has ``scenario``, the study's own factors and ``attribute``, with their levels.
    """

    @property
    def factors(self) -> Mapping[str, tuple[str, ...]]:
        """Factor to levels, in order."""

    @property
    def scale(self) -> Scale:
        """The scale that ratings are on."""

    @property
    def effects(self) -> Sequence[NamedEffect]:
        """The effects that models are compared on."""


def axes_of(design: RatingDesign) -> Axes:
    """Take the axes of the measures' arrays from a study."""
    own = {k: levels for k, levels in design.factors.items() if k not in ("scenario", "attribute")}
    return Axes(
        scenarios=design.factors["scenario"], factors=own, attributes=design.factors["attribute"]
    )


def read_ratings(path: Path, axes: Axes, scale: Scale | None = None) -> pl.DataFrame:
    """Read individual ratings: a CSV with a row per participant and scene.

    Parameters
    ----------
    path
        Columns ``participant``, ``scenario``, the study's own factors and the attributes (in their
        names ``_`` may stand for ``-`` or a space). Other columns are left out. An empty field is
        a missing rating.
    axes
        The study's scenarios, factors and attributes.
    scale
        Ratings must be on it; without one, numbers.

    Raises
    ------
    FaultsError
        With every fault of the file.
    FelicityError
        Where the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = [_name(column, axes) for column in reader.fieldnames or ()]
            reader.fieldnames = header
            lines = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FelicityError(f"{reason}; expected a CSV file in UTF-8", where=str(path)) from None
    faults = _check_header(path.name, header, axes)
    if not faults and not lines:
        faults = [Fault(file=path.name, field="rows", got="0", allowed="at least one row")]
    elif not faults:
        faults = _check_rows(path.name, header, lines, axes, scale)
    if faults:
        raise FaultsError(faults, where=str(path), hint="one row per participant and scene")
    texts = ("participant", "scenario", *axes.factors)
    columns: dict[str, list[str] | list[float | None]] = {
        name: [row[name] for _, row in lines] for name in texts
    }
    for name in axes.attributes:
        columns[name] = [float(row[name]) if row[name].strip() else None for _, row in lines]
    numbers = dict.fromkeys(axes.attributes, pl.Float64())
    return pl.DataFrame(columns, schema_overrides=numbers)


def ratings_from_table(ratings: pl.DataFrame, axes: Axes) -> Ratings:
    """Arrange a table with a column per attribute as an array; nulls become NaN.

    Examples
    --------
    >>> axes = Axes(scenarios=("pasta",), factors={"form": ("precise", "approximate")},
    ...             attributes=("helpful",))
    >>> table = pl.DataFrame({"participant": ["a", "b"], "scenario": ["pasta", "pasta"],
    ...                       "form": ["precise", "precise"], "helpful": [6.0, None]})
    >>> ratings_from_table(table, axes).values[0, 0, 0].tolist()
    [6.0, nan]
    """
    texts = ["participant", "scenario", *axes.factors]
    long = ratings.unpivot(
        on=list(axes.attributes), index=texts, variable_name="attribute", value_name="rating"
    )
    columns = {name: long[name].to_list() for name in (*texts[1:], "attribute")}
    values = long["rating"].cast(pl.Float64).fill_null(math.nan).to_numpy()
    return arrange_ratings(axes, columns, row=long["participant"].to_list(), values=values)


def _name(column: str, axes: Axes) -> str:
    """Spell an attribute as the study does."""
    spelled = {name.replace("-", "_").replace(" ", "_"): name for name in axes.attributes}
    return spelled.get(column.strip(), column.strip())


def _check_header(file: str, header: Sequence[str], axes: Axes) -> list[Fault]:
    needed = ("participant", "scenario", *axes.factors, *axes.attributes)
    got = ", ".join(header) or "nothing"
    faults = [
        Fault(file=file, field=name, got=got, allowed="a column of this name", line=1)
        for name in needed
        if name not in header
    ]
    faults += [
        Fault(file=file, field=name, got="two columns", allowed="one", line=1)
        for name in needed
        if header.count(name) > 1
    ]
    return faults


def _check_rows(
    file: str, header: Sequence[str], lines: Sequence[Line], axes: Axes, scale: Scale | None
) -> list[Fault]:
    faults: list[Fault] = []

    def fault(line: int, field: str, got: str, allowed: str) -> None:
        faults.append(Fault(file=file, field=field, got=got[:80], allowed=allowed, line=line))

    first: dict[tuple[str, ...], int] = {}
    for line, row in lines:
        if None in row or None in row.values():
            got = sum(value is not None for value in row.values()) - (None in row)
            got += len(row.get(None, ()))
            fault(line, "row", f"{got} fields", f"{len(header)}, as in the header")
            continue
        if not row["participant"].strip():
            fault(line, "participant", "", "a text that is not empty")
        for name, levels in {"scenario": axes.scenarios, **axes.factors}.items():
            if row[name] not in levels:
                fault(line, name, row[name], one_of(levels))
        for name in axes.attributes:
            problem = _problem(row[name], scale)
            if problem:
                fault(line, name, row[name], problem)
        scene = (row["participant"], row["scenario"], *(row[name] for name in axes.factors))
        if first.setdefault(scene, line) != line:
            fault(line, "participant", row["participant"], f"each scene once (line {first[scene]})")
    return faults


def _problem(text: str, scale: Scale | None) -> str | None:
    """Say what a rating should have been; None where it is fine or empty."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if scale is not None:
        fine = value.is_integer() and int(value) in scale
        return None if fine else f"a whole number from {scale.low} to {scale.high}, or nothing"
    return None if math.isfinite(value) else "a number, or nothing"
