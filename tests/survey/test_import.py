"""From answers to a reference: what counts, what does not and why, and every fault at once."""

from __future__ import annotations

import csv
import json
import re
import shutil
import statistics
from collections import defaultdict

import polars as pl
import pytest
from typer.testing import CliRunner

from felicity import open_participant, run
from felicity.cli import app
from felicity.errors import FaultsError, FelicityError
from felicity.reference_reader import axes_of, read_ratings
from felicity.report import analyse
from felicity.study import load_study
from felicity.study_reader import replace_reference
from felicity.survey.store import ANSWERS, AnswerStore
from felicity.survey.take_in import import_answers

from surveying import SURVEY, choice_study, content_of, rating_study, visit, write_json


@pytest.fixture(scope="module")
def choice(tmp_path_factory):
    study = choice_study(tmp_path_factory.mktemp("choice") / "s", SURVEY)
    return study, content_of(study)


@pytest.fixture(scope="module")
def rating(tmp_path_factory):
    study = rating_study(tmp_path_factory.mktemp("rating") / "r")
    return study, content_of(study)


def odd(item: str) -> str:
    """Pick the weak answer, which is asked for, of all but one story."""
    return "strong" if item.startswith("and-2") else "weak"


def some(content):
    """Four sessions that count, of which one is incomplete."""
    return [
        visit(content, "s1", participant="ann", answer=odd),
        visit(content, "s22", participant="bo", answer=odd, number=1),
        visit(content, "s333", answer=lambda _: "weak"),
        visit(content, "s4444", participant="di", answer=lambda _: "strong", stop=3),
    ]


def as_csv(path, sessions):
    """As jsPsych writes it: all in quotes, objects as JSON, a column for every name."""
    rows = [row for session in sessions for row in session]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writerow(names)
        for row in rows:
            values = [row.get(name, "") for name in names]
            writer.writerow([json.dumps(v) if isinstance(v, dict) else v for v in values])
    return path


def test_counts_are_those_of_the_pick_that_was_asked_for(choice, tmp_path):
    study, content = choice
    found = import_answers([write_json(tmp_path / "a.json", *some(content))], study)
    by_hand = {"all": [0, 0], "and": [0, 0]}
    for session in some(content):
        for row in session:
            if row["part"] == "trial":
                level = by_hand[row["item"].split("-")[0]]
                level[0] += row["chosen"] == "weak"
                level[1] += 1
    assert by_hand == {"all": [6, 8], "and": [4, 7]}
    rows = {row["word"]: row for row in found.reference.to_dicts()}
    assert {k: [row["correct"], row["asked"]] for k, row in rows.items()} == by_hand
    assert rows["all"]["group"] == "People"
    assert rows["all"]["source"] == (
        f"Felicity survey {content['survey']}: 4 participants, 2026-11-30"
    )
    assert found.selection.counts()["incomplete_kept"] == 1
    assert found.answers.height == 15


def test_json_csv_sqlite_and_all_of_them_together_say_the_same(choice, tmp_path):
    study, content = choice
    sessions = some(content)
    paths = [write_json(tmp_path / "a.json", *sessions), as_csv(tmp_path / "a.csv", sessions)]
    with AnswerStore(tmp_path / ANSWERS) as store:
        for session in sessions:
            name, number = store.open_session(content["survey"], "", 2)
            store.add(name, [row | {"list": number} for row in session])
    one, other, both = (import_answers(p, study) for p in ([paths[0]], [paths[1]], paths))
    assert one.reference.equals(other.reference)
    assert one.answers.equals(other.answers)
    assert both.answers.equals(one.answers)
    served = import_answers([tmp_path / ANSWERS], study)
    assert served.reference.drop("source").equals(one.reference.drop("source"))


