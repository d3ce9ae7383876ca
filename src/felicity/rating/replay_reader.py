"""Read files of replies that others collected, as the social-meaning paper publishes its own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from felicity.errors import Fault, FaultsError, OptionError, one_of
from felicity.rating.study import ATTRIBUTE, RatingItem, RatingStudy

# What the paper's files call our factors and levels.
FIELD_OF = {"form": "utterance"}
LEVEL_OF = {"approx": "approximate"}
HINT = 'an entry is {"model": …, "scenario": …, …, "sample_id": 0, "raw_response": "6"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFile:
    """A file that was read: its name and the hash of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedReply:
    """One reply of a file.

    ``created`` is the file's own word for when. ``rated`` is what the file's authors made of the
    reply, None where they took it to be unusable; it says nothing where not ``has_rating``.
    """

    model: str
    prompting: str
    item_id: str
    repeat: int
    text: str
    finish: str
    created: str
    has_rating: bool
    rated: float | None

    @property
    def trial_id(self) -> str:
        """The trial as a run of the study would name it."""
        return f"{self.item_id}|{self.prompting}|{self.repeat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Replies with the files that they come from."""

    files: tuple[ReplyFile, ...]
    replies: tuple[CollectedReply, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """Models, in the order in which they first appear."""
        return tuple(dict.fromkeys(reply.model for reply in self.replies))


@dataclass(slots=True)
class _Entries:
    """What is read of one file, and its faults."""

    file: str
    in_lines: bool
    faults: list[Fault] = field(default_factory=list)

    def fault(self, place: int, name: str, got: object, allowed: str) -> None:
        line, named = (place, name) if self.in_lines else (None, f"entry {place}, {name}")
        self.faults.append(
            Fault(file=self.file, field=named, got=str(got)[:80], allowed=allowed, line=line)
        )


def read_collection(
    sources: Sequence[tuple[Path, str | None]], study: RatingStudy, prompting: str | None = None
) -> Collection:
    """Read files of replies.

    Parameters
    ----------
    sources
        Files, JSON lines or one JSON array each, with the prompting of a file where it is said.
        An entry has ``model``, the study's factors (``utterance`` may stand for ``form``,
        ``approx`` for ``approximate``), ``sample_id`` and ``raw_response``; it may have
        ``prompting``, ``finish``, ``current_date``, and ``likert`` and ``valid``, what the
        collectors made of it. Other fields are left out.
    study
        The study that was put.
    prompting
        Of entries and files that do not say theirs. Without it, the one of the study's promptings
        that stands in the file's name (``replies_MIN.jsonl``).

    Raises
    ------
    FaultsError
        With every fault of every file.
    OptionError
        For a prompting that the study does not have, or one that is not known.
    """
    for name in (prompting, *(own for _, own in sources)):
        if name is not None and name not in study.promptings:
            raise OptionError(
                f'got "{name}"; expected {one_of(study.promptings)}', where="prompting"
            )
    index = {tuple(item.factors.values()): item for item in study.items}
    files, replies, faults = [], [], []
    first: dict[tuple[str, str], str] = {}
    for path, own in sources:
        entries, rows, file = _open(path)
        default = own or prompting or _named_in(path, study)
        for place, row in rows:
            reply = _reply(entries, place, row, study, index, default)
            if reply is None:
                continue
            here = f"{path.name} {'line' if entries.in_lines else 'entry'} {place}"
            known = first.setdefault((reply.model, reply.trial_id), here)
            if known != here:
                got = f"{reply.model}, {reply.trial_id}"
                entries.fault(place, "sample_id", got, f"each reply once (it is in {known})")
            replies.append(reply)
        faults += entries.faults
        files.append(file)
    if faults:
        raise FaultsError(faults, where="replay", hint=HINT)
    return Collection(files=tuple(files), replies=tuple(replies))


def _open(path: Path) -> tuple[_Entries, list[tuple[int, Mapping[str, Any]]], ReplyFile]:
    entries = _Entries(path.name, in_lines=True)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        entries.fault(1, "encoding", f"a byte that is not UTF-8 at {error.start}", "UTF-8")
        raw, text = b"", ""
    except OSError as error:
        raise OptionError(
            f"{error.strerror}; expected a file of replies", where=str(path)
        ) from None
    entries.in_lines = not text.lstrip().startswith("[")
    rows: list[tuple[int, Mapping[str, Any]]] = []
    for place, row in _lines(text, entries) if entries.in_lines else _array(text, entries):
        if isinstance(row, dict):
            rows.append((place, row))
        else:
            entries.fault(place, "entry", type(row).__name__, "a JSON object")
    if not rows and not entries.faults:
        entries.fault(1, "entries", 0, "at least one")
    return entries, rows, ReplyFile(name=path.name, sha256=hashlib.sha256(raw).hexdigest())


def _lines(text: str, entries: _Entries) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                entries.fault(number, "line", _problem(error), "JSON")


def _array(text: str, entries: _Entries) -> Iterator[tuple[int, Any]]:
    try:
        yield from enumerate(json.loads(text), start=1)
    except (json.JSONDecodeError, RecursionError) as error:
        entries.fault(1, "array", _problem(error), "a JSON array, or an object on each line")


def _problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno} column {error.colno}"
    return str(error)


