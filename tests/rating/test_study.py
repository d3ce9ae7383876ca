"""The built-in rating study: design, texts, reference, and how commands show it."""

from __future__ import annotations

import csv
import itertools
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from felicity.cli import main
from felicity.errors import FelicityError, OptionError
from felicity.rating.checks import count_rating_items, text_balance
from felicity.rating.study import RatingStudy
from felicity.study import BUILT_IN, load_choice_study, load_rating_study, load_study

NAME = "social-meaning"
SHARED = Path(os.environ.get("FELICITY_SHARED", Path(__file__).parents[2] / ".." / "shared"))
FACTS = {
    "house": ("September 15, 1983", "early 1980s"),
    "cinema": ("11:47", "around 12"),
    "conference": ("146", "About 150"),
    "bicycle": ("$509.55", "about $500"),
    "office": ("2 weeks and 5 days", "a couple of weeks"),
    "pasta": ("5 minutes 13 seconds", "around 5 minutes"),
}


@pytest.fixture(scope="module")
def study() -> RatingStudy:
    return load_rating_study(NAME)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUILT_IN / NAME, tmp_path / "copy"))


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Replace the first occurrence of ``old``, which must be there."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_items_are_the_full_crossing(study: RatingStudy) -> None:
    assert [item.item_id for item in study.items] == [
        "-".join(levels)
        for levels in itertools.product(
            ["house", "cinema", "conference", "bicycle", "office", "pasta"],
            ["high", "low"],
            ["precise", "approximate"],
            ["competent", "knowledgeable", "well-prepared", "helpful", "likeable", "pedantic"],
        )
    ]
    assert len(study.items) == 144


@pytest.mark.parametrize("scenario", FACTS)
def test_the_facts_carry_over(study: RatingStudy, scenario: str) -> None:
    for form, fact in zip(("precise", "approximate"), FACTS[scenario], strict=True):
        for item in study.select({"scenario": scenario, "form": form}):
            assert fact in item.texts["answer"]


def test_scenes_are_minimal_pairs(study: RatingStudy) -> None:
    """One level changed changes one text, and the answer that the number stands in."""
    changed = {"context": {"setting"}, "form": {"number", "answer"}, "attribute": set()}
    for one, other in itertools.combinations(study.items, 2):
        factors = {name for name in one.factors if one.factors[name] != other.factors[name]}
        if "scenario" in factors:
            continue
        texts = {name for name in one.texts if one.texts[name] != other.texts[name]}
        assert texts == set().union(*(changed[factor] for factor in factors))


def test_settings_are_equally_long(study: RatingStudy) -> None:
    rows = [row for row in text_balance(study) if row.field == "setting"]
    assert [row.scenario for row in rows] == list(FACTS)
    for row in rows:
        assert abs(row.words["high"] - row.words["low"]) <= 2


def test_scenes_do_not_name_what_is_rated(study: RatingStudy) -> None:
    stems = ("competen", "know", "prepare", "help", "lik", "pedant", "exact", "precis")
    for item in study.items:
        for name in ("opening", "setting", "question", "answer"):
            words = item.texts[name].lower().split()
            found = [word for word in words if word.startswith(stems)]
            assert found in ([], ["helping"]), (item.item_id, name)
    # Sofia is helping to organize a conference, in both contexts and both forms.
    assert {i.factors["scenario"] for i in study.items if "helping" in i.texts["opening"]} == {
        "conference"
    }


def test_names_differ_and_the_scene_has_both(study: RatingStudy) -> None:
    people = [
        item.texts[role]
        for item in study.select({"attribute": "helpful", "context": "high", "form": "precise"})
        for role in ("speaker", "asker")
    ]
    assert len(set(people)) == 12


def test_the_design_is_the_papers(study: RatingStudy) -> None:
    by_kind = {
        kind: [effect.attribute for effect in study.effects if effect.kind == kind]
        for kind in ("main", "interaction")
    }
    attributes = list(study.attributes)
    assert by_kind["main"] == [a for a in attributes if a != "likeable"]
    assert by_kind["interaction"] == [a for a in attributes if a != "pedantic"]
    assert {e.factors for e in study.effects} == {("form",), ("form", "context")}
    cells = {
        name: len({tuple(item.factors[f] for f in unit) for item in study.items})
        for name, unit in study.units.items()
    }
    assert cells == {"cells": 24, "scenario-cells": 144}
    assert study.default_unit == "cells"
    assert (study.repeats, study.temperature, study.presentation) == (10, 1.0, "single")
    assert (study.scale.low, study.scale.high) == (1, 7)


