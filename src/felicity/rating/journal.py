"""The append-only store of one rating run's replies: cache, resume and audit trail (SQLite)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from felicity.errors import RunError
from felicity.journal import Store
from felicity.rating.records import (
    Attempt,
    Known,
    ParsedReply,
    Row,
    as_json,
    messages_json,
    read_messages,
    read_sampling,
    read_scale,
    storable,
)
from felicity.types import Reply, Sampling

# Far from the numbers of the choice studies' journal, so that neither opens the other's file.
SCHEMA_VERSION = 101
SCHEMA = """
CREATE TABLE IF NOT EXISTS prompts (
    prompt   TEXT PRIMARY KEY,
    messages TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS replies (
    reply           INTEGER PRIMARY KEY,
    trial_id        TEXT NOT NULL,
    item_id         TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    prompting       TEXT NOT NULL,
    repeat          INTEGER NOT NULL,
    turn            INTEGER NOT NULL,
    key             TEXT NOT NULL,
    prompt          TEXT NOT NULL REFERENCES prompts,
    scale           TEXT NOT NULL,
    requested       TEXT NOT NULL,
    effective       TEXT NOT NULL,
    final           INTEGER NOT NULL,
    text            TEXT NOT NULL,
    reasoning       TEXT,
    finish          TEXT NOT NULL,
    model_id        TEXT,
    tokens_in       INTEGER,
    tokens_out      INTEGER,
    seconds         REAL NOT NULL,
    error           TEXT,
    created         TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS one_final ON replies (trial_id) WHERE final = 1;
CREATE INDEX IF NOT EXISTS by_trial ON replies (trial_id);
CREATE TRIGGER IF NOT EXISTS replies_stay BEFORE UPDATE ON replies
    BEGIN SELECT RAISE(ABORT, 'replies are never changed'); END;
CREATE TRIGGER IF NOT EXISTS replies_remain BEFORE DELETE ON replies
    BEGIN SELECT RAISE(ABORT, 'replies are never deleted'); END;
CREATE TABLE IF NOT EXISTS parsed (
    reply   INTEGER PRIMARY KEY REFERENCES replies,
    value   REAL,
    status  TEXT NOT NULL,
    span    TEXT,
    version TEXT NOT NULL
) STRICT;
"""


class ReplyJournal(Store):
    """One rating run's replies on disk.

    Every attempt is a row, durable when `add` returns, and is never changed or deleted: the file
    itself refuses that. A trial has one final reply at most. Parsed values lie in a table of their
    own, which can be thrown away and made again.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        if read_only and not path.is_file():
            raise RunError("no journal here", where=str(path.parent))
        super().__init__(path, schema=SCHEMA, version=SCHEMA_VERSION, read_only=read_only)

    def add(self, attempts: Iterable[Attempt]) -> None:
        """Add attempts, all or none.

        Raises
        ------
        RunError
            Where the disk is full, the folder read-only, or a trial has a final reply already.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.add_collected((attempt, now) for attempt in attempts)

    def add_collected(self, attempts: Iterable[tuple[Attempt, str]]) -> None:
        """Add replies that were collected elsewhere, each with its time; all or none.

        Raises
        ------
        RunError
            As for `add`.
        """
        rows = [_cells(attempt, created) for attempt, created in attempts]
        marks = ", ".join("?" * len(rows[0][1])) if rows else ""
        with self._transaction() as db:
            for prompt, row in rows:
                db.execute("INSERT OR IGNORE INTO prompts VALUES (?, ?)", prompt)
                db.execute(f"INSERT INTO replies VALUES (NULL, {marks})", row)

    def known(self) -> dict[str, Known]:
        """Map each trial with a final reply to what a run must know of it."""
        query = "SELECT trial_id, key, effective, text FROM replies WHERE final = 1"
        with self._explained():
            return {
                trial_id: Known(key=key, effective=read_sampling(effective), text=text)
                for trial_id, key, effective, text in self._db.execute(query)
            }

    def usages(self) -> list[tuple[int, int]]:
        """Return tokens in and out of every final reply; a guess where not reported."""
        query = """
            SELECT COALESCE(tokens_in, LENGTH(messages) / 4),
                   COALESCE(tokens_out, (LENGTH(text) + LENGTH(COALESCE(reasoning, ''))) / 4)
            FROM replies JOIN prompts USING (prompt) WHERE final = 1"""
        with self._explained():
            return self._db.execute(query).fetchall()

    def statuses(self) -> Counter[str]:
        """Count the statuses of parsed replies."""
        with self._explained():
            return Counter(
                dict(self._db.execute("SELECT status, COUNT(*) FROM parsed GROUP BY 1").fetchall())
            )

    def samplings(self) -> list[tuple[Sampling, Sampling, int]]:
        """Return requested and effective sampling of the final replies, each with a count."""
        query = "SELECT requested, effective, COUNT(*) FROM replies WHERE final = 1 GROUP BY 1, 2"
        with self._explained():
            rows = self._db.execute(query).fetchall()
        return [
            (read_sampling(requested), read_sampling(effective), count)
            for requested, effective, count in rows
        ]

    def rows(self, *, unparsed_by: str | None = None) -> Iterator[Row]:
        """Yield every attempt by trial, oldest first.

        With ``unparsed_by``, only final replies that this version of the parser has not seen.
        """
        where = ""
        given: tuple[str, ...] = ()
        if unparsed_by is not None:
            where = "WHERE final = 1 AND (version IS NULL OR version != ?)"
            given = (unparsed_by,)
        query = f"""
            SELECT replies.*, messages, value, status, span, version
            FROM replies JOIN prompts USING (prompt) LEFT JOIN parsed USING (reply)
            {where} ORDER BY trial_id, reply"""
        with self._explained():
            cursor = self._db.execute(query, given)
            names = [column[0] for column in cursor.description]
            for values in cursor:
                yield _row(dict(zip(names, values, strict=True)))

    def store_parsed(self, parsed: Iterable[ParsedReply]) -> None:
        """Add parsed values, in place of those of another version."""
        rows = [
            (p.number, p.value, p.status, p.span and json.dumps(p.span), p.version) for p in parsed
        ]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO parsed VALUES (?, ?, ?, ?, ?)", rows)

    def clear_parsed(self) -> None:
        """Throw all parsed values away; the replies stay."""
        with self._transaction() as db:
            db.execute("DELETE FROM parsed")


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Keep a second run out of the folder, so that it pays for nothing twice.

    The lock is SQLite's own, which holds on every system and ends with the process.

    Raises
    ------
    RunError
        Where another run is in the folder.
    """
    path = folder / "run.lock"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise RunError(
                f"the folder cannot be locked: {error}",
                where=str(path),
                hint="another run is writing to it; wait for that or choose another with --out",
            ) from error
        yield


def _cells(attempt: Attempt, created: str) -> tuple[tuple[str, str], tuple[Any, ...]]:
    """Return the rows of an attempt: its prompt with a hash of it, and the reply."""
    reply, messages = attempt.reply, messages_json(attempt.messages)
    prompt = hashlib.blake2b(messages.encode(), digest_size=16).hexdigest()
    row = (
        attempt.trial_id,
        attempt.item_id,
        attempt.conversation_id,
        attempt.prompting,
        attempt.repeat,
        attempt.turn,
        attempt.key,
        prompt,
        as_json(attempt.scale),
        as_json(attempt.requested),
        as_json(reply.effective),
        int(attempt.final),
        storable(reply.text),
        reply.reasoning and storable(reply.reasoning),
        reply.finish,
        reply.model_id,
        reply.tokens_in,
        reply.tokens_out,
        reply.seconds,
        reply.error and storable(reply.error),
        created,
    )
    return (prompt, messages), row


def _row(cells: Mapping[str, Any]) -> Row:
    reply = Reply(
        effective=read_sampling(cells["effective"]),
        **{name: cells[name] for name in Reply.__dataclass_fields__ if name != "effective"},
    )
    attempt = Attempt(
        messages=read_messages(cells["messages"]),
        scale=read_scale(cells["scale"]),
        requested=read_sampling(cells["requested"]),
        reply=reply,
        trial_id=cells["trial_id"],
        item_id=cells["item_id"],
        conversation_id=cells["conversation_id"],
        prompting=cells["prompting"],
        repeat=cells["repeat"],
        turn=cells["turn"],
        key=cells["key"],
    )
    return Row(
        number=cells["reply"],
        created=cells["created"],
        attempt=attempt,
        value=cells["value"],
        status=cells["status"],
        span=_span(cells["span"]),
        parser_version=cells["version"],
    )


def _span(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    start, end = json.loads(text)
    return start, end
