"""Tables for papers, tidy results, methods and citations of a rating study."""

from __future__ import annotations

import numpy as np
import pytest

from felicity.rating.parse import PARSER_VERSION, parse_reply
from felicity.rating.parsing import Parser
from felicity.rating.replay import replay
from felicity.rating.replay_reader import read_collection
from felicity.report import analyse_ratings, rating_content
from felicity.report.rating.paper_tables import (
    paper_tables,
    statuses_csv,
    statuses_table,
    usable_table,
)
from felicity.report.rating.table import cells_csv, figure
from felicity.report.text_table import as_latex
from felicity.study import load_rating_study

from rating_folders import PEOPLE, replies, write_rating_study, write_replies

PARSER = Parser(parse=parse_reply, version=PARSER_VERSION)


def near(cell, repeat):
    """People's mean, rounded; the precise form loses one reply of four where helpful is asked."""
    if cell[2:] == ("precise", "helpful") and repeat == 0:
        return "no idea"
    return str(round(PEOPLE[cell[1:]]))


def far(cell, _repeat):
    return "7" if cell[2] == "precise" else "1"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("content")
    study = load_rating_study(write_rating_study(folder / "study"))
    entries = [
        *replies(near, model="near", prompting="MIN"),
        *replies(far, model="far", prompting="MIN"),
    ]
    file = write_replies(folder / "replies.jsonl", entries)
    done = replay(read_collection([(file, None)], study), study, folder / "runs", PARSER)
    return analyse_ratings([each.run for each in done], study, n_resamples=60)


@pytest.fixture(scope="module")
def content(analysis):
    return rating_content(analysis)


def test_the_best_figures_are_bold_by_their_kind(analysis):
    agreement, calibration, errors = paper_tables(analysis)
    # "near" has the higher ρ and CCC, and the lower RMSE and CDS.
    rows = [row[0] for row in agreement.rows]
    best = rows.index("near")
    assert agreement.bold == {(best, 2), (best, 3), (best, 4)}
    assert {row for row, _ in calibration.bold} == {best}
    assert r"\textbf{" in as_latex(agreement)
    assert [table.name for table in (agreement, calibration, errors)] == [
        "agreement",
        "calibration",
        "errors",
    ]


def test_errors_say_how_near_peoples_own_means_come(analysis):
    """Two scenes of 20 ratings with sd 1 each, the same mean in both: √(19 / 20)."""
    errors = paper_tables(analysis)[2]
    floor = float(np.sqrt(19 / 20))
    assert analysis.people_floor == pytest.approx(floor)
    assert errors.rows[-1] == ("People's own means", "–", ".000", figure(floor))
    assert errors.people == 1


def test_one_participant_has_no_best(analysis, tmp_path):
    study = analysis.study
    file = write_replies(tmp_path / "one.jsonl", replies(near, prompting="MIN"))
    (done,) = replay(read_collection([(file, None)], study), study, tmp_path / "r", PARSER)
    one = analyse_ratings([done.run], study, n_resamples=60)
    assert [table.bold for table in paper_tables(one)] == [frozenset()] * 3


def test_statuses_and_usable_replies_are_counted(analysis):
    statuses = statuses_table(analysis)
    near_row = next(row for row in statuses.rows if row[0] == "near")
    far_row = next(row for row in statuses.rows if row[0] == "far")
    assert near_row[2:4] == ("64", "60")
    assert sum(map(int, near_row[4:])) == 4
    assert far_row[2:] == ("64", "64", *["0"] * (len(statuses.header) - 4))
    rows = [row[2:] for row in usable_table(analysis).rows if row[0] == "near"]
    assert rows == [
        ("helpful", "6 of 8", "8 of 8", "6 of 8", "8 of 8"),
        ("the 1 other", "8 of 8", "8 of 8", "8 of 8", "8 of 8"),
    ]
    (whole,) = [row[2:] for row in usable_table(analysis).rows if row[0] == "far"]
    assert whole == ("every attribute", *["16 of 16"] * 4)
    lines = statuses_csv(analysis).splitlines()[1:]
    assert sum(int(line.rsplit(",", 1)[1]) for line in lines) == 128


def test_tidy_results_hold_every_figure_once(analysis, content):
    table = content.results
    assert table.filter(kind="measure").height == 2 * 11
    assert table.filter(kind="esr").height == 2 * 3
    assert table.filter(kind="cell").height == 2 * 8
    assert table.select("participant", "prompting", "kind", "name").is_unique().all()
    for row in table.filter(kind="cell", participant="near").iter_rows(named=True):
        key = (row["context"], row["form"], row["attribute"])
        assert row["value"] == pytest.approx(round(PEOPLE[key]))
        assert row["people"] == pytest.approx(PEOPLE[key])
        # Every usable rating of a cell is the same here.
        assert row["low"] == row["value"] == row["high"]
        # Student's t: 20 ratings in each of two scenes.
        assert row["people_high"] - row["people"] == pytest.approx(0.3157, abs=1e-3)
    found = {row["name"]: row["unstable"] for row in table.filter(kind="esr").to_dicts()}
    assert found == {
        "helpful: form": False,
        "helpful: form × context": False,
        "well-prepared: form": True,
    }
    assert len(cells_csv(analysis).splitlines()) == 1 + 16


def test_what_was_found_and_what_to_be_careful_about(content):
    assert len(content.headline) == 2
    far_said = next(line for line in content.headline if line.startswith("far, MIN"))
    assert "2 of 3 effects have people's sign" in far_said
    assert any(c.startswith("near, MIN: 4 of 64 replies have no usable") for c in content.cautions)
    assert any("All 16 items have the same rating" in c for c in content.cautions)
    assert sorted(content.ran.rows) == [
        ("far", "replay:far", "–", "replay", "MIN", "64 of 64"),
        ("near", "replay:near", "–", "replay", "MIN", "60 of 64"),
    ]
    assert [table.name for table in content.tables] == [
        *("table", "agreement", "calibration", "errors", "effects", "statuses", "usable")
    ]


def test_methods_say_what_was_done(content):
    for said in (
        "two-scenes (version 0.1; 16 questions: 2 scenarios, 2 levels of context (high and low)",
        "from 1 (not at all) to 7 (very)",
        "near (replay:near; replies that others had collected",
        "4 repeats of each question) was given the prompting MIN (60 of 64 usable)",
        f"parser (version {PARSER_VERSION})",
        "(context × form × attribute; pooled) were compared with people's (invented)",
        "(2 main effects, 1 interactions)",
        "bootstraps over repeats and scenarios (60 draws, seed 0)",
        "Software: Python",
    ):
        assert said in content.methods, said
    assert "\n" not in content.methods


def test_citations_name_the_study_and_felicity(content):
    assert "@software{felicity" in content.citations
    bib = load_rating_study("social-meaning").folder / "citations.bib"
    text = bib.read_text(encoding="utf-8")
    assert text.count("@") == 2
    assert text.count("{") == text.count("}")
    assert "2604.02512" in text