def test_the_reference_is_in_the_items_order(study: RatingStudy) -> None:
    assert [cell.factors for cell in study.reference] == [item.factors for item in study.items]
    assert len({(c.mean, c.sd, c.n, *c.factors.values()) for c in study.reference}) == 144
    per_scene = Counter((*list(c.factors.values())[:3], c.n) for c in study.reference)
    # Each person rated a scene on all six attributes.
    assert set(per_scene.values()) == {6}


def test_the_reference_is_the_papers(study: RatingStudy) -> None:
    file = SHARED / "data" / "social-meaning" / "human_cell_means_144.csv"
    if not file.exists():
        pytest.skip(f"needs {file.name} in the shared folder")
    cells = {tuple(cell.factors.values()): cell for cell in study.reference}
    with file.open(encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == len(cells)
    for row in rows:
        attribute = row["attribute"].replace("_", "-")
        cell = cells[row["scenario"], row["context"], row["form"], attribute]
        assert cell.mean == pytest.approx(float(row["mean"]), abs=1e-4)
        assert cell.sd == pytest.approx(float(row["sd"]), abs=1e-4)
        assert cell.n == int(row["n"])


def test_counts(study: RatingStudy) -> None:
    counts = count_rating_items(study)
    assert (counts["items"], counts["scenes"], counts["effects"]) == (144, 24, 10)
    assert counts["factors"]["form"] == {"precise": 72, "approximate": 72}
    assert counts["reference_ratings"] == 362 * 6
    words = counts["prompt_words"]
    assert words["COM"] - words["KMA"] == pytest.approx(words["ALT"] - words["MIN"])


def test_hash_follows_the_texts_and_not_the_prompts(study: RatingStudy, folder: Path) -> None:
    edit(folder, "prompts/task.txt", "Going by", "Judging by")
    assert load_rating_study(folder).data_hash == study.data_hash
    edit(folder, "scenarios.toml", "in the early 1980s", "in the mid 1980s")
    assert load_rating_study(folder).data_hash != study.data_hash


def test_paradigms_are_kept_apart() -> None:
    assert load_study(NAME).paradigm == "rating"
    with pytest.raises(OptionError, match="social-meaning: got a rating study; expected a choice"):
        load_choice_study(NAME)
    with pytest.raises(OptionError, match="gricean-maxims: got a choice study; expected a rating"):
        load_rating_study("gricean-maxims")


def test_selection(study: RatingStudy) -> None:
    assert len(study.select({"context": "low", "attribute": "pedantic"})) == 12
    with pytest.raises(FelicityError, match=r'factor form: got "exact"; expected one of approx'):
        study.select({"form": "exact"})
    with pytest.raises(FelicityError, match=r'factor: got "maxim"; expected one of attribute'):
        study.select({"maxim": "quality"})


def test_command_line_shows_items(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["items", NAME, "--where", "attribute=pedantic", "--limit", "2"])
    out = capsys.readouterr().out
    assert out.startswith("house-high-precise-pedantic\n  The scene:\n  Martin")
    assert 'Martin answers: "It was finished in the early 1980s."' in out
    assert out.count("How ") + out.count("how pedantic") == 2
    with pytest.raises(SystemExit, match="1"):
        main(["items", NAME, "--format", "plain"])
    assert 'got "plain"; expected none for a rating study' in capsys.readouterr().err


def test_command_line_validates(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["validate", NAME])
    out = capsys.readouterr().out
    assert "144 items: 24 scenes, each for 6 attributes, from 1 to 7" in out
    assert "By form: precise 72, approximate 72" in out
    edit(folder, "study.toml", "repeats = 10", "repeats = 0")
    with pytest.raises(SystemExit, match="1"):
        main(["validate", str(folder)])
    assert "run.repeats" in capsys.readouterr().out


def test_command_line_lists_both_paradigms(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["studies"])
    out = capsys.readouterr().out
    assert "MIN, ALT, KMA, COM" in out
    assert "names, named-answer, plain" in out
