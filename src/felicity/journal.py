"""The append-only store of one run: cache, resume and audit trail at once (SQLite)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from felicity.errors import RunError
from felicity.types import Response, TokenScores

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    trial_id TEXT PRIMARY KEY,
    key      TEXT NOT NULL,
    status   TEXT NOT NULL,
    scores   TEXT NOT NULL,
    baseline TEXT,
    created  TEXT NOT NULL
) STRICT;
"""


ASKED = "CREATE TABLE IF NOT EXISTS asked (trial_id TEXT PRIMARY KEY) STRICT;"


class Store:
    """An SQLite file in WAL mode with one schema; its errors are `RunError`.

    Parameters
    ----------
    path
        The file; made where it is not there, unless ``read_only``.
    schema, version
        Its tables, and the number that tells them from those of another kind or time.
    read_only
        Open what is there and change nothing.
    """

    def __init__(self, path: Path, *, schema: str, version: int, read_only: bool = False) -> None:
        self.path = path
        with self._explained():
            if read_only:
                self._db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
            else:
                self._db = sqlite3.connect(path, isolation_level=None)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
            found = int(self._db.execute("PRAGMA user_version").fetchone()[0])
            if found not in (0, version):
                self._db.close()
                raise RunError(
                    f"journal schema {found}; this Felicity reads {version}",
                    where=str(path),
                    hint="use the version of Felicity that wrote it, or a new run folder",
                )
            if not read_only:
                self._db.executescript(ASKED + schema)
                self._db.execute(f"PRAGMA user_version={version}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def ask(self, trial_ids: Iterable[str]) -> int:
        """Note what a sitting asks; return how many trials all sittings so far have asked."""
        with self._transaction() as db:
            db.executemany("INSERT OR IGNORE INTO asked VALUES (?)", ((i,) for i in trial_ids))
            return int(db.execute("SELECT count(*) FROM asked").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or none of what is written within, durable at the end."""
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise RunError(f"a response is there already: {error}", where=str(self.path)) from error
        except sqlite3.DatabaseError as error:
            raise RunError(
                f"the journal cannot be used: {error}", where=str(self.path), hint=_hint(error)
            ) from error


class Journal(Store):
    """One run's responses on disk. Rows are only ever added.

    A batch is added in one transaction and is durable when `add` returns: a process that is
    killed loses at most the batch that it was working on.

    Examples
    --------
    >>> import tempfile
    >>> scores = TokenScores(token_ids=(7,), tokens=("a",), log_probs=(-0.5,))
    >>> row = Response(trial_id="i1|follower", key="k", status="ok", scores=scores, baseline=None)
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "j.sqlite") as journal:
    ...     journal.add([row])
    ...     [response.scores.log_probs for response in journal]
    [(-0.5,)]
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, schema=SCHEMA, version=SCHEMA_VERSION, read_only=read_only)

    def keys(self) -> dict[str, str]:
        """Map each trial that has a response to the key of that response."""
        with self._explained():
            return dict(self._db.execute("SELECT trial_id, key FROM responses").fetchall())

    def add(self, responses: Iterable[Response]) -> None:
        """Add responses, all or none.

        Raises
        ------
        RunError
            Where the disk is full, the folder read-only, or a trial has a response already.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            (r.trial_id, r.key, r.status, _dump(r.scores), r.baseline and _dump(r.baseline), now)
            for r in responses
        ]
        with self._transaction() as db:
            db.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?)", rows)

    def __iter__(self) -> Iterator[Response]:
        """Yield all responses by trial."""
        query = "SELECT trial_id, key, status, scores, baseline FROM responses ORDER BY trial_id"
        with self._explained():
            for trial_id, key, status, scores, baseline in self._db.execute(query):
                yield Response(
                    trial_id=trial_id,
                    key=key,
                    status=status,
                    scores=_load(scores),
                    baseline=_load(baseline) if baseline else None,
                )


def _hint(error: sqlite3.DatabaseError) -> str:
    text = str(error)
    if "full" in text:
        return "the disk is full; make room and run again: what is in the journal stays"
    if "readonly" in text or "unable to open" in text:
        return "the folder cannot be written to; choose another with --out"
    if "locked" in text:
        return "another run is writing to this folder; wait for it or choose another with --out"
    if "not a database" in text or "malformed" in text:
        return "the file is damaged; keep it for inspection and choose another folder with --out"
    return "see the message above"


def _dump(scores: TokenScores) -> str:
    return json.dumps(
        {
            "token_ids": scores.token_ids,
            "tokens": scores.tokens,
            "log_probs": scores.log_probs,
            "straddles": scores.straddles,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _load(text: str) -> TokenScores:
    fields = json.loads(text)
    return TokenScores(
        token_ids=tuple(fields["token_ids"]),
        tokens=tuple(fields["tokens"]),
        log_probs=tuple(fields["log_probs"]),
        straddles=fields["straddles"],
    )
