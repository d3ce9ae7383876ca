"""People's individual ratings: cells as published, effects by a mixed model."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from felicity.errors import FaultsError, FelicityError
from felicity.reference_model import build_reference, mark_compared
from felicity.reference_reader import axes_of, ratings_from_table, read_ratings
from felicity.stats.alignment import Comparison
from felicity.stats.cells import Axes, count_cells
from felicity.stats.effects import define_effect
from felicity.stats.noise_ceiling import noise_ceiling
from felicity.types import Scale

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FELICITY_SHARED", ROOT.parent / "shared")) / "data/social-meaning"
REFERENCE = ROOT / "src/felicity/studies/social-meaning/reference.csv"
SCALE = Scale(low=1, high=7)
ATTRIBUTES = ("competent", "knowledgeable", "well-prepared", "helpful", "likeable", "pedantic")
AXES = Axes(
    scenarios=("house", "cinema", "conference", "bicycle", "office", "pasta"),
    factors={"context": ("high", "low"), "form": ("precise", "approximate")},
    attributes=ATTRIBUTES,
)


@dataclass(frozen=True)
class NamedEffect:
    kind: str
    factors: tuple[str, ...]
    attribute: str


@dataclass(frozen=True)
class Design:
    """What `felicity reference` needs of a study."""

    name: str = "two-scenes"
    paradigm: str = "rating"
    scale: Scale = SCALE
    factors: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            "scenario": ("train", "shop", "park"),
            "context": ("high", "low"),
            "form": ("precise", "approximate"),
            "attribute": ("helpful", "well-prepared"),
        }
    )
    effects: tuple[NamedEffect, ...] = (NamedEffect("main", ("form",), "helpful"),)


HEADER = "participant,scenario,context,form,helpful,well_prepared"


def write(path: Path, lines: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def invented(rng: np.random.Generator) -> list[str]:
    """Ratings by invented participants: form matters for helpful, nothing for well-prepared."""
    lines = []
    for scenario in Design().factors["scenario"]:
        for context in ("high", "low"):
            for form in ("precise", "approximate"):
                for _ in range(8):
                    helpful = int(np.clip(round(3 + 2 * (form == "precise") + rng.normal()), 1, 7))
                    other = int(rng.integers(2, 7))
                    lines.append(f"p{len(lines)},{scenario},{context},{form},{helpful},{other}")
    return lines


@pytest.fixture(scope="module")
def people():
    path = SHARED / "human_ratings.csv"
    if not path.is_file():
        pytest.skip(f"needs the shared data at {SHARED}")
    return build_reference(read_ratings(path, AXES, SCALE), AXES)


def test_cells_are_the_shipped_reference(people):
    shipped = pl.read_csv(REFERENCE)
    keys = ["scenario", "context", "form", "attribute"]
    assert people.scenario_cells.select(keys).equals(shipped.select(keys))
    assert (people.scenario_cells["n"] == shipped["n"]).all()
    for name in ("mean", "sd"):
        np.testing.assert_allclose(people.scenario_cells[name], shipped[name], rtol=1e-12)


def test_cells_by_polars_itself(people):
    raw = pl.read_csv(SHARED / "human_ratings.csv")
    for row in people.cells.to_dicts():
        mine = raw.filter(context=row["context"], form=row["form"])
        values = mine[row["attribute"].replace("-", "_")]
        assert row["n"] == values.len()
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std())


def test_ten_effects_are_significant_and_two_are_not(people):
    of_form = people.effects.filter(pl.col("factors").is_in(["form", "form × context"]))
    assert of_form.height == 12
    weak = of_form.filter(~pl.col("significant")).select("attribute", "kind").rows()
    assert weak == [("likeable", "main"), ("pedantic", "interaction")]
    assert set(people.effects["note"]) == {""}


def test_effects_by_the_formula_interface(people):
    """Another coding (treatment) of the same model must give the same interaction and p."""
    formula = pytest.importorskip("statsmodels.formula.api")
    pandas = pytest.importorskip("pandas")
    raw = pandas.read_csv(SHARED / "human_ratings.csv")
    model = formula.mixedlm("helpful ~ C(form) * C(context)", raw, groups=raw["scenario"])
    other = model.fit(reml=True)
    term = "C(form)[T.precise]:C(context)[T.low]"
    mine = people.effects.filter(attribute="helpful", kind="interaction").to_dicts()[0]
    assert mine["estimate"] == pytest.approx(-other.params[term], abs=1e-4)
    assert mine["standard_error"] == pytest.approx(other.bse[term], abs=1e-4)
    assert mine["p"] == pytest.approx(other.pvalues[term], rel=0.01)


def test_one_half_of_the_people_predicts_the_other(people):
    effects = tuple(define_effect(AXES, "main", ("form",), a) for a in ATTRIBUTES)
    found = noise_ceiling(
        people.ratings, Comparison(effects=effects), np.random.default_rng(0), n_splits=200
    )
    assert 0.9 < found.mean["spearman"] < 1
    assert 0.9 < found.mean["ccc"] < 1


def test_invented_people(tmp_path):
    axes = axes_of(Design())
    table = read_ratings(write(tmp_path / "r.csv", invented(np.random.default_rng(1))), axes, SCALE)
    found = build_reference(table, axes)
    effects = mark_compared(found.effects, Design().effects)
    row = effects.filter(attribute="helpful", factors="form").to_dicts()[0]
    assert row["significant"]
    assert row["compared"]
    assert row["estimate"] == pytest.approx(2, abs=0.6)
    # Balanced, so the model's estimate is the plain difference of means.
    assert row["estimate"] == pytest.approx(row["difference"], abs=1e-6)
    assert effects["compared"].sum() == 1
    assert not effects.filter(attribute="well-prepared", factors="form")["significant"].item()


def test_a_missing_rating_is_left_out_not_zero(tmp_path):
    lines = ["a,train,high,precise,7,", "b,train,high,precise,5,3"]
    table = read_ratings(write(tmp_path / "r.csv", lines), axes_of(Design()), SCALE)
    assert table["well-prepared"].to_list() == [None, 3.0]
    cells = count_cells(ratings_from_table(table, axes_of(Design())))
    assert cells.mean[0, 0].tolist() == [6.0, 3.0]
    assert cells.n[0, 0].tolist() == [2, 1]
    assert cells.asked[0, 0].tolist() == [2, 2]


def test_all_faults_at_once(tmp_path):
    path = write(
        tmp_path / "ratings.csv",
        [
            "a,train,high,precise,7,8",
            "b,bus,high,precise,5,3",
            "c,shop,high,exact,five,3",
            ",shop,low,precise,4,4.5",
            "a,train,high,precise,7,1",
            "d,shop,low",
            "e,shop,low,precise,nan,1,1",
        ],
    )
    with pytest.raises(FaultsError) as caught:
        read_ratings(path, axes_of(Design()), SCALE)
    number = "a whole number from 1 to 7, or nothing"
    assert [str(fault) for fault in caught.value.faults] == [
        f'ratings.csv line 2, well-prepared: got "8"; expected {number}',
        'ratings.csv line 3, scenario: got "bus"; expected one of train, shop, park',
        'ratings.csv line 4, form: got "exact"; expected one of precise, approximate',
        f'ratings.csv line 4, helpful: got "five"; expected {number}',
        'ratings.csv line 5, participant: got ""; expected a text that is not empty',
        f'ratings.csv line 5, well-prepared: got "4.5"; expected {number}',
        'ratings.csv line 6, participant: got "a"; expected each scene once (line 2)',
        'ratings.csv line 7, row: got "3 fields"; expected 6, as in the header',
        'ratings.csv line 8, row: got "7 fields"; expected 6, as in the header',
    ]


@pytest.mark.parametrize(
    ("header", "lines", "text"),
    [
        ("participant,scenario,context,helpful", [], "form: got"),
        (HEADER + ",helpful", [], 'helpful: got "two columns"; expected one'),
        (HEADER, [], 'rows: got "0"; expected at least one row'),
        ("", [], 'participant: got "nothing"; expected a column of this name'),
    ],
)
def test_files_that_are_not_ratings(tmp_path, header, lines, text):
    with pytest.raises(FaultsError, match=re.escape(text)):
        read_ratings(write(tmp_path / "r.csv", lines, header), axes_of(Design()), SCALE)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FelicityError, match="No such file"):
        read_ratings(tmp_path / "none.csv", axes_of(Design()))
    (tmp_path / "latin.csv").write_bytes(b"participant,caf\xe9\n")
    with pytest.raises(FelicityError, match="UTF-8"):
        read_ratings(tmp_path / "latin.csv", axes_of(Design()))


def test_too_few_ratings_for_the_model(tmp_path):
    lines = ["a,train,high,precise,7,2", "b,train,high,precise,5,3"]
    axes = axes_of(Design())
    table = read_ratings(write(tmp_path / "r.csv", lines), axes, SCALE)
    with pytest.raises(FelicityError, match=r"mixed model of helpful: got 2 ratings; expected"):
        build_reference(table, axes)


def test_without_statsmodels(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.regression.mixed_linear_model", None)
    axes = axes_of(Design())
    lines = invented(np.random.default_rng(1))
    table = read_ratings(write(tmp_path / "r.csv", lines), axes, SCALE)
    with pytest.raises(FelicityError, match=r"hint: pip install 'felicity\[stats\]'"):
        build_reference(table, axes)


def run_cli(monkeypatch, capsys, arguments: list[str]) -> tuple[int, str, str]:
    from felicity.cli import main

    monkeypatch.setattr("felicity.study.load_study", lambda name: Design())
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    printed = capsys.readouterr()
    return int(caught.value.code or 0), printed.out, printed.err


def test_command(tmp_path, monkeypatch, capsys):
    source = write(tmp_path / "r.csv", invented(np.random.default_rng(1)))
    arguments = ["reference", "two-scenes", "--from", str(source), "--out", str(tmp_path / "out")]
    code, out, err = run_cli(monkeypatch, capsys, arguments)
    assert code == 0
    assert "interaction: form × context" in out
    assert "of the 1 effects that the study compares models on, 1 are significant" in err
    with (tmp_path / "out" / "reference.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert list(rows[0]) == ["scenario", "context", "form", "attribute", "mean", "sd", "n"]
    code, out, _ = run_cli(monkeypatch, capsys, [*arguments[:4], "--json"])
    assert code == 0
    assert json.loads(out)["cells"][0]["n"] == 24


def test_command_says_what_is_wrong(tmp_path, monkeypatch, capsys):
    source = write(tmp_path / "r.csv", ["a,bus,high,precise,7,9"])
    code, out, err = run_cli(monkeypatch, capsys, ["reference", "x", "--from", str(source)])
    assert (code, out) == (1, "")
    assert "2 faults" in err
    assert "Traceback" not in err