def _named_in(path: Path, study: RatingStudy) -> str | None:
    """Find the one prompting that is a word of the file's name."""
    words = re.split(r"[^A-Za-z0-9]+", path.stem)
    found = [name for name in study.promptings if name in words]
    return found[0] if len(found) == 1 else None


def _reply(
    entries: _Entries,
    place: int,
    row: Mapping[str, Any],
    study: RatingStudy,
    index: Mapping[tuple[str, ...], RatingItem],
    default: str | None,
) -> CollectedReply | None:
    before = len(entries.faults)
    levels = tuple(_level(entries, place, row, name, study) for name in study.factors)
    prompting = row.get("prompting") or default
    if prompting not in study.promptings:
        got = "nothing" if prompting is None else prompting
        allowed = f"{one_of(study.promptings)}; say it with --prompting or FILE=PROMPTING"
        entries.fault(place, "prompting", got, allowed)
    model, repeat, text = row.get("model"), row.get("sample_id"), row.get("raw_response")
    if not (isinstance(model, str) and model.strip()):
        entries.fault(place, "model", _shown(row, "model"), "a name")
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 0:
        entries.fault(place, "sample_id", _shown(row, "sample_id"), "a whole number from 0")
    # Null is what a provider sends where the model wrote nothing.
    if "raw_response" not in row or not isinstance(text, str | None):
        entries.fault(place, "raw_response", _shown(row, "raw_response"), "text, or null for none")
    for name in ("finish", "current_date"):
        if not isinstance(row.get(name), str | None):
            entries.fault(place, name, row[name], "text")
    rated = _rated(entries, place, row)
    if len(entries.faults) > before:
        return None
    return CollectedReply(
        model=str(model),
        prompting=str(prompting),
        item_id=index[levels].item_id,
        repeat=int(repeat or 0),
        text=text or "",
        finish=row.get("finish") or "stop",
        created=row.get("current_date") or "",
        has_rating="likert" in row,
        rated=rated,
    )


def _level(
    entries: _Entries, place: int, row: Mapping[str, Any], name: str, study: RatingStudy
) -> str:
    """Read a factor's level, spelled as the study does."""
    key = name if name in row else FIELD_OF.get(name, name)
    got = str(row.get(key, "nothing"))
    spelled = {level.replace("-", "_"): level for level in study.factors[name]}
    level = spelled.get(re.sub(r"[-\s]", "_", LEVEL_OF.get(got, got)), got)
    if level not in study.factors[name]:
        key = key if name == ATTRIBUTE or key in row else name
        entries.fault(place, key, got, one_of(study.factors[name]))
    return level


def _rated(entries: _Entries, place: int, row: Mapping[str, Any]) -> float | None:
    likert, valid = row.get("likert"), row.get("valid", True)
    if not isinstance(likert, int | float | None) or isinstance(likert, bool):
        entries.fault(place, "likert", likert, "a number, or null for none")
        return None
    if not isinstance(valid, bool):
        entries.fault(place, "valid", valid, "true or false")
        return None
    return likert if valid else None


def _shown(row: Mapping[str, Any], name: str) -> object:
    return row.get(name, "nothing")
