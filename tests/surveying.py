"""People who are not there: rows as the page's jsPsych writes them, made of a survey's content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from felicity.study import load_study
from felicity.survey.content import SurveyOptions, survey_content
from felicity.survey.texts import read_texts

from rating_folders import TOML, write_rating_study
from study_folders import write_study

Row = dict[str, Any]
RATING_TOML = TOML.replace('["ask"]', '["scene", "ask"]').replace(
    '["ask", "more"]', '["scene", "ask", "more"]'
)
SURVEY = '\n[survey]\nquestion = "Which is odd, {asker} wonders?"\npick = "weak"\n'


def choice_study(folder: Path, more: str = "") -> Any:
    from study_folders import TOML as CHOICE

    return load_study(write_study(folder, toml=CHOICE + more))


def rating_study(folder: Path, more: str = "", scale_high: int = 7) -> Any:
    toml = RATING_TOML.replace("high = 7", f"high = {scale_high}")
    write_rating_study(folder, toml=toml + more)
    (folder / "prompts" / "scene.txt").write_text("{text} {context} {form}", encoding="utf-8")
    (folder / "prompts" / "ask.txt").write_text("How {attribute}?", encoding="utf-8")
    return load_study(folder)


def content_of(study: Any, **options: Any) -> dict[str, Any]:
    return survey_content(study, SurveyOptions(texts=read_texts("en"), **options))


def visit(
    content: dict[str, Any],
    session: str,
    *,
    number: int = 0,
    participant: str = "",
    answer: Callable[[str], Any],
    stop: int | None = None,
    failed: int = 0,
) -> list[Row]:
    """One session: ``answer`` gives a label (choice) or ratings by attribute of a stimulus."""
    frame = {
        "felicity": 1,
        "survey": content["survey"],
        "study": content["study"],
        "data_hash": content["data_hash"],
        "session": session,
        "participant": participant,
        "list": number,
        "consented": f"2026-11-30T10:00:0{len(session) % 10}.000Z",
        "asked_for": content.get("asked_for", ""),
        "rt": 1500,
    }
    own: list[Row] = []
    for stimulus in content["lists"][number]:
        if content["paradigm"] == "choice":
            labels = list(content["stimuli"][stimulus]["answers"])
            chosen = answer(stimulus)
            own.append({"part": "trial", "item": stimulus, "first": labels[0], "chosen": chosen})
        else:
            own.append({"part": "trial", "scene": stimulus, "ratings": answer(stimulus)})
    for given in ("b" if check < failed else "a" for check in range(2)):
        own += [{"part": "check", "wanted": "a", "given": given}]
    own.append({"part": "end"})
    return [frame | row | {"trial_index": place} for place, row in enumerate(own)][:stop]


def write_json(path: Path, *sessions: Sequence[Row]) -> Path:
    rows = [row for session in sessions for row in session]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A real server in a process of its own, on a free port."""
    words = [sys.executable, "-m", "felicity", "survey", "serve", str(folder), "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), process.stderr.read()
            yield address, process
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=30)


def call(url: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and body of a request; a body makes it a POST of JSON."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} | named)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
