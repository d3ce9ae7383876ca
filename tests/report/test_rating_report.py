"""The report of rating runs: from replies to published measures, in every form."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from felicity.cli import main
from felicity.errors import FelicityError, OptionError, RunError
from felicity.rating.parse import PARSER_VERSION, parse_reply
from felicity.rating.parsing import Parser
from felicity.rating.replay import replay
from felicity.rating.replay_reader import read_collection
from felicity.report import analyse_ratings, write_rating_report
from felicity.report.rating.table import effects_table, figure, measures_table, names_of
from felicity.report.rating.values import as_json
from felicity.report.rating.words import in_words
from felicity.report.text_table import as_latex, as_markdown
from felicity.stats.alignment import MEASURES
from felicity.stats.cells import Ratings
from felicity.study import load_rating_study

from rating_folders import PEOPLE, TOML, cells, replies, write_rating_study, write_replies
from study_folders import write_study

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FELICITY_SHARED", ROOT.parent / "shared")) / "data/social-meaning"
PARSER = Parser(parse=parse_reply, version=PARSER_VERSION)


@pytest.fixture(autouse=True)
def figures_once(request, monkeypatch):
    """Draw figures in one test only: they are tested elsewhere, and take their time."""
    if request.node.name != "test_the_command_shows_tables_and_words":
        monkeypatch.setattr(
            sys.modules["felicity.report.rating.content"], "missing_packages", lambda: ("altair",)
        )


@pytest.fixture
def study(tmp_path):
    return load_rating_study(write_rating_study(tmp_path / "study"))


def made_run(study, folder, text, *, prompting="MIN", parser=PARSER, **options):
    """A run whose replies are ``text(cell, repeat)``."""
    entries = replies(text, prompting=prompting, **options)
    file = write_replies(folder.parent / f"{folder.name}.jsonl", entries)
    (done,) = replay(read_collection([(file, None)], study), study, folder, parser)
    return done.run


def as_people(cell, repeat):
    """Two repeats whose mean is people's: 3.1 is nearly 3."""
    return str(round(PEOPLE[cell[1:]]))


def analyse(runs, study, **options):
    return analyse_ratings(runs, study, **({"n_resamples": 60} | options))


def only(analysis):
    (result,) = analysis.results
    return result


def value(result, name):
    return float(getattr(result.summary.point, name))


# Numbers ------------------------------------------------------------------------------------


def test_measures_by_hand(study, tmp_path):
    """Δ of helpful: people 1.5 and 1; the model says 7 to precise and 1 else: 6 and 0."""
    run = made_run(study, tmp_path / "r", lambda c, _: "7" if c[2] == "precise" else "1")
    result = only(analyse([run], study))
    esr = [estimate.esr for estimate in result.summary.esr]
    assert esr == pytest.approx([6 / 1.5, 0.0, 6 / 0.1])
    assert value(result, "das") == 1.0
    assert value(result, "iss") == 0.0
    assert value(result, "cds_main") == pytest.approx((3 + 59) / 2)
    assert value(result, "cds_interaction") == 1.0
    people = np.array([PEOPLE[c[1:]] for c in cells() if c[0] == "train"])
    model = np.array([7.0 if c[2] == "precise" else 1.0 for c in cells() if c[0] == "train"])
    assert value(result, "rmse") == pytest.approx(np.sqrt(np.mean((people - model) ** 2)))
    assert value(result, "pearson") == pytest.approx(np.corrcoef(people, model)[0, 1])
    top = 2 * np.mean((people - people.mean()) * (model - model.mean()))
    lin = top / (people.var() + model.var() + (people.mean() - model.mean()) ** 2)
    assert value(result, "ccc") == pytest.approx(lin)
    assert result.ccc_variants["lin"] == value(result, "ccc")
    assert abs(result.ccc_variants["as_published"]) < abs(lin)


def test_a_model_that_answers_as_people_do(study, tmp_path):
    exact = replace(study, reference=tuple(
        replace(cell, mean=float(round(cell.mean))) for cell in study.reference))  # fmt: skip
    exact = replace(exact, effects=study.effects[:2])
    result = only(analyse([made_run(exact, tmp_path / "r", as_people)], exact))
    assert [value(result, name) for name in ("spearman", "ccc", "rmse", "cds")] == pytest.approx(
        [1.0, 1.0, 0.0, 0.0]
    )
    assert [estimate.esr for estimate in result.summary.esr] == pytest.approx([1.0, 1.0])


