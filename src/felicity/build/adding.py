"""What people write: base dialogues, dialogues of a template, rewordings; from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from felicity.build.drafts import clean, is_text
from felicity.build.folder import (
    DIALOGUES,
    BuildFolder,
    by_person,
    make_folder,
    read_build,
)
from felicity.build.growing import new_ids, new_wordings
from felicity.build.language import load_language
from felicity.build.plan import PLAN, render_plan
from felicity.build.wording import ORIGINAL, TEXTS, Wording, append_wordings
from felicity.errors import Fault, FaultsError, OptionError, one_of
from felicity.folder_reader import FolderReader

HINT = "columns: maxim, question, follower, violator (a base dialogue); template_id with them (a \
dialogue of a template); or dialogue_id and question (a rewording)"
_ALLOWED = {"maxim", "template_id", "dialogue_id", *TEXTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSet:
    """What a new set is to be; None is by default."""

    name: str | None = None
    title: str | None = None
    language: str = "en"
    licence: str = "CC-BY-4.0"
    names: tuple[str, ...] | None = None
    dialogues: int = 5
    rewordings: int = 2


def start_build(folder: Path, new: NewSet, base: Path | None, person: str | None) -> BuildFolder:
    """Make a build folder, with base dialogues from a file where there is one.

    Raises
    ------
    FelicityError
        Where there is a set already, or the folder cannot be made.
    FaultsError
        With every fault of the file; then nothing is made.
    """
    language = load_language(new.language)
    name = new.name or folder.resolve().name
    names = new.names or language.names[:3]
    for option, got, least in (("dialogues", new.dialogues, 1), ("rewordings", new.rewordings, 0)):
        if got < least:
            raise OptionError(f"got {got}; expected {least} or more", where=f"--{option}")
    if len(set(names)) < max(2, len(names)):
        raise OptionError(f"got {', '.join(names)}; expected two different names", where="--names")
    plan = render_plan(
        {
            "set": {
                "name": name,
                "title": new.title or name,
                "version": "0.1.0",
                "language": new.language,
                "licence": new.licence,
            },
            "size": {"dialogues": new.dialogues, "rewordings": new.rewordings},
            "names": {"names": names},
        }
    )
    if base is not None:
        maxims = [maxim.key for maxim in language.maxims]
        _check_rows(_read_rows(base), base.name, maxims, None)
    make_folder(folder, plan)
    (folder / DIALOGUES).touch()
    if base is not None:
        add_lines(folder, base, person or "somebody")
    return read_build(folder)


def add_lines(folder: Path, file: Path, person: str) -> list[Wording]:
    """Append what a person has written, and return the lines.

    Parameters
    ----------
    folder
        The build folder.
    file
        CSV or JSON lines. A row with ``maxim``, ``question``, ``follower`` and ``violator`` is a
        base dialogue; with ``template_id`` as well, a further dialogue of that template; with
        ``dialogue_id`` and ``question``, a rewording.
    person
        Who wrote it.

    Raises
    ------
    FaultsError
        With every fault of the file; then nothing is added.
    """
    return add_rows(folder, _read_rows(file), file.name, person)


def add_rows(
    folder: Path, rows: Sequence[tuple[int, Mapping[str, str]]], source: str, person: str
) -> list[Wording]:
    """Append rows, each with its line number in ``source``, as `add_lines` does a file's.

    Raises
    ------
    FaultsError
        With every fault of the rows; then nothing is added.
    """
    if not person.strip():
        raise OptionError('got ""; expected a name', where="--by")
    build = read_build(folder)
    _check_rows(rows, source, build.plan.maxim_keys, build)
    added: list[Wording] = []
    for _, row in rows:
        fresh = _line(read_build(folder), row, person.strip())
        append_wordings(build.folder / DIALOGUES, [fresh])
        added.append(fresh)
    return added


def _read_rows(file: Path) -> list[tuple[int, dict[str, str]]]:
    reader = FolderReader(file.parent, PLAN)
    text = reader.text(file.name)
    rows: list[tuple[int, dict[str, str]]] = []
    if text is not None and file.suffix.lower() not in {".csv", ".jsonl"}:
        reader.fault(file.name, "file", file.suffix or "no suffix", ".jsonl or .csv")
    elif text is not None and file.suffix.lower() == ".csv":
        rows = list(reader.csv_rows(file.name, text))
    elif text is not None:
        rows = list(reader.jsonl_rows(file.name, text))
    if not rows and not reader.faults:
        reader.fault(file.name, "rows", 0, "at least one row")
    if reader.faults:
        raise FaultsError(reader.faults, where=str(file), hint=HINT)
    return rows


def _check_rows(
    rows: Sequence[tuple[int, Mapping[str, str]]],
    file: str,
    maxims: Sequence[str],
    build: BuildFolder | None,
) -> None:
    faults: list[Fault] = []
    dialogues = {line.dialogue_id for line in build.originals} if build else set()
    templates = {line.template_id for line in build.originals} if build else set()

    def fault(line: int, field: str, got: object, allowed: str) -> None:
        faults.append(Fault(file=file, line=line, field=field, got=str(got)[:80], allowed=allowed))

    for number, full in rows:
        row = {name: value for name, value in full.items() if value.strip()}
        rewording = "dialogue_id" in row
        for name in TEXTS[:1] if rewording else TEXTS:
            if not is_text(clean(row.get(name, ""))):
                fault(number, name, row.get(name, "nothing"), "a text of one line")
        for name in sorted(set(full) - _ALLOWED):
            fault(number, name, "a column", one_of(sorted(_ALLOWED)))
        if rewording and row["dialogue_id"] not in dialogues:
            fault(number, "dialogue_id", row["dialogue_id"], "a dialogue of this set")
        if not rewording and row.get("maxim") not in maxims:
            fault(number, "maxim", row.get("maxim", "nothing"), one_of(maxims))
        if "template_id" in row and not rewording and row["template_id"] not in templates:
            fault(number, "template_id", row["template_id"], "a template of this set")
        if not rewording and row.get("follower") == row.get("violator") is not None:
            fault(number, "violator", row["violator"], "a text other than the follower's")
    if faults:
        raise FaultsError(faults, where=file, hint=HINT)


def _line(build: BuildFolder, row: Mapping[str, str], person: str) -> Wording:
    made = by_person(person)
    question = clean(row["question"])
    if row.get("dialogue_id", "").strip():
        return new_wordings(build, row["dialogue_id"], [question], made)[0]
    template_id = row.get("template_id", "").strip() or _new_template_id(build, row["maxim"])
    return Wording(
        dialogue_id=new_ids(template_id, [line.dialogue_id for line in build.originals])[0],
        template_id=template_id,
        maxim=row["maxim"],
        wording=ORIGINAL,
        question=question,
        follower=clean(row["follower"]),
        violator=clean(row["violator"]),
        made=made,
    )


def _new_template_id(build: BuildFolder, maxim: str) -> str:
    """Return the next free template id: numbers of two digits, as in the built-in set."""
    taken = [line.template_id for line in build.originals]
    taken += [template.template_id for template in build.templates]
    number = int(new_ids(maxim, taken)[0].rpartition("-")[2])
    return f"{maxim}-{number:02d}"
