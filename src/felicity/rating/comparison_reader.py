"""Read what model and people are compared on: units, effects, and the human reference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from felicity.errors import one_of
from felicity.folder_reader import FolderReader
from felicity.rating.study import (
    ATTRIBUTE,
    EFFECT_FACTORS,
    TOML,
    Effect,
    Factors,
    ReferenceCell,
)
from felicity.types import Scale


def read_units(
    reader: FolderReader, table: Mapping[str, Any], factors: Factors
) -> tuple[dict[str, tuple[str, ...]], str]:
    """Read the units of comparison, and which is the default."""
    units: dict[str, tuple[str, ...]] = {}
    for name, kept in reader.get(table, "comparison.units", dict).items():
        if not isinstance(kept, list) or not kept or len(set(map(str, kept))) < len(kept):
            reader.fault(TOML, f"comparison.units.{name}", kept, "a list of factors, each once")
            continue
        for factor in kept:
            if not isinstance(factor, str) or factor not in factors:
                reader.fault(TOML, f"comparison.units.{name}", factor, one_of(factors))
        units[name] = tuple(kept)
    default = reader.get(table, "comparison.default", str)
    if default and default not in units:
        reader.fault(TOML, "comparison.default", default, one_of(units))
    return units, default


def read_effects(
    reader: FolderReader, table: Mapping[str, Any], factors: Factors
) -> tuple[Effect, ...]:
    """Read ``[[effect]]`` tables; factors without exactly two levels make no contrast."""
    contrasts = [name for name in factors if name != ATTRIBUTE and len(factors[name]) == 2]
    effects: list[Effect] = []
    for number, row in enumerate(reader.get(table, "effect", list, []), start=1):
        place, before = f"effect {number}", len(reader.faults)
        row = row if isinstance(row, dict) else {}
        kind, attribute, crossed = row.get("kind"), row.get("attribute"), row.get("factors")
        if attribute not in factors[ATTRIBUTE]:
            reader.fault(TOML, f"{place}, attribute", attribute, one_of(factors[ATTRIBUTE]))
        if not isinstance(kind, str) or kind not in EFFECT_FACTORS:
            reader.fault(TOML, f"{place}, kind", kind, one_of(EFFECT_FACTORS))
            continue
        crossed = crossed if isinstance(crossed, list) else []
        if (
            len(set(map(str, crossed))) != EFFECT_FACTORS[kind]
            or len(crossed) != EFFECT_FACTORS[kind]
        ):
            allowed = f"{EFFECT_FACTORS[kind]} of {', '.join(contrasts)} for {kind}"
            reader.fault(TOML, f"{place}, factors", crossed, allowed)
        for factor in crossed:
            if factor not in contrasts:
                allowed = f"a factor with two levels, {one_of(contrasts)}"
                reader.fault(TOML, f"{place}, factors", factor, allowed)
        if len(reader.faults) > before:
            continue
        effect = Effect(kind=kind, factors=tuple(crossed), attribute=str(attribute))
        if effect in effects:
            reader.fault(TOML, place, effect.name, "each effect once")
        effects.append(effect)
    return tuple(effects)


def read_reference(
    reader: FolderReader,
    table: Mapping[str, Any],
    factors: Factors,
    scale: Scale,
) -> tuple[tuple[ReferenceCell, ...], str]:
    """Read people's cells, one for each item and in the items' order, and where they are from."""
    if "reference" not in table:
        return (), ""
    source = reader.get(table, "reference.source", str)
    file = reader.get(table, "reference.file", str)
    cells: dict[tuple[str, ...], ReferenceCell] = {}
    before_all = len(reader.faults)
    for line, row in reader.rows(file) if file and all(factors.values()) else ():
        before = len(reader.faults)
        for factor, levels in factors.items():
            if row.get(factor) not in levels:
                reader.fault(file, factor, row.get(factor, "nothing"), one_of(levels), line)
        mean = _number(reader, file, line, row, "mean", (scale.low, scale.high))
        sd = _number(reader, file, line, row, "sd", (0, scale.high - scale.low))
        n = row.get("n", "")
        if not (n.isascii() and n.isdecimal() and int(n) > 0):
            reader.fault(file, "n", n or "nothing", "a whole number from 1", line)
        if len(reader.faults) > before:
            continue
        key = tuple(row[factor] for factor in factors)
        if key in cells:
            reader.fault(file, "cell", "-".join(key), "each cell once", line)
        cells[key] = ReferenceCell(
            factors=dict(zip(factors, key, strict=True)), mean=mean, sd=sd, n=int(n)
        )
    keys = list(itertools.product(*factors.values()))
    if len(reader.faults) == before_all:
        for key in keys:
            if key not in cells:
                reader.fault(file, "cell", f"no row for {'-'.join(key)}", "a row for every item")
    return tuple(cells[key] for key in keys if key in cells), source


def _number(
    reader: FolderReader,
    file: str,
    line: int,
    row: Mapping[str, str],
    column: str,
    bounds: tuple[int, int],
) -> float:
    """Read a number of a CSV row within bounds."""
    low, high = bounds
    text = row.get(column, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        reader.fault(file, column, text or "nothing", f"a number from {low} to {high}", line)
    return value
