"""Read the scenarios and prompt blocks of a rating study, and make its items of them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from felicity.errors import one_of
from felicity.folder_reader import FolderReader
from felicity.rating.study import RatingItem, Scenario, VariedText
from felicity.study import PLACEHOLDER, fill

FIELD = re.compile(r"\w+")
BLOCK = re.compile(r"\w[\w-]*")


def is_key(value: object) -> bool:
    """Say whether a value can name a level: ids and options are built from it.

    Examples
    --------
    >>> is_key("well-prepared"), is_key("a|b"), is_key(" a")
    (True, False, False)
    """
    return isinstance(value, str) and bool(re.fullmatch(r"[^\s|=]+( [^\s|=]+)*", value))


def read_scenarios(
    reader: FolderReader, file: str, factors: Mapping[str, tuple[str, ...]], taken: set[str]
) -> tuple[Scenario, ...]:
    """Read ``[[scenario]]`` tables.

    Parameters
    ----------
    factors
        Factors that a field can vary with, and their levels.
    taken
        Names that no field may have.
    """
    table = reader.toml(file)
    if table is None:
        return ()
    for name in table:
        if name != "scenario":
            reader.fault(file, name, "a table of this name", "[[scenario]] alone")
    rows = table.get("scenario")
    if not isinstance(rows, list) or not rows:
        reader.fault(file, "scenario", "nothing", "at least one [[scenario]]")
        return ()
    scenarios = []
    broken: dict[str, set[str]] = {}
    for number, row in enumerate(rows, start=1):
        key = row.get("key") if isinstance(row, dict) else None
        if not isinstance(key, str) or not is_key(key):
            reader.fault(file, f"scenario {number}, key", key, "a short text without | or =")
            continue
        fields = {
            name: _field(reader, file, f"{key}.{name}", value, factors)
            for name, value in row.items()
            if name != "key"
        }
        for name in fields:
            if name in taken or not FIELD.fullmatch(name):
                reader.fault(file, f"{key}.{name}", name, f"a name other than {sorted(taken)}")
        good = {name: field for name, field in fields.items() if field is not None}
        broken.setdefault(key, set()).update(set(fields) - set(good))
        scenarios.append(Scenario(key=key, fields=good))
    _check_scenarios(reader, file, scenarios, broken)
    return tuple(scenarios)


def _field(
    reader: FolderReader,
    file: str,
    field: str,
    value: Any,
    factors: Mapping[str, tuple[str, ...]],
) -> str | VariedText | None:
    if isinstance(value, str):
        if value.strip():
            return value
        reader.fault(file, field, value, "a text that is not empty")
        return None
    matching = [
        name
        for name, levels in factors.items()
        if isinstance(value, dict) and set(value) == set(levels)
    ]
    if len(matching) != 1:
        got = ", ".join(value) if isinstance(value, dict) else value
        choices = "; ".join(f"{', '.join(levels)} ({name})" for name, levels in factors.items())
        reader.fault(file, field, got, f"a text, or one for each of: {choices}")
        return None
    for level, text in value.items():
        if not isinstance(text, str) or not text.strip():
            reader.fault(file, f"{field}.{level}", text, "a text that is not empty")
            return None
    return VariedText(factor=matching[0], by_level=value)


def _check_scenarios(
    reader: FolderReader, file: str, scenarios: list[Scenario], broken: Mapping[str, set[str]]
) -> None:
    """Note what does not fit together; fields that are ``broken`` have their fault already."""
    for key, count in Counter(scenario.key for scenario in scenarios).items():
        if count > 1:
            reader.fault(file, "key", f"{key} ({count} times)", "each key once")
    fields = list(dict.fromkeys(name for scenario in scenarios for name in scenario.fields))
    for scenario in scenarios:
        for name in fields:
            if name not in scenario.fields and name not in broken[scenario.key]:
                reader.fault(
                    file, f"{scenario.key}.{name}", "nothing", "this field, as in other scenarios"
                )
        plain = [name for name, field in scenario.fields.items() if not _names_others(field)]
        known = {*plain, *broken[scenario.key]}
        for name, field in scenario.fields.items():
            for text in _texts(field):
                for used in PLACEHOLDER.findall(text):
                    if used not in known:
                        reader.fault(
                            file,
                            f"{scenario.key}.{name}",
                            f"{{{used}}}",
                            one_of(f"{{{other}}}" for other in plain),
                        )


def _texts(field: str | VariedText) -> tuple[str, ...]:
    return (field,) if isinstance(field, str) else tuple(field.by_level.values())


def _names_others(field: str | VariedText) -> bool:
    return any(PLACEHOLDER.search(text) for text in _texts(field))


def make_items(
    scenarios: tuple[Scenario, ...], factors: Mapping[str, tuple[str, ...]], pattern: str
) -> tuple[RatingItem, ...]:
    """Cross every scenario with every level of the factors; the last factor changes fastest."""
    items = []
    for scenario in scenarios:
        for levels in itertools.product(*factors.values()):
            row = {"scenario": scenario.key, **dict(zip(factors, levels, strict=True))}
            chosen = {
                name: field if isinstance(field, str) else field.by_level[row[field.factor]]
                for name, field in scenario.fields.items()
            }
            plain = {n: text for n, text in chosen.items() if not PLACEHOLDER.search(text)}
            items.append(
                RatingItem(
                    item_id=fill(pattern, row),
                    scene_id="-".join(v for k, v in row.items() if k != "attribute"),
                    factors=row,
                    texts={name: fill(text, plain) for name, text in chosen.items()},
                )
            )
    return tuple(items)


def read_block(reader: FolderReader, folder: str, name: str, allowed: list[str]) -> str:
    """Read one prompt block; its placeholders must be among ``allowed``."""
    if not BLOCK.fullmatch(name):
        reader.fault("study.toml", "promptings", name, "letters, digits, _ and -")
        return ""
    file = f"{folder}/{name}.txt"
    text = reader.text(file)
    if text is None:
        return ""
    if not text.strip():
        reader.fault(file, "text", "nothing", "a text that is not empty")
    for number, line in enumerate(text.split("\n"), start=1):
        for used in PLACEHOLDER.findall(line):
            if used not in allowed:
                listed = one_of(f"{{{other}}}" for other in allowed)
                reader.fault(file, "placeholder", f"{{{used}}}", listed, number)
    return text.strip()