def test_who_is_left_out_and_why(choice, tmp_path):
    study, content = choice
    again = visit(content, "s5", participant="ann", answer=odd, stop=2)
    careless = visit(content, "s6", participant="ed", answer=odd, failed=1)
    silent = visit(content, "s7", participant="flo", answer=odd)[4:6]
    path = write_json(tmp_path / "a.json", *some(content), again, careless, silent)
    counts = import_answers([path], study).selection.counts()
    assert counts == {
        "sessions": 7,
        "participants": 6,
        "kept": 4,
        "incomplete_kept": 1,
        "excluded": 3,
        "excluded: no answer": 1,
        "excluded: failed attention checks": 1,
        "excluded: incomplete": 0,
        "excluded: another session of the same participant": 1,
    }
    told = import_answers([path], study).participants
    assert dict(told.select("session", "excluded_for").drop_nulls().iter_rows()) == {
        "s5": "another session of the same participant",
        "s6": "failed attention checks",
        "s7": "no answer",
    }
    kind = import_answers([path], study, allow_failed=1)
    assert kind.selection.counts()["kept"] == 5
    strict = import_answers([path], study, complete_only=True).selection.counts()
    assert (strict["kept"], strict["excluded: incomplete"]) == (3, 2)
    without = import_answers([path], study, without=["bo", "s6"])
    assert {each.participant for each in without.selection.kept} == {"ann", "s333", "di"}
    assert without.left_out == 2 * 7
    with pytest.raises(FaultsError, match='--without, session or participant: got "bob"; expected'):
        import_answers([path], study, without=["bob"])


def test_a_complete_session_beats_an_earlier_broken_one(choice, tmp_path):
    study, content = choice
    broken = visit(content, "s1", participant="ann", answer=odd, stop=3)
    whole = visit(content, "s22", participant="ann", answer=odd)
    third = visit(content, "s333", participant="ann", answer=odd)
    path = write_json(tmp_path / "a.json", broken, third, whole)
    assert [each.session for each in import_answers([path], study).selection.kept] == ["s22"]


