"""Make a study folder of the materials of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from felicity.errors import Fault, FaultsError, OptionError, one_of
from felicity.folder_reader import Row
from felicity.interop import public
from felicity.interop.materials import (
    ITEM_ID,
    QUESTION,
    UNIT,
    Materials,
    find_faults,
    levels_of,
    study_files,
)
from felicity.interop.read_table import read_table
from felicity.interop.texts import write_files
from felicity.study import Study, load_choice_study
from felicity.study_reader import RESERVED

FACTOR = "factor"
ROLES = (QUESTION, UNIT, ITEM_ID, FACTOR)
ADAPTERS: Mapping[str, Callable[[list[Row], str, list[Fault]], Materials | None]] = {
    "gricean-csv": public.gricean_csv,
    "blimp": public.blimp,
    "hu-2023": public.hu_2023,
    "scalar-diversity": public.scalar_diversity,
}
IMPORTS = ("table", *ADAPTERS)


def import_study(
    file: Path | str,
    to: Path | str,
    *,
    kind: str = "table",
    columns: Mapping[str, str] | None = None,
    answers: tuple[str, ...] | None = None,
    factor: str | None = None,
    name: str | None = None,
    language: str = "en",
    licence: str = "unknown",
    sheet: str | None = None,
) -> Study:
    """Read a table of items and write it as a study folder.

    Parameters
    ----------
    file
        CSV, TSV, XLSX, JSONL or Parquet.
    to
        The study folder; files that are there already are not written over.
    kind
        ``table``, or one of the sets whose columns are known: ``gricean-csv``, ``blimp``,
        ``hu-2023``, ``scalar-diversity``.
    columns
        For ``table``: role to column. Roles are ``question``, ``unit`` (what repeats across rows),
        ``item_id``, ``factor``, and the labels of the answers.
    answers
        For ``table``: the labels, first the one that should win; the roles of ``columns`` that are
        none of the above, in their order, where not given.
    factor
        For ``table``: the column whose levels are compared; one level for all where not given.
    name, language, licence
        What study.toml says of it.
    sheet
        Of a spreadsheet.

    Returns
    -------
    Study
        As read back from the folder.

    Raises
    ------
    FaultsError
        With every fault of every row, by its line in ``file``; nothing is written then.
    OptionError, RunError
        For a wrong option; where the folder holds a study already.
    """
    path, folder = Path(file), Path(to)
    if kind not in IMPORTS:
        raise OptionError(f'got "{kind}"; expected {one_of(IMPORTS)}', where="--from")
    if kind != "table" and (columns or answers or factor):
        raise OptionError(
            f"got columns, answers or a factor for {kind}; expected none, its columns are known",
            where="--column",
            hint="--from table takes any columns",
        )
    rows = read_table(path, sheet=sheet)
    faults: list[Fault] = []
    if kind == "table":
        made: Materials | None = _from_table(rows, columns or {}, answers, factor)
    else:
        made = ADAPTERS[kind](rows, path.name, faults)
    if made is not None and not faults:
        faults = find_faults(made, path.name)
    if made is None or faults:
        raise FaultsError(faults, where=str(path), hint="nothing was written")
    chosen = name or folder.resolve().name
    files = study_files(
        made,
        name=chosen,
        title=f"{chosen}: does the {made.answers[0]} win?",
        language=language,
        licence=licence,
        source=path.name,
    )
    write_files(folder, files)
    return load_choice_study(folder)


def _from_table(
    rows: list[Row],
    columns: Mapping[str, str],
    answers: tuple[str, ...] | None,
    factor: str | None,
) -> Materials:
    header = list(dict.fromkeys(column for _, row in rows for column in row))
    compared = factor or columns.get(FACTOR)
    labels = answers or tuple(role for role in columns if role not in ROLES)
    if not labels and {"follower", "violator"} <= set(header):
        labels = ("follower", "violator")
    if len(labels) < 2:
        raise OptionError(
            f"got {len(labels)} answers; expected two or more",
            where="--column",
            hint="name their columns, the one that should win first: "
            "--column follower=A --column violator=B",
        )
    taken = [name for name in (*labels, compared or "") if name in RESERVED]
    if taken:
        raise OptionError(
            f"got {', '.join(taken)}; expected another name, which tables of responses do not have",
            where="--column",
            hint="rename the column, or give the answer another label",
        )
    places = {role: columns.get(role, role) for role in (*labels, QUESTION, UNIT, ITEM_ID)}
    asked = [places[label] for label in labels] + ([compared] if compared else [])
    asked += [columns[role] for role in (QUESTION, UNIT, ITEM_ID) if role in columns]
    missing = [column for column in asked if column not in header]
    if missing:
        raise OptionError(
            f"got {', '.join(missing)}; expected {one_of(header)}",
            where="--column",
            hint="columns are named as in the table's first line",
        )
    level = compared or "part"
    used = {places[role] for role in places} | {level}
    made = []
    for number, (line, row) in enumerate(rows, start=1):
        item_id = row.get(places[ITEM_ID]) if places[ITEM_ID] in header else f"{number:04d}"
        kept = {name: value for name, value in row.items() if name not in used}
        kept |= {label: row.get(places[label], "") for label in labels}
        kept[level] = row.get(level, "") if compared else "all"
        kept[ITEM_ID] = item_id or ""
        kept[UNIT] = (row.get(places[UNIT]) or "") if places[UNIT] in header else kept[ITEM_ID]
        if places[QUESTION] in header:
            kept[QUESTION] = row.get(places[QUESTION], "")
        made.append((line, kept))
    has_question = places[QUESTION] in header
    return Materials(
        rows=tuple(made),
        answers=labels,
        factor=level,
        levels=levels_of(made, level),
        context="{question}" if has_question else "",
        answer=" {answer}" if has_question else "{answer}",
    )
