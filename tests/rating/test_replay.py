"""Replies of others as a run: what is read, what is refused, and that the run is like any other."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from felicity.cli import main
from felicity.errors import FaultsError, OptionError, RunError
from felicity.rating.parse import PARSER_VERSION, parse_as_published, parse_reply
from felicity.rating.parsing import Parser
from felicity.rating.replay import folder_name, replay
from felicity.rating.replay_reader import read_collection
from felicity.rating.run import read_ratings, reparse
from felicity.study import load_rating_study

from rating_folders import replies, write_rating_study, write_replies

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FELICITY_SHARED", ROOT.parent / "shared")) / "data/social-meaning"
PARSER = Parser(parse=parse_reply, version=PARSER_VERSION)


@pytest.fixture
def study(tmp_path):
    return load_rating_study(write_rating_study(tmp_path / "study"))


def by_form(cell, repeat):
    return "6" if cell[2] == "precise" else f"Around {4 + repeat % 2} of 7."


def read(path, study, prompting=None):
    return read_collection([(path, None)], study, prompting)


def faults(path, study, prompting=None) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        read(path, study, prompting)
    return [str(fault) for fault in caught.value.faults]


# Reading ------------------------------------------------------------------------------------


def test_lines_and_an_array_give_the_same_replies(study, tmp_path):
    entries = replies(by_form)
    lines = read(write_replies(tmp_path / "r_MIN.jsonl", entries), study)
    array = tmp_path / "r_MIN.json"
    array.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    assert read(array, study).replies == lines.replies
    assert len(lines.replies) == 16 * 4
    first = lines.replies[0]
    assert first.trial_id == "train-high-precise-helpful|MIN|0"
    assert (first.text, first.finish, first.has_rating) == ("6", "stop", False)


def test_the_papers_words_and_the_studys_own_are_both_read(study, tmp_path):
    theirs = replies(by_form)
    ours = [
        {k: v for k, v in entry.items() if k != "utterance"}
        | {"form": {"approx": "approximate"}.get(entry["utterance"], entry["utterance"])}
        | {"attribute": entry["attribute"].replace("-", "_")}
        for entry in theirs
    ]
    pair = [write_replies(tmp_path / f"{i}_MIN.jsonl", e) for i, e in enumerate((theirs, ours))]
    first, second = (read(path, study).replies for path in pair)
    assert first == second


def test_where_the_prompting_comes_from(study, tmp_path):
    plain = write_replies(tmp_path / "replies.jsonl", replies(by_form, repeats=1))
    own = write_replies(tmp_path / "own_MIN.jsonl", replies(by_form, repeats=1, prompting="ALT"))
    named = write_replies(tmp_path / "a_MIN.jsonl", replies(by_form, repeats=1))
    assert {r.prompting for r in read(named, study).replies} == {"MIN"}
    assert {r.prompting for r in read(named, study, "ALT").replies} == {"ALT"}
    assert {r.prompting for r in read(own, study, "MIN").replies} == {"ALT"}
    said = read_collection([(plain, "ALT")], study, "MIN")
    assert {r.prompting for r in said.replies} == {"ALT"}
    found = faults(plain, study)
    assert len(found) == 16
    assert found[0] == (
        'replies.jsonl line 1, prompting: got "nothing"; expected one of MIN, ALT;'
        " say it with --prompting or FILE=PROMPTING"
    )
    with pytest.raises(OptionError, match='got "MAX"; expected one of MIN, ALT'):
        read(plain, study, "MAX")


GOOD = {
    "model": "parrot",
    "scenario": "train",
    "context": "low",
    "utterance": "approx",
    "attribute": "helpful",
    "sample_id": 0,
    "raw_response": "5",
}
BAD = [
    ("{", 'x_MIN.jsonl line 2, line: got "Expecting property name enclosed in double quotes'),
    ("[1]", 'x_MIN.jsonl line 2, entry: got "list"; expected a JSON object'),
    (GOOD | {"model": " "}, 'x_MIN.jsonl line 2, model: got " "; expected a name'),
    (GOOD | {"scenario": "boat"}, 'scenario: got "boat"; expected one of train, shop'),
    (GOOD | {"utterance": "vague"}, 'utterance: got "vague"; expected one of precise, approximate'),
    (GOOD | {"context": None}, 'context: got "None"; expected one of high, low'),
    (GOOD | {"attribute": "tall"}, 'attribute: got "tall"; expected one of helpful, well-prepared'),
    (GOOD | {"sample_id": -1}, 'sample_id: got "-1"; expected a whole number from 0'),
    (GOOD | {"sample_id": True}, 'sample_id: got "True"; expected a whole number from 0'),
    (GOOD | {"raw_response": 5}, 'raw_response: got "5"; expected text, or null for none'),
    ({k: v for k, v in GOOD.items() if k != "raw_response"}, 'raw_response: got "nothing"'),
    (GOOD | {"prompting": "MAX"}, 'prompting: got "MAX"; expected one of MIN, ALT'),
    (GOOD | {"likert": "5"}, 'likert: got "5"; expected a number, or null for none'),
    (GOOD | {"valid": 1}, 'valid: got "1"; expected true or false'),
    (GOOD | {"finish": 3}, 'finish: got "3"; expected text'),
    (GOOD, "sample_id: got \"parrot, train-low-approximate-helpful|MIN|0\"; expected each reply"
           " once (it is in x_MIN.jsonl line 1)"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "expected"), BAD)
def test_a_fault_says_where_and_what_is_allowed(study, tmp_path, entry, expected):
    (found,) = faults(write_replies(tmp_path / "x_MIN.jsonl", [GOOD, entry]), study)
    assert expected in found
    assert found.startswith("x_MIN.jsonl line 2, ")


def test_all_faults_of_all_files_at_once(study, tmp_path):
    bad = GOOD | {"context": "odd", "model": 3}
    lines = write_replies(tmp_path / "a_MIN.jsonl", [bad, GOOD, bad])
    array = tmp_path / "b_MIN.json"
    array.write_text(json.dumps([GOOD | {"sample_id": 1}, bad]), encoding="utf-8")
    empty = write_replies(tmp_path / "c_MIN.jsonl", [""])
    latin = tmp_path / "d_MIN.jsonl"
    latin.write_bytes(b'{"model": "\xe9"}')
    with pytest.raises(FaultsError) as caught:
        read_collection([(path, None) for path in (lines, array, empty, latin)], study)
    found = [str(fault) for fault in caught.value.faults]
    assert len(found) == 8
    assert found[4].startswith("b_MIN.json, entry 2, context: got")
    assert found[6] == 'c_MIN.jsonl line 1, entries: got "0"; expected at least one'
    assert "UTF-8" in found[7]


def test_a_file_that_is_not_there(study, tmp_path):
    with pytest.raises(OptionError, match="No such file"):
        read(tmp_path / "none_MIN.jsonl", study)


# The run ------------------------------------------------------------------------------------


def test_a_replay_is_a_run_with_everything_that_is_known_and_nothing_more(study, tmp_path):
    entries = replies(by_form, current_date="2026-01-30 12:40:43")
    file = write_replies(tmp_path / "r_MIN.jsonl", entries)
    (done,) = replay(read(file, study), study, tmp_path / "run", PARSER)
    run = read_ratings(tmp_path / "run")
    assert run.responses.equals(done.run.responses)
    assert run.complete
    assert run.asked == 64
    row = run.responses.filter(trial_id="shop-low-approximate-helpful|MIN|1").to_dicts()[0]
    assert (row["text"], row["value"], row["status"]) == ("Around 5 of 7.", 5.0, "ok")
    assert (row["model_id"], row["finish"]) == ("parrot", "stop")
    assert row["created"] == "2026-01-30 12:40:43"
    unknown = ("temperature_requested", "temperature_effective", "tokens_in", "tokens_out")
    assert [row[name] for name in unknown] == [None] * 4
    with closing(sqlite3.connect(tmp_path / "run" / "journal.sqlite")) as db:
        assert db.execute("SELECT messages FROM prompts").fetchall() == [("[]",)]
    (told,) = run.manifest["replay"]["files"]
    assert told["name"] == "r_MIN.jsonl"
    assert len(told["sha256"]) == 64
    assert run.manifest["participant"]["method"] == "replay"
    assert run.manifest["study_folder"] == str(study.folder.resolve())


def test_several_models_are_a_run_each_and_one_is_the_folder_itself(study, tmp_path):
    entries = replies(by_form) + replies(by_form, model="org/Big Bird", repeats=1)
    file = write_replies(tmp_path / "r_MIN.jsonl", entries)
    done = replay(read(file, study), study, tmp_path / "out", PARSER)
    folders = [each.run.folder.name for each in done]
    assert folders == ["parrot", "org-Big-Bird"]
    assert [each.run.responses.height for each in done] == [64, 16]
    assert folder_name("../..") == "model"
    twins = replies(by_form, model="a/b", repeats=1) + replies(by_form, model="a b", repeats=1)
    with pytest.raises(RunError, match="make one folder: a/b, a b"):
        replay(read(write_replies(file, twins), study), study, tmp_path / "twins", PARSER)


def test_the_same_replay_again_changes_nothing_and_another_is_refused(study, tmp_path):
    file = write_replies(tmp_path / "r_MIN.jsonl", [*replies(by_form), GOOD | {
        "sample_id": 9, "finish": "error"}])  # fmt: skip
    (first,) = replay(read(file, study), study, tmp_path / "run", PARSER)
    moved = Path(shutil.copy(file, tmp_path / "copy_MIN.jsonl"))
    (again,) = replay(read(moved, study), study, tmp_path / "run", PARSER)
    assert again.run.responses.equals(first.run.responses)
    assert first.run.responses.filter(status="error").height == 1
    for change in (read(file, study, "ALT"), read(write_replies(file, replies(by_form)), study)):
        with pytest.raises(RunError, match="this folder holds another run"):
            replay(change, study, tmp_path / "run", PARSER)


def test_a_run_broken_off_between_folder_and_replies_goes_on(study, tmp_path):
    file = write_replies(tmp_path / "r_MIN.jsonl", replies(by_form))
    replay(read(file, study), study, tmp_path / "run", PARSER)
    for name in ("journal.sqlite", "journal.sqlite-wal", "responses.parquet"):
        (tmp_path / "run" / name).unlink(missing_ok=True)
    (done,) = replay(read(file, study), study, tmp_path / "run", PARSER)
    assert done.run.responses.height == 64


def test_reparse_needs_no_file(study, tmp_path):
    file = write_replies(tmp_path / "r_MIN.jsonl", replies(by_form))
    replay(read(file, study), study, tmp_path / "run", PARSER)
    file.unlink()

    def published(text, _finish, scale, *, reasoning=None):
        return parse_as_published(text, scale)

    run = reparse(tmp_path / "run", Parser(parse=published, version="published"))
    counts = dict(run.responses["status"].value_counts().iter_rows())
    assert counts == {"ok": 32, "ambiguous": 32}


def test_what_the_collectors_made_of_it_is_compared_with_the_parser(study, tmp_path):
    entries = replies(by_form, repeats=1, likert=6, valid=True)
    entries[0] |= {"likert": None, "valid": False}
    (done,) = replay(
        read(write_replies(tmp_path / "r_MIN.jsonl", entries), study), study, tmp_path / "r", PARSER
    )
    assert (done.rated, done.same) == (16, 7)


def test_an_empty_reply_keeps_its_row(study, tmp_path):
    entries = [GOOD | {"raw_response": None}, GOOD | {"sample_id": 1, "raw_response": " "}]
    file = write_replies(tmp_path / "r_MIN.jsonl", entries)
    (done,) = replay(read(file, study), study, tmp_path / "run", PARSER)
    assert done.run.responses["status"].to_list() == ["empty", "empty"]


# The command --------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys):
    folder = write_rating_study(tmp_path / "study")
    rated = replies(by_form, likert=6, valid=True)
    file = write_replies(tmp_path / "a=b.jsonl", rated)
    words = ["replay", str(folder), f"{file}=ALT", "--out", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert not stop.value.code
    shown = capsys.readouterr()
    assert shown.out.strip() == str(tmp_path / "run" / "responses.parquet")
    assert "parrot: 64 replies: 64 ok; 32 of 64 rated as the file has them" in shown.err
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    (told,) = json.loads(capsys.readouterr().out)["runs"]
    assert told == {
        "model": "parrot",
        "folder": str(tmp_path / "run"),
        "promptings": ["ALT"],
        "asked": 64,
        "statuses": {"ok": 64},
        "rated_in_file": 64,
        "rated_the_same": 32,
    }


def test_a_choice_study_is_refused(tmp_path, capsys):
    file = write_replies(tmp_path / "r_MIN.jsonl", [GOOD])
    with pytest.raises(SystemExit) as stop:
        main(["replay", "gricean-maxims", str(file), "--out", str(tmp_path / "run")])
    assert stop.value.code == 1
    assert "got a choice study; expected a rating study" in capsys.readouterr().err


# The paper's own files ----------------------------------------------------------------------


def published_files() -> list[Path]:
    files = [SHARED / f"published_replies_{name}.jsonl" for name in ("MIN", "ALT")]
    if not all(file.is_file() for file in files):
        pytest.skip(f"needs the shared data at {SHARED}")
    return files


def test_the_papers_rule_reads_every_published_reply_as_the_paper_did():
    study = load_rating_study("social-meaning")
    collection = read_collection([(file, None) for file in published_files()], study)
    assert len(collection.replies) == 8640
    differing = [
        reply
        for reply in collection.replies
        if parse_as_published(reply.text, study.scale).value != reply.rated
    ]
    assert differing == []
    assert sum(reply.rated is None for reply in collection.replies) == 98


def test_the_parser_differs_from_the_paper_only_where_the_paper_dropped(tmp_path):
    """Every rating that the paper kept is the parser's too, and the parser reads more."""
    study = load_rating_study("social-meaning")
    collection = read_collection([(published_files()[0], None)], study)
    done = {each.run.label: each for each in replay(collection, study, tmp_path, PARSER)}
    assert list(done) == ["gpt", "claude", "gemini"]
    assert all(each.run.responses.height == 1440 for each in done.values())
    for name in ("gpt", "gemini"):
        assert (done[name].rated, done[name].same) == (1440, 1440)
    rated = {r.trial_id: r.rated for r in collection.replies if r.model == "claude"}
    values = done["claude"].run.responses.select("trial_id", "value")
    kept = values.filter(pl.col("trial_id").is_in([t for t, v in rated.items() if v is not None]))
    assert kept.height == 1342
    assert all(rated[trial] == value for trial, value in kept.iter_rows())
    assert values["value"].count() > 1342
