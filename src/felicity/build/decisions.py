"""What people have judged: an append-only SQLite file, a row for each decision.

Several annotators write to one file at once, each blind to the others. A row is never changed or
deleted, which the file itself refuses; undoing is a row of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from felicity.build.wording import TEXTS
from felicity.errors import OptionError, RunError, one_of
from felicity.journal import Store

DECISIONS = "decisions.sqlite"
Kind = Literal["choose", "accept", "edit", "reject", "undo"]
Role = Literal["annotator", "adjudicator"]
Reason = Literal[
    "follower_does_not_follow",
    "violator_does_not_violate",
    "rewording_changes_question",
    "words_too_hard",
    "unnatural",
    "unfit_for_comparison",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES: tuple[Role, ...] = get_args(Role)
REASONS: tuple[Reason, ...] = get_args(Reason)
REASON_WORDS: Mapping[Reason, str] = {
    "follower_does_not_follow": "the follower does not follow",
    "violator_does_not_violate": "the violator does not violate",
    "rewording_changes_question": "a rewording changes the question",
    "words_too_hard": "words too hard",
    "unnatural": "unnatural or ungrammatical",
    "unfit_for_comparison": "unfit for comparing probabilities",
}
ANSWERS = ("follower", "violator")
# Far from the numbers of both journals, so that none opens another's file.
SCHEMA_VERSION = 201
SCHEMA = """
CREATE TABLE IF NOT EXISTS decisions (
    decision    INTEGER PRIMARY KEY,
    annotator   TEXT NOT NULL,
    role        TEXT NOT NULL CHECK (role IN ('annotator', 'adjudicator')),
    dialogue_id TEXT NOT NULL,
    wording     TEXT,
    kind        TEXT NOT NULL CHECK (kind IN ('choose', 'accept', 'edit', 'reject', 'undo')),
    reasons     TEXT NOT NULL,
    comment     TEXT NOT NULL,
    texts       TEXT NOT NULL,
    chosen      TEXT CHECK (chosen IN ('follower', 'violator')),
    shown_first TEXT CHECK (shown_first IN ('follower', 'violator')),
    shown       TEXT NOT NULL,
    undoes      INTEGER REFERENCES decisions,
    created     TEXT NOT NULL,
    CHECK ((kind = 'undo') = (undoes IS NOT NULL)),
    CHECK ((kind = 'choose') = (chosen IS NOT NULL))
) STRICT;
CREATE INDEX IF NOT EXISTS by_dialogue ON decisions (dialogue_id, annotator);
CREATE UNIQUE INDEX IF NOT EXISTS undone_once ON decisions (undoes) WHERE undoes IS NOT NULL;
CREATE TRIGGER IF NOT EXISTS decisions_stay BEFORE UPDATE ON decisions
    BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END;
CREATE TRIGGER IF NOT EXISTS decisions_remain BEFORE DELETE ON decisions
    BEGIN SELECT RAISE(ABORT, 'decisions are never deleted'); END;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One thing that one person has decided.

    Attributes
    ----------
    annotator, role
        Who, and whether as one of several annotators or to settle what they differ about.
    dialogue_id, wording
        About what; a ``wording`` of None is the dialogue as a whole.
    kind
        ``choose`` says which answer was taken to be the violator, blind; ``accept``, ``edit`` and
        ``reject`` judge; ``undo`` takes back the row ``undoes``.
    reasons, comment
        Why it was rejected; anything in words.
    texts
        Of an edit: the fields of `TEXTS` that change, with their new text. An edited answer
        holds for all wordings of the dialogue.
    chosen
        Of a choice: the answer that was taken to be the violator.
    shown_first
        Which answer stood first on the screen.
    shown
        The digest of what was judged (`shown_digest`): where a text changes later, the decision
        is no longer about it.
    number, created
        Given by the file.
    """

    annotator: str
    dialogue_id: str
    kind: Kind
    shown: str
    wording: str | None = None
    role: Role = "annotator"
    reasons: tuple[Reason, ...] = ()
    comment: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    chosen: str | None = None
    shown_first: str | None = None
    undoes: int | None = None
    number: int | None = None
    created: str | None = None

    @property
    def judges(self) -> bool:
        """Whether it accepts, edits or rejects."""
        return self.kind in ("accept", "edit", "reject")


class DecisionStore(Store):
    """The decisions on one set.

    Examples
    --------
    >>> import tempfile
    >>> made = Decision(annotator="ann", dialogue_id="quality-01-1", kind="accept", shown="3f")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with DecisionStore(Path(folder) / DECISIONS) as store:
    ...         number = store.add(made)
    ...         undone = store.undo(number, "ann")
    ...         [decision.kind for decision in store.decisions()], len(store.current())
    (['accept', 'undo'], 0)
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, schema=SCHEMA, version=SCHEMA_VERSION, read_only=read_only)

    def add(self, decision: Decision) -> int:
        """Add a decision, durable when it returns; return its number.

        Raises
        ------
        OptionError
            For a decision that makes no sense.
        RunError
            Where it cannot be written, or undoes what is undone already.
        """
        check_decision(decision)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = (
            decision.annotator.strip(),
            decision.role,
            decision.dialogue_id,
            decision.wording,
            decision.kind,
            json.dumps(decision.reasons),
            decision.comment,
            json.dumps(dict(decision.texts), ensure_ascii=False),
            decision.chosen,
            decision.shown_first,
            decision.shown,
            decision.undoes,
            now,
        )
        with self._transaction() as db:
            marks = ", ".join("?" * len(row))
            cursor = db.execute(f"INSERT INTO decisions VALUES (NULL, {marks})", row)
            return int(cursor.lastrowid or 0)

    def undo(self, number: int, annotator: str) -> int:
        """Take back a decision of the same annotator by a row of its own; return its number.

        Raises
        ------
        RunError
            Where there is none of this number, it is another's, or is undone already.
        """
        found = next((d for d in self.decisions() if d.number == number), None)
        if found is None or found.annotator != annotator.strip() or found.kind == "undo":
            raise RunError(
                f"there is no decision {number} of {annotator} to undo", where=str(self.path)
            )
        return self.add(
            Decision(
                annotator=annotator,
                role=found.role,
                dialogue_id=found.dialogue_id,
                wording=found.wording,
                kind="undo",
                shown=found.shown,
                undoes=number,
            )
        )

    def decisions(self, annotator: str | None = None) -> list[Decision]:
        """Return every row, oldest first; with ``annotator`` only theirs."""
        where, given = ("WHERE annotator = ?", (annotator,)) if annotator else ("", ())
        query = f"SELECT * FROM decisions {where} ORDER BY decision"
        with self._explained():
            return [_decision(row) for row in self._db.execute(query, given)]

    def current(self, annotator: str | None = None) -> list[Decision]:
        """Return what holds, as `current_decisions` does."""
        return current_decisions(self.decisions(annotator))


