"""Replies that come in close together are made durable by one write to disk."""

from __future__ import annotations

import asyncio

from felicity.rating.journal import ReplyJournal
from felicity.rating.records import Attempt

# Short beside any reply over a network, long enough for several to come in.
GATHER_SECONDS = 0.02


class Writer:
    """Writes attempts into a journal, those of a few milliseconds together.

    The wait for the disk is most of the journal's cost: shared, it is paid once for many replies.
    `add` returns when its attempt is durable. Where no request is open nothing more can come in, so
    nothing is waited for: a model that is asked one question at a time loses no time.
    """

    def __init__(self, journal: ReplyJournal) -> None:
        self._journal = journal
        self._waiting: list[Attempt] = []
        self._written: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def add(self, attempt: Attempt, *, others_open: int) -> None:
        """Add an attempt; ``others_open`` counts the requests that are still under way.

        Raises
        ------
        RunError
            Where the attempts that were written together cannot be.
        """
        loop = asyncio.get_running_loop()
        self._waiting.append(attempt)
        if self._written is None or self._timer is None:
            self._written = loop.create_future()
            self._timer = loop.call_later(GATHER_SECONDS, self._write)
        written = self._written
        if not others_open:
            self._timer.cancel()
            self._write()
        await written

    def _write(self) -> None:
        attempts, written = self._waiting, self._written
        self._waiting, self._written, self._timer = [], None, None
        assert written is not None  # set with the first that waits
        try:
            self._journal.add(attempts)
        except Exception as error:  # raised in everyone who waits for this write
            written.set_exception(error)
        else:
            written.set_result(None)
