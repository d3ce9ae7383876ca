"""Read a rating study's folder and find every fault in it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from felicity.errors import one_of
from felicity.folder_reader import FolderReader
from felicity.rating.comparison_reader import read_effects, read_reference, read_units
from felicity.rating.prompts import compose
from felicity.rating.scenario_reader import is_key, make_items, read_block, read_scenarios
from felicity.rating.study import (
    ATTRIBUTE,
    PRESENTATIONS,
    TOML,
    Factors,
    RatingItem,
    RatingStudy,
    Scenario,
    VariedText,
    scale_texts,
)
from felicity.study import PLACEHOLDER
from felicity.survey.section import read_survey_task
from felicity.types import Scale


def read_rating_study(reader: FolderReader, table: Mapping[str, Any]) -> RatingStudy | None:
    """Read the folder whose study.toml is ``table``.

    Returns
    -------
    RatingStudy or None
        None where there is any fault; all faults are in ``reader.faults``.
    """
    reader.text("README.md")
    scale = _read_scale(reader, table)
    factors = _read_factors(reader, table)
    file = reader.get(table, "items.file", str)
    taken = {"key", "scenario", *factors, *scale_texts(scale)}
    scenarios = read_scenarios(reader, file, factors, taken) if file and factors else ()
    all_factors: Factors = {"scenario": tuple(s.key for s in scenarios), **factors}
    blocks, promptings, system = _read_prompts(reader, table, scenarios, all_factors, scale)
    units, default_unit = read_units(reader, table, all_factors)
    effects = read_effects(reader, table, factors)
    pattern = _read_pattern(reader, table, all_factors)
    details = _read_details(reader, table)
    reference, source = read_reference(reader, table, all_factors, scale)
    if reader.faults:
        # Items would only repeat the faults of what they are made of.
        return None
    items = make_items(scenarios, factors, pattern)
    _check_items(reader, items, all_factors)
    _check_prompts(reader, items, blocks, promptings, scale)
    columns = items[0].columns() if items else {}
    read_survey_task(reader, table, paradigm="rating", columns=columns, promptings=promptings)
    if reader.faults:
        return None
    return RatingStudy(
        **details,
        paradigm="rating",
        folder=reader.folder,
        factors=all_factors,
        scenarios=scenarios,
        items=items,
        scale=scale,
        blocks=blocks,
        promptings=promptings,
        system=system,
        reference=reference,
        reference_source=source,
        units=units,
        default_unit=default_unit,
        effects=effects,
    )


def _read_details(reader: FolderReader, table: Mapping[str, Any]) -> dict[str, Any]:
    """Read what is one value each: the study's name and so on, and the defaults of a run."""
    details = {
        name: reader.get(table, f"study.{name}", str)
        for name in ("name", "title", "version", "language", "licence")
    }
    presentation = reader.get(table, "run.presentation", str, "single")
    repeats = reader.get(table, "run.repeats", int, 10)
    temperature = reader.get(table, "run.temperature", float, 1.0)
    if presentation not in PRESENTATIONS:
        reader.fault(TOML, "run.presentation", presentation, one_of(PRESENTATIONS))
    if repeats < 1:
        reader.fault(TOML, "run.repeats", repeats, "a whole number from 1")
    if not 0 <= temperature < math.inf:
        reader.fault(TOML, "run.temperature", temperature, "a number from 0")
    return details | {
        "presentation": presentation,
        "repeats": repeats,
        "temperature": temperature,
    }


# Columns of the table of responses.
RESERVED = frozenset(
    {
        *("trial_id", "item_id", "conversation_id", "prompting", "repeat", "turn", "status"),
        *("value", "text", "reasoning", "finish", "error", "model_id", "seconds", "attempts"),
        *("created", "key", "seed", "tokens_in", "tokens_out", "parser_version"),
    }
)


def _read_scale(reader: FolderReader, table: Mapping[str, Any]) -> Scale:
    scale = Scale(
        low=reader.get(table, "scale.low", int),
        high=reader.get(table, "scale.high", int),
        low_label=reader.get(table, "scale.low_label", str),
        high_label=reader.get(table, "scale.high_label", str),
    )
    if scale.low >= scale.high and "scale" in table:
        reader.fault(TOML, "scale.high", scale.high, f"a whole number above {scale.low}")
    return scale


