"""Templates: the pattern of a dialogue with typed slots, as TOML that can be appended to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from felicity.build.wording import ROLES, TEXTS, Made, Wording

SLOT = re.compile(r"\{(\w+)\}")
_TEXT_FIELDS = ("id", "maxim", "situation", *TEXTS)
# What TOML must escape in a basic string, beside the other control characters.
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The pattern that dialogues are grown from.

    Attributes
    ----------
    template_id, maxim, situation
        Its name, its rule, what the dialogues are about.
    question, follower, violator
        Texts with ``{slots}``.
    slots
        Slot to what may be put there.
    why
        Why the violator breaks this rule and no other.
    made
        Where it comes from; None is the set's own.
    """

    template_id: str
    maxim: str
    situation: str
    question: str
    follower: str
    violator: str
    slots: Mapping[str, str]
    why: str
    made: Made | None = None

    @property
    def unexplained(self) -> list[str]:
        """Slots that stand in a text and are not explained, or are explained and stand nowhere."""
        used = {name for text in TEXTS for name in SLOT.findall(getattr(self, text))} - {*ROLES}
        return sorted(used ^ set(self.slots))

    def fits(self, dialogue: Wording) -> bool:
        """Say whether a dialogue follows the pattern, each slot filled alike throughout.

        Examples
        --------
        >>> pattern = Template(template_id="a", maxim="quality", situation="", why="",
        ...     question="Where is the {thing}?", follower="The {thing} is {here}.",
        ...     violator="The {thing} is {there}.", slots={})
        >>> cup = dict(dialogue_id="a-1", template_id="a", maxim="quality", wording="0",
        ...            question="Where is the cup?", follower="The cup is here.")
        >>> pattern.fits(Wording(violator="The cup is in the sun.", **cup))
        True
        >>> pattern.fits(Wording(violator="The hat is in the sun.", **cup))
        False
        """
        seen: dict[str, str] = {}

        def group(match: re.Match[str]) -> str:
            name = match.group(1)
            if name in ROLES:
                return re.escape(match.group())
            if name in seen:
                return f"(?P={seen[name]})"
            seen[name] = f"slot_{len(seen)}"
            return f"(?P<{seen[name]}>.+?)"

        patterns = []
        for field in TEXTS:
            text, parts, at = getattr(self, field), [], 0
            for match in SLOT.finditer(text):
                parts += [re.escape(text[at : match.start()]), group(match)]
                at = match.end()
            patterns.append("".join([*parts, re.escape(text[at:])]))
        whole = "\n".join(dialogue.texts.values())
        return re.fullmatch("\n".join(patterns), whole, re.IGNORECASE) is not None


def render_templates(templates: Iterable[Template]) -> str:
    """Write templates as TOML, an array of tables."""
    return "\n".join(_render(template) for template in templates)


def _render(template: Template) -> str:
    slots = ", ".join(f"{name} = {_quoted(text)}" for name, text in template.slots.items())
    fields = {
        "id": template.template_id,
        "maxim": template.maxim,
        "situation": template.situation,
        "question": template.question,
        "follower": template.follower,
        "violator": template.violator,
    }
    lines = ["[[template]]", *(f"{name} = {_quoted(text)}" for name, text in fields.items())]
    lines += [f"slots = {{ {slots} }}" if slots else "slots = {}", f"why = {_quoted(template.why)}"]
    if template.made:
        made = ", ".join(f"{k} = {_quoted(v)}" for k, v in template.made.as_row().items())
        lines.append(f"made = {{ {made} }}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = "".join(
        _ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text
    )
    return f'"{escaped}"'


def heading(text: str) -> str:
    """Return the comment at the head of a file of templates, with the empty line after it."""
    lines = text.splitlines(keepends=True)
    count = 0
    while count < len(lines) and (lines[count].startswith("#") or not lines[count].strip()):
        count += 1
    return "".join(lines[:count])


def template_problems(entry: Mapping[str, Any]) -> list[str]:
    """Name the fields of an entry that are missing or of the wrong kind."""
    bad = [name for name in (*_TEXT_FIELDS, "why") if not isinstance(entry.get(name), str)]
    slots = entry.get("slots")
    if not isinstance(slots, Mapping) or not all(isinstance(v, str) for v in slots.values()):
        bad.append("slots")
    return bad


def read_made(value: object) -> Made | None:
    """Read who made something; None where it is not said, or not said so."""
    if not isinstance(value, Mapping):
        return None
    by, kind, on, reply = (value.get(name) for name in ("by", "kind", "on", "reply"))
    if not (isinstance(by, str) and isinstance(on, str) and kind in ("person", "model")):
        return None
    return Made(by=by, kind=str(kind), on=on, reply=reply if isinstance(reply, str) else None)


def parse_templates(text: str) -> list[Mapping[str, Any]]:
    """Read the entries of a file of templates."""
    found = tomllib.loads(text).get("template", [])
    return [entry for entry in found if isinstance(entry, Mapping)]
