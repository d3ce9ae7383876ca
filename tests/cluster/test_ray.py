"""Runs on a real Ray cluster of several processes on this machine, which lose some of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'felicity[ray]'")

from ray.cluster_utils import Cluster as Nodes  # noqa: E402

from felicity import open_participant, run  # noqa: E402
from felicity.cli import main  # noqa: E402
from felicity.cluster import Cluster, Opening, parse_on  # noqa: E402
from felicity.errors import FaultsError, ModelError, OptionError  # noqa: E402
from felicity.journal import Journal  # noqa: E402

import tiny  # noqa: E402
from experiment_files import save_model, write_experiment  # noqa: E402
from slow_model import save_slow_model  # noqa: E402

# Ray leaves sockets and processes to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
MANY = {"batch_tokens": 64, "trust_remote_code": True}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A cluster of one machine with one processor."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    # Ray makes its workers yield to all else, and what else the machine does is no part of a test.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
    started = Nodes(initialize_head=True, head_node_args=NODE)
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture
def slow(tmp_path):
    return save_slow_model(tmp_path)


def same(one, other) -> bool:
    """Whether two runs have the same rows, to 1e-6 nats a token.

    A batch over which a worker was lost is cut up, and sums of 24 tokens in float32 then differ by
    some 1e-5 where they are −177.
    """
    a, b = one.responses, other.responses
    assert a["key"].to_list() == b["key"].to_list()
    assert a["token_ids"].to_list() == b["token_ids"].to_list()
    tokens = a["n_tokens"]
    gaps = [((a[name] - b[name]).abs() / tokens).max() for name in ("log_prob_sum", "pmi")]
    return max(*gaps, (a["log_prob_mean"] - b["log_prob_mean"]).abs().max()) <= 1e-6


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_worker_and_a_lost_node_cost_no_row(nodes, slow, gricean, tmp_path):
    """Two workers; one is killed; another takes over; its machine goes; one machine ends it."""
    here = run(gricean, open_participant(f"hf:{slow}", **MANY), tmp_path / "here", limit=150)
    second = nodes.add_node(**{k: v for k, v in NODE.items() if k != "include_dashboard"})
    said: list[str] = []
    killed: list[int] = []
    removed: list[int] = []

    def strike(done: int, total: int) -> None:
        if not done:
            (tmp_path / "slow").write_text("1.0")
        at_work = [w for w in spread.workers() if w["batches"] and w["pid"] not in killed]
        if not killed and len(at_work) == 2:
            killed.append(at_work[1]["pid"])
            os.kill(killed[0], signal.SIGKILL)
        elif killed and not removed and len(at_work) == 2:
            nodes.remove_node(second, allow_graceful=False)
            removed.append(total - done)
            (tmp_path / "slow").unlink()

    with Cluster(parse_on(f"ray:{nodes.address}")) as cluster:
        assert cluster.slots() == 2
        with cluster.open(Opening(spec=f"hf:{slow}", **MANY), said.append) as spread:
            there = run(gricean, spread, tmp_path / "there", limit=150, progress=strike)
            workers = spread.workers()
        pids = [worker["pid"] for worker in workers]
    assert removed[0] > 0, "it was over before the machine went"
    assert there.complete
    assert there.responses.height == 300
    assert same(here, there)
    assert len(workers) >= 3
    assert {worker["threads"] for worker in workers} == {1}
    assert any("died" in line and "its batches go on" in line for line in said)
    assert there.manifest["sessions"] != []
    record = json.loads((tmp_path / "there" / "run.json").read_text())["sessions"][-1]
    assert [worker["pid"] for worker in record["workers"]] == pids


def test_a_text_that_kills_its_workers_is_named_and_the_rest_goes_on(
    nodes, slow, gricean, tmp_path, monkeypatch
):
    monkeypatch.setattr("felicity.cluster.crew.KILLS", 1)
    few: Any = {
        "where": {"wording": "0", "questioner": "Leslie", "responder": "Joan"},
        "limit": 12,
    }
    here = open_participant(f"hf:{slow}", **MANY)
    whole = run(gricean, here, tmp_path / "here", **few)
    trials = gricean.trials(gricean.format(None), gricean.select(**few))
    texts = {
        trial.trial_id: one
        for trial, one in zip(
            trials, here.plan([trial.pair for trial in trials]).encoded, strict=True
        )
    }
    # A token of one question, and of no answer: those are scored by themselves, too.
    in_answers = {token for one in texts.values() for token in one.answer_ids}
    owners = Counter(token for one in texts.values() for token in set(one.ids) - in_answers)
    deadly = next(token for token, count in owners.items() if count == 2)
    victims = {trial_id for trial_id, one in texts.items() if deadly in one.ids}
    (tmp_path / "deadly").write_text(str(deadly))
    there = tmp_path / "there"
    with (
        Cluster(parse_on(f"ray:{nodes.address}", workers=1)) as cluster,
        cluster.open(Opening(spec=f"hf:{slow}", **MANY)) as spread,
        pytest.raises(FaultsError) as caught,
    ):
        run(gricean, spread, there, **few)
    assert {fault.file for fault in caught.value.faults} == victims
    assert "expected a text that its worker survives" in str(caught.value)
    assert "workers lost over it, the last of:" in str(caught.value)
    with Journal(there / "journal.sqlite", read_only=True) as journal:
        assert set(journal.keys()) == {trial.trial_id for trial in trials} - victims
    (tmp_path / "deadly").unlink()
    mended = run(gricean, here, there, **few)
    assert mended.complete
    assert same(whole, mended)


def test_an_interrupt_stops_the_workers_and_the_same_command_goes_on(
    nodes, slow, gricean, tmp_path
):
    (tmp_path / "slow").write_text("0.25")
    words = ["run", "gricean-maxims", "--model", f"hf:{slow}", "--folder", str(tmp_path / "there")]
    words += ["--limit", "40", "--batch-tokens", "64", "--trust-remote-code"]
    words += ["--on", f"ray:{nodes.address}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "felicity", *words], stderr=subprocess.PIPE, start_new_session=True
    )
    journal = tmp_path / "there" / "journal.sqlite"

    def rows() -> int:
        if not journal.is_file():
            return 0
        with Journal(journal, read_only=True) as read:
            return len(read.keys())

    while process.poll() is None and rows() < 5:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate()[1].decode()
    assert process.returncode == 130, said
    assert "interrupted; what was done is kept" in said
    assert 5 <= rows() < 80
    workers = json.loads((tmp_path / "there" / "run.json").read_text())["sessions"][0]["workers"]
    assert workers[0]["batches"] > 0
    for _ in range(100):
        if not any(is_running(worker["pid"]) for worker in workers):
            break
        time.sleep(0.1)
    assert not any(is_running(worker["pid"]) for worker in workers)
    (tmp_path / "slow").unlink()
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert not stop.value.code
    here = run(gricean, open_participant(f"hf:{slow}", **MANY), tmp_path / "here", limit=40)
    there = run(gricean, open_participant(f"hf:{slow}", **MANY), tmp_path / "there", limit=40)
    assert there.complete
    assert same(here, there)


def test_a_worker_with_other_weights_is_left_out(nodes, slow, gricean, tmp_path):
    said: list[str] = []
    with (
        Cluster(parse_on(f"ray:{nodes.address}", cpus=0.5)) as cluster,
        cluster.open(Opening(spec=f"hf:{slow}", **MANY), said.append) as spread,
    ):
        fingerprint = spread.info.weights_fingerprint
        tokenizer = tiny.tokenizer("bytelevel")
        other = tiny.gpt2(len(tokenizer), seed=1)
        weights = {name: weight for name, weight in other.state_dict().items() if "lm_" not in name}
        from safetensors.torch import save_file

        save_file(weights, slow / "model.safetensors", metadata={"format": "pt"})

        def look(done: int, total: int) -> None:
            if not done:
                (tmp_path / "slow").write_text("1.0")
            if any("left out" in line for line in said):
                (tmp_path / "slow").unlink(missing_ok=True)

        done = run(gricean, spread, tmp_path / "run", limit=100, progress=look)
        assert len(spread.workers()) == 1
    assert done.complete
    line = next(line for line in said if "left out" in line)
    assert f"model weights: got {fingerprint}" not in line
    assert f"; expected {fingerprint}" in line
    assert "is not the same on every machine" in line


def test_what_a_cluster_cannot_do_is_said(nodes, tmp_path):
    with (
        pytest.raises(OptionError) as caught,
        Cluster(parse_on(f"ray:{nodes.address}", gpus=1)),
    ):
        pass
    assert "a worker takes 1 CPU, 1 GPU; got machines with 1 CPU, 0 GPU" in str(caught.value)
    assert "lower --gpus-per-task" in str(caught.value)
    folder = save_model(tmp_path / "gone", "gpt2")
    sent = Opening(spec=f"hf:{folder}").elsewhere()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with Cluster(parse_on(f"ray:{nodes.address}")) as cluster, pytest.raises(ModelError) as missing:
        cluster.open(sent)
    assert str(missing.value).startswith(f"{folder} (on ")
    assert "nothing at this path on the worker's machine" in str(missing.value)
    assert "the same path on every machine" in str(missing.value)


def test_an_experiment_runs_its_models_side_by_side(nodes, gricean, tmp_path, capsys):
    for name, seed in (("one", 0), ("two", 1)):
        save_model(tmp_path / name, "gpt2", seed)
    broken = save_model(tmp_path / "broken", "bert") / "model.safetensors"
    broken.write_bytes(broken.read_bytes()[:1000])
    file = write_experiment(
        tmp_path, '[[group]]\nname = "all"\nmodels = ["hf:one", "hf:broken", "hf:two"]\n'
    )
    with pytest.raises(SystemExit) as stop:
        main(["run", str(file), "--on", f"ray:{nodes.address}", "--cpus-per-task", "0.5", "--json"])
    assert stop.value.code == 3
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"done": 2, "running": 0, "failed": 1, "partial": 0, "waiting": 0}
    from felicity import load_study, read_run

    study = load_study(tmp_path / "study")
    for each in told["runs"]:
        if each["state"] == "failed":
            assert "SafetensorError: " in each["reason"]
            assert "broken (on " in each["reason"]
            continue
        there = read_run(each["folder"], study)
        assert "workers" in there.manifest["sessions"][0]
        model = each["model"]
        assert same(run(study, open_participant(model), tmp_path / f"here-{each['label']}"), there)


def test_the_python_of_the_docs_runs(nodes, tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs" / "ray.md"
    code = page.read_text(encoding="utf-8").split("```py\n")[1].split("```")[0]
    folder = save_model(tmp_path / "tiny", "gpt2")
    assert "embedded:smollm2-135m" in code
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    exec(compile(code.replace("embedded:smollm2-135m", f"hf:{folder}"), page.name, "exec"), {})
    assert capsys.readouterr().out.strip() == "20"
