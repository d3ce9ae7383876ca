"""Every fault of a rating study's folder is found, and says where and what is allowed."""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from felicity.errors import FaultsError
from felicity.study import BUILT_IN, load_rating_study, load_study
from felicity.study_reader import read_study

NAME = "social-meaning"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUILT_IN / NAME, tmp_path / "copy"))


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Replace the first occurrence of ``old``, which must be there."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def faults(folder: Path) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        load_study(folder)
    return [str(fault) for fault in caught.value.faults]


BROKEN = [
    (
        "study.toml",
        'paradigm = "rating"',
        'paradigm = "ranking"',
        'study.toml, study.paradigm: got "ranking"; expected one of choice, rating',
    ),
    (
        "study.toml",
        'name = "social-meaning"',
        "name = 3",
        'study.toml, study.name: got "3"; expected text',
    ),
    (
        "study.toml",
        'levels = ["high", "low"]',
        'levels = ["high"]',
        "study.toml, factor context, levels: got \"['high']\"; expected at least 2 short texts "
        "without | or =",
    ),
    (
        "study.toml",
        '"helpful", "likeable", "pedantic"]',
        '"helpful", "helpful"]',
        'study.toml, attributes.levels: got "competent, knowledgeable, well-prepared, helpful, '
        'helpful"; expected each level once',
    ),
    (
        "study.toml",
        "high = 7",
        "high = 1",
        'study.toml, scale.high: got "1"; expected a whole number above 1',
    ),
    (
        "study.toml",
        "low = 1",
        "low = 1.5",
        'study.toml, scale.low: got "1.5"; expected a whole number',
    ),
    (
        "study.toml",
        "repeats = 10",
        "repeats = 0",
        'study.toml, run.repeats: got "0"; expected a whole number from 1',
    ),
    (
        "study.toml",
        "temperature = 1.0",
        "temperature = -1",
        'study.toml, run.temperature: got "-1.0"; expected a number from 0',
    ),
    (
        "study.toml",
        'presentation = "single"',
        'presentation = "pairs"',
        'study.toml, run.presentation: got "pairs"; expected one of single, block',
    ),
    (
        "study.toml",
        "-{attribute}",
        "-{trait}",
        'study.toml, items.item_id: got "{trait}"; expected one of {scenario}, {context}, {form}, '
        "{attribute}",
    ),
    (
        "study.toml",
        "-{form}",
        "",
        'study.toml, items.item_id: got "house-high-competent (2 times)"; expected each id once, '
        "and no | in it",
    ),
    (
        "study.toml",
        '["description", "situation", "task"]',
        '["description", "situation", "ask"]',
        'prompts/ask.txt, file: got "no such file"; expected a file of this name in the study '
        "folder",
    ),
    (
        "study.toml",
        '["description", "situation", "task"]',
        '["../README"]',
        'study.toml, promptings: got "../README"; expected letters, digits, _ and -',
    ),
    (
        "study.toml",
        '["description", "situation", "task"]',
        '["description", "task"]',
        'study.toml, promptings.MIN: got "one text for house-high-precise-competent and '
        'house-high-approximate-competent"; expected a text of its own for every item',
    ),
    (
        "study.toml",
        '["description", "situation", "task"]',
        '"task"',
        'study.toml, promptings.MIN: got "task"; expected a list of blocks',
    ),
    (
        "study.toml",
        '# system = "system"',
        'system = "task"',
        'prompts/task.txt line 1, placeholder: got "{attribute}"; expected one of {scenario}, '
        "{context}, {form}, {low}, {high}, {low_label}, {high_label}, {speaker}, {asker}, "
        "{opening}, {question}, {answer}, {setting}, {number}",
    ),
    (
        "study.toml",
        'default = "cells"',
        'default = "24"',
        'study.toml, comparison.default: got "24"; expected one of cells, scenario-cells',
    ),
    (
        "study.toml",
        'cells = ["context",',
        'cells = ["setting",',
        'study.toml, comparison.units.cells: got "setting"; expected one of scenario, context, '
        "form, attribute",
    ),
    (
        "study.toml",
        'kind = "main"',
        'kind = "simple"',
        'study.toml, effect 1, kind: got "simple"; expected one of main, interaction',
    ),
    (
        "study.toml",
        'factors = ["form"]',
        'factors = ["form", "context"]',
        "study.toml, effect 1, factors: got \"['form', 'context']\"; expected 1 of context, form "
        "for main",
    ),
    (
        "study.toml",
        'factors = ["form"]',
        'factors = ["scenario"]',
        'study.toml, effect 1, factors: got "scenario"; expected a factor with two levels, one of '
        "context, form",
    ),
    (
        "study.toml",
        'attribute = "competent"',
        'attribute = "knowledgeable"',
        'study.toml, effect 2: got "knowledgeable: form"; expected each effect once',
    ),
    (
        "study.toml",
        'attribute = "pedantic"',
        'attribute = "dull"',
        'study.toml, effect 5, attribute: got "dull"; expected one of competent, knowledgeable, '
        "well-prepared, helpful, likeable, pedantic",
    ),
    (
        "scenarios.toml",
        'key = "cinema"',
        'key = "house"',
        'scenarios.toml, key: got "house (2 times)"; expected each key once',
    ),
    (
        "scenarios.toml",
        'key = "cinema"',
        "",
        'scenarios.toml, scenario 2, key: got "None"; expected a short text without | or =',
    ),
    (
        "scenarios.toml",
        'asker = "Daniel"\n',
        "",
        'scenarios.toml, cinema.asker: got "nothing"; expected this field, as in other scenarios',
    ),
    (
        "scenarios.toml",
        'precise = "at 11:47"',
        'exact = "at 11:47"',
        'scenarios.toml, cinema.number: got "exact, approximate"; expected a text, or one for each '
        "of: high, low (context); precise, approximate (form); competent, knowledgeable, "
        "well-prepared, helpful, likeable, pedantic (attribute)",
    ),
    (
        "scenarios.toml",
        'precise = "at 11:47"',
        'precise = " "',
        'scenarios.toml, cinema.number.precise: got " "; expected a text that is not empty',
    ),
    (
        "scenarios.toml",
        "It ends {number}.",
        "It ends {time}.",
        'scenarios.toml, cinema.answer: got "{time}"; expected one of {speaker}, {asker}, '
        "{question}, {setting}, {number}",
    ),
    (
        "scenarios.toml",
        "[[scenario]]",
        "[scene]\n[[scenario]]",
        'scenarios.toml, scene: got "a table of this name"; expected [[scenario]] alone',
    ),
    (
        "scenarios.toml",
        'speaker = "Martin"',
        'speaker = "Martin"\nlow = "x"',
        'scenarios.toml, house.low: got "low"; expected a name other than ',
    ),
    (
        "scenarios.toml",
        'speaker = "Martin"',
        "speaker = ",
        'scenarios.toml, syntax: got "Invalid value (at line 7, column 11)"; expected TOML',
    ),
    (
        "prompts/situation.txt",
        "{asker}",
        "{questioner}",
        'prompts/situation.txt line 3, placeholder: got "{questioner}"; expected one of {scenario}',
    ),
    (
        "reference.csv",
        "house,high,",
        "hut,high,",
        ', scenario: got "hut"; expected one of house, cinema, conference, bicycle, office, pasta',
    ),
    ("reference.csv", "house,high,", "house,low,", "; expected each cell once"),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), BROKEN)