def _read_factors(reader: FolderReader, table: Mapping[str, Any]) -> Factors:
    """Read the study's own factors and the attributes, which are the last factor."""
    factors: Factors = {}
    for number, row in enumerate(reader.get(table, "factor", list, []), start=1):
        key = row.get("key") if isinstance(row, dict) else None
        if not isinstance(key, str) or not PLACEHOLDER.fullmatch(f"{{{key}}}"):
            reader.fault(TOML, f"factor {number}, key", key, "a word")
            continue
        if key in factors or key in {"scenario", ATTRIBUTE, *RESERVED}:
            reader.fault(TOML, f"factor {number}, key", key, "a name that is not taken")
        factors[key] = _levels(reader, f"factor {key}, levels", row.get("levels"), 2)
    attributes = reader.get(table, "attributes.levels", list)
    return {**factors, ATTRIBUTE: _levels(reader, "attributes.levels", attributes, 1)}


def _levels(reader: FolderReader, field: str, value: Any, least: int) -> tuple[str, ...]:
    levels = tuple(value) if isinstance(value, list) else ()
    if len(levels) < least or not all(map(is_key, levels)):
        reader.fault(TOML, field, value, f"at least {least} short texts without | or =")
        return ()
    if len(set(levels)) < len(levels):
        reader.fault(TOML, field, ", ".join(levels), "each level once")
    return levels


def _read_pattern(reader: FolderReader, table: Mapping[str, Any], factors: Factors) -> str:
    pattern: str = reader.get(table, "items.item_id", str)
    for used in PLACEHOLDER.findall(pattern):
        if used not in factors:
            listed = one_of(f"{{{factor}}}" for factor in factors)
            reader.fault(TOML, "items.item_id", f"{{{used}}}", listed)
    return pattern


def _check_items(reader: FolderReader, items: tuple[RatingItem, ...], factors: Factors) -> None:
    for item_id, count in Counter(item.item_id for item in items).items():
        if count > 1 or "|" in item_id:
            got = f"{item_id} ({count} times)" if count > 1 else item_id
            reader.fault(TOML, "items.item_id", got, "each id once, and no | in it")
    for scene, count in Counter(item.scene_id for item in items).items():
        if count != len(factors[ATTRIBUTE]):
            reader.fault(TOML, "factor", f"two scenes called {scene}", "levels that differ")


def _read_prompts(
    reader: FolderReader,
    table: Mapping[str, Any],
    scenarios: tuple[Scenario, ...],
    factors: Factors,
    scale: Scale,
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], str | None]:
    folder = reader.get(table, "prompts.folder", str, "prompts")
    promptings: dict[str, tuple[str, ...]] = {}
    for name, names in reader.get(table, "promptings", dict).items():
        good = isinstance(names, list) and names and all(isinstance(n, str) for n in names)
        if not good or not is_key(name):
            reader.fault(TOML, f"promptings.{name}", names, "a list of blocks")
            continue
        promptings[name] = tuple(names)
    if not promptings and isinstance(table.get("promptings"), dict):
        reader.fault(TOML, "promptings", "nothing", "at least one prompting")
    # All scenarios have the same fields, but for those that have a fault.
    fields = {name: field for scenario in scenarios for name, field in scenario.fields.items()}
    allowed = [*factors, *scale_texts(scale), *fields]
    names = list(dict.fromkeys(name for blocks in promptings.values() for name in blocks))
    if not scenarios:
        # Which placeholders are allowed is not known; the scenarios' own faults come first.
        return {}, promptings, None
    blocks = {name: read_block(reader, folder, name, allowed) for name in names}
    system = reader.get(table, "prompts.system", str, "") or None
    if system is not None:
        varying = {
            n for n, f in fields.items() if isinstance(f, VariedText) and f.factor == ATTRIBUTE
        }
        steady = [name for name in allowed if name != ATTRIBUTE and name not in varying]
        blocks[system] = read_block(reader, folder, system, steady)
    return blocks, promptings, system


def _check_prompts(
    reader: FolderReader,
    items: tuple[RatingItem, ...],
    blocks: Mapping[str, str],
    promptings: Mapping[str, tuple[str, ...]],
    scale: Scale,
) -> None:
    """Two items with one prompt cannot get different ratings: some block has been forgotten."""
    for name, names in promptings.items():
        seen: dict[str, str] = {}
        for item in items:
            first = seen.setdefault(compose([blocks[n] for n in names], item, scale), item.item_id)
            if first != item.item_id:
                got = f"one text for {first} and {item.item_id}"
                reader.fault(TOML, f"promptings.{name}", got, "a text of its own for every item")
                break
