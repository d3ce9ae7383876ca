"""The table, its forms and its words, from runs with known answers."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest

from felicity import analyse, load_study
from felicity.errors import OptionError, RunError
from felicity.report import write_report
from felicity.report.choice.files import as_json
from felicity.report.choice.table import as_csv, main_table
from felicity.report.choice.words import in_words
from felicity.report.text_table import as_latex, as_markdown

from made_runs import made_run
from study_folders import write_study


@pytest.fixture
def study(tmp_path):
    return load_study(write_study(tmp_path / "study"))


def test_cells_are_right_and_overall_is_the_mean_of_the_levels(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda i: 1.0 if "all-0" in i.item_id or
                   i.factors["word"] == "and" else -1.0)  # fmt: skip
    cells = analyse([run], study).participants[0].cells
    assert cells["all"].accuracy == 0.5
    assert cells["and"].accuracy == 1.0
    assert cells["overall"].accuracy == 0.75
    assert (cells["all"].correct, cells["all"].usable, cells["all"].units) == (2, 4, 2)
    assert cells["and"].interval.method == "Wilson over units"
    people = analyse([run], study).people["Adults"]
    assert people["all"].accuracy == 0.9
    assert people["overall"].accuracy == 0.95


def test_an_all_tied_model_scores_zero_and_its_ties_are_shown(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", lambda _: 0.0)], study)
    cells = analysis.participants[0].cells
    assert cells["overall"].accuracy == 0.0
    assert cells["overall"].ties == 8
    assert main_table(analysis).rows[0][-1] == "8"
    assert "8 items are ties" in in_words(analysis)[0]


def test_what_has_no_score_is_missing_not_wrong(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", lambda _: 1.0, status="not_finite")], study)
    cells = analysis.participants[0].cells
    assert cells["all"].accuracy is None
    assert (cells["all"].usable, cells["all"].asked) == (0, 4)
    assert analysis.participants[0].statuses == {"not_finite": 16}
    assert main_table(analysis).rows[0][2:6] == ("–", "–", "–", "0 of 8")
    assert "no usable item" in in_words(analysis)[0]
    json.dumps(as_json(analysis), allow_nan=False)


def test_a_part_of_the_study_has_no_overall_score(study, tmp_path):
    items = study.select({"word": "all"})
    run = made_run(study, tmp_path / "r", lambda _: 1.0, items=items)
    cells = analyse([run], study).participants[0].cells
    assert cells["all"].accuracy == 1.0
    assert cells["and"].accuracy is None
    assert cells["overall"].accuracy is None
    assert "not complete" in in_words(analyse([run], study))[0]


def test_variants_show_how_far_names_alone_move_the_score(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda i: 1.0 if i.factors["asker"] == "Ann" else -1.0)
    variants = analyse([run], study).participants[0].variants
    assert (
        "Over variants of asker it lies between .00 and 1.00." in in_words(analyse([run], study))[0]
    )
    assert variants == {"asker": {"Ann": {"all": 1.0, "and": 1.0}, "Bo": {"all": 0.0, "and": 0.0}}}


@pytest.mark.parametrize("score", ["log_prob_mean", "log_prob_sum", "bits_per_character", "pmi"])
def test_every_score_agrees_where_only_probability_differs(study, tmp_path, score):
    run = made_run(study, tmp_path / "r", lambda _: 1.0)
    result = analyse([run], study, score=score).participants[0]
    if score == "bits_per_character":
        text = {i.item_id: i.answers for i in study.items}
        for row in result.margins.iter_rows(named=True):
            strong, weak = (len(text[row["item_id"]][k]) for k in ("strong", "weak"))
            assert row["margin"] == pytest.approx((4 / weak - 2 / strong) / np.log(2))
    else:
        assert result.cells["overall"].accuracy == 1.0


def test_formats_are_compared_on_common_items_only(study, tmp_path):
    part = study.select({"asker": "Ann"})
    runs = [
        made_run(study, tmp_path / "a", lambda i: 1.0 if i.factors["asker"] == "Ann" else -1.0),
        made_run(study, tmp_path / "b", lambda _: -1.0, fmt="plain", items=part),
    ]
    text = in_words(analyse(runs, study))[-1]
    assert "4 items that all these runs have (formats names / plain)" in text
    assert "All 1.00 / .00; And 1.00 / .00" in text
    assert "largest move is 1.00" in text


def test_every_form_holds_the_same_numbers(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda i: 1.0 if "0" in i.item_id else -1.0,
                   label="A_model & 100% {new}")  # fmt: skip
    analysis = analyse([run], study)
    table = main_table(analysis)
    markdown, latex = as_markdown(table), as_latex(table)
    for shown in (".50", ".90", "1.00"):
        assert shown in markdown
        assert shown in latex
    assert r"A\_model \& 100\% \{new\}" in latex
    assert latex.count(r"\\") == len(table.rows) + 1
    assert latex.index(r"\midrule") < latex.rindex(r"\midrule") < latex.index("Adults")
    rows = list(csv.DictReader(io.StringIO(as_csv(analysis))))
    people = [r for r in rows if r["kind"] == "people"]
    assert [(r["participant"], r["word"], r["accuracy"]) for r in people] == [
        ("Adults", "all", "0.9"), ("Adults", "and", "1.0"), ("Adults", "overall", "0.95"),
    ]  # fmt: skip
    plain = as_json(analysis)
    assert plain["participants"][0]["cells"]["all"]["accuracy"] == 0.5
    paths = write_report(analysis, tmp_path / "report")
    assert sorted(paths) == ["accuracy.csv", "report.json", "table.md", "table.tex"]
    assert json.loads(paths["report.json"].read_text()) == json.loads(json.dumps(plain))
    assert pl.read_csv(paths["accuracy.csv"]).height == len(rows)


def test_the_gricean_childrens_row_is_the_published_one(gricean, tmp_path):
    run = made_run(gricean, tmp_path / "r", lambda _: 1.0)
    row = main_table(analyse([run], gricean), intervals=False).rows[-1]
    assert row == (
        "Children 6–7", "–", ".58", ".78", "1.00", "1.00", ".93", ".86", "200 answers", "–",
    )  # fmt: skip


def test_same_seed_same_table(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda i: 1.0 if "-0" in i.item_id else -1.0)
    assert as_json(analyse([run], study, seed=3)) == as_json(analyse([run], study, seed=3))


def test_wrong_uses_are_told(study, gricean, tmp_path):
    run = made_run(study, tmp_path / "r", lambda _: 1.0)
    with pytest.raises(OptionError, match="expected one of log_prob_mean"):
        analyse([run], study, score="mean")
    with pytest.raises(RunError, match="expected gricean-maxims"):
        analyse([run], gricean)
    with pytest.raises(RunError, match="no run was given"):
        analyse([], study)
    with pytest.raises(RunError, match="cannot be written"):
        write_report(analyse([run], study), tmp_path / "r" / "journal.sqlite" / "x")


def test_words_do_not_say_more_than_the_tests(study, tmp_path):
    text = in_words(analyse([made_run(study, tmp_path / "r", lambda _: 1.0)], study))[0]
    # Two dialogues a level cannot be above chance by a sign-flip test, however often they win.
    assert re.search(r"It is not distinguishable from chance on All and And", text)
