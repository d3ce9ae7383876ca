"""Answers that a server collects: one SQLite file, a row durable before the browser is told."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from felicity.errors import RunError
from felicity.journal import Store

ANSWERS = "answers.sqlite"
SCHEMA_VERSION = 101
SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    session     TEXT PRIMARY KEY,
    survey      TEXT NOT NULL,
    participant TEXT NOT NULL,
    list        INTEGER NOT NULL,
    started     TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS answers (
    session     TEXT NOT NULL REFERENCES sessions,
    trial_index INTEGER NOT NULL,
    part        TEXT NOT NULL,
    row         TEXT NOT NULL,
    received    TEXT NOT NULL,
    PRIMARY KEY (session, trial_index)
) STRICT;
"""
END = "end"
# A session that has been open for longer no longer counts for its list.
OPEN_FOR = timedelta(hours=1)


class AnswerStore(Store):
    """The answers to one survey. Rows are only ever added.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AnswerStore(Path(folder) / ANSWERS) as store:
    ...         first, second = (store.open_session("s", name, 2) for name in ("ann", "bo"))
    ...         store.add(first[0], [{"trial_index": 0, "part": "trial"}])
    ...         first[1], second[1], [row["part"] for row in store.rows()]
    (0, 1, ['trial'])
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, schema=SCHEMA, version=SCHEMA_VERSION, read_only=read_only)

    def open_session(
        self, survey: str, participant: str, n_lists: int, *, now: datetime | None = None
    ) -> tuple[str, int]:
        """Begin a session and give it the list that has the fewest.

        A list's sessions are those that came to their end and those begun in the last hour. A
        participant who comes back gets the same list again.

        Returns
        -------
        session, number
            The session's id and its list, from 0.
        """
        now = now or datetime.now(UTC)
        session = secrets.token_hex(16)
        with self._transaction() as db:
            before = db.execute(
                "SELECT list FROM sessions WHERE participant = ? AND participant <> ''"
                " AND list < ? ORDER BY started LIMIT 1",
                (participant, n_lists),
            ).fetchone()
            number = int(before[0]) if before else self._emptiest(n_lists, now)
            db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (session, survey, participant, number, now.isoformat(timespec="seconds")),
            )
        return session, number

    def _emptiest(self, n_lists: int, now: datetime) -> int:
        recent = (now - OPEN_FOR).isoformat(timespec="seconds")
        rows = self._db.execute(
            "SELECT list FROM sessions WHERE started > ? OR session IN"
            " (SELECT session FROM answers WHERE part = ?)",
            (recent, END),
        )
        counts = Counter(int(row[0]) for row in rows)
        return min(range(n_lists), key=lambda number: (counts[number], number))

    def add(self, session: str, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows of a session, all or none; one that is there already is left as it is.

        Raises
        ------
        RunError
            For a session that was never opened, or where the disk is full.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        values = [
            (session, row["trial_index"], row["part"], json.dumps(row, ensure_ascii=False), now)
            for row in rows
        ]
        with self._transaction() as db:
            known = db.execute("SELECT 1 FROM sessions WHERE session = ?", (session,)).fetchone()
            if not known:
                raise RunError("no such session", where=str(self.path))
            db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", values)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all rows, by session in the order of their beginning, then by trial.

        What the store knows of the session itself (id, list, participant) goes before what the
        browser said.
        """
        query = (
            "SELECT s.session, s.survey, s.participant, s.list, a.row FROM sessions s"
            " JOIN answers a USING (session) ORDER BY s.started, s.session, a.trial_index"
        )
        with self._explained():
            for session, survey, participant, number, row in self._db.execute(query):
                yield json.loads(row) | {
                    "session": session,
                    "survey": survey,
                    "participant": participant,
                    "list": number,
                }

    def count(self) -> dict[str, int]:
        """Count sessions begun, sessions with any answer, sessions at their end, and rows."""
        with self._explained():
            query = (
                "SELECT (SELECT count(*) FROM sessions),"
                " (SELECT count(DISTINCT session) FROM answers),"
                " (SELECT count(DISTINCT session) FROM answers WHERE part = ?),"
                " (SELECT count(*) FROM answers)"
            )
            found = self._db.execute(query, (END,)).fetchone()
        names = ("begun", "answered", "complete", "rows")
        return dict(zip(names, map(int, found), strict=True))
