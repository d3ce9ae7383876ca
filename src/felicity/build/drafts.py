"""A writer's reply → drafts that are whole, and a status. Half a text is never taken."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from felicity.build.requests import Request
from felicity.build.template import SLOT, Template
from felicity.build.wording import ROLES, TEXTS
from felicity.rating.reasoning import set_reasoning_aside

PARSER_VERSION = "1"
LONGEST = 300
Status = Literal[
    "ok",
    "partial",
    "empty",
    "truncated",
    "no_json",
    "fields",
    "text",
    "placeholders",
    "same",
    "repeats",
    "model_mismatch",
]
STATUSES: tuple[Status, ...] = get_args(Status)
Texts = Mapping[str, str]
_SPACES = re.compile(r"[ \t\u00a0]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """What a reply holds.

    Attributes
    ----------
    texts
        For ``dialogues`` question and answers of each, for ``rewordings`` the question of each.
    template
        For ``template``; its id is the request's target.
    status
        ``ok``: all that was asked for. ``partial``: some of it. Else why there is nothing.
    """

    status: Status
    texts: tuple[Texts, ...] = ()
    template: Template | None = None

    @property
    def count(self) -> int:
        """How many texts or templates there are."""
        return len(self.texts) + (self.template is not None)


def read_drafts(text: str, finish: str, request: Request, *, maxim: str = "") -> Drafts:
    r"""Read a reply.

    Parameters
    ----------
    text, finish
        The reply, and why the writer stopped.
    request
        What was asked for.
    maxim
        Of the template that is asked for.

    Examples
    --------
    >>> asked = Request(step="rewordings", target="quality-01-1", count=1, prompt="",
    ...                 fixed=(("Who sang?",),))
    >>> reply = 'Sure!\n```json\n{"rewordings": ["Who was singing?"]}\n```'
    >>> read_drafts(reply, "stop", asked).texts
    ({'question': 'Who was singing?'},)
    >>> read_drafts('{"rewordings": ["Who sang?"]}', "stop", asked).status
    'repeats'
    >>> read_drafts('{"rewordings": ["Who wa', "length", asked).status
    'truncated'
    """
    visible, _ = set_reasoning_aside(text)
    if not visible.strip():
        return Drafts(status="truncated" if finish == "length" else "empty")
    found = find_json(visible, _NAMES[request.step])
    if found is None:
        return Drafts(status="truncated" if finish == "length" else "no_json")
    if request.step == "template":
        return _template(found, request, maxim)
    return _texts(found, request)


def find_json(text: str, wanted: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the JSON object of a reply, whatever stands around it: the last with a wanted field.

    Examples
    --------
    >>> find_json('As {JSON}: {"a": 1} or {"rewordings": []}', ["rewordings"])
    {'rewordings': []}
    """
    decoder = json.JSONDecoder(strict=False)
    found: list[Mapping[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                found.append(value)
        at = text.find("{", end)
    return next(
        (value for value in reversed(found) if set(wanted) & set(value)),
        found[-1] if found else None,
    )


_NAMES: Mapping[str, tuple[str, ...]] = {
    "template": ("slots", "situation"),
    "dialogues": ("dialogues", *TEXTS),
    "rewordings": ("rewordings",),
}


def _texts(found: Mapping[str, Any], request: Request) -> Drafts:
    """Take the entries that are whole, up to the number asked for."""
    fields = TEXTS if request.step == "dialogues" else TEXTS[:1]
    entries = found.get(request.step)
    if entries is None and set(fields) <= set(found):
        # One dialogue that was not put in a list.
        entries = [found]
    if not isinstance(entries, list) or not entries:
        return Drafts(status="fields")
    seen = {_bare(texts) for texts in request.fixed}
    taken: list[Texts] = []
    problems: list[Status] = []
    for entry in entries:
        texts = _entry(entry, fields)
        problem = "fields" if texts is None else _problem(texts, seen)
        if texts is None or problem is not None:
            problems.append(problem or "fields")
        elif len(taken) < request.count:
            taken.append(texts)
            seen.add(_bare(tuple(texts.values())))
    if len(taken) == request.count:
        return Drafts(status="ok", texts=tuple(taken))
    if taken:
        return Drafts(status="partial", texts=tuple(taken))
    return Drafts(status=problems[0])


def _entry(entry: object, fields: Sequence[str]) -> dict[str, str] | None:
    if isinstance(entry, str) and len(fields) == 1:
        entry = {fields[0]: entry}
    if not isinstance(entry, dict) or not all(isinstance(entry.get(f), str) for f in fields):
        return None
    return {field: clean(entry[field]) for field in fields}


def clean(text: str) -> str:
    """Return a text without space at its ends, and one space where there are several.

    Examples
    --------
    >>> clean(" Who  sang? ")
    'Who sang?'
    """
    return _SPACES.sub(" ", text.strip())


def _problem(texts: Texts, seen: set[tuple[str, ...]]) -> Status | None:
    if not all(is_text(text) for text in texts.values()):
        return "text"
    if any(set(SLOT.findall(text)) - {*ROLES} for text in texts.values()):
        return "placeholders"
    follower, violator = texts.get("follower"), texts.get("violator")
    if follower is not None and violator is not None:
        if follower == violator:
            return "same"
        if sorted(SLOT.findall(follower)) != sorted(SLOT.findall(violator)):
            return "placeholders"
    return "repeats" if _bare(tuple(texts.values())) in seen else None


def is_text(text: str) -> bool:
    r"""Say whether a text can stand in a set: some letters, one line, not too long.

    Examples
    --------
    >>> is_text("A bird."), is_text("…"), is_text("a\nb"), is_text("a" * 301)
    (True, False, False, False)
    """
    printable = all(c.isprintable() for c in text)
    return printable and len(text) <= LONGEST and any(c.isalpha() for c in text)


def _bare(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts without what makes no other text of them: case, marks, spaces."""
    return tuple("".join(c for c in text.lower() if c.isalnum()) for text in texts)


def _template(found: Mapping[str, Any], request: Request, maxim: str) -> Drafts:
    fields = ("situation", *TEXTS, "why")
    slots = _slots(found.get("slots"))
    if slots is None or not all(isinstance(found.get(field), str) for field in fields):
        return Drafts(status="fields")
    texts: dict[str, Any] = {field: clean(found[field]) for field in fields}
    if not all(is_text(text) for text in (*texts.values(), *slots.values())):
        return Drafts(status="text")
    if texts["follower"] == texts["violator"]:
        return Drafts(status="same")
    template = Template(template_id=request.target, maxim=maxim, slots=slots, **texts)
    if template.unexplained or not slots:
        return Drafts(status="placeholders")
    return Drafts(status="ok", template=template)


def _slots(value: object) -> dict[str, str] | None:
    """Read slots given as a list of name and type, or as one object."""
    if isinstance(value, dict):
        value = [{"name": name, "type": text} for name, text in value.items()]
    if not isinstance(value, list):
        return None
    slots: dict[str, str] = {}
    for entry in value:
        name, text = (entry.get("name"), entry.get("type")) if isinstance(entry, dict) else ("", "")
        if not isinstance(name, str) or not isinstance(text, str):
            return None
        name = name.strip("{} ")
        if re.fullmatch(r"\w+", name) is None or name in slots:
            return None
        slots[name] = clean(text)
    return slots
