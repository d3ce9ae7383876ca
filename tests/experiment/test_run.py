"""An experiment is run, broken, killed, resumed and reported; real processes, tiny real models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from felicity.cli import main
from felicity.experiment import plan_tasks, read_experiment, read_states
from felicity.experiment.log import Log
from felicity.experiment.state import is_locked
from felicity.journal import Journal
from felicity.rating.journal import only_run

from experiment_files import save_model, write_experiment

FOUR = """\
[settings]
threads = 1

[[group]]
name = "causal"
models = [{ id = "hf:gpt2", label = "GPT-2" }, "hf:llama"]

[[group]]
name = "masked"
models = ["hf:broken", { id = "hf:roberta", label = "RoBERTa" }]
"""


def call(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """Four tiny models, the weights of one cut short."""
    home = tmp_path_factory.mktemp("four")
    for kind in ("gpt2", "llama", "roberta"):
        save_model(home / kind, kind)
    weights = save_model(home / "broken", "bert") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    return home


@pytest.fixture
def four(models, tmp_path) -> Path:
    """An experiment on them."""
    for folder in models.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    return write_experiment(tmp_path, FOUR)


def states(file: Path) -> dict[str, tuple[str, int]]:
    experiment = read_experiment(file)
    return {
        each.task.label: (each.state, each.rows)
        for each in read_states(experiment, plan_tasks(experiment))
    }


def test_a_broken_model_is_a_failed_row_and_the_rest_is_run_and_reported(capsys, four):
    code, out, err = call(capsys, "run", str(four), "--json")
    told = json.loads(out)
    assert code == 3, err
    assert told["counts"] == {"done": 3, "running": 0, "failed": 1, "partial": 0, "waiting": 0}
    by_label = {run["label"]: run for run in told["runs"]}
    assert [by_label[name]["state"] for name in ("GPT-2", "llama", "broken", "RoBERTa")] == [
        "done", "done", "failed", "done",
    ]  # fmt: skip
    assert "header" in by_label["broken"]["reason"]
    assert by_label["broken"]["rows"] == 0
    assert by_label["RoBERTa"]["groups"] == ["masked"]
    assert pl.read_parquet(Path(by_label["llama"]["folder"]) / "responses.parquet").height == 16

    code, out, _ = call(capsys, "status", str(four))
    assert code == 0
    assert "16 of 16" in out
    assert "failed: some-not-all/broken-story" in out
    assert by_label["broken"]["reason"].splitlines()[0][:60] in out

    # Only what is missing is tried again.
    before = len(Log(read_experiment(four).out).entries())
    assert call(capsys, "run", str(four))[0] == 3
    assert [e.task for e in Log(read_experiment(four).out).entries()[before:]] == [
        "some-not-all/broken-story"
    ] * 2

    code, out, err = call(capsys, "report", str(four), "--json")
    told = json.loads(out)["some-not-all"]
    assert code == 0, err
    assert [p["name"] for p in told["participants"]] == ["GPT-2", "llama", "RoBERTa"]
    assert "left out: some-not-all/broken-story (failed, 0 of 16 rows)" in err
    table = four.parent / "runs" / "tiny" / "report" / "some-not-all" / "table.md"
    assert "| RoBERTa |" in table.read_text(encoding="utf-8")

    # Mended, it is the one that is run, and all is well.
    (four.parent / "broken").unlink()
    save_model(four.parent / "broken", "bert")
    assert call(capsys, "run", str(four))[0] == 0
    assert {state for state, _ in states(four).values()} == {"done"}


def rows_in(journal: Path) -> int:
    with Journal(journal, read_only=True) as opened:
        return len(opened.keys())


def start(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "felicity", "run", str(file)], stderr=subprocess.PIPE, text=True
    )


def test_an_experiment_that_is_killed_goes_on(capsys, models, tmp_path):
    """Kill a real process while it scores; look at it before and after; let it end."""
    for folder in models.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    body = FOUR.replace("[settings]", '[settings]\nbatch_tokens = 64\nwhere = { wording = "0" }')
    body = body.replace('"masked"', '"masked"\nlimit = 20')
    file = write_experiment(tmp_path, body, studies='"gricean-maxims"')
    process = start(file)
    while "0 of 1500" not in (line := process.stderr.readline()):
        assert line, "the run ended before its first row"
    journal = tmp_path / "runs" / "tiny" / "gricean-maxims" / "GPT-2-names" / "journal.sqlite"
    while not rows_in(journal):
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGSTOP)
    while_running = states(file)
    assert while_running["GPT-2"][0] == "running"
    assert while_running["llama"] == ("waiting", 0)
    code, _, err = call(capsys, "run", str(file))
    assert code == 1
    assert "another run is writing" in err
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    killed = states(file)["GPT-2"]
    assert killed[0] == "partial"
    assert 0 < killed[1] < 1500
    assert call(capsys, "run", str(file))[0] == 3
    assert states(file) == {
        "GPT-2": ("done", 1500),
        "llama": ("done", 1500),
        "broken": ("failed", 0),
        "RoBERTa": ("done", 40),
    }
    told = json.loads((tmp_path / "runs/tiny/gricean-maxims/GPT-2-names/run.json").read_text())
    assert len(told["sessions"]) == 2


def test_a_model_at_which_the_process_died_is_tried_last(capsys, four):
    experiment = read_experiment(four)
    experiment.out.mkdir(parents=True)
    log = Log(experiment.out)
    log.add("some-not-all/GPT-2-story", "started")
    with log.path.open("a") as stream:
        stream.write('{"task": "some-not-all/llama-st')
    assert states(four)["GPT-2"] == ("partial", 0)
    call(capsys, "run", str(four))
    entries = [e.task for e in log.entries() if e.event == "started"][1:]
    assert entries[-1] == "some-not-all/GPT-2-story"
    assert len(entries) == 4


def test_running_means_that_a_process_is_at_it(four):
    experiment = read_experiment(four)
    experiment.out.mkdir(parents=True)
    assert not is_locked(experiment.out)
    Log(experiment.out).add("some-not-all/llama-story", "started")
    with only_run(experiment.out):
        assert is_locked(experiment.out)
        assert states(four)["llama"][0] == "running"
        assert states(four)["GPT-2"][0] == "waiting"
    # The lock's file stays; the lock does not.
    assert (experiment.out / "run.lock").is_file()
    assert states(four)["llama"][0] == "partial"


def test_a_run_folder_of_something_else_is_not_taken_for_done(capsys, four):
    call(capsys, "run", str(four))
    text = four.read_text(encoding="utf-8").replace('"hf:gpt2", label', '"hf:llama", label')
    four.write_text(text, encoding="utf-8")
    experiment = read_experiment(four)
    found = read_states(experiment, plan_tasks(experiment))[0]
    assert found.state == "failed"
    assert "another run: its model differs" in found.reason


def test_an_error_that_no_one_foresaw_is_that_models_failure(capsys, four, monkeypatch):
    from felicity.participants import load

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in the model's own code")

    monkeypatch.setattr(load, "read_config", fail)
    code, out, err = call(capsys, "run", str(four), "--json")
    assert code == 3
    assert {run["reason"] for run in json.loads(out)["runs"]} == {
        "ZeroDivisionError: in the model's own code"
    }
    assert "Traceback" in err
    code, _, err = call(capsys, "report", str(four))
    assert code == 1
    assert "no run has any response" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "FILE", "--model", "hf:a/b"], "--model: got an option; expected none beside an"),
        (["run", "FILE", "--limit", "3"], "--limit: got an option"),
        (["report", "FILE", "--seed", "3"], "--seed: got an option"),
        (["run", "none.toml"], "No such file"),
        (["status", "none.toml"], "No such file"),
        (["run", "gricean-maxims"], "--model: got none; expected a model"),
    ],
)
def test_mistakes_end_in_a_message(capsys, four, words, message):
    code, out, err = call(capsys, *(str(four) if word == "FILE" else word for word in words))
    assert (code, out) == (1, "")
    assert message in err.replace("\n", " ")
    assert "Traceback" not in err
