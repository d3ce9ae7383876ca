"""An experiment from Python: the command's runs and reports, as frames."""

from __future__ import annotations

import json

import polars as pl
import pytest

import felicity
from felicity.cli import main
from felicity.errors import RunError

from experiment_files import save_model, write_experiment

BODY = """
[[group]]
name = "masked"
models = ["hf:roberta"]

[[group]]
name = "causal"
models = [{ id = "hf:gpt2", label = "Mine" }, "hf:nowhere"]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    home = tmp_path_factory.mktemp("experiment")
    for kind in ("roberta", "gpt2"):
        save_model(home / kind, kind)
    return felicity.run_experiment(write_experiment(home, BODY))


def test_what_is_missing_is_run_and_a_failure_is_a_row_with_its_reason(done):
    table = done.table
    assert table["state"].to_list() == ["done", "done", "failed"]
    assert table["label"].to_list() == ["roberta", "Mine", "nowhere"]
    assert "nowhere" in table["reason"][2]
    assert not done.complete
    assert "2 of 3 done" in repr(done)
    assert "failed" in done._repr_html_()
    again = felicity.read_experiment_runs(done.experiment.file)
    assert again.table.equals(table)


def test_runs_are_frames_under_the_labels_of_the_file(done):
    runs = done.runs()
    assert [run.label for run in runs] == ["roberta", "Mine"]
    assert all(run.complete and run.responses["log_prob_sum"].is_finite().all() for run in runs)
    assert done.runs("another study") == []


def test_the_reports_are_the_commands(done, capsys):
    [folder] = felicity.write_experiment_reports(done).values()
    mine = {path.name: path.read_bytes() for path in folder.glob("*") if path.is_file()}
    with pytest.raises(SystemExit) as ended:
        main(["report", str(done.experiment.file), "--json"])
    assert not ended.value.code
    theirs = {path.name: path.read_bytes() for path in folder.glob("*") if path.is_file()}
    assert mine == theirs
    said = json.loads(capsys.readouterr().out)
    assert list(said) == [folder.name]
    assert {"masked", "causal"} <= set(pl.read_parquet(folder / "results.parquet")["group"])


def test_an_experiment_without_any_response_has_no_report(tmp_path):
    waiting = felicity.read_experiment_runs(write_experiment(tmp_path, BODY))
    assert waiting.table["state"].to_list() == ["waiting"] * 3
    with pytest.raises(RunError, match="no run has any response"):
        felicity.write_experiment_reports(waiting)


def test_groups_and_published_accuracies_in_one_call(done, tmp_path):
    study = done.runs()[0].study
    levels = study.design.level_keys
    rows = "".join(f"theirs,Other,,{level},0.5,Somebody 2020\n" for level in levels)
    published = tmp_path / "published.csv"
    head = f"group,participant,architecture,{study.design.factor},accuracy,source\n"
    published.write_text(head + rows)
    paths = felicity.write_report(
        done.runs(), tmp_path / "report", groups={"ours": ["Mine", "roberta"]}, published=published
    )
    table = paths["tables/table2.md"].read_text()
    assert "ours" in table
    assert "Other" in table