def test_all_faults_of_all_files_at_once(choice, tmp_path):
    study, content = choice
    rows = visit(content, "s1", answer=odd)
    wrong = [
        rows[0] | {"item": "all-9", "chosen": "best"},
        rows[1] | {"trial_index": "x", "part": "party"},
        rows[2] | {"session": ""},
        rows[3] | {"asked_for": ""},
        rows[4] | {"given": ""},
    ]
    first = write_json(tmp_path / "a.json", wrong)
    other = write_json(tmp_path / "b.json", [row | {"data_hash": "0" * 8} for row in rows])
    twice = write_json(tmp_path / "c.json", [rows[0] | {"item": rows[1]["item"]}, rows[1]])
    clash = write_json(tmp_path / "d.json", [rows[1] | {"chosen": "strong"}])
    (tmp_path / "e.json").write_text("{", encoding="utf-8")
    (tmp_path / "f.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "g.json").write_text("[]", encoding="utf-8")
    (tmp_path / "h.csv").write_text('part,item\n"trial"\n', encoding="utf-8")
    paths = [first, other, twice, clash, *(tmp_path / n for n in ("e.json", "f.csv", "g.json"))]
    with pytest.raises(FaultsError) as caught:
        import_answers([*paths, tmp_path / "h.csv", tmp_path / "none.json"], study)
    told = str(caught.value)
    for line in (
        'a.json row 1, item: got "all-9"; expected an item of the study',
        'a.json row 1, chosen: got "best"; expected one of strong, weak',
        'a.json row 2, part: got "party"; expected one of trial, check, about, end',
        'a.json row 2, trial_index: got "x"; expected a whole number from 0',
        'a.json row 3, session: got "nothing"; expected an id',
        'a.json row 4, asked_for: got ""; expected one of strong, weak',
        'a.json row 5, wanted: got "a"; expected what was wanted, and what was given',
        f'b.json row 1, data_hash: got "00000000"; expected {study.data_hash}',
        'c.json row 1, trial_index: got "another row 0 of s1 than in a.json"; expected each row',
        'd.json row 1, trial_index: got "another row 1 of s1 than in c.json"; expected each row',
        'e.json, file: got "Expecting property name',
        'f.csv, file: got "a text without a column part"',
        'g.json, rows: got "0"; expected at least one',
        'h.csv, file: got "line 2 with another number of fields than the header"',
        'none.json, file: got "No such file or directory"',
    ):
        assert line in told
    assert told.count("data_hash") == 1


@pytest.mark.parametrize("value", [0, 8, 3.5, "4", None, True])
def test_a_rating_off_the_scale_is_a_fault_and_never_mended(rating, tmp_path, value):
    study, content = rating
    rows = visit(content, "s", answer=lambda _: {"helpful": value, "well-prepared": 3, "x": 1})
    with pytest.raises(FaultsError) as caught:
        import_answers([write_json(tmp_path / "a.json", rows)], study)
    assert "row 1, ratings, helpful: got" in str(caught.value)
    assert "expected a whole number from 1 to 7" in str(caught.value)
    assert 'row 2, ratings: got "x"; expected one of helpful, well-prepared' in str(caught.value)


def test_nobody_left_is_an_error_that_says_why(choice, tmp_path):
    study, content = choice
    path = write_json(tmp_path / "a.json", visit(content, "s", answer=odd, failed=2))
    with pytest.raises(FelicityError, match=r"no session is left .*failed attention checks: 1"):
        import_answers([path], study)


def eight(content):
    """Two participants on each of the four lists, whose ratings tell the scene and the person."""

    def answers(person: int):
        def rate(scene: str) -> dict[str, int]:
            high = 5 if "precise" in scene else 3
            return {"helpful": high + person % 2, "well-prepared": 1 + len(scene) % 5}

        return rate

    return [visit(content, f"p{'x' * n}", number=n % 4, answer=answers(n // 4)) for n in range(8)]


def test_cells_are_means_of_single_ratings_and_make_a_study_that_reads(rating, tmp_path):
    study, content = rating
    path = write_json(tmp_path / "a.json", *eight(content))
    out = tmp_path / "out" / "reference.csv"
    done = CliRunner().invoke(
        app, ["survey", "import", str(path), "--study", str(study.folder), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    heap = defaultdict(list)
    for session in eight(content):
        for row in session:
            for attribute, value in row.get("ratings", {}).items():
                heap[(*row["scene"].split("-"), attribute)].append(value)
    table = pl.read_csv(out)
    assert table.height == len(heap) == 16
    for *cell, mean, sd, n in table.iter_rows():
        values = heap[tuple(cell)]
        assert n == len(values) == 2
        assert mean == pytest.approx(statistics.fmean(values))
        assert sd == pytest.approx(statistics.stdev(values))
    copy = tmp_path / "copy"
    shutil.copytree(study.folder, copy)
    shutil.copy(out, copy / "reference.csv")
    assert {cell.n for cell in load_study(copy).reference} == {2}
    single = read_ratings(out.with_name("ratings.csv"), axes_of(study), study.scale)
    assert single.height == 16
    assert single["participant"].n_unique() == 8


def test_too_few_ratings_are_said_and_the_single_ones_are_written(rating, tmp_path):
    study, content = rating
    path = as_csv(tmp_path / "a.csv", eight(content)[:3])
    out = tmp_path / "reference.csv"
    words = ["survey", "import", str(path), "--study", str(study.folder), "--out", str(out)]
    done = CliRunner().invoke(app, words)
    assert re.search(
        "16 of 16 cells have fewer than two ratings, such as train-", str(done.exception)
    )
    assert not out.exists()
    assert pl.read_csv(tmp_path / "ratings.csv").height == 6


def test_a_level_without_answers_makes_no_reference(choice, tmp_path):
    study, content = choice
    path = write_json(tmp_path / "a.json", visit(content, "s", answer=odd, stop=1))
    found = import_answers([path], study)
    assert found.reference is None
    assert "no answer to and; expected some to every word" in str(found.short)
    assert found.answers.height == 1


def test_a_run_is_compared_with_them(choice, tmp_path, tiny_gpt2_folder):
    study, content = choice
    path = write_json(tmp_path / "a.json", *some(content))
    out = tmp_path / "reference.csv"
    words = ["survey", "import", str(path), "--study", str(study.folder), "--out", str(out)]
    assert CliRunner().invoke(app, [*words, "--group", "Students"]).exit_code == 0
    done = run(study, open_participant(f"hf:{tiny_gpt2_folder}"), tmp_path / "run")
    analysis = analyse([done], replace_reference(study, out))
    assert set(analysis.people) == {"Students"}
    people = analysis.people["Students"]
    assert people["all"].accuracy == 6 / 8
    assert people["and"].accuracy == 4 / 7
    (model,) = analysis.participants
    difference = model.cells["all"].against["Students"].value
    assert difference == pytest.approx(model.cells["all"].accuracy - 6 / 8)


def test_people_of_a_report_are_checked_whole(choice, tmp_path, tiny_gpt2_folder):
    study, _ = choice
    folder = tmp_path / "run"
    run(study, open_participant(f"hf:{tiny_gpt2_folder}"), folder, limit=1)
    people = tmp_path / "people.csv"
    people.write_text("group,word,correct,asked\nA,all,9,8\nA,or,1,2\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(folder), "--people", str(people)])
    told = str(done.exception)
    assert 'people.csv line 2, correct: got "9 of 8"; expected 0 to asked' in told
    assert 'people.csv line 3, word: got "or"; expected one of all, and' in told
