"""What the server does: read a set as it stands, add decisions and texts to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from felicity.build.adding import add_rows
from felicity.build.checks import run_checks
from felicity.build.checks.table import problems_of
from felicity.build.curation.margins import Margins, read_margins
from felicity.build.curation.views import (
    Desk,
    Findings,
    Person,
    order_for,
    overview,
    own_decisions,
    reading_order,
    sheet,
    told_of,
)
from felicity.build.decisions import (
    DECISIONS,
    ROLES,
    Decision,
    DecisionStore,
    Kind,
    Reason,
    read_decisions,
)
from felicity.build.folder import DIALOGUES, TEMPLATES, BuildFolder, read_build
from felicity.build.plan import PLAN
from felicity.build.wording import ORIGINAL, TEXTS
from felicity.errors import FelicityError, OptionError, one_of
from felicity.study import BUILT_IN

LONGEST_NAME = 80
_DIGEST = re.compile(r"[0-9a-f]{12}")


class ConflictError(FelicityError):
    """What was asked does not fit what the set has become; the page is to look again."""


class Office:
    """One set, open for judging.

    Parameters
    ----------
    folder
        The build folder.
    annotator
        Whose page it is; None lets the page ask.
    run
        A scored run, whose margins are shown once an annotator has chosen.
    seed
        Of the orders in which dialogues and answers are shown.

    Raises
    ------
    FelicityError
        Where there is no set, or it cannot be written to, or the run is of another.
    """

    def __init__(
        self, folder: Path, *, annotator: str | None = None, run: Path | None = None, seed: int = 0
    ) -> None:
        self._build = read_build(folder)
        self.folder = self._build.folder
        if self.folder.parent == BUILT_IN:
            raise FelicityError(
                "a built-in set is not judged in place",
                where=str(folder),
                hint=f"copy {self.folder} to a folder of yours and curate that",
            )
        self.annotator = None if annotator is None else _name(annotator)
        self.seed, self._run = seed, run
        self._margins: Margins | None = read_margins(self._build, run) if run else None
        self._stamp = self._look()
        self._findings: Findings | None = None
        # Makes the file, so that a folder that cannot be written to is known at once.
        with DecisionStore(self.folder / DECISIONS):
            pass

    def desk(self) -> Desk:
        """Read the set as it stands; checks are run again where texts have changed."""
        stamp = self._look()
        if stamp != self._stamp:
            self._build, self._stamp, self._findings = read_build(self.folder), stamp, None
        if self._findings is None:
            checked = run_checks(self._build, self._run) if self._build.wordings else []
            self._findings = problems_of(checked)
        return Desk(
            build=self._build,
            decisions=tuple(read_decisions(self.folder)),
            findings=self._findings,
            margins=self._margins,
            seed=self.seed,
        )

    def person(self, given: Mapping[str, Any]) -> Person:
        """Read who asks.

        Raises
        ------
        OptionError
            For no name, a name that is none, or another than the page is for.
        """
        name = _name(given.get("annotator") or self.annotator or "")
        if self.annotator not in (None, name):
            raise OptionError(f'got "{name}"; expected {self.annotator}', where="annotator")
        role = given.get("role") or "annotator"
        if role not in ROLES:
            raise OptionError(f'got "{role}"; expected {one_of(ROLES)}', where="role")
        return Person(name=name, role=role)

    def show(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the overview, and the sheet of a dialogue where one is named.

        Before the page knows who sits there, the overview is None.
        """
        if not (given.get("annotator") or self.annotator):
            return {"overview": None}
        return self._shown(self.desk(), self.person(given), given.get("dialogue"))

    def decide(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Add a decision; return how things stand then, and what had come between.

        Nothing is lost where two tabs decide about one dialogue: both rows are kept, the later
        holds, and ``between`` tells its page of those that it had not seen.
        """
        desk, person = self.desk(), self.person(given)
        dialogue = self._dialogue(desk.build, given)
        decision = self._decision(desk, person, dialogue, given)
        with DecisionStore(self.folder / DECISIONS) as store:
            number = store.add(decision)
        after = self.desk()
        seen = given.get("seen")
        between = [
            d.number
            for d in own_decisions(after, person)
            if d.dialogue_id == dialogue and seen is not None and int(seen) < (d.number or 0)
        ]
        between.remove(number) if number in between else None
        return self._shown(after, person, dialogue) | {"number": number, "between": between}

    def undo(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Take back one of a person's own judgements.

        Raises
        ------
        ConflictError
            Where there is no such judgement, or it was taken back already.
        """
        person = self.person(given)
        mine = own_decisions(self.desk(), person)
        undone = {decision.undoes for decision in mine}
        found = next((d for d in mine if d.number == given.get("number")), None)
        if found is None or not found.judges or found.number in undone:
            raise ConflictError("there is nothing of yours to undo there", where="undo")
        with DecisionStore(self.folder / DECISIONS) as store:
            store.undo(cast("int", found.number), person.name)
        return self._shown(self.desk(), person, found.dialogue_id)

    def write(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Add a dialogue or a rewording that a person has typed."""
        person = self.person(given)
        allowed = ("maxim", "template_id", "dialogue_id", *TEXTS)
        row = {name: _text(given, name) for name in allowed if _text(given, name).strip()}
        added = add_rows(self.folder, [(1, row)], "form", person.name)
        desk = self.desk()
        return self._shown(desk, person, None) | {
            "added": [{"dialogue": x.dialogue_id, "wording": x.wording} for x in added],
            "checks": [
                {"check": result.name, "wording": value.wording, "problem": value.problem}
                for line in added
                for result, value in desk.findings.get(line.dialogue_id, ())
            ],
        }

    def _look(self) -> tuple[tuple[int, int], ...]:
        paths = [self.folder / name for name in (PLAN, DIALOGUES, TEMPLATES)]
        stats = [path.stat() for path in paths if path.exists()]
        return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)

    def _shown(self, desk: Desk, person: Person, dialogue: object) -> dict[str, Any]:
        shown: dict[str, Any] = {"overview": overview(desk, person)}
        if dialogue in {line.dialogue_id for line in desk.build.originals}:
            dialogue_id = str(dialogue)
            if person.role == "annotator" or dialogue_id in reading_order(desk, person):
                shown["sheet"] = sheet(desk, person, dialogue_id)
        return shown

    def _dialogue(self, build: BuildFolder, given: Mapping[str, Any]) -> str:
        name = given.get("dialogue")
        if name not in {line.dialogue_id for line in build.originals}:
            raise OptionError(f'got "{name}"; expected a dialogue of the set', where="dialogue")
        return str(name)

    def _decision(
        self, desk: Desk, person: Person, dialogue: str, given: Mapping[str, Any]
    ) -> Decision:
        order, kind = order_for(desk, person, dialogue), _text(given, "kind")
        choosing = kind == "choose"
        if person.role == "adjudicator" and (
            choosing or dialogue not in reading_order(desk, person)
        ):
            raise ConflictError("there is nothing to settle there", where=dialogue)
        if not choosing and dialogue not in told_of(desk, person):
            raise ConflictError(
                "judged before the violator was chosen", where=dialogue, hint="choose first"
            )
        shown = _text(given, "shown")
        if not _DIGEST.fullmatch(shown):
            raise OptionError(f'got "{shown}"; expected what the page was given', where="shown")
        wording = given.get("wording")
        lines = {line.wording: line for line in desk.build.of_dialogue(dialogue)}
        if wording is not None and wording not in lines:
            raise OptionError(f'got "{wording}"; expected {one_of(lines)}', where="wording")
        place = given.get("chosen")
        if choosing and place not in (0, 1):
            raise OptionError(f'got "{place}"; expected 0 or 1', where="chosen")
        line = lines[ORIGINAL if wording is None else wording]
        return Decision(
            annotator=person.name,
            role=person.role,
            dialogue_id=dialogue,
            wording=None if choosing else wording,
            kind=cast("Kind", kind),
            shown=shown,
            reasons=cast("tuple[Reason, ...]", tuple(_list(given, "reasons"))),
            comment=_text(given, "comment"),
            texts=_changes(given, line.texts) if kind == "edit" else {},
            chosen=order[cast("int", place)] if choosing else None,
            shown_first=order[0] if person.role == "annotator" else None,
        )


def _changes(given: Mapping[str, Any], before: Mapping[str, str]) -> dict[str, str]:
    texts = given.get("texts")
    if not isinstance(texts, dict) or not {*texts} <= {*TEXTS}:
        raise OptionError(f"got {texts}; expected {one_of(TEXTS)}", where="texts")
    clean = {name: " ".join(_text(texts, name).split()) for name in texts}
    empty = [name for name, text in clean.items() if not text]
    if empty:
        raise OptionError("got nothing; expected a text", where=", ".join(empty))
    changed = {name: text for name, text in clean.items() if text != before[name]}
    if not changed:
        raise OptionError("nothing is changed", where="edit", hint="accept it as it is")
    final = {**before, **changed}
    if final["follower"] == final["violator"]:
        raise OptionError("both answers are the same", where="edit")
    return changed


def _name(given: object) -> str:
    name = " ".join(given.split()) if isinstance(given, str) else ""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise OptionError(
            f'got "{name[:LONGEST_NAME]}"; expected a name of 1 to {LONGEST_NAME} letters',
            where="annotator",
        )
    return name


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise OptionError(f"got {value}; expected a text", where=name)
    # What no file can hold as UTF-8 is marked, not refused.
    return value.encode("utf-8", "replace").decode("utf-8")


def _list(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name) or []
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise OptionError(f"got {value}; expected a list of texts", where=name)
    return value
