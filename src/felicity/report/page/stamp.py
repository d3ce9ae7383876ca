"""What tells whether a page still shows its runs as they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from felicity.given_scores import FILE as GIVEN
from felicity.rating.run import JOURNAL, RatingRun
from felicity.runner import Run

PAGE = "report.html"
_HEAD = 4096


def page_stamp(runs: Sequence[Run | RatingRun]) -> str:
    """Hash which runs they are, what is in them, and what makes the page."""
    return stamp_of([run.folder for run in runs])


def stamp_of(folders: Sequence[Path]) -> str:
    """Hash the runs in these folders as they lie there now."""
    parts: list[object] = [version("felicity"), *map(_state, folders)]
    page = files("felicity.report.page")
    parts += [page.joinpath(name).read_text("utf-8") for name in ("page.html", "style.css")]
    script = page.joinpath("script")
    ours = sorted(script.iterdir(), key=lambda each: each.name)
    parts += [each.read_text("utf-8") for each in ours if each.name.endswith(".js")]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _state(folder: Path) -> list[object]:
    """Say what changes when a run goes on or its replies are parsed anew."""
    state: list[object] = [str(folder.resolve())]
    for name in ("run.json", JOURNAL, f"{JOURNAL}-wal", GIVEN):
        path = folder / name
        # An empty log is left behind by whoever only reads.
        if path.is_file() and path.stat().st_size:
            state += [name, path.stat().st_size, path.stat().st_mtime_ns]
    return state


def is_page_of(folders: Sequence[Path], path: Path) -> bool:
    """Say whether a page shows these runs, in this order, as they lie there now."""
    if not path.is_file():
        return False
    with path.open(encoding="utf-8") as page:
        return f'content="{stamp_of(folders)}"' in page.read(_HEAD)
