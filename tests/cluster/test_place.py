"""What can be said of a cluster without one."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from felicity.cli import main
from felicity.cluster.opening import Opened
from felicity.cluster.place import parse_on
from felicity.errors import Fault, FaultsError, ModelError, OptionError
from felicity.participants.opening import Opening
from felicity.types import ParticipantInfo

INFO = ParticipantInfo(
    spec="hf:a", label="a", method="logprob", architecture="GPT2LMHeadModel", parameters=1,
    vocabulary=2, max_tokens=8, dtype="float32", device="cpu", prefix="none",
    weights_fingerprint="w", tokenizer_fingerprint="t",
)  # fmt: skip
FIRST = Opened(
    info=INFO, batch_tokens=1024, version="1", torch="2", node="n", host="h", pid=1, threads=1,
    seconds=0.1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ray", None),
        ("ray:auto", "auto"),
        ("ray:head:6379", "head:6379"),
        ("ray:[::1]:1", "[::1]:1"),
    ],
)
def test_clusters_are_named(text, address):
    assert parse_on(text).address == address


@pytest.mark.parametrize(
    "text", ["", "dask", "ray:", "ray:head", "ray:ray://head:10001", "ray://head:1", "ray:a b:1"]
)
def test_other_names_are_refused(text):
    with pytest.raises(OptionError) as caught:
        parse_on(text)
    assert str(caught.value) == (
        f'--on: got "{text}"; expected ray, ray:auto or ray:HOST:PORT\n'
        "  hint: run Felicity on a machine of the cluster; Ray's client (ray://) is not used"
    )


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        (
            {"gpus": 1.5},
            "--gpus-per-task: got 1.5; expected a whole number, or a part of one",
        ),
        ({"cpus": -1.0}, "--cpus-per-task: got -1; expected a whole number"),
        ({"cpus": 0.0}, "--cpus-per-task: got 0; expected more, where no GPU is taken"),
    ],
)
def test_shares_that_ray_cannot_give_are_refused(shares, text):
    with pytest.raises(OptionError) as caught:
        parse_on("ray", **shares)
    assert text in str(caught.value)


def test_a_worker_with_another_model_is_known():
    assert FIRST.other_than(FIRST) == []
    # Where it runs and how it is called changes no score.
    assert replace(FIRST, info=replace(INFO, device="cuda:0", label="b"), pid=2).other_than(
        FIRST
    ) == []  # fmt: skip
    other = replace(
        FIRST, version="2", info=replace(INFO, weights_fingerprint="x", tokenizer_fingerprint="y")
    )
    assert other.other_than(FIRST) == [
        "model weights: got x; expected w",
        "tokenizer: got y; expected t",
        "Felicity: got 2; expected 1",
    ]


def test_a_local_folder_goes_to_workers_by_its_whole_path(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    sent = Opening(spec="hf:mine").elsewhere()
    assert sent.spec == f"hf:{tmp_path}/mine"
    assert sent.local == f"{tmp_path}/mine"
    for spec in ("hf:someone/model@main", "embedded:smollm2-135m"):
        assert Opening(spec=spec).elsewhere() == Opening(spec=spec)


def test_errors_come_back_from_workers_as_they_were():
    fault = Fault(file="i1|follower", field="context", got="", allowed="text")
    for error in (FaultsError([fault], where="study", hint="mend"), ModelError("no", where="hf:a")):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert str(back) == str(error)
    assert back.where == "hf:a"


@pytest.mark.parametrize(
    ("option", "value"), [("--workers", "2"), ("--gpus-per-task", "1"), ("--cpus-per-task", "2")]
)
def test_options_of_a_cluster_need_one(option, value, capsys, tmp_path):
    words = ["run", "gricean-maxims", "--model", "hf:x", "--out", str(tmp_path), option, value]
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 1
    said = capsys.readouterr().err
    assert f"{option}: got {value}; expected nothing, without a cluster" in said
    assert "name it with --on ray" in said


def test_requests_to_a_service_are_not_spread(capsys, tmp_path):
    words = ["run", "social-meaning", "--model", "api:openai/x", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as stop:
        main([*words, "--on", "ray"])
    assert stop.value.code == 1
    assert "--on: got ray; expected nothing, in a rating study" in capsys.readouterr().err
