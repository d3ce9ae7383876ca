"""build.toml: what a set is to become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from felicity.build.language import Language, Maxim, list_languages, load_language
from felicity.build.template import read_made
from felicity.build.wording import Made
from felicity.errors import one_of
from felicity.folder_reader import FolderReader

PLAN = "build.toml"
KNOWN = {
    "set": {"name", "title", "version", "language", "licence", "description", "creators", "url"},
    "size": {"dialogues", "rewordings"},
    "names": {"names"},
    "made": {"by", "kind", "on"},
    "export": {"files"},
    "maxim": {"key", "short", "gloss", "follower", "violator"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a set is to become.

    Attributes
    ----------
    name, title, version, licence, description, creators, url
        As they stand in the exported study.
    language
        The language's data.
    maxims
        The rules that are studied, in order; the language's unless the plan has its own.
    dialogues
        How many there are to be of each template, its base dialogue included.
    rewordings
        How many of each question, beside the original.
    names
        Given names of speakers, which rotate.
    made
        Where lines come from that do not say so themselves.
    files
        Files of the folder that an export takes as they are, in place of what it would write.
    """

    name: str
    title: str
    version: str
    licence: str
    description: str
    creators: tuple[str, ...]
    url: str
    language: Language
    maxims: tuple[Maxim, ...]
    dialogues: int
    rewordings: int
    names: tuple[str, ...]
    made: Made | None
    files: tuple[str, ...]

    @property
    def maxim_keys(self) -> tuple[str, ...]:
        """Keys of the maxims, in order."""
        return tuple(maxim.key for maxim in self.maxims)

    def maxim(self, key: str) -> Maxim:
        """Return the maxim of a key."""
        return next(maxim for maxim in self.maxims if maxim.key == key)


def read_plan(reader: FolderReader) -> Plan | None:
    """Read build.toml; every fault is the reader's."""
    table = reader.toml(PLAN)
    if table is None:
        return None
    _check_keys(reader, table)
    before = len(reader.faults)
    code = reader.get(table, "set.language", str)
    if code and code not in list_languages():
        reader.fault(PLAN, "set.language", code, one_of(list_languages()))
    numbers = {name: reader.get(table, f"size.{name}", int) for name in ("dialogues", "rewordings")}
    for name, least in (("dialogues", 1), ("rewordings", 0)):
        if numbers[name] < least and len(reader.faults) == before:
            reader.fault(PLAN, f"size.{name}", numbers[name], f"{least} or more")
    names = reader.get(table, "names.names", list)
    if len(set(map(str, names))) != len(names) or len(names) < 2:
        reader.fault(PLAN, "names.names", names, "two or more different names")
    texts = {
        name: reader.get(table, f"set.{name}", str)
        for name in ("name", "title", "version", "licence")
    }
    maxims = _read_maxims(reader, table)
    if len(reader.faults) > before:
        return None
    language = load_language(code)
    return Plan(
        **texts,
        description=reader.get(table, "set.description", str, ""),
        creators=tuple(map(str, reader.get(table, "set.creators", list, []))),
        url=reader.get(table, "set.url", str, ""),
        language=language,
        maxims=maxims or language.maxims,
        **numbers,
        names=tuple(map(str, names)),
        made=read_made(table.get("made")),
        files=_read_files(reader, table),
    )


def _check_keys(reader: FolderReader, table: Mapping[str, Any]) -> None:
    for section, entries in table.items():
        if section not in KNOWN:
            reader.fault(PLAN, section, "a section", one_of(KNOWN))
            continue
        for entry in entries if isinstance(entries, list) else [entries]:
            for key in entry if isinstance(entry, dict) else ():
                if key not in KNOWN[section]:
                    reader.fault(PLAN, f"{section}.{key}", "a key", one_of(sorted(KNOWN[section])))
    if "made" in table and read_made(table["made"]) is None:
        reader.fault(PLAN, "made", table["made"], "by, kind (person or model) and on")


def _read_maxims(reader: FolderReader, table: Mapping[str, Any]) -> tuple[Maxim, ...]:
    maxims: list[Maxim] = []
    for number, entry in enumerate(table.get("maxim", []), start=1):
        good = isinstance(entry, dict) and set(entry) == KNOWN["maxim"]
        if not good or not all(isinstance(value, str) and value for value in entry.values()):
            reader.fault(PLAN, f"maxim {number}", entry, "key, short, gloss, follower and violator")
            continue
        maxims.append(Maxim(**entry))
    keys = [maxim.key for maxim in maxims]
    if len(set(keys)) < len(keys):
        reader.fault(PLAN, "maxim", ", ".join(keys), "each key once")
    return tuple(maxims)


def _read_files(reader: FolderReader, table: Mapping[str, Any]) -> tuple[str, ...]:
    files = tuple(map(str, reader.get(table, "export.files", list, [])))
    for name in files:
        if Path(name).name != name:
            reader.fault(PLAN, "export.files", name, "a file of this folder")
        elif not (reader.folder / name).is_file():
            reader.fault(PLAN, "export.files", name, "a file that is there")
    return files


def render_plan(settings: Mapping[str, Mapping[str, str | int | tuple[str, ...]]]) -> str:
    """Write the sections of a new build.toml.

    Examples
    --------
    >>> print(render_plan({"size": {"dialogues": 5}, "names": {"names": ("Anna", "Lukas")}}))
    [size]
    dialogues = 5
    <BLANKLINE>
    [names]
    names = ["Anna", "Lukas"]
    <BLANKLINE>
    """
    import json

    parts = []
    for section, entries in settings.items():
        lines = [
            f"{key} = {json.dumps(list(v) if isinstance(v, tuple) else v, ensure_ascii=False)}"
            for key, v in entries.items()
        ]
        parts.append("\n".join([f"[{section}]", *lines]) + "\n")
    return "\n".join(parts)
