"""Sets to build: the committed one, whose writer's replies lie in a file, and smaller ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from felicity.build.adding import NewSet, start_build
from felicity.build.folder import DIALOGUES, BuildFolder, read_build
from felicity.build.growing import grow
from felicity.build.wording import as_lines
from felicity.build.writers import ReplayedWriter
from felicity.participants.chat import ChatInfo
from felicity.types import Message, Reply, Sampling

FIXTURES = Path(__file__).parent / "fixtures" / "build"
BASE, REPLIES = FIXTURES / "base.csv", FIXTURES / "replies.jsonl"
STEPS = ("template", "dialogues", "rewordings")


def start(folder: Path, **new: Any) -> BuildFolder:
    return start_build(folder, NewSet(**new), BASE, "T. Author")


def grown(folder: Path) -> BuildFolder:
    """The committed set, grown from its replies."""
    start(folder)
    writer = ReplayedWriter(REPLIES)
    grow(folder, STEPS, lambda _step: writer)
    return read_build(folder)


def rewrite(build: BuildFolder, **changes: dict[str, str]) -> BuildFolder:
    """The same set with other texts: ``quality_01_2__0={"question": "…"}``."""
    lines = list(build.wordings)
    for where, texts in changes.items():
        dialogue_id, wording = where.replace("quantity_", "quantity~").split("__")
        dialogue_id = dialogue_id.replace("_", "-").replace("~", "_")
        at = next(
            place
            for place, line in enumerate(lines)
            if (line.dialogue_id, line.wording) == (dialogue_id, wording)
        )
        lines[at] = replace(lines[at], **texts)
    rows = [x.as_row() | ({"made": x.made.as_row()} if x.made else {}) for x in lines]
    (build.folder / DIALOGUES).write_text(as_lines(rows), encoding="utf-8")
    return read_build(build.folder)


class Scripted:
    """A model that replies by a list, one after the other, and then fails."""

    def __init__(self, *replies: object, finish: str = "stop") -> None:
        self.info = ChatInfo(
            spec="api:fake/scripted", label="scripted", method="sampled", model="s"
        )
        self.max_connections = 1
        self.replies = [r if isinstance(r, str) else json.dumps(r) for r in replies]
        self.finish = finish
        self.asked: list[str] = []
        self.model_id = "s"

    async def ask(self, messages: list[Message], sampling: Sampling) -> Reply:
        self.asked.append(messages[-1].content)
        out = len(self.asked) > len(self.replies)
        return Reply(
            text="" if out else self.replies[len(self.asked) - 1],
            reasoning=None,
            finish="error" if out else self.finish,
            model_id=None if out else self.model_id,
            effective=sampling,
            tokens_in=10,
            tokens_out=10,
            seconds=0.0,
            error="out of replies" if out else None,
        )

    async def close(self) -> None:
        pass
