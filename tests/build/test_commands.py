"""`felicity build` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from felicity.cli import main

from building import BASE, REPLIES


def felicity(capsys, *words, code=0):
    """Run a command; return what it printed."""
    try:
        main(list(map(str, words)))
        got = 0
    except SystemExit as stop:
        got = int(stop.code or 0)
    said = capsys.readouterr()
    assert got == code, said.err
    return said.out, said.err


def test_from_base_dialogues_to_a_study(tmp_path, capsys):
    folder, study = tmp_path / "set", tmp_path / "study"
    felicity(capsys, "build", "init", folder, "--base", BASE, "--by", "Ann")
    out, _ = felicity(capsys, "build", "expand", folder, "--dry-run", "--json")
    assert [request["target"] for request in json.loads(out)] == [
        "quantity_1-01", "quantity_2-01", "quality-01", "relation-01", "politeness-01"
    ]  # fmt: skip
    out, _ = felicity(capsys, "build", "expand", folder, "--replies", REPLIES)
    assert "dialogues: 20 of 20 that were missing" in out
    felicity(capsys, "build", "reword", folder, "--replies", REPLIES)
    out, err = felicity(capsys, "build", "check", folder)
    assert "the answers share hardly a word" in out
    assert "13 findings" in err
    assert (folder / "checks.csv").is_file()
    out, _ = felicity(capsys, "build", "status", folder, "--json")
    assert json.loads(out)["maxims"]["relation"]["rewordings"] == [10, 10]
    out, err = felicity(capsys, "build", "export", folder, "--study", study)
    assert str(study / "croissant.json") in out
    assert "note: nobody has judged these dialogues" in err
    out, _ = felicity(capsys, "validate", study)
    assert "valid" in out


def test_what_is_still_missing_ends_in_exit_code_1(tmp_path, capsys):
    folder = tmp_path / "set"
    felicity(capsys, "build", "init", folder, "--base", BASE, "--by", "Ann")
    some = tmp_path / "some.jsonl"
    some.write_text("\n".join(REPLIES.read_text(encoding="utf-8").splitlines()[:2]))
    out, err = felicity(capsys, "build", "expand", folder, "--replies", some, code=1)
    assert "template: 1 of 5 that were missing (replies: 1 ok, 1 no_json)" in out
    assert "still missing: template of quantity_2-01: no_json" in err
    assert "still missing: template of quality-01: no reply" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["expand", "SET"], "got neither; expected --writer or --replies"),
        (["expand", "SET", "--writer", "api:a/b", "--replies", "x"], "got both; expected --writer"),
        (["init", "NEW", "--base", "BASE"], "got nothing; expected a name with --base"),
        (["check", "NEW"], "expected a folder with a build.toml"),
        (["export", "SET", "--study", "OUT"], "0 rewordings that can be taken, not 2"),
        (["init", "NEW", "--language", "xx"], 'got "xx"; expected one of de, en'),
        (["init", "NEW", "--names", "Ann"], "expected two different names"),
        (["reword", "SET", "--replies", "nowhere.jsonl"], "expected a file of replies"),
        (["check", "social-meaning"], "expected a folder with a build.toml"),
    ],
)
def test_a_mistake_ends_in_a_message(tmp_path, capsys, words, said):
    felicity(capsys, "build", "init", tmp_path / "set", "--base", BASE, "--by", "Ann")
    places = {"SET": tmp_path / "set", "NEW": tmp_path / "new", "OUT": tmp_path / "o", "BASE": BASE}
    _, err = felicity(capsys, "build", *(places.get(word, word) for word in words), code=1)
    assert said in " ".join(err.split())
    assert not (tmp_path / "new").exists()


def test_nothing_is_written_beside_a_built_in_study(capsys):
    out, _ = felicity(capsys, "build", "check", "gricean-maxims", "--json")
    assert {row["name"] for row in json.loads(out)} > {"duplicates", "vocabulary"}
    from felicity.study import BUILT_IN

    assert not (BUILT_IN / "gricean-maxims" / "checks.csv").exists()


def test_a_killed_command_goes_on(tmp_path, capsys):
    """A real process, killed as soon as the first line of the set's growth is on disk."""
    folder = tmp_path / "set"
    felicity(capsys, "build", "init", folder, "--base", BASE, "--by", "Ann")
    command = [
        sys.executable,
        "-m",
        "felicity",
        "build",
        "expand",
        str(folder),
        "--replies",
        REPLIES,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not (folder / "templates.toml").exists():
        time.sleep(0.01)
    process.kill()
    process.communicate()
    felicity(capsys, "build", "expand", folder, "--replies", REPLIES)
    out, _ = felicity(capsys, "build", "status", folder, "--json")
    status = json.loads(out)
    assert all(row["dialogues"] == [5, 5] for row in status["maxims"].values())
    assert sum(status["writers"]["replay:replies"].values()) == 15
