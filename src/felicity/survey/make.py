"""Write a survey as a folder that works from a disk, a web server, or `felicity survey serve`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from felicity.errors import FelicityError

DATA = "survey-data.js"
SERVED = "served.js"
PAGE = "index.html"
SCRIPTS = ("words.js", "screens.js", "send.js", "timeline.js", "survey.js")
SHIPPED = (PAGE, "style.css", *SCRIPTS, "vendor/vendor.js", "vendor/LICENSES.txt")
# All that a browser may ask a server for.
PUBLIC = (*SHIPPED, DATA, SERVED)
_START = "const SURVEY = "


def write_survey(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the survey's files; collected answers in the folder stay.

    Raises
    ------
    FelicityError
        Where the folder holds another survey with answers, or cannot be written.
    """
    from felicity.survey.store import ANSWERS

    if (folder / DATA).is_file() and (folder / ANSWERS).is_file():
        there = read_survey(folder)["survey"]
        if there != content["survey"]:
            raise FelicityError(
                f"the folder holds answers to the survey {there}; expected those of "
                f"{content['survey']}, or none",
                where=str(folder),
                hint="choose another folder: answers to two surveys are not to be mixed",
            )
    page = files("felicity.survey").joinpath("page")
    try:
        (folder / "vendor").mkdir(parents=True, exist_ok=True)
        for name in SHIPPED:
            (folder / name).write_bytes(page.joinpath(name).read_bytes())
        # A script, since a page that is opened from a disk may not fetch JSON.
        plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (folder / DATA).write_text(f"{_START}{plain};\n", encoding="utf-8")
        (folder / SERVED).write_text("const SERVED = false;\n", encoding="utf-8")
    except OSError as error:
        raise FelicityError(
            f"the survey cannot be written: {error.strerror}", where=str(folder)
        ) from error


def read_survey(folder: Path) -> dict[str, Any]:
    """Read the content back from a survey's folder.

    Raises
    ------
    FelicityError
        Where it is no such folder.
    """
    path = folder / DATA
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text.removeprefix(_START).rstrip().removesuffix(";"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or not {"survey", "lists", "study"} <= set(content):
        raise FelicityError(
            f"got no {DATA} that can be read; expected the folder of a survey",
            where=str(folder),
            hint="`felicity survey make STUDY --out FOLDER` makes one",
        )
    return content
