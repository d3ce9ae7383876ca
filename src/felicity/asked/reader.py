"""Read the section ``[asked]`` of a choice study and find every fault in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from felicity.asked.task import AskedTask
from felicity.errors import one_of
from felicity.folder_reader import FolderReader
from felicity.study import PLACEHOLDER
from felicity.types import Item

PLACES = ("first", "second", "first_label", "second_label")
# A reply that holds one of these says something else than a label.
NO_LABELS = frozenset(
    {"and", "answer", "answers", "both", "either", "first", "i", "is", "it", "neither", "no"}
    | {"none", "nor", "not", "one", "or", "second", "the", "yes"}
)


def read_asked_task(
    reader: FolderReader,
    table: Mapping[str, Any],
    answers: tuple[str, ...],
    items: tuple[Item, ...],
) -> AskedTask | None:
    """Read the section; None where the study has none or it has faults."""
    if "asked" not in table:
        return None
    before = len(reader.faults)
    if len(answers) > 2:
        reader.fault("study.toml", "asked", f"{len(answers)} answers", "two, to be asked in words")
    file = reader.get(table, "asked.prompt", str)
    prompt = reader.text(file) if file else None
    labels = _read_texts(reader, table, "labels")
    words = _read_texts(reader, table, "words", default=[])
    pick = reader.get(table, "asked.pick", str)
    _check_labels(reader, labels)
    if pick and pick not in answers:
        reader.fault("study.toml", "asked.pick", pick, one_of(answers))
    if prompt is not None:
        _check_prompt(reader, file, prompt, items)
    if prompt is None or len(reader.faults) > before:
        return None
    return AskedTask(
        prompt=prompt.strip(), labels=(labels[0], labels[1]), pick=pick, words=tuple(words)
    )


def _read_texts(
    reader: FolderReader, table: Mapping[str, Any], name: str, default: list[str] | None = None
) -> list[str]:
    texts = reader.get(table, f"asked.{name}", list, default)
    good = [text for text in texts if isinstance(text, str) and text.strip()]
    if texts and len(good) < len(texts):
        reader.fault("study.toml", f"asked.{name}", texts, "texts that are not empty")
    return good


def _check_labels(reader: FolderReader, labels: list[str]) -> None:
    told = any(fault.field == "asked.labels" for fault in reader.faults)
    if not told and not len(labels) == len({label.lower() for label in labels}) == 2:
        reader.fault("study.toml", "asked.labels", labels, "two different labels")
    for label in labels:
        if not re.fullmatch(r"[^\W_]+", label) or label.lower() in NO_LABELS:
            reader.fault(
                "study.toml",
                "asked.labels",
                label,
                'letters and digits without a space, and no word of a reply such as "no" or "both"',
            )


def _check_prompt(reader: FolderReader, file: str, prompt: str, items: tuple[Item, ...]) -> None:
    used = set(PLACEHOLDER.findall(prompt))
    for place in PLACES:
        if place not in used:
            reader.fault(file, "prompt", f"no {{{place}}}", f"{{{place}}} in it")
    if not items:
        return
    factors = sorted(items[0].factors)
    for name in sorted(set(PLACES) & set(factors)):
        reader.fault(
            "study.toml", "asked", f"a column {name}", f"items without one, for {{{name}}} is taken"
        )
    allowed = [*PLACES, "question", *factors]
    for name in sorted(used - set(allowed)):
        reader.fault(file, "prompt", f"{{{name}}}", one_of(f"{{{known}}}" for known in allowed))
