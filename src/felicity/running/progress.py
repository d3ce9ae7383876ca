"""How far a run is, on standard error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from felicity.running.voice import err, note

_bar = threading.Lock()


@contextmanager
def progress_of(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with rate and time left on a terminal, a plain line now and then elsewhere."""
    # A terminal has place for one bar; of runs side by side the others say plain lines.
    if not err.is_terminal or not _bar.acquire(blocking=False):
        yield _PlainProgress(label)
        return
    try:
        with _shown(label) as show:
            yield show
    finally:
        _bar.release()


@contextmanager
def _shown(label: str) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as bar:
        task = bar.add_task(label, total=None, rate="")

        def show(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed:.0f}/s" if speed else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield show


class _PlainProgress:
    """Say how far a run is, at most every ten seconds."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.start: tuple[float, int] | None = None
        self.said = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.start is None:
            self.start = (now, done)
        elif done < total and now - self.said < 10:
            return
        self.said = now
        began, had = self.start
        rate = (done - had) / (now - began) if now > began else 0.0
        left = f", {rate:.0f}/s, {(total - done) / rate:.0f} s left" if rate else ""
        note(f"{self.label}: {done} of {total}{left}")
