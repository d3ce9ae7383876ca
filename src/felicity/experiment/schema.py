"""The JSON Schema of experiment files, for editors; made from the same keys as the reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from felicity.experiment.keys import EXPERIMENT, GROUP, MODEL, REPORT, SETTINGS, Key


def experiment_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema, draft 2020-12).

    What takes more than one key to judge, such as the formats of a study, is not in it.

    Examples
    --------
    >>> sorted(experiment_schema()["properties"])
    ['experiment', 'group', 'report', 'settings']
    """
    model = {
        "description": "A model's id, or a table with one.",
        "anyOf": [
            {"type": "string", "minLength": 1},
            _table((*MODEL, *SETTINGS))
            | {"oneOf": [{"required": ["id"]}, {"required": ["checkpoints"]}]},
        ],
    }
    group = _table((*GROUP, *SETTINGS))
    group["properties"]["models"] = {
        "description": "Models, in the order of the table.",
        "type": "array",
        "minItems": 1,
        "items": model,
    }
    group["required"].append("models")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Felicity experiment",
        "type": "object",
        "properties": {
            "experiment": _table(EXPERIMENT),
            "settings": _table(SETTINGS),
            "group": {
                "description": "Groups of models; a model's settings come before its group's.",
                "type": "array",
                "minItems": 1,
                "items": group,
            },
            "report": _table(REPORT),
        },
        "required": ["experiment", "group"],
        "additionalProperties": False,
    }


def _table(keys: Sequence[Key]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key.name: _value(key) for key in keys},
        "required": [key.name for key in keys if key.needed],
        "additionalProperties": False,
    }


def _value(key: Key) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "string", "minLength": 1}
    if key.allowed:
        text = {"enum": list(key.allowed)}
    if key.pattern:
        text["pattern"] = key.pattern
    least = {} if key.least is None else {"minimum": key.least}
    kinds: dict[str, dict[str, Any]] = {
        "text": text,
        "texts": {"type": "array", "items": text, "minItems": 1, "uniqueItems": True},
        "whole": {"type": "integer", **least},
        "number": {"type": "number", **least},
        "flag": {"type": "boolean"},
        "levels": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "string", "minLength": 1},
        },
        "words": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "integer", "minimum": 1},
        },
    }
    return {"description": key.about, **kinds[key.kind]}
