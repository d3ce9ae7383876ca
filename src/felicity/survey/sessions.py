"""From rows to sessions: check every row against the study, and gather each session's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from felicity.errors import Fault
from felicity.rating.study import RatingStudy
from felicity.study import Study
from felicity.survey.content import FORMAT
from felicity.survey.rows import Row
from felicity.types import Scale

PARTS = ("trial", "check", "about", "end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer to one item: the label shown first, the one chosen, and whether it is right."""

    item_id: str
    first: str
    chosen: str
    correct: bool
    place: int
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneRatings:
    """The ratings of one scene, by attribute."""

    scene_id: str
    ratings: Mapping[str, int]
    place: int
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One visit of one participant, complete or not.

    Attributes
    ----------
    participant
        The id that came with the address; the session's own where none did.
    number
        Of the list.
    started
        When consent was given, as the browser said it.
    complete
        Whether the last page was reached.
    failed, checked
        Attention checks that were failed, of those that were reached.
    about
        Answers on oneself.
    choices, scenes
        The answers; one of the two is empty, by paradigm.
    """

    session: str
    participant: str
    number: int
    survey: str
    started: str
    complete: bool
    failed: int
    checked: int
    about: Mapping[str, str]
    choices: tuple[Choice, ...] = ()
    scenes: tuple[SceneRatings, ...] = ()

    @property
    def answers(self) -> int:
        """How many trials were answered."""
        return len(self.choices) + len(self.scenes)


def gather_sessions(
    rows: Sequence[Row], study: Study | RatingStudy
) -> tuple[tuple[Session, ...], list[Fault]]:
    """Check rows and put them together by session; the same row twice counts once.

    Returns
    -------
    sessions, faults
        In the order in which they began; and everything that does not fit the study.
    """
    faults: list[Fault] = []
    grouped: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        index = _check_frame(row, study, faults)
        if index is None:
            continue
        there = grouped[str(row.values["session"])].setdefault(index, row)
        if _core(there) != _core(row):
            got = f"another row {index} of {row.values['session']} than in {there.file}"
            faults.append(_fault(row, "trial_index", got, "each row of a session once"))
    check = _Checker(study, faults)
    sessions = [check.session(name, [own[i] for i in sorted(own)]) for name, own in grouped.items()]
    return tuple(sorted(sessions, key=lambda each: (each.started, each.session))), faults


def _fault(row: Row, field: str, got: object, allowed: str) -> Fault:
    shown = f"{row.file} row {row.place}"
    return Fault(file=shown, field=field, got=str(got)[:80], allowed=allowed)


def _core(row: Row) -> tuple[str, ...]:
    """Return what makes a row the same in JSON and CSV."""
    names = ("part", "item", "scene", "first", "chosen", "wanted", "given")
    ratings = row.values.get("ratings")
    numbers = sorted(f"{k}={v}" for k, v in ratings.items()) if isinstance(ratings, dict) else []
    return (*(str(row.values.get(name, "")) for name in names), *numbers)


def _check_frame(row: Row, study: Study | RatingStudy, faults: list[Fault]) -> int | None:
    """Check what every row has; return its number in the session, or None where it is unusable."""
    values = row.values
    found = len(faults)
    wrong = _of_another_study(row, study)
    # A file of another study has it in every row; it is said once.
    faults += [fault for fault in wrong if not _is_said(fault, row, faults)]
    faults += [
        _fault(row, name, "nothing", "an id")
        for name in ("session", "survey")
        if not str(values.get(name) or "")
    ]
    if values.get("part") not in PARTS:
        got = values.get("part", "nothing")
        faults.append(_fault(row, "part", got, f"one of {', '.join(PARTS)}"))
    faults += [
        _fault(row, name, values.get(name, "nothing"), "a whole number from 0")
        for name in ("trial_index", "list")
        if not str(values.get(name, "")).isdecimal()
    ]
    return None if wrong or len(faults) > found else int(values["trial_index"])


def _of_another_study(row: Row, study: Study | RatingStudy) -> list[Fault]:
    wanted = {"felicity": str(FORMAT), "study": study.name, "data_hash": study.data_hash}
    return [
        _fault(row, name, row.values.get(name, "nothing"), text)
        for name, text in wanted.items()
        if str(row.values.get(name)) != text
    ]


def _is_said(fault: Fault, row: Row, faults: Sequence[Fault]) -> bool:
    start = f"{row.file} row "
    return any(
        (said.field, said.got) == (fault.field, fault.got) and said.file.startswith(start)
        for said in faults
    )


class _Checker:
    """Reads the answers of sessions of one study."""

    def __init__(self, study: Study | RatingStudy, faults: list[Fault]) -> None:
        self.faults = faults
        self.items = {item.item_id for item in study.items}
        self.labels: tuple[str, ...] = ()
        self.scale: Scale | None = None
        self.attributes: tuple[str, ...] = ()
        self.scenes: set[str] = set()
        if isinstance(study, Study):
            self.labels = study.design.answers
        else:
            self.scale = study.scale
            self.attributes = study.attributes
            self.scenes = {item.scene_id for item in study.items}

    def session(self, name: str, rows: Sequence[Row]) -> Session:
        first = rows[0].values
        checks = [row for row in rows if row.values["part"] == "check"]
        passed = [self._passed(row) for row in checks]
        about: dict[str, str] = {}
        for row in rows:
            given = row.values.get("about")
            if row.values["part"] == "about" and isinstance(given, dict):
                about |= {str(key): str(value) for key, value in given.items()}
        trials = [row for row in rows if row.values["part"] == "trial"]
        choices = [self._choice(row) for row in trials] if self.labels else []
        scenes = [self._scene(row) for row in trials] if not self.labels else []
        self._once(trials, "item" if self.labels else "scene")
        return Session(
            session=name,
            participant=str(first.get("participant") or "") or name,
            number=int(first["list"]),
            survey=str(first["survey"]),
            started=str(first.get("consented") or ""),
            complete=any(row.values["part"] == "end" for row in rows),
            failed=passed.count(False),
            checked=len(passed),
            about=about,
            choices=tuple(each for each in choices if each is not None),
            scenes=tuple(each for each in scenes if each is not None),
        )

    def _fault(self, row: Row, field: str, got: object, allowed: str) -> None:
        self.faults.append(_fault(row, field, got, allowed))

    def _passed(self, row: Row) -> bool:
        wanted, given = (str(row.values.get(name) or "") for name in ("wanted", "given"))
        if not wanted or not given:
            self._fault(row, "wanted", wanted or "nothing", "what was wanted, and what was given")
        return bool(given) and wanted == given

    def _once(self, trials: Sequence[Row], field: str) -> None:
        seen: set[str] = set()
        for row in trials:
            name = str(row.values.get(field))
            if name in seen:
                self._fault(row, field, name, f"each {field} once in a session")
            seen.add(name)

    def _choice(self, row: Row) -> Choice | None:
        values = row.values
        before = len(self.faults)
        if values.get("item") not in self.items:
            self._fault(row, "item", values.get("item", "nothing"), "an item of the study")
        for name in ("first", "chosen", "asked_for"):
            if values.get(name) not in self.labels:
                allowed = f"one of {', '.join(self.labels)}"
                self._fault(row, name, values.get(name, "nothing"), allowed)
        if len(self.faults) > before:
            return None
        return Choice(
            item_id=str(values["item"]),
            first=str(values["first"]),
            chosen=str(values["chosen"]),
            correct=values["chosen"] == values["asked_for"],
            place=int(values["trial_index"]),
            seconds=_seconds(values),
        )

    def _scene(self, row: Row) -> SceneRatings | None:
        values = row.values
        before = len(self.faults)
        if values.get("scene") not in self.scenes:
            self._fault(row, "scene", values.get("scene", "nothing"), "a scene of the study")
        ratings = values.get("ratings")
        given = ratings if isinstance(ratings, dict) else {}
        for name in self.attributes:
            if not self._on_scale(given.get(name)):
                assert self.scale is not None
                allowed = f"a whole number from {self.scale.low} to {self.scale.high}"
                self._fault(row, f"ratings, {name}", given.get(name, "nothing"), allowed)
        for name in given:
            if name not in self.attributes:
                self._fault(row, "ratings", name, f"one of {', '.join(self.attributes)}")
        if len(self.faults) > before:
            return None
        return SceneRatings(
            scene_id=str(values["scene"]),
            ratings={name: int(given[name]) for name in self.attributes},
            place=int(values["trial_index"]),
            seconds=_seconds(values),
        )

    def _on_scale(self, value: object) -> bool:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.scale is not None and value in self.scale


def _seconds(values: Mapping[str, Any]) -> float | None:
    try:
        return float(values["rt"]) / 1000
    except (KeyError, TypeError, ValueError):
        return None
