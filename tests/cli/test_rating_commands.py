"""Rating studies from the command line: dry run, run on a server, parse, one command for all."""

from __future__ import annotations

import json

import polars as pl
import pytest

from felicity.cli import main

from conftest import embedded_folder
from fixtures.misbehaving_server import MisbehavingServer


def call(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture
def server(monkeypatch):
    with MisbehavingServer(reply="I'd rate this a 6, after 5 minutes and 13 seconds.") as server:
        monkeypatch.setenv("DESK_BASE_URL", server.url)
        monkeypatch.setenv("DESK_API_KEY", "no secret")
        yield server


RUN = ["run", "social-meaning", "--model", "api:openai-api/desk/good-model"]


def test_a_dry_run_asks_nothing_and_says_what_it_would(capsys, server):
    code, out, _ = call(
        capsys, *RUN, "--dry-run", "--json", "--price-in", "0.15", "--price-out", "0.6"
    )
    told = json.loads(out)
    assert code == 0
    assert told["calls"] == 5760
    assert len(told["samples"]) == 4
    low, high = told["cost"]
    assert 0 < low < high
    assert server.requests == []
    text = call(capsys, *RUN, "--dry-run", "--prompting", "MIN")[1]
    assert "1440 calls" in text
    assert 'Karen asks: "When was the house finished?"' in text


def test_a_run_on_a_server_is_kept_resumed_and_parsed_again(capsys, server, tmp_path):
    words = [*RUN, "--prompting", "MIN", "--repeats", "2", "--limit", "3", "--out", str(tmp_path)]
    code, out, err = call(capsys, *words, "--json")
    (run,) = json.loads(out)["runs"]
    assert code == 0, err
    assert run["folder"].endswith("social-meaning/openai-api-desk-good-model-sampled")
    assert (run["complete"], run["responses"], run["statuses"]) == (True, 6, {"ok": 6})
    assert len(server.requests) == 6
    table = pl.read_parquet(f"{run['folder']}/responses.parquet")
    assert table["value"].to_list() == [6.0] * 6
    assert table["text"][0] == server.reply
    assert table["temperature_effective"].to_list() == [1.0] * 6
    assert len(set(table["seed_effective"])) == 6
    assert call(capsys, *words, "--json")[0] == 0
    assert len(server.requests) == 6
    code, out, _ = call(capsys, "parse", run["folder"], "--json")
    told = json.loads(out)
    assert (code, told["before"], told["after"]) == (0, {"ok": 6}, {"ok": 6})


def test_unusable_first_replies_end_the_run_and_are_shown(capsys, server, tmp_path):
    server.reply = "I cannot judge a person."
    code, _, err = call(capsys, *RUN, "--out", str(tmp_path))
    assert code == 1
    assert "none of the first 3 replies is usable" in err
    assert "I cannot judge a person." in err
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*RUN, "--format", "plain"], "in a rating study"),
        ([*RUN, "--method", "logprob"], "expected one of sampled, expected"),
        ([*RUN, "--method", "expected"], "expected needs the model itself"),
        ([*RUN, "--method", "expected", "--presentation", "block"], "got block; expected single"),
        ([*RUN, "--prompting", "MAX"], "expected one of MIN, ALT, KMA, COM"),
        ([*RUN, "--max-cost", "1"], "a limit on cost needs prices"),
        (["run", "social-meaning", "--model", "api:openai"], "expected api:PROVIDER/MODEL"),
    ],
)
def test_a_users_mistake_ends_in_a_message(capsys, server, tmp_path, words, message):
    code, out, err = call(capsys, *words, "--out", str(tmp_path))
    assert code == 1
    assert out == ""
    assert message in " ".join(err.split())
    assert server.requests == []


ASKED = ["run", "gricean-maxims", "--method", "asked", "--model", "api:openai-api/desk/good-model"]


def test_a_choice_study_is_asked_of_a_server_and_stands_in_the_table(capsys, server, tmp_path):
    server.reply = "A"
    words = [*ASKED, "--where", "wording=0", "--where", "questioner=Leslie", "--out", str(tmp_path)]
    told = json.loads(call(capsys, *words, "--dry-run", "--json")[1])
    assert told["calls"] == 500
    assert server.requests == []
    code, out, err = call(capsys, *words, "--limit", "4", "--json")
    (run,) = json.loads(out)["runs"]
    assert code == 0, err
    assert run["folder"].endswith("gricean-maxims/openai-api-desk-good-model-asked")
    assert (run["complete"], run["statuses"]) == (True, {"ok": 8})
    told = json.loads(call(capsys, "report", run["folder"], "--json")[1])
    (participant,) = told["participants"]
    assert participant["method"] == "asked"
    assert participant["cells"]["quantity_1"]["accuracy"] == 0.5
    text = call(capsys, "report", run["folder"])[1]
    assert "usable in both orders" in text
    told = json.loads(call(capsys, "parse", run["folder"], "--json")[1])
    assert told["before"] == told["after"] == {"ok": 8}


def test_options_that_mean_nothing_when_asked_are_refused(capsys, server):
    code, _, err = call(capsys, *ASKED, "--repeats", "3")
    assert code == 1
    assert "in a choice study" in err


def test_the_embedded_model_rates_by_its_distribution(capsys, tmp_path):
    embedded_folder("smollm2-135m")
    words = ["run", "social-meaning", "--model", "embedded:smollm2-135m", "--method", "expected",
             "--prompting", "MIN", "--where", "attribute=competent", "--where", "scenario=house",
             "--threads", "1", "--out", str(tmp_path)]  # fmt: skip
    code, out, err = call(capsys, *words, "--json")
    (run,) = json.loads(out)["runs"]
    assert code == 0, err
    assert "was asked for" not in err
    assert (run["complete"], run["responses"], run["statuses"]) == (True, 4, {"ok": 4})
    code, out, err = call(capsys, "report", run["folder"], "--json")
    (result,) = json.loads(out)["participants"]
    assert code == 0, err
    assert 0 < result["spread"]["outside"] < 1
    assert 0 < result["spread"]["entropy_bits"] < result["spread"]["highest_entropy_bits"]
    assert result["cells_compared"] == 4
    assert "no number of the scale" in " ".join(json.loads(out)["words"])