def current_decisions(decisions: Sequence[Decision]) -> list[Decision]:
    """Return what holds: the last judgement, and the first choice, that is not undone.

    One of each for an annotator, role, dialogue and wording. The first choice counts, since a
    second one is made by somebody who has seen the answer.
    """
    undone = {decision.undoes for decision in decisions if decision.kind == "undo"}
    held: dict[tuple[object, ...], Decision] = {}
    for decision in decisions:
        if decision.kind == "undo":
            continue
        place = (decision.annotator, decision.role, decision.dialogue_id, decision.wording)
        if decision.kind == "choose":
            # An undone choice was made all the same, and blind; the next is not.
            held.setdefault((*place, "choice"), decision)
        elif decision.number not in undone:
            held[(*place, "judgement")] = decision
    return list(held.values())


def read_decisions(folder: Path) -> list[Decision]:
    """Return every decision on the set in a folder, oldest first; none where nobody has judged."""
    path = folder / DECISIONS
    if not path.is_file():
        return []
    with DecisionStore(path, read_only=True) as store:
        return store.decisions()


def check_decision(decision: Decision) -> None:
    """Refuse a decision that makes no sense.

    Raises
    ------
    OptionError
        Naming the field, what was got and what is allowed.
    """
    choosing, editing = decision.kind == "choose", decision.kind == "edit"
    tests: Iterable[tuple[bool, str, object, str]] = (
        (bool(decision.annotator.strip()), "annotator", decision.annotator, "a name"),
        (bool(decision.dialogue_id), "dialogue_id", decision.dialogue_id, "a dialogue"),
        (decision.kind in KINDS, "kind", decision.kind, one_of(KINDS)),
        (decision.role in ROLES, "role", decision.role, one_of(ROLES)),
        (set(decision.reasons) <= {*REASONS}, "reasons", decision.reasons, one_of(REASONS)),
        (
            bool(decision.reasons) == (decision.kind == "reject"),
            "reasons",
            list(decision.reasons),
            "one or more for reject, none for anything else",
        ),
        (
            decision.chosen in ANSWERS if choosing else decision.chosen is None,
            "chosen",
            decision.chosen,
            "follower or violator for choose, nothing for anything else",
        ),
        (
            decision.shown_first in (*ANSWERS, None),
            "shown_first",
            decision.shown_first,
            one_of(ANSWERS),
        ),
        (
            bool(decision.texts) == editing and set(decision.texts) <= {*TEXTS},
            "texts",
            sorted(decision.texts),
            f"{one_of(TEXTS)} for edit, nothing for anything else",
        ),
        (
            all(isinstance(t, str) and t.strip() for t in decision.texts.values()),
            "texts",
            list(decision.texts.values()),
            "texts that are not empty",
        ),
        (
            (decision.undoes is not None) == (decision.kind == "undo"),
            "undoes",
            decision.undoes,
            "a decision's number for undo, nothing for anything else",
        ),
    )
    for right, name, got, allowed in tests:
        if not right:
            raise OptionError(f'got "{got}"; expected {allowed}', where=f"decision, {name}")


def _decision(row: Sequence[object]) -> Decision:
    names = (
        *("number", "annotator", "role", "dialogue_id", "wording", "kind", "reasons", "comment"),
        *("texts", "chosen", "shown_first", "shown", "undoes", "created"),
    )
    cells: dict[str, Any] = dict(zip(names, row, strict=True))
    cells["reasons"] = tuple(json.loads(str(cells["reasons"])))
    cells["texts"] = json.loads(str(cells["texts"]))
    return Decision(**cells)