def test_an_unstable_ratio_is_flagged_everywhere(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", as_people)], study)
    assert [e.unstable for e in only(analysis).summary.esr] == [False, False, True]
    assert effects_table(analysis).rows[2][-1].endswith("*")
    assert "well-prepared: form are unstable" in in_words(analysis)[0]
    assert [e["unstable"] for e in as_json(analysis)["participants"][0]["effects"]] == [
        False,
        False,
        True,
    ]


def test_every_measure_has_an_interval_and_the_seed_alone_decides_it(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda c, r: str(3 + 2 * (c[2] == "precise") + r % 2))
    first, same, other = (only(analyse([run], study, seed=s)).summary for s in (1, 1, 2))
    assert set(first.intervals) == set(MEASURES)
    rmse = first.intervals["rmse"]
    assert rmse.low < rmse.high
    assert rmse.method == "bootstrap over repeats, scenarios"
    assert first.intervals == same.intervals
    assert first.intervals != other.intervals
    assert first.esr[0].interval.low < first.esr[0].interval.high


def test_promptings_and_runs_are_rows_of_their_own(study, tmp_path):
    entries = replies(as_people, prompting="ALT") + replies(as_people, prompting="MIN")
    file = write_replies(tmp_path / "both.jsonl", entries)
    collection = read_collection([(file, None)], study)
    (done,) = replay(collection, study, tmp_path / "r", PARSER)
    second = made_run(study, tmp_path / "second", as_people)
    analysis = analyse([done.run, second], study)
    assert [(r.prompting, r.asked) for r in analysis.results] == [
        ("MIN", 64),
        ("ALT", 64),
        ("MIN", 64),
    ]
    # Two rows would be the same but for the folder.
    assert names_of(analysis) == [
        "parrot, method replay, r",
        "parrot, method replay, r",
        "parrot, method replay, second",
    ]


# What is missing ----------------------------------------------------------------------------


def half_missing(cell, repeat):
    """The precise form loses three of four replies, in both contexts."""
    return "I cannot say." if cell[2] == "precise" and repeat else as_people(cell, repeat)


def test_what_is_missing_is_told_by_cell_and_form(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", half_missing)], study)
    result = only(analysis)
    assert (result.usable, result.asked) == (40, 64)
    assert {(c.usable, c.asked) for c in result.cells if c.factors["form"] == "precise"} == {(2, 8)}
    assert [m.differs for m in result.missingness if not m.within] == [True, True]
    assert result.summary.esr[0].esr == pytest.approx(2 / 1.5 * 0.75)
    words = in_words(analysis)[0]
    assert "24 of 64 replies have no usable rating (24 " in words
    assert "the cell with fewest is high, precise, helpful: 2 of 8" in words
    assert "missing unevenly" in words
    assert "for helpful and well-prepared" in words
    assert measures_table(analysis).rows[0][2] == "40 of 64"


def test_a_cell_with_no_rating_is_missing_not_zero(study, tmp_path):
    lost = ("high", "precise", "helpful")
    run = made_run(study, tmp_path / "r", lambda c, r: "" if c[1:] == lost else as_people(c, r))
    analysis = analyse([run], study)
    result = only(analysis)
    assert int(result.summary.point.cells) == 7
    assert math.isnan(result.summary.esr[0].esr)
    assert value(result, "cds_main") == pytest.approx(1.0)
    plain = as_json(analysis)
    json.dumps(plain, allow_nan=False)
    assert plain["participants"][0]["effects"][0]["esr"]["value"] is None
    assert effects_table(analysis).rows[0][-1] == "–"
    assert "1 of 8 cells have none and are left out" in in_words(analysis)[0]


def test_nothing_usable_is_no_measure_and_no_crash(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", lambda _c, _r: "")], study)
    assert in_words(analysis) == ["parrot, MIN: none of 64 replies is usable (64 empty)."]
    assert measures_table(analysis).rows[0] == ("parrot", "MIN", "0 of 64", *["–"] * 9)
    plain = as_json(analysis)
    json.dumps(plain, allow_nan=False)
    assert all(m["value"] is None for m in plain["participants"][0]["measures"].values())
    write_rating_report(analysis, tmp_path / "out")


def test_a_part_of_the_study_and_a_run_without_a_reply(study, tmp_path):
    part = [e for e in replies(as_people, prompting="MIN") if e["scenario"] == "train"]
    file = write_replies(tmp_path / "part.jsonl", part)
    (done,) = replay(read_collection([(file, None)], study), study, tmp_path / "r", PARSER)
    result = only(analyse([done.run], study))
    assert (result.usable, result.asked) == (32, 32)
    assert {(cell.usable, cell.asked) for cell in result.cells} == {(4, 4)}
    assert result.missingness == ()
    unread = replace(done.run, responses=done.run.responses.clear())
    with pytest.raises(RunError, match="no reply yet"):
        analyse([unread], study)


def test_replies_of_another_model_are_told_and_not_used(study, tmp_path):
    run = made_run(study, tmp_path / "r", as_people)
    swapped = run.responses.with_columns(
        status=pl.when(repeat=0).then(pl.lit("model_mismatch")).otherwise("status"),
        model_id=pl.when(repeat=0).then(pl.lit("cockatoo")).otherwise("model_id"),
    )
    for as_published in (False, True):
        analysis = analyse([replace(run, responses=swapped)], study, as_published=as_published)
        assert only(analysis).usable == 48
        assert "16 replies came from cockatoo, not from parrot." in in_words(analysis)[0]


def test_replies_that_are_all_alike_are_told(study, tmp_path):
    same = analyse([made_run(study, tmp_path / "a", as_people)], study)
    assert "All 16 items have the same rating in every repeat" in in_words(same)[0]
    varied = made_run(study, tmp_path / "b", lambda c, r: str(3 + (r == 0) * (c[0] == "shop")))
    assert only(analyse([varied], study)).alike == (8, 16)
    assert "same rating in every repeat" not in in_words(analyse([varied], study))[0]


# Ways of comparing --------------------------------------------------------------------------


def test_units_and_weightings(study, tmp_path):
    """The shop says 1 more than the train; half of its replies are missing."""

    def text(cell, repeat):
        if cell[0] == "shop":
            return "" if repeat > 1 else str(round(PEOPLE[cell[1:]]) + 1)
        return as_people(cell, repeat)

    run = made_run(study, tmp_path / "r", text)
    pooled, means, apart = (
        only(analyse([run], study, **options))
        for options in ({}, {"weighting": "scenario-means"}, {"unit": "scenario-cells"})
    )
    assert pooled.cells[0].mean == pytest.approx(6 + 2 / 6)
    assert means.cells[0].mean == pytest.approx(6.5)
    assert [len(r.cells) for r in (pooled, means, apart)] == [8, 8, 16]
    assert set(apart.cells[0].factors) == {"scenario", "context", "form", "attribute"}
    assert pooled.largest_shift == pytest.approx(1 / 6)
    assert pooled.other_weighting["rmse"] == pytest.approx(value(means, "rmse"))
    words = in_words(analyse([run], study))[0]
    assert f"RMSE {figure(value(pooled, 'rmse'))} → {figure(value(means, 'rmse'))}" in words
    assert "cell means move by .167 at most" in words
    assert "Weighted as pooled instead" in in_words(analyse([run], study, weighting="scenario_means"))[0]  # fmt: skip  # noqa: E501
    assert "instead" not in in_words(analyse([made_run(study, tmp_path / "e", as_people)], study))[0]  # fmt: skip  # noqa: E501


def test_as_published_reads_with_one_digit_and_takes_the_papers_ccc(study, tmp_path):
    run = made_run(study, tmp_path / "r", lambda c, r: as_people(c, r) + (
        "\n\nIt took 5 minutes." if c[2] == "precise" and r == 0 else ""))  # fmt: skip
    honest, published = (analyse([run], study, as_published=flag) for flag in (False, True))
    assert only(honest).usable == 64
    result = only(published)
    # Where the rating is 5 too, two digits stand there all the same.
    assert (result.usable, result.read_by_parser) == (56, 64)
    assert result.statuses == {"ok": 56, "ambiguous": 8}
    assert value(result, "ccc") == result.ccc_variants["as_published"]
    assert "the published rule did this, while the parser reads 64" in in_words(published)[0]
    assert "As published" in measures_table(published).note
    assert "As published" not in measures_table(honest).note


def test_as_published_needs_a_scale_of_single_digits(tmp_path):
    toml = TOML.replace("high = 7", "high = 10")
    study = load_rating_study(write_rating_study(tmp_path / "study", toml=toml))
    run = made_run(study, tmp_path / "r", as_people)
    with pytest.raises(OptionError, match="expected a scale within 0 to 9"):
        analyse([run], study, as_published=True)


def test_single_ratings_of_people_give_a_ceiling_and_are_resampled(study, tmp_path):
    rng = np.random.default_rng(0)
    means = np.array([PEOPLE[c[1:]] for c in cells()]).reshape(2, 4, 2, 1)
    people = Ratings(
        values=means + rng.normal(size=(2, 4, 2, 12)), asked=np.ones((2, 4, 2, 12), dtype=np.bool_)
    )
    analysis = analyse([made_run(study, tmp_path / "r", as_people)], study, people=people)
    assert analysis.ceiling.splits == 1000
    assert only(analysis).summary.over == ("repeats", "scenarios", "participants")
    assert only(analysis).cells[0].people_n == 24
    table = measures_table(analysis)
    assert table.rows[-1][0] == "People, half against half"
    assert r"\midrule" in as_latex(table).splitlines()[-7]
    assert "One half of the people beside the other (1000 splits)" in in_words(analysis)[-1]
    assert set(as_json(analysis)["noise_ceiling"]["measures"]) == set(MEASURES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "24"}, '--unit: got "24"; expected one of cells, scenario-cells, attributes'),
        ({"unit": "attributes"}, '"attributes" averages over context, form, scenario; expected'),
        ({"weighting": "even"}, '--weighting: got "even"; expected one of pooled, scenario-means'),
    ],
)
def test_options_that_are_not_allowed(study, tmp_path, options, message):
    run = made_run(study, tmp_path / "r", as_people)
    with pytest.raises(OptionError) as caught:
        analyse([run], study, **options)
    assert message in str(caught.value)


