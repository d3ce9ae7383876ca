"""Read a build folder whole, with every fault in it; start a new one; add a person's lines."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from felicity.build.plan import PLAN, Plan, read_plan
from felicity.build.template import Template, heading, read_made, template_problems
from felicity.build.wording import (
    COLUMNS,
    ORIGINAL,
    Made,
    Wording,
    append_text,
    sort_wordings,
)
from felicity.errors import FaultsError, FelicityError, one_of
from felicity.folder_reader import FolderReader
from felicity.study import BUILT_IN, list_studies

DIALOGUES = "dialogues.jsonl"
TEMPLATES = "templates.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFolder:
    """A build folder as it lies on disk.

    Attributes
    ----------
    folder, plan
        Where it is, and what it is to become.
    wordings
        All lines, sorted by maxim, template, dialogue and wording.
    templates
        All templates, in the file's order.
    head
        The comment at the head of the file of templates.
    """

    folder: Path
    plan: Plan
    wordings: tuple[Wording, ...]
    templates: tuple[Template, ...]
    head: str

    @property
    def originals(self) -> tuple[Wording, ...]:
        """Every dialogue under its original wording."""
        return tuple(line for line in self.wordings if line.wording == ORIGINAL)

    @property
    def bases(self) -> tuple[Wording, ...]:
        """The first dialogue of each template: its base."""
        first: dict[str, Wording] = {}
        for line in self.originals:
            first.setdefault(line.template_id, line)
        return tuple(first.values())

    def of_template(self, template_id: str) -> tuple[Wording, ...]:
        """Return the dialogues of a template under their original wordings."""
        return tuple(line for line in self.originals if line.template_id == template_id)

    def of_dialogue(self, dialogue_id: str) -> tuple[Wording, ...]:
        """Return the wordings of a dialogue."""
        return tuple(line for line in self.wordings if line.dialogue_id == dialogue_id)

    def made(self, line: Wording | Template) -> Made | None:
        """Where a line comes from, be it said by the line or by the plan for all."""
        return line.made or self.plan.made


def find_build(name_or_path: str | Path) -> Path:
    """Find a build folder by a built-in study's name or by path.

    Raises
    ------
    FelicityError
        Where there is none.
    """
    path = Path(name_or_path)
    if str(name_or_path) in list_studies() and (BUILT_IN / str(name_or_path) / PLAN).is_file():
        return BUILT_IN / str(name_or_path)
    if (path / PLAN).is_file():
        return path
    raise FelicityError(
        f'got "{name_or_path}"; expected a folder with a {PLAN}',
        where="build folder",
        hint="`felicity build init FOLDER --base FILE` starts one",
    )


def read_build(name_or_path: str | Path) -> BuildFolder:
    """Read a build folder.

    Raises
    ------
    FaultsError
        With every fault of every file.

    Examples
    --------
    >>> build = read_build("gricean-maxims")
    >>> len(build.wordings), len(build.originals), len(build.bases), len(build.templates)
    (375, 125, 25, 25)
    """
    folder = find_build(name_or_path)
    reader = FolderReader(folder, PLAN)
    plan = read_plan(reader)
    keys = plan.maxim_keys if plan else ()
    wordings = _read_wordings(reader, keys)
    templates, head = _read_templates(reader, keys)
    if plan is None or reader.faults:
        raise FaultsError(reader.faults, where=str(folder))
    return BuildFolder(
        folder=folder,
        plan=plan,
        wordings=tuple(sort_wordings(wordings, keys)),
        templates=templates,
        head=head,
    )


def _read_wordings(reader: FolderReader, maxims: Sequence[str]) -> list[Wording]:
    if not (reader.folder / DIALOGUES).exists():
        return []
    found: list[Wording] = []
    places: dict[tuple[str, str], int] = {}
    for number, row in reader.jsonl_objects(DIALOGUES, reader.text(DIALOGUES) or ""):
        before = len(reader.faults)
        for name in COLUMNS:
            if not isinstance(row.get(name), str) or not row[name].strip():
                got = row.get(name, "nothing")
                reader.fault(DIALOGUES, name, got, "a text that is not empty", number)
        for name in sorted(set(row) - {*COLUMNS, "made"}):
            reader.fault(DIALOGUES, name, "a column", one_of([*COLUMNS, "made"]), number)
        if maxims and row.get("maxim") not in maxims:
            reader.fault(DIALOGUES, "maxim", row.get("maxim"), one_of(maxims), number)
        if "made" in row and read_made(row["made"]) is None:
            reader.fault(DIALOGUES, "made", row["made"], "by, kind (person or model), on", number)
        if len(reader.faults) > before:
            continue
        line = Wording(**{name: row[name] for name in COLUMNS}, made=read_made(row.get("made")))
        key = (line.dialogue_id, line.wording)
        if places.setdefault(key, number) != number:
            got = f"{'/'.join(key)} (also line {places[key]})"
            reader.fault(DIALOGUES, "dialogue_id", got, "each wording of a dialogue once", number)
        found.append(line)
    _check_dialogues(reader, found, places)
    return found


def _check_dialogues(
    reader: FolderReader, found: Sequence[Wording], places: Mapping[tuple[str, str], int]
) -> None:
    originals = {line.dialogue_id: line for line in found if line.wording == ORIGINAL}
    for line in found:
        place = places[line.dialogue_id, line.wording]
        original = originals.get(line.dialogue_id)
        if original is None:
            reader.fault(DIALOGUES, "wording", line.wording, f"{ORIGINAL} there too", place)
            continue
        for name in ("template_id", "maxim"):
            if getattr(line, name) != getattr(original, name):
                got, allowed = getattr(line, name), f"{getattr(original, name)}, as in wording 0"
                reader.fault(DIALOGUES, name, got, allowed, place)


def _read_templates(
    reader: FolderReader, maxims: Sequence[str]
) -> tuple[tuple[Template, ...], str]:
    if not (reader.folder / TEMPLATES).exists():
        return (), ""
    text = reader.text(TEMPLATES) or ""
    try:
        entries = tomllib.loads(text).get("template", [])
    except tomllib.TOMLDecodeError as error:
        reader.fault(TEMPLATES, "syntax", error, "TOML")
        return (), ""
    found = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
        where = f"template {number}"
        bad = template_problems(entry) if isinstance(entry, dict) else ["entry"]
        for name in bad:
            got = entry.get(name, "nothing") if isinstance(entry, dict) else entry
            reader.fault(TEMPLATES, f"{where}, {name}", got, "a text (slots: a table of texts)")
        if bad:
            continue
        if maxims and entry["maxim"] not in maxims:
            reader.fault(TEMPLATES, f"{where}, maxim", entry["maxim"], one_of(maxims))
        found.append(_template(entry))
    for template_id, count in Counter(template.template_id for template in found).items():
        if count > 1:
            reader.fault(TEMPLATES, "id", f"{template_id} ({count} times)", "each id once")
    return tuple(found), heading(text)


def _template(entry: Mapping[str, Any]) -> Template:
    names = ("maxim", "situation", "question", "follower", "violator", "slots", "why")
    return Template(
        template_id=entry["id"],
        made=read_made(entry.get("made")),
        **{name: entry[name] for name in names},
    )


def make_folder(folder: Path, plan: str) -> None:
    """Make a new build folder with its plan.

    Raises
    ------
    FelicityError
        Where there is one already, or it cannot be made.
    """
    if (folder / PLAN).exists():
        raise FelicityError(
            "there is a set here already",
            where=str(folder),
            hint="`felicity build add` adds dialogues to it; or choose another folder",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FelicityError(f"cannot be made: {error.strerror}", where=str(folder)) from error
    append_text(folder / PLAN, plan)


def by_person(name: str) -> Made:
    """Return what is said of a line that a person has written now."""
    return Made(by=name, kind="person", on=today())


def today() -> str:
    """Return the day, in UTC."""
    return datetime.now(UTC).date().isoformat()