def test_a_fault_says_where_and_what_is_allowed(
    folder: Path, file: str, old: str, new: str, expected: str
) -> None:
    edit(folder, file, old, new)
    found = faults(folder)
    assert any(expected in fault for fault in found), found


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("mean", "7.5", 'reference.csv line 2, mean: got "7.5"; expected a number from 1 to 7'),
        ("mean", "nan", 'reference.csv line 2, mean: got "nan"; expected a number from 1 to 7'),
        ("sd", "", 'reference.csv line 2, sd: got "nothing"; expected a number from 0 to 6'),
        ("n", "0", 'reference.csv line 2, n: got "0"; expected a whole number from 1'),
        ("n", "1.5", 'reference.csv line 2, n: got "1.5"; expected a whole number from 1'),
    ],
)
def test_reference_numbers(folder: Path, column: str, value: str, expected: str) -> None:
    path = folder / "reference.csv"
    with path.open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    rows[0][column] = value
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert faults(folder) == [expected]


def test_a_missing_reference_row(folder: Path) -> None:
    path = folder / "reference.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-1]), encoding="utf-8")
    missing = "-".join(lines[-1].split(",")[:4])
    assert faults(folder) == [
        f'reference.csv, cell: got "no row for {missing}"; expected a row for every item'
    ]


