"""Read a TOML file table by table against its keys, and keep every fault with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from felicity.errors import Fault, one_of
from felicity.experiment.keys import KINDS, Key
from felicity.experiment.toml_lines import line_numbers

Place = tuple[str | int, ...]
# More names than a line should list.
MANY = 12
_AT = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)")


class TomlReader:
    """One TOML file with its faults."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self.lines: dict[Place, int] = {}

    def load(self) -> dict[str, Any] | None:
        """Parse the file; None where that cannot be done."""
        try:
            text = self.file.read_text(encoding="utf-8-sig")
            table = tomllib.loads(text)
        except OSError as error:
            self.fault((), error.strerror or str(error), "a file that can be read", field="file")
        except UnicodeDecodeError as error:
            self.fault((), f"a byte that is not UTF-8 at {error.start}", "UTF-8", field="encoding")
        except tomllib.TOMLDecodeError as error:
            self._syntax(str(error))
        else:
            self.lines = line_numbers(text)
            return table
        return None

    def _syntax(self, told: str) -> None:
        found = _AT.search(told)
        line = int(found[1]) if found and found[1] else None
        fault = Fault(
            file=self.file.name,
            field="syntax",
            got=_AT.sub("", told),
            allowed="TOML",
            line=line,
        )
        self.faults.append(fault)

    def line(self, place: Place) -> int | None:
        """Return the line of a place, or of the nearest that holds it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place)

    def fault(self, place: Place, got: object, allowed: str, *, field: str | None = None) -> None:
        """Note one fault."""
        self.faults.append(
            Fault(
                file=self.file.name,
                field=field or shown(place),
                got=str(got)[:80],
                allowed=allowed,
                line=self.line(place),
            )
        )

    def table(
        self, value: object, place: Place, keys: Sequence[Key], others: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return what a table says under ``keys``; a fault is noted and left out.

        ``others`` are keys that are allowed and are read elsewhere.
        """
        if not isinstance(value, dict):
            self.fault(place, value, "a table")
            return {}
        known = {key.name: key for key in keys}
        names = [*known, *others]
        for name in value:
            if name not in names:
                self.fault((*place, name), name, unknown(name, names), field=shown(place) or "key")
        for key in keys:
            if key.needed and key.name not in value:
                self.fault(place, "nothing", KINDS[key.kind], field=shown((*place, key.name)))
        read = {}
        for name, key in known.items():
            if name in value:
                found = self._value(value[name], (*place, name), key)
                if found is not None:
                    read[name] = found
        return read

    def _value(self, value: object, place: Place, key: Key) -> Any:
        """Return a value as its key wants it; None where it is faulty."""
        before = len(self.faults)
        found = _READERS[key.kind](self, value, place, key)
        return found if len(self.faults) == before else None

    def _text(self, value: object, place: Place, key: Key) -> str:
        if not isinstance(value, str) or not value.strip():
            allowed = one_of(key.allowed) if key.allowed else "text"
            self.fault(place, "nothing" if value == "" else value, allowed)
        elif key.allowed and value not in key.allowed:
            self.fault(place, value, unknown(value, key.allowed))
        elif key.pattern and not re.match(key.pattern, value):
            self.fault(place, value, "letters, digits, and - _ . after the first of them")
        return str(value)

    def _texts(self, value: object, place: Place, key: Key) -> tuple[str, ...] | None:
        if not isinstance(value, list) or not value:
            self.fault(place, value, f"{KINDS['texts']}, not empty")
            return None
        found = [self._text(each, (*place, n), key) for n, each in enumerate(value)]
        for n, each in enumerate(found):
            if each in found[:n]:
                self.fault((*place, n), each, "each once")
        return tuple(found)

    def _number(self, value: object, place: Place, key: Key) -> float | int | None:
        kinds = int if key.kind == "whole" else (int, float)
        least = f", {key.least} or more" if key.least is not None else ""
        if (
            isinstance(value, bool)
            or not isinstance(value, kinds)
            or (key.least is not None and not value >= key.least)
        ):
            self.fault(place, value, KINDS[key.kind] + least)
            return None
        return value if key.kind == "whole" else float(value)

    def _flag(self, value: object, place: Place, _key: Key) -> bool | None:
        if not isinstance(value, bool):
            self.fault(place, value, KINDS["flag"])
            return None
        return value

    def _levels(self, value: object, place: Place, key: Key) -> Mapping[str, str] | None:
        if not isinstance(value, dict) or not value:
            self.fault(place, value, KINDS["levels"])
            return None
        return {name: self._text(each, (*place, name), key) for name, each in value.items()}

    def _words(self, value: object, place: Place, _key: Key) -> Mapping[str, int] | None:
        if not isinstance(value, dict) or not value:
            self.fault(place, value, KINDS["words"])
            return None
        for name, each in value.items():
            if isinstance(each, bool) or not isinstance(each, int) or each < 1:
                self.fault((*place, name), each, "a whole number of words, 1 or more")
        return value


_READERS: Mapping[str, Any] = {
    "text": TomlReader._text,
    "texts": TomlReader._texts,
    "whole": TomlReader._number,
    "number": TomlReader._number,
    "flag": TomlReader._flag,
    "levels": TomlReader._levels,
    "words": TomlReader._words,
}


def shown(place: Place) -> str:
    """Write a place as a reader finds it.

    Examples
    --------
    >>> shown(("group", 0, "models", 2, "dtype"))
    'group[0].models[2].dtype'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def unknown(name: str, allowed: Iterable[str]) -> str:
    """Say what is allowed, the nearest first; of many only the nearest.

    Examples
    --------
    >>> unknown("metods", ["methods", "formats"])
    'methods? one of methods, formats'
    """
    names = list(allowed)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if near and len(names) > MANY:
        return f"{near[0]}?"
    return (f"{near[0]}? " if near else "") + one_of(names)
