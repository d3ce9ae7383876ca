"""What became of each try at a run: a small file that only grows.

Whether a run is done is never read from here but from its own folder. The log knows what a folder
cannot: that a model did not load, and why.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from felicity.errors import RunError

Event = Literal["started", "ended", "failed"]
LOG = "experiment.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the log. ``reason`` says why a try failed, or ended before all was asked."""

    task: str
    event: Event
    time: str
    reason: str = ""


class Log:
    """The log of one experiment.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Log(Path(folder))
    ...     log.add("study/model", "failed", "no such file")
    ...     log.last()["study/model"].reason
    'no such file'
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        # Runs of several models may be at work at once.
        self._lock = threading.Lock()

    def add(self, task: str, event: Event, reason: str = "") -> None:
        """Add a line.

        Raises
        ------
        RunError
            Where it cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = Entry(task=task, event=event, time=now, reason=reason)
        try:
            # A line that a kill cut short must not swallow this one.
            written = self.path.read_bytes() if self.path.is_file() else b""
            with self._lock, self.path.open("a", encoding="utf-8") as stream:
                stream.write("\n" if written and not written.endswith(b"\n") else "")
                stream.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
        except OSError as error:
            raise RunError(
                f"cannot be written: {error.strerror}", where=str(self.path), hint="make room"
            ) from error

    def last(self) -> dict[str, Entry]:
        """Return the last line of each task, in the order in which they were written."""
        found: dict[str, Entry] = {}
        for entry in self.entries():
            found.pop(entry.task, None)
            found[entry.task] = entry
        return found

    def entries(self) -> list[Entry]:
        """Return all lines, oldest first; one that a kill cut short is left out."""
        if not self.path.is_file():
            return []
        entries = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                entries.append(Entry(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return entries
