"""One line of a set: a dialogue under one wording of its question, and who made it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from felicity.errors import RunError

ORIGINAL = "0"
TEXTS = ("question", "follower", "violator")
COLUMNS = ("dialogue_id", "template_id", "maxim", "wording", *TEXTS)
ROLES = ("questioner", "responder")
# `quantity_1-03-2`: maxim, number of the template, number of the dialogue; numbers sort as such.
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Where a text comes from.

    Attributes
    ----------
    by
        A person's name, or a model as it is named on the command line.
    kind
        ``person`` or ``model``.
    on
        The day or moment, as ISO 8601 writes it.
    reply
        For a model: the trial in the journal of replies, which holds prompt and parameters.
    """

    by: str
    kind: str
    on: str
    reply: str | None = None

    def as_row(self) -> dict[str, str]:
        """Return it as it stands in a file."""
        row = {"by": self.by, "kind": self.kind, "on": self.on}
        return row | ({"reply": self.reply} if self.reply else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A dialogue under one wording. ``wording`` 0 is the original; ``made`` None is the set's own.

    Examples
    --------
    >>> line = Wording(dialogue_id="quality-01-2", template_id="quality-01", maxim="quality",
    ...                wording="0", question="Who sang?", follower="A bird.", violator="A stone.")
    >>> line.order < line.reworded("1", "Who was singing?", None).order
    True
    """

    dialogue_id: str
    template_id: str
    maxim: str
    wording: str
    question: str
    follower: str
    violator: str
    made: Made | None = None

    @property
    def order(self) -> tuple[Any, ...]:
        """What a set is sorted by within a maxim: template, dialogue, wording."""
        return natural(self.template_id), natural(self.dialogue_id), natural(self.wording)

    @property
    def texts(self) -> dict[str, str]:
        """Question and answers."""
        return {name: getattr(self, name) for name in TEXTS}

    @property
    def digest(self) -> str:
        """A short hash of the texts, by which a later change of them is seen."""
        return digest(self.texts)

    def reworded(self, wording: str, question: str, made: Made | None) -> Wording:
        """Return the dialogue under another wording of its question."""
        return Wording(
            dialogue_id=self.dialogue_id,
            template_id=self.template_id,
            maxim=self.maxim,
            wording=wording,
            question=question,
            follower=self.follower,
            violator=self.violator,
            made=made,
        )

    def as_row(self) -> dict[str, Any]:
        """Return the line of a study's dialogues.jsonl, without who made it."""
        return {name: getattr(self, name) for name in COLUMNS}


def natural(text: str) -> tuple[Any, ...]:
    """Return a key under which ``a-10`` comes after ``a-9``.

    Examples
    --------
    >>> sorted(["a-10", "a-9"], key=natural)
    ['a-9', 'a-10']
    """
    parts = _NUMBERS.split(text)
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)


def digest(value: object) -> str:
    """Hash a value of plain JSON, shortly."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def sort_wordings(wordings: Iterable[Wording], maxims: Iterable[str]) -> list[Wording]:
    """Sort by maxim, template, dialogue, wording."""
    place = {key: number for number, key in enumerate(maxims)}
    return sorted(wordings, key=lambda line: (place.get(line.maxim, len(place)), line.order))


def as_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def append_wordings(path: Path, wordings: Iterable[Wording]) -> None:
    """Append to a set's dialogues.jsonl, durable when it returns.

    Raises
    ------
    RunError
        Where it cannot be written.
    """
    rows = [w.as_row() | ({"made": w.made.as_row()} if w.made else {}) for w in wordings]
    append_text(path, as_lines(rows))


def append_text(path: Path, text: str) -> None:
    """Append to a file, durable when it returns; on a new line, whatever an editor left.

    Raises
    ------
    RunError
        Where it cannot be written.
    """
    import os

    if not text:
        return
    try:
        with path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                text = text if file.read(1) == b"\n" else "\n" + text
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RunError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            hint="make room or choose a folder that can be written to; the replies are kept",
        ) from error