def test_all_faults_at_once(folder: Path) -> None:
    edit(folder, "study.toml", "repeats = 10", "repeats = -1")
    edit(folder, "scenarios.toml", 'asker = "Karen"', 'asker = ""')
    edit(folder, "prompts/task.txt", "{speaker}", "{person}")
    edit(folder, "reference.csv", "pasta,low", "pasta,medium")
    (folder / "README.md").unlink()
    found = faults(folder)
    assert [fault.partition(": got")[0] for fault in found[:3]] == [
        "README.md, file",
        "scenarios.toml, house.asker",
        "prompts/task.txt line 1, placeholder",
    ]
    assert found[3].startswith("study.toml, run.repeats")
    assert 'context: got "medium"' in found[4]
    assert len(found) == 5


def test_a_study_without_reference_factors_or_effects(tmp_path: Path) -> None:
    """The least that a rating study is: one scenario, one attribute, no factor of its own."""
    folder = tmp_path / "least"
    (folder / "prompts").mkdir(parents=True)
    (folder / "README.md").write_text("A study.\n", encoding="utf-8")
    (folder / "prompts" / "ask.txt").write_text("{text}\nHow {attribute}?", encoding="utf-8")
    (folder / "scenarios.toml").write_text(
        '[[scenario]]\nkey = "a"\ntext = "One."\n[[scenario]]\nkey = "b"\ntext = "Two."\n',
        encoding="utf-8",
    )
    (folder / "study.toml").write_text(
        '[study]\nname = "least"\ntitle = "t"\nversion = "1"\nparadigm = "rating"\n'
        'language = "en"\nlicence = "CC0-1.0"\n'
        '[items]\nfile = "scenarios.toml"\nitem_id = "{scenario}"\n'
        '[attributes]\nlevels = ["easy to like"]\n'
        '[scale]\nlow = -3\nhigh = 3\nlow_label = "not"\nhigh_label = "very"\n'
        '[promptings]\nASK = ["ask"]\n'
        '[comparison]\ndefault = "all"\nunits = { all = ["scenario"] }\n',
        encoding="utf-8",
    )
    study = load_rating_study(folder)
    assert [item.item_id for item in study.items] == ["a", "b"]
    assert (study.reference, study.effects, study.scale.low) == ((), (), -3)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, (*path, key))


ODD = [[], {}, "", " ", 0, -1, 1.5, True, "a|b", [["x"]], {"x": {}}, None]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("file", ["study.toml", "scenarios.toml"])
def test_no_value_anywhere_ends_in_a_traceback(folder: Path, file: str, odd: Any) -> None:
    """Each value of each file replaced by an odd one (None: left out): faults or a whole study."""
    for name in ("study.toml", "scenarios.toml"):
        (folder / name).write_text(toml(less(folder, name)), encoding="utf-8")
    assert read_study(folder)[1] == []
    table = less(folder, file)
    wholes = 0
    for place in list(leaves(table))[1:]:
        (folder / file).write_text(toml(replaced(table, place, odd)), encoding="utf-8")
        study, faults = read_study(folder)
        assert (study is None) == bool(faults)
        wholes += study is not None
    assert wholes < len(list(leaves(table))) - 1


def less(folder: Path, name: str) -> dict[str, Any]:
    """Read a file of the study; of what is alike keep one or two, and no reference."""
    table = tomllib.loads((folder / name).read_text(encoding="utf-8"))
    if name == "scenarios.toml":
        return {"scenario": table["scenario"][:2]}
    table["effect"] = table["effect"][:2]
    table.pop("reference", None)
    return table


def replaced(table: dict[str, Any], place: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(table))
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    if odd is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = odd
    return changed


def toml(table: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {toml_value(value)}\n" for key, value in table.items())


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value)
