"""A run that can be trusted: nothing lost, nothing mixed, resumed to the last bit."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch

from felicity import open_participant, read_run, run
from felicity.errors import FaultsError, RunError
from felicity.journal import Journal
from felicity.manifest import write_manifest
from felicity.participants import participant_from_model
from felicity.runner import find_finished
from felicity.types import Response, TokenScores

import tiny
from study_folders import write_study

PAIR_OF_NAMES = {"questioner": "Leslie", "responder": "Joan"}


@pytest.fixture(scope="module")
def gpt2(tiny_gpt2_folder):
    return open_participant(f"hf:{tiny_gpt2_folder}")


@pytest.fixture
def study(tmp_path):
    from felicity import load_study

    return load_study(write_study(tmp_path / "study"))


def test_a_run_has_a_row_for_every_answer_of_every_item(gpt2, gricean, tmp_path):
    done = run(gricean, gpt2, tmp_path / "run", where=PAIR_OF_NAMES)
    table = done.responses
    assert table.height == 750
    assert done.complete
    assert table["status"].unique().to_list() == ["ok"]
    assert table.select("item_id", "answer_label").is_unique().all()
    row = table.row(0, named=True)
    assert row["log_prob_sum"] == pytest.approx(sum(row["log_probs"]))
    assert row["log_prob_mean"] == pytest.approx(row["log_prob_sum"] / row["n_tokens"])
    assert "".join(row["tokens"]) == " " + row["answer"]
    assert row["bits_per_character"] == pytest.approx(
        -row["log_prob_sum"] / 0.6931471805599453 / len(row["answer"])
    )
    for name in ("responses.parquet", "responses.csv", "run.json", "journal.sqlite"):
        assert (tmp_path / "run" / name).is_file()
    csv = pl.read_csv(tmp_path / "run" / "responses.csv")
    assert csv.height == 750
    assert json.loads(csv["tokens"][0]) == row["tokens"]
    assert pl.read_parquet(tmp_path / "run" / "responses.parquet").equals(table)


def test_pmi_is_the_gain_from_the_question(gpt2, gricean, tmp_path):
    done = run(gricean, gpt2, tmp_path / "run", where={"maxim": "relation"}, limit=5)
    trials = gricean.trials(gricean.format(), gricean.select({"maxim": "relation"}, 5))
    plan = gpt2.plan([trial.baseline for trial in trials])
    scores = {}
    for batch in plan.batches:
        scores.update(zip(batch, gpt2.score(plan, batch), strict=True))
    expected = [
        total - scores[i].log_prob_sum for i, total in enumerate(done.responses["log_prob_sum"])
    ]
    assert done.responses["pmi"].to_list() == pytest.approx(expected, abs=1e-5)
    assert trials[0].baseline.context == f"{trials[0].pair.context.rpartition(chr(10))[2]}"


def test_pmi_is_missing_where_the_first_token_has_nothing_before_it(study, tmp_path):
    tokenizer = tiny.tokenizer("bytelevel")
    bare = participant_from_model(
        tiny.gpt2(len(tokenizer)), tokenizer, spec="x", method="logprob", prefix="none"
    )
    done = run(study, bare, tmp_path / "run")
    assert done.responses["pmi"].null_count() == done.responses.height == 16
    assert done.responses["log_prob_mean"].null_count() == 0


def test_equal_texts_are_scored_once(gpt2, gricean, tmp_path, monkeypatch):
    scored = []
    original = type(gpt2).score
    monkeypatch.setattr(
        type(gpt2),
        "score",
        lambda self, plan, batch: scored.extend(batch) or original(self, plan, batch),
    )
    done = run(gricean, gpt2, tmp_path / "run", format="plain", where={"maxim": "relation"})
    assert done.responses.height == 900
    # 75 questions with 2 answers, and 50 answers without question: names occur in none.
    assert len(scored) == 200


def test_the_manifest_says_what_the_run_is(gpt2, gricean, tmp_path):
    run(gricean, gpt2, tmp_path / "run", limit=2)
    told = json.loads((tmp_path / "run" / "run.json").read_text())
    assert told["study"] == "gricean-maxims"
    assert told["data_hash"] == gricean.data_hash
    assert told["format"]["context"] == "{questioner}: {question}\n{responder}:"
    participant = told["participant"]
    assert participant["method"] == "logprob"
    assert participant["prefix"] == "bos <|endoftext|> (0)"
    assert len(participant["weights_fingerprint"]) == 32
    assert told["sessions"][0]["versions"]["torch"] == torch.__version__
    assert told["sessions"][0]["machine"]["torch_threads"] == 1


def test_a_finished_run_is_gone_on_with_without_scoring(gpt2, gricean, tmp_path, monkeypatch):
    first = run(gricean, gpt2, tmp_path / "run", limit=3)
    monkeypatch.setattr(type(gpt2), "score", None)
    again = run(gricean, gpt2, tmp_path / "run", limit=3)
    assert again.responses.equals(first.responses)
    assert len(again.manifest["sessions"]) == 2


def test_a_finished_run_of_an_embedded_model_needs_no_model(smollm2, gricean, tmp_path):
    run(gricean, smollm2, tmp_path / "run", limit=2)
    told = smollm2.info.opened_with
    asked = {"spec": smollm2.info.spec, "opened_with": told, "items": gricean.items[:2]}
    fmt = gricean.format()
    found = find_finished(gricean, fmt, tmp_path / "run", **asked)
    assert found.responses.height == 4
    others = [
        asked | {"items": gricean.items[:3]},
        asked | {"opened_with": told | {"prefix": "none"}},
        asked | {"spec": "embedded:cassette-masked"},
        asked | {"spec": "hf:some/model"},
    ]
    for other in others:
        assert find_finished(gricean, fmt, tmp_path / "run", **other) is None
    assert find_finished(gricean, gricean.format("plain"), tmp_path / "run", **asked) is None
    assert find_finished(gricean, fmt, tmp_path / "none", **asked) is None


def test_a_folder_of_another_run_is_refused_by_what_differs(gpt2, gricean, study, tmp_path):
    run(gricean, gpt2, tmp_path / "run", limit=1)
    tokenizer = tiny.tokenizer("bytelevel")
    other = participant_from_model(
        tiny.gpt2(len(tokenizer), seed=1), tokenizer, spec="other", method="logprob"
    )
    changed = replace(gricean, items=gricean.items[:-1])
    cases = [
        ((gricean, other, {}), "model weights: got"),
        ((gricean, gpt2, {"format": "plain"}), "format: got plain; expected names"),
        ((changed, gpt2, {}), "data: got"),
        ((study, gpt2, {}), "study: got some-not-all; expected gricean-maxims"),
    ]
    for (what, who, options), message in cases:
        with pytest.raises(RunError, match=message):
            run(what, who, tmp_path / "run", limit=1, **options)
    assert read_run(tmp_path / "run").responses.height == 2


def test_a_folder_with_other_files_is_refused(gpt2, gricean, tmp_path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(RunError, match="not empty and holds no run"):
        run(gricean, gpt2, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_over_long_items_are_all_named_before_any_scoring(study, tmp_path):
    tokenizer = tiny.tokenizer("bytelevel")
    short = participant_from_model(
        tiny.gpt2(len(tokenizer), n_positions=25), tokenizer, spec="x", method="logprob"
    )
    with pytest.raises(FaultsError, match="at most 25, the model's limit") as caught:
        run(study, short, tmp_path / "run")
    assert len(caught.value.faults) > 1
    assert {fault.file for fault in caught.value.faults} <= {
        trial.trial_id for trial in study.trials(study.format())
    }
    assert Journal(tmp_path / "run" / "journal.sqlite").keys() == {}


def test_a_score_that_is_not_finite_keeps_its_row_with_a_status(gpt2, study, tmp_path, monkeypatch):
    original = type(gpt2).score

    def spoilt(self, plan, batch):
        good = original(self, plan, batch)
        nan = replace(good[0], log_probs=(float("nan"),) * len(good[0].log_probs))
        return [nan, *good[1:]]

    monkeypatch.setattr(type(gpt2), "score", spoilt)
    done = run(study, gpt2, tmp_path / "run")
    bad = done.responses.filter(pl.col("status") == "not_finite")
    assert done.responses.height == 16
    assert bad.height >= 1
    assert bad["log_prob_mean"].null_count() == bad.height
    assert read_run(tmp_path / "run").responses.height == 16


def test_a_run_reads_back_by_its_own_study_folder(gpt2, study, tmp_path):
    run(study, gpt2, tmp_path / "run")
    assert read_run(tmp_path / "run").study.items == study.items
    (study.folder / "items.jsonl").write_text(
        (study.folder / "items.jsonl").read_text().replace("three cups", "four cups")
    )
    with pytest.raises(RunError, match="items have changed since this run"):
        read_run(tmp_path / "run")


def test_a_read_only_place_gives_a_clear_error(gpt2, study, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made: Not a directory"):
        run(study, gpt2, tmp_path / "file" / "run")
    with pytest.raises(RunError, match="cannot be written: "):
        write_manifest(Path("/proc"), {})


def response(name: str) -> Response:
    scores = TokenScores(token_ids=(1,) * 500, tokens=("a",) * 500, log_probs=(-0.123456789,) * 500)
    return Response(trial_id=name, key="k", status="ok", scores=scores, baseline=None)


def test_a_full_disk_gives_a_clear_error_and_loses_no_committed_row(tmp_path):
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        journal.add([response("first")])
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(RunError, match="the disk is full") as caught:
            journal.add([response(f"row{i}") for i in range(50)])
        assert "what is in the journal stays" in str(caught.value)
        assert list(journal.keys()) == ["first"]
    with Journal(path) as journal:
        journal.add([response("second")])
        assert sorted(journal.keys()) == ["first", "second"]


def test_a_trial_is_never_answered_twice(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.add([response("one")])
        with pytest.raises(RunError, match="there already"):
            journal.add([response("two"), response("one")])
        assert list(journal.keys()) == ["one"]


def test_a_damaged_journal_is_named(tmp_path):
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"no database at all, but long enough to be looked at" * 30)
    with pytest.raises(RunError, match="the file is damaged"):
        Journal(path)


def test_a_journal_of_another_schema_is_refused(tmp_path):
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version=99")
    with pytest.raises(RunError, match="journal schema 99"):
        Journal(path)


class ForkedRuns:
    """Runs of the Gricean study, each in a process that can be killed."""

    def __init__(self, model: Path, scratch: Path) -> None:
        self.model, self.errors = model, scratch / "stderr"
        script = Path(__file__).parent / "fixtures" / "forking_runs.py"
        self.parent = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, folder: Path) -> int:
        """Start a run; return its process id."""
        self.errors.unlink(missing_ok=True)
        words = ["run", "gricean-maxims", "--model", f"hf:{self.model}", "--folder", str(folder)]
        words += ["--threads", "1", "--batch-tokens", "512"]
        print(
            json.dumps({"words": words, "stderr": str(self.errors)}),
            file=self.parent.stdin,
            flush=True,
        )
        return int(self.parent.stdout.readline())

    def end(self) -> int:
        """Wait for the end of a run; return its exit code, negative for a signal."""
        return int(self.parent.stdout.readline())

    def wait_for_rows(self) -> None:
        """Wait until the run says that rows are written."""
        while not self.errors.exists() or "of 4500" not in (said := self.errors.read_text()):
            assert self.parent.poll() is None
            time.sleep(0.002)
        assert "Error" not in said

    def close(self) -> None:
        """End the process that forks."""
        self.parent.stdin.close()
        self.parent.stdout.close()
        self.parent.wait()


@pytest.fixture
def forked(tiny_gpt2_folder, tmp_path):
    runs = ForkedRuns(tiny_gpt2_folder, tmp_path)
    yield runs
    runs.close()


def test_twenty_kills_lose_no_row_and_change_no_number(forked, tmp_path):
    """Kill a real run with SIGKILL at random moments, 20 times, and let it end."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    forked.start(whole)
    assert forked.end() == 0
    expected = read_run(whole).responses
    moments = random.Random(0)
    kills, before = 0, 0
    while kills < 20:
        process = forked.start(broken)
        # Every third time at any moment, also while starting; else once rows are being written.
        if kills % 3:
            forked.wait_for_rows()
            time.sleep(moments.uniform(0, 0.12))
        else:
            time.sleep(moments.uniform(0, 1.0))
        os.kill(process, signal.SIGKILL)
        if forked.end() != -signal.SIGKILL:
            break
        kills += 1
        if (broken / "journal.sqlite").exists():
            with Journal(broken / "journal.sqlite") as journal:
                rows = len(journal.keys())
            assert rows >= before
            before = rows
    assert kills == 20
    assert 0 < before < 4500
    forked.start(broken)
    assert forked.end() == 0
    got = read_run(broken)
    assert got.responses.height == 4500
    assert got.complete
    assert got.responses.equals(expected)
