"""A tiny rating study that no code knows, and replies to it: two scenes, two attributes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

TOML = """\
[study]
name = "two-scenes"
title = "How do exact answers come across?"
version = "0.1"
paradigm = "rating"
language = "en"
licence = "CC0-1.0"

[items]
file = "scenarios.toml"
item_id = "{scenario}-{context}-{form}-{attribute}"

[[factor]]
key = "context"
levels = ["high", "low"]

[[factor]]
key = "form"
levels = ["precise", "approximate"]

[attributes]
levels = ["helpful", "well-prepared"]

[scale]
low = 1
high = 7
low_label = "not at all"
high_label = "very"

[promptings]
MIN = ["ask"]
ALT = ["ask", "more"]

[reference]
file = "reference.csv"
source = "invented"

[comparison]
default = "cells"

[comparison.units]
cells = ["context", "form", "attribute"]
scenario-cells = ["scenario", "context", "form", "attribute"]
attributes = ["attribute"]

[[effect]]
kind = "main"
factors = ["form"]
attribute = "helpful"

[[effect]]
kind = "interaction"
factors = ["form", "context"]
attribute = "helpful"

[[effect]]
kind = "main"
factors = ["form"]
attribute = "well-prepared"
"""
SCENARIOS = ("train", "shop")
LEVELS = (SCENARIOS, ("high", "low"), ("precise", "approximate"), ("helpful", "well-prepared"))
Cell = tuple[str, str, str, str]
# People's means by context, form, attribute: Δ of helpful 2 and 1, so 1.5 and 1; of well-prepared
# 0.1, which is nothing beside an sd of 1.
PEOPLE = {
    ("high", "precise", "helpful"): 6.0,
    ("high", "approximate", "helpful"): 4.0,
    ("low", "precise", "helpful"): 5.0,
    ("low", "approximate", "helpful"): 4.0,
    ("high", "precise", "well-prepared"): 3.1,
    ("high", "approximate", "well-prepared"): 3.0,
    ("low", "precise", "well-prepared"): 3.1,
    ("low", "approximate", "well-prepared"): 3.0,
}


def cells() -> Iterator[Cell]:
    """Scenario, context, form, attribute of every item."""
    yield from itertools.product(*LEVELS)


def write_rating_study(folder: Path, *, toml: str = TOML) -> Path:
    (folder / "prompts").mkdir(parents=True)
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    (folder / "README.md").write_text("# A tiny study\n", encoding="utf-8")
    (folder / "prompts" / "ask.txt").write_text(
        "{text} {context} {form} How {attribute}?", encoding="utf-8"
    )
    (folder / "prompts" / "more.txt").write_text("Think of what else there is.", encoding="utf-8")
    scenes = [f'[[scenario]]\nkey = "{name}"\ntext = "A {name}."\n' for name in SCENARIOS]
    (folder / "scenarios.toml").write_text("".join(scenes), encoding="utf-8")
    rows = [f"{','.join(cell)},{PEOPLE[cell[1:]]},1.0,20" for cell in cells()]
    (folder / "reference.csv").write_text(
        "\n".join(["scenario,context,form,attribute,mean,sd,n", *rows]) + "\n", encoding="utf-8"
    )
    return folder


def replies(
    text: Callable[[Cell, int], str], *, model: str = "parrot", repeats: int = 4, **more: Any
) -> list[dict[str, Any]]:
    """Entries as the paper's files have them, with its own words for form and its levels."""
    words = {"approximate": "approx"}
    return [
        {
            "model": model,
            "scenario": cell[0],
            "context": cell[1],
            "utterance": words.get(cell[2], cell[2]),
            "attribute": cell[3],
            "sample_id": repeat,
            "raw_response": text(cell, repeat),
            **more,
        }
        for repeat in range(repeats)
        for cell in cells()
    ]


def write_replies(path: Path, entries: Sequence[Any]) -> Path:
    """Write JSON lines."""
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
