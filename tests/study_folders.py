"""A third, tiny study that no code knows: do listeners hear "some" as "not all"?"""

from __future__ import annotations

import json
from pathlib import Path

TOML = """\
[study]
name = "some-not-all"
title = "Is the stronger word chosen where it is true?"
version = "0.1"
paradigm = "choice"
language = "en"
licence = "CC0-1.0"

[items]
file = "items.jsonl"
item_id = "{story}-{asker}"
unit = "story"
answers = ["strong", "weak"]

[design]
factor = "word"
variants = [["asker"]]

[[design.level]]
key = "all"
short = "All"
gloss = "all against some"

[[design.level]]
key = "and"
short = "And"
gloss = "and against or"

[formats]
default = "story"

[formats.story]
context = "{asker} asks: {question}"
answer = " {answer}"
baseline = ""

[reference]
file = "reference.csv"
"""
ROWS = [
    {"story": f"{word}-{number}", "word": word, "asker": asker, "question": question,
     "strong": strong, "weak": weak}
    for number, (word, question, strong, weak) in enumerate([
        ("all", "How many of the three cups broke?", "All of them broke.", "Some of them broke."),
        ("all", "Who came to lunch?", "All of us came.", "Some of us came."),
        ("and", "What is in the soup?", "Beans and peas.", "Beans or peas."),
        ("and", "Who has a key?", "Ann and Bo.", "Ann or Bo."),
    ])
    for asker in ("Ann", "Bo")
]  # fmt: skip
REFERENCE = (
    "group,word,correct,asked,source\nAdults,all,18,20,invented\nAdults,and,20,20,invented\n"
)


def write_study(folder: Path, *, toml: str = TOML, rows: list | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    lines = [json.dumps(row, ensure_ascii=False) for row in (ROWS if rows is None else rows)]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "reference.csv").write_text(REFERENCE, encoding="utf-8")
    (folder / "README.md").write_text("# A tiny study\n", encoding="utf-8")
    return folder
