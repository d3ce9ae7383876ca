"""Our scores against lm-evaluation-harness's on our export of the study, by make_lm_eval.py."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from felicity import analyse, open_participant, run
from felicity.interop import export_study

from conftest import embedded_folder

HERE = Path(__file__).parent


def rows(name):
    with (HERE / "lm_eval.csv").open(newline="", encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if row["format"] == name]


def sample(gricean, name):
    ids = [row["item_id"] for row in rows(name)]
    by_id = {item.item_id: item for item in gricean.items}
    return replace(gricean, items=tuple(by_id[item_id] for item_id in ids))


@pytest.fixture(scope="module")
def bare():
    """The embedded model as the harness reads it: nothing before a text."""
    embedded_folder("smollm2-135m")
    return open_participant("embedded:smollm2-135m", prefix="none")


@pytest.mark.parametrize("name", ["names", "named-answer"])
def test_sums_and_accuracies_equal_the_harness_s(bare, gricean, name, tmp_path, capsys):
    study = sample(gricean, name)
    done = run(study, bare, tmp_path / "run", format=name)
    ours = {
        (row["item_id"], row["answer_label"]): row["log_prob_sum"]
        for row in done.responses.iter_rows(named=True)
    }
    worst = max(
        abs(ours[row["item_id"], label] - float(row[label]))
        for row in rows(name)
        for label in ("follower", "violator")
    )
    with capsys.disabled():
        print(f"\n{name:14s} {len(ours)} sums, largest difference {worst:.1e} nats")
    assert len(ours) == 100
    assert worst <= 1e-4
    told = json.loads((HERE / "lm_eval.json").read_text())[name]
    cells = analyse([done], study, score="log_prob_sum").participants[0].cells
    for key in study.design.level_keys:
        assert cells[key].accuracy == told[f"felicity_gricean_maxims_{key}"]["acc,none"]
    group = told["felicity_gricean_maxims"]["acc,none"]
    assert cells["overall"].accuracy == pytest.approx(group)


def test_the_export_that_was_run_is_the_one_that_is_written_today(gricean, tmp_path):
    export_study(sample(gricean, "names"), "lm-eval", tmp_path)
    written = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert {row["item_id"] for row in written} == {row["item_id"] for row in rows("names")}
    assert {row["gold"] for row in written} == {0}


def test_the_harness_itself_gives_our_accuracies(gricean, tiny_gpt2_folder, tmp_path):
    lm_eval = pytest.importorskip("lm_eval")
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    study = sample(gricean, "names")
    export_study(study, "lm-eval", tmp_path / "tasks")
    found = lm_eval.simple_evaluate(
        model=HFLM(pretrained=str(tiny_gpt2_folder), dtype="float32", device="cpu"),
        tasks=["felicity_gricean_maxims"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        bootstrap_iters=0,
    )
    bare = open_participant(f"hf:{tiny_gpt2_folder}", prefix="none")
    done = run(study, bare, tmp_path / "run")
    cells = analyse([done], study, score="log_prob_sum").participants[0].cells
    for key in study.design.level_keys:
        told = found["results"][f"felicity_gricean_maxims_{key}"]["acc,none"]
        assert cells[key].accuracy == told
