"""The experiments in examples/ run as they stand, on stand-ins for their models."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from felicity.cli import main
from felicity.experiment import read_experiment

from experiment_files import save_model
from fixtures.misbehaving_server import MisbehavingServer

EXAMPLES = Path(__file__).parents[2] / "examples"
# The architecture of each model that the example names.
KINDS = {
    "ltgbert": "bert",
    "gpt2": "gpt2",
    "roberta": "roberta",
    "babyllama": "llama",
    "OLMo": "llama",
}


def call(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_the_papers_nine_models_in_two_tracks_and_the_large_one(capsys, tmp_path):
    text = (EXAMPLES / "babylm-gricean.toml").read_text(encoding="utf-8")
    ids = re.findall(r'"hf:([^"]+)"', text)
    assert len(set(ids)) == 9
    for number, name in enumerate(ids):
        kind = next(kind for part, kind in KINDS.items() if part in name)
        save_model(tmp_path / name.replace("/", "-"), kind, seed=number)
        text = text.replace(f'"hf:{name}"', f'"hf:./{name.replace("/", "-")}"')
    file = tmp_path / "babylm.toml"
    file.write_text(text.replace("[settings]", "[settings]\nlimit = 3\nthreads = 1"), "utf-8")
    groups = read_experiment(file).groups
    assert [(group.name, len(group.members)) for group in groups] == [
        ("strict-small", 4), ("strict", 4), ("llm", 1),
    ]  # fmt: skip
    code, out, err = call(capsys, "run", str(file), "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["counts"]["done"] == 18
    # Two formats of one model, one loading.
    assert err.count("loading babylm-ltgbert-10m-2024") == 1
    code, out, err = call(capsys, "report", str(file), "--json")
    assert code == 0, err
    names = {p["name"] for p in json.loads(out)["gricean-maxims"]["participants"]}
    assert {"LTG-BERT 10M", "GPT-2 100M", "BabyLlama 10M", "OLMo 1B"} <= names
    assert len(names) == 9


def test_three_models_behind_an_api(capsys, tmp_path, monkeypatch):
    text = (EXAMPLES / "social-meaning.toml").read_text(encoding="utf-8")
    ids = re.findall(r'"api:([^"]+)"', text)
    assert [name.partition("/")[0] for name in ids] == ["openai", "anthropic", "google"]
    for name in ids:
        text = text.replace(f'"api:{name}"', f'"api:openai-api/desk/{name.rpartition("/")[2]}"')
    text = text.replace("repeats = 10", "repeats = 2").replace(
        "[settings]", "[settings]\nlimit = 3"
    )
    file = tmp_path / "social.toml"
    file.write_text(text, encoding="utf-8")
    with MisbehavingServer(reply="I would say 6.") as server:
        monkeypatch.setenv("DESK_BASE_URL", server.url)
        monkeypatch.setenv("DESK_API_KEY", "no secret")
        code, out, err = call(capsys, "run", str(file), "--json")
        assert code == 0, err
        assert [(run["rows"], run["asked"]) for run in json.loads(out)["runs"]] == [(24, 24)] * 3
        asked = {seen.body["model"] for seen in server.requests}
        assert asked == {name.rpartition("/")[2] for name in ids}
        assert len(server.requests) == 72
        assert call(capsys, "run", str(file))[0] == 0
        assert len(server.requests) == 72
    code, out, err = call(capsys, "report", str(file), "--json")
    assert code == 0, err
    told = json.loads(out)["social-meaning"]
    assert {p["name"] for p in told["participants"]} == {
        "GPT-4o mini", "Claude 3.5 Haiku", "Gemini 2.0 Flash",
    }  # fmt: skip


def test_a_run_that_costs_too_much_is_partial_and_says_so(capsys, tmp_path, monkeypatch):
    text = (EXAMPLES / "social-meaning.toml").read_text(encoding="utf-8")
    text = re.sub(
        r'"api:[^"]+"', '"api:openai-api/desk/m"', text.replace("10.0", "0.0001"), count=1
    )
    text = re.sub(r'  \{ id = "api:(anthropic|google).*\n', "", text)
    file = tmp_path / "social.toml"
    file.write_text(text.replace("[settings]", "[settings]\nlimit = 3\nmax_tokens = 5"), "utf-8")
    with MisbehavingServer(reply="6") as server:
        monkeypatch.setenv("DESK_BASE_URL", server.url)
        monkeypatch.setenv("DESK_API_KEY", "no secret")
        code, out, err = call(capsys, "run", str(file), "--json")
    (run,) = json.loads(out)["runs"]
    assert code == 3, err
    assert (run["state"], run["reason"]) == ("partial", "stopped: max_cost")
    assert 0 < run["rows"] < run["asked"]