def test_runs_that_do_not_fit(study, tmp_path):
    with pytest.raises(RunError, match="no run was given"):
        analyse([], study)
    run = made_run(study, tmp_path / "r", as_people)
    with pytest.raises(RunError, match="got two-scenes; expected other"):
        analyse([run], replace(study, name="other"))
    with pytest.raises(RunError, match="items have changed"):
        analyse([run], replace(study, items=study.items[1:]))
    with pytest.raises(OptionError, match="has no human reference"):
        analyse([run], replace(study, reference=()))
    with pytest.raises(OptionError, match="has no effects to compare"):
        analyse([run], replace(study, effects=()))
    unparsed = run.responses.with_columns(status=pl.lit(None, dtype=pl.String))
    with pytest.raises(RunError, match="64 replies are not parsed"):
        analyse([replace(run, responses=unparsed)], study)


# Files --------------------------------------------------------------------------------------


def test_files_hold_the_same_numbers(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", half_missing)], study)
    paths = write_rating_report(analysis, tmp_path / "out")
    assert {name for name in paths if "/" not in name} == {
        *("table.md", "table.tex", "measures.csv", "effects.csv", "cells.csv", "report.json"),
        *("statuses.csv", "results.parquet", "methods.md", "citations.bib"),
    }
    told = json.loads(paths["report.json"].read_text())
    participant = told["participants"][0]
    rows = {name: list(csv.DictReader(io.StringIO(path.read_text())))
            for name, path in paths.items() if name.endswith(".csv") and "/" not in name}  # fmt: skip  # noqa: E501
    for row in rows["measures.csv"]:
        measure = participant["measures"][row["measure"]]
        assert float(row["value"] or "nan") == pytest.approx(measure["value"], nan_ok=True)
        assert float(row["low"] or "nan") == pytest.approx(measure["low"], nan_ok=True)
    assert [row["measure"] for row in rows["measures.csv"]] == list(MEASURES)
    for row, effect in zip(rows["effects.csv"], participant["effects"], strict=True):
        assert (row["attribute"], row["kind"]) == (effect["attribute"], effect["kind"])
        assert float(row["esr"]) == effect["esr"]["value"]
    for row, cell in zip(rows["cells.csv"], participant["cells"], strict=True):
        assert float(row["mean"]) == cell["mean"]
        assert row["form"] == cell["factors"]["form"]
    text = paths["table.md"].read_text()
    assert as_markdown(measures_table(analysis)) in text
    assert in_words(analysis)[0] in text
    with pytest.raises(RunError, match="cannot be written"):
        write_rating_report(analysis, paths["table.md"])


def test_latex_has_no_character_that_latex_lacks(study, tmp_path):
    analysis = analyse([made_run(study, tmp_path / "r", as_people)], study)
    for table in (measures_table(analysis), effects_table(analysis)):
        text = as_latex(table)
        assert text.isascii(), sorted({c for c in text if not c.isascii()})


def test_keys_are_documented(study, tmp_path):
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    plain = as_json(analyse([made_run(study, tmp_path / "r", half_missing)], study))
    (participant,) = plain["participants"]
    keys = {
        *plain, *participant, *participant["measures"], *participant["measures"]["ccc"],
        *participant["effects"][0], *participant["cells"][0], *participant["missingness"][0],
        *participant["ccc_variants"], *participant["alike"], "splits",
    }  # fmt: skip
    for key in sorted(keys):
        assert re.search(rf"\b{key}\b", page), key


# The command --------------------------------------------------------------------------------


def call(*words) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


@pytest.fixture
def folder(study, tmp_path):
    return made_run(study, tmp_path / "run", half_missing).folder


def test_the_command_shows_tables_and_words(folder, capsys):
    assert call("report", folder) == 0
    shown = capsys.readouterr()
    assert re.search(r"parrot +MIN +40 of 64 ", shown.out)
    assert "People's Δ" in shown.out
    assert "95 % intervals" in shown.out
    assert "missing unevenly" in shown.out
    assert shown.err.count("wrote ") == 13
    assert f"files in {folder / 'report' / 'figures'}" in shown.err
    assert (folder / "report" / "report.json").is_file()


def test_json_is_alone_on_standard_output(folder, capsys):
    options = ("--as-published", "--unit", "scenario-cells", "--weighting", "scenario-means")
    assert call("report", folder, *options, "--seed", 3, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [told[key] for key in ("as_published", "unit", "weighting", "seed")] == [
        True,
        "scenario-cells",
        "scenario_means",
        3,
    ]
    assert told == json.loads((folder / "report" / "report.json").read_text())


def test_people_from_a_file(folder, tmp_path, capsys):
    rows = [
        f"p{i}-{scenario}-{context}-{form},{scenario},{context},{form},{4 + i % 3},{3 + i % 2}"
        for scenario in ("train", "shop")
        for context in ("high", "low")
        for form in ("precise", "approximate")
        for i in range(6)
    ]
    people = tmp_path / "people.csv"
    header = "participant,scenario,context,form,helpful,well_prepared"
    people.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert call("report", folder, "--people", people) == 0
    assert "People, half against half" in capsys.readouterr().out


def test_a_study_without_people_is_described(tmp_path, capsys):
    toml = re.sub(r"\[reference\].*?\n\n", "", TOML, flags=re.S)
    study = load_rating_study(write_rating_study(tmp_path / "study", toml=toml))
    folder = made_run(study, tmp_path / "run", half_missing).folder
    assert call("report", folder) == 0
    shown = capsys.readouterr()
    assert "Nothing to compare with: the study has no human reference." in shown.out
    assert re.search(r"parrot +MIN +64 +40 +24", shown.out)
    assert "2 of 8" in shown.out
    assert "parrot, MIN: 40 of 64 replies are usable. Be careful: 24 of 64" in shown.out
    assert not (folder / "report" / "measures.csv").exists()
    told = json.loads((folder / "report" / "report.json").read_text())
    assert told["compared"] is False
    assert "measures" not in told["participants"][0]
    cell = told["participants"][0]["cells"][0]
    assert (cell["mean"], cell["usable"], cell["people_mean"]) == (6.0, 2, None)
    assert "not compared with people" in (folder / "report" / "methods.md").read_text()


def test_options_of_the_other_paradigm_are_refused(folder, tmp_path, capsys):
    assert call("report", folder, "--score", "pmi") == 1
    assert "--score: this is an option for choice studies" in capsys.readouterr().err
    choice = tmp_path / "choice"
    choice.mkdir()
    study = write_study(tmp_path / "choice-study")
    (choice / "run.json").write_text(json.dumps({"study": "some-not-all", "study_folder":
                                                 str(study)}), encoding="utf-8")  # fmt: skip
    assert call("report", choice, "--as-published") == 1
    assert "--as-published: this is an option for rating studies" in capsys.readouterr().err
    assert call("report", folder, choice) == 1
    assert "got a choice run; expected a rating run like the first" in capsys.readouterr().err


# The paper ----------------------------------------------------------------------------------

# ρ, CCC, RMSE, CDS_m, CDS_i, CDS: Solt, Mühlenbernd & Burbelko 2025.
PUBLISHED = {
    ("gpt", "MIN"): (0.856, 0.703, 0.811, 0.325, 0.460, 0.393),
    ("claude", "MIN"): (0.849, 0.730, 0.766, 0.848, 0.231, 0.539),
    ("gemini", "MIN"): (0.910, 0.622, 1.262, 1.389, 1.572, 1.480),
    ("gpt", "ALT"): (0.880, 0.812, 0.565, 0.303, 0.392, 0.348),
    ("claude", "ALT"): (0.847, 0.754, 0.724, 1.235, 0.205, 0.720),
    ("gemini", "ALT"): (0.908, 0.576, 1.422, 1.717, 2.470, 2.094),
}
COLUMNS = ("spearman", "ccc", "rmse", "cds_main", "cds_interaction", "cds")


@pytest.fixture(scope="module")
def module_patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def published(tmp_path_factory, module_patch):
    """The paper's replies reported by the commands, as published and honestly."""
    files = [SHARED / f"published_replies_{name}.jsonl" for name in ("MIN", "ALT")]
    if not all(file.is_file() for file in files):
        pytest.skip(f"needs the shared data at {SHARED}")
    # Figures are drawn elsewhere.
    module_patch.setattr(
        sys.modules["felicity.report.rating.content"], "missing_packages", lambda: ("altair",)
    )
    out = tmp_path_factory.mktemp("published")
    assert call("replay", "social-meaning", *files, "--out", out / "runs") == 0
    runs = sorted((out / "runs").iterdir())
    told = []
    for number, flags in enumerate(([], ["--as-published"])):
        assert call("report", *runs, *flags, "--out", out / str(number)) == 0
        told.append(json.loads((out / str(number) / "report.json").read_text()))
    return [{(p["name"], p["prompting"]): p for p in each["participants"]} for each in told]


def test_the_papers_tables_come_out(published):
    _, found = published
    got = {
        key: tuple(round(p["measures"][name]["value"], 3) for name in COLUMNS)
        for key, p in found.items()
    }
    assert got == PUBLISHED
    assert {p["measures"][name]["value"] for p in found.values() for name in ("das", "iss")} == {1}
    assert found["claude", "MIN"]["usable"] == 1342
    assert {p["usable"] for key, p in found.items() if key != ("claude", "MIN")} == {1440}
    missing = found["claude", "MIN"]["missingness"]
    assert any(each["differs"] and not each["within"] for each in missing)


def test_the_honest_version(published):
    honest, found = published
    lin = {key: round(p["ccc_variants"]["lin"], 3) for key, p in found.items() if key[1] == "MIN"}
    assert lin == {("gpt", "MIN"): 0.734, ("claude", "MIN"): 0.759, ("gemini", "MIN"): 0.648}
    for key, participant in honest.items():
        assert participant["measures"]["ccc"]["value"] == participant["ccc_variants"]["lin"]
        # Where the paper dropped nothing, CCC alone changes.
        if key != ("claude", "MIN"):
            for name in set(COLUMNS) - {"ccc"}:
                assert participant["measures"][name] == found[key]["measures"][name]
    claude = honest["claude", "MIN"]
    assert claude["usable"] > 1342 + 85
    assert not any(each["differs"] for each in claude["missingness"])


def test_the_page_about_the_paper_shows_what_the_commands_give(published):
    honest, found = published
    page = (ROOT / "docs" / "social-meaning-published.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith(("| gpt", "| claude", "| gemini"))
    ]
    shown = {tuple(row[:3]): row[3:] for row in rows}
    assert len(shown) == 12
    for key in PUBLISHED:
        for reading, told in (("as published", found[key]), ("correct", honest[key])):
            figures = [figure(told["measures"][name]["value"]) for name in COLUMNS]
            assert shown[(*key, reading)] == [f"{told['usable']} of 1440", *figures]


def test_a_study_folder_that_is_gone_is_an_error_that_says_so(folder, tmp_path, capsys):
    (tmp_path / "study").rename(tmp_path / "moved")
    assert call("report", folder) == 1
    assert "expected a folder with a study.toml" in capsys.readouterr().err
    with pytest.raises(FelicityError):
        load_rating_study(tmp_path / "study")
