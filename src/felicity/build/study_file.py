"""The study.toml of an exported set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from felicity.build.folder import BuildFolder
from felicity.build.wording import ROLES

_HEAD = """\
# Study folder, written by `felicity build export`. Its fields: docs/studies.md of Felicity.
"""
_ITEMS = """\
[items]
file = "dialogues.jsonl"
item_id = "{dialogue_id}-w{wording}-{questioner}-{responder}"
unit = "dialogue_id"
answers = ["follower", "violator"]
"""
_FORMATS = """\
[formats]
default = "names"

[formats.names]
context = "{questioner}: {question}\\n{responder}:"
answer = " {answer}"
baseline = "{responder}:"

[formats.named-answer]
context = "{questioner}: {question}"
answer = "\\n{responder}: {answer}"
baseline = ""

[formats.plain]
context = "{question}"
answer = " {answer}"
baseline = ""
"""


def study_file(kept: BuildFolder) -> str:
    """Write the study.toml for the lines that are kept; only their maxims are levels."""
    plan = kept.plan
    counts = Counter(line.maxim for line in kept.wordings)
    pairs = len(plan.names) * (len(plan.names) - 1)
    study = {
        "name": plan.name,
        "title": plan.title,
        "version": plan.version,
        "paradigm": "choice",
        "language": plan.language.code,
        "licence": plan.licence,
    }
    design = ['factor = "maxim"', 'variants = [["wording"], ["questioner", "responder"]]']
    if len(set(counts.values())) == 1:
        design.append(f"items_per_level = {next(iter(counts.values())) * pairs}")
    design.append("same_answers_within_unit = true")
    asked = {
        "prompt": "asked.txt",
        "labels": list(plan.language.asked_labels),
        "pick": "violator",
        "words": list(plan.language.asked_words),
    }
    levels = [
        _section("[design.level]", {"key": m.key, "short": m.short, "gloss": m.gloss})
        for m in plan.maxims
        if counts[m.key]
    ]
    return "\n".join(
        [
            _HEAD,
            _section("study", study),
            _ITEMS,
            _section("names", {"names": list(plan.names), "roles": list(ROLES)}),
            "\n".join(["[design]", *design]) + "\n",
            *levels,
            _FORMATS,
            _section("asked", asked),
        ]
    )


def _section(name: str, entries: Mapping[str, object]) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"
