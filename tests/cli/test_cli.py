"""The command line as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from felicity.cli import main

from study_folders import ROWS, write_study


def call(capsys, *words: str) -> tuple[int, str, str]:
    """Run a command in this process: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_studies_lists_what_is_built_in(capsys):
    code, out, _ = call(capsys, "studies", "--json")
    assert code == 0
    assert json.loads(out)[0]["name"] == "gricean-maxims"
    assert "2250" in call(capsys, "studies")[1]


def test_items_shows_dialogues(capsys):
    code, out, err = call(capsys, "items", "gricean-maxims", "--maxim", "relation", "--limit", "1")
    assert code == 0
    assert out == (
        "relation  relation-01-1-w0-Leslie-Joan\n"
        "  Leslie: What did you eat on the train?\n"
        "  follower | Joan: I had bread with jam.\n"
        "  violator | Joan: I had fun with my kite.\n\n"
    )
    assert "1 of 2250 items" in err


@pytest.mark.parametrize("name", ["named-answer", "plain"])
def test_items_shows_other_formats(capsys, name):
    _, out, _ = call(capsys, "items", "gricean-maxims", "--limit", "1", "--format", name)
    assert "She likes the apples from our tree." in out


def test_validate_prints_counts_and_cues(capsys):
    code, out, _ = call(capsys, "validate", "gricean-maxims", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["valid"]
    assert told["counts"]["items"] == 2250
    assert set(told["cues"]) == {
        "longer (characters)", "longer (words)", "overlap with question", "more frequent words",
    }  # fmt: skip
    text = call(capsys, "validate", "gricean-maxims")[1]
    assert "Shallow cues" in text
    assert "Leslie/Joan 375" in text


def test_validate_lists_every_fault_and_fails(capsys, tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[0]["word"], rows[1]["weak"] = "none", ""
    folder = write_study(tmp_path / "bad", rows=rows)
    code, out, err = call(capsys, "validate", str(folder))
    assert code == 1
    assert 'items.jsonl line 1, word: got "none"; expected one of all, and' in out
    assert "line 2, weak" in out
    assert "Traceback" not in err
    code, out, _ = call(capsys, "validate", str(folder), "--json")
    told = json.loads(out)
    assert code == 1
    assert not told["valid"]
    assert {fault["line"] for fault in told["faults"]} >= {1, 2}


def test_run_and_report_on_a_study_of_the_users_own(capsys, tmp_path, tiny_gpt2_folder):
    folder = write_study(tmp_path / "own")
    code, out, err = call(
        capsys, "run", str(folder), "--model", f"hf:{tiny_gpt2_folder}", "--out",
        str(tmp_path / "runs"), "--json",
    )  # fmt: skip
    assert code == 0, err
    (run,) = json.loads(out)["runs"]
    assert run["complete"]
    assert run["responses"] == 16
    assert run["statuses"] == {"ok": 16}
    assert run["folder"].endswith("runs/some-not-all/tiny-gpt2-story")
    code, out, err = call(capsys, "report", run["folder"], "--json")
    told = json.loads(out)
    assert code == 0
    assert told["factor"] == "word"
    assert set(told["participants"][0]["cells"]) == {"all", "and", "overall"}
    assert "wrote" in err
    text = call(capsys, "report", run["folder"])[1]
    assert "Adults" in text
    assert "95 % intervals" in text


def test_a_dry_run_counts_tokens_and_leaves_no_folder(capsys, tmp_path, tiny_gpt2_folder):
    words = ["run", "gricean-maxims", "--model", f"hf:{tiny_gpt2_folder}", "--limit", "3"]
    words += ["--out", str(tmp_path / "runs"), "--dry-run"]
    code, out, _ = call(capsys, *words, "--json")
    (plan,) = json.loads(out)["plans"]
    assert code == 0
    assert plan["texts"] == 6
    assert plan["batches"] == 1
    assert plan["padding"] == 0
    # Both answers of an item stand after one question.
    assert plan["computed"] < plan["plain"] / 1.5
    assert f"6 texts in 1 batch: {plan['plain']:,} tokens" in call(capsys, *words)[1]
    assert not (tmp_path / "runs").exists()


def test_several_models_run_and_one_that_fails_does_not_stop_the_rest(
    capsys, tmp_path, tiny_gpt2_folder, tiny_roberta_folder
):
    folder = write_study(tmp_path / "own")
    models = [f"hf:{tiny_gpt2_folder}", f"hf:{tmp_path / 'none'}", f"hf:{tiny_roberta_folder}"]
    words = [word for model in models for word in ("--model", model)]
    code, out, err = call(
        capsys, "run", str(folder), *words, "--out", str(tmp_path / "runs"), "--json"
    )
    runs = json.loads(out)["runs"]
    assert code == 1
    assert [("error" in run) for run in runs] == [False, True, False]
    assert "1 of 3 models failed" in err
    folders = [run["folder"] for run in runs if "folder" in run]
    told = json.loads(call(capsys, "report", *folders, "--out", str(tmp_path / "r"), "--json")[1])
    assert [p["method"] for p in told["participants"]] == ["logprob", "pll_within_word_l2r"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["items", "gricean"], "expected a folder with a study.toml, or one of gricean-maxims"),
        (["items", "gricean-maxims", "--where", "maxim"], "expected FACTOR=LEVEL"),
        (["items", "gricean-maxims", "--maxim", "manner"], "expected one of politeness"),
        (["items", "gricean-maxims", "--format", "chat"], "names, named-answer, plain"),
        (["run", "gricean-maxims", "--model", "gpt2"], "expected embedded:NAME"),
        (["run", "gricean-maxims", "--model", "embedded:x"], "smollm2-135m, cassette-masked"),
        (["run", "gricean-maxims", "--model", "x", "--repeats", "3"], "in a choice study"),
        (["report", "."], "no run.json here"),
        (["models", "--fetch", "x"], "expected one of smollm2-135m"),
    ],
)
def test_a_users_mistake_ends_in_a_message(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *words)
    assert code == 1
    assert out == ""
    assert message in err.replace("\n", " ")
    assert "Traceback" not in err


def test_models_says_how_others_are_named(capsys):
    out = call(capsys, "models")[1]
    assert "embedded:smollm2-135m" in out
    assert "hf:HUB_ID[@REVISION]" in out
    assert {row["spec"] for row in json.loads(call(capsys, "models", "--json")[1])} == {
        "embedded:smollm2-135m", "embedded:cassette-masked",
    }  # fmt: skip


def test_doctor_finds_this_machine_fit(capsys):
    code, out, _ = call(capsys, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)}
    assert code == 0
    assert checks["torch"]["ok"]
    assert checks["gricean-maxims"]["found"] == "2250 items"


def test_doctor_fails_on_a_cache_that_cannot_be_written(capsys, monkeypatch):
    monkeypatch.setenv("FELICITY_CACHE", "/proc/felicity")
    code, out, _ = call(capsys, "doctor", "--json")
    cache = next(check for check in json.loads(out) if check["name"] == "cache")
    assert code == 1
    assert not cache["ok"]
    assert "FELICITY_CACHE" in cache["hint"]


def test_output_into_a_closed_pipe_is_no_traceback():
    done = subprocess.run(
        f"{sys.executable} -m felicity items gricean-maxims | head -1",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("quantity_1")
    assert "Traceback" not in done.stderr


def test_version(capsys):
    from felicity import __version__

    assert call(capsys, "--version")[1].strip() == __version__
