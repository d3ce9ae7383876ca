"""A study to ask, and participants that stand for a model behind an API."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from felicity.participants.chat import ChatInfo
from felicity.study import Study, load_choice_study
from felicity.types import Message, Reply, Sampling

from study_folders import TOML, write_study

SECTION = """
[asked]
prompt = "asked.txt"
labels = ["A", "B"]
pick = "weak"
words = ["weaker", "says less"]
"""
PROMPT = """\
{asker} asks: {question}

{first_label}: {first}
{second_label}: {second}

Which answer says less, {first_label} or {second_label}?
"""
SHOWN = re.compile(r"^A: (.*)\nB: (.*)$", re.MULTILINE)


def write_asked(folder: Path, *, section: str = SECTION, prompt: str | None = PROMPT) -> Path:
    write_study(folder, toml=TOML + section)
    if prompt is not None:
        (folder / "asked.txt").write_text(prompt, encoding="utf-8")
    return folder


class Told:
    """Replies by a function of the two answers as shown."""

    def __init__(self, say: Callable[[str, str], str], *, method: str = "sampled") -> None:
        self.info = ChatInfo(spec="fake:told", label="told", method=method, model="told-1")
        self.max_connections = 4
        self.say = say
        self.asked: list[str] = []

    async def ask(self, messages: list[Message], sampling: Sampling) -> Reply:
        text = messages[-1].content
        self.asked.append(text)
        found = SHOWN.search(text)
        assert found, text
        return Reply(
            text=self.say(found[1].strip('"'), found[2].strip('"')),
            reasoning=None,
            finish="stop",
            model_id="told-1",
            effective=sampling,
            tokens_in=60,
            tokens_out=1,
            seconds=0.1,
        )

    async def close(self) -> None:
        pass


def picker(study: Study, label: str) -> Callable[[str, str], str]:
    """Always the answer of one kind, wherever it is shown."""
    texts = {item.answers[label] for item in study.items}
    return lambda first, _second: "A" if first in texts else "B"


def loaded(folder: Path) -> Study:
    return load_choice_study(str(write_asked(folder)))
