"""Scoring through a server: a real one on loopback, with a real model behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from felicity import load_study, open_participant, run
from felicity.cli import main
from felicity.errors import FaultsError, ModelError, OptionError
from felicity.participants import participant_from_model
from felicity.participants.server import MAX_CONNECTIONS, open_server
from felicity.types import TextPair

import tiny
from fixtures.completions_server import CompletionsServer
from study_folders import ROWS, write_study

SCRIPT = Path(__file__).parents[1] / "fixtures" / "completions_server.py"
PAIRS = [
    TextPair(context="Leslie: What did you eat?\nJoan:", answer=" Two eggs and naïve bread."),
    TextPair(context="Leslie: What did you eat?\nJoan: ", answer="It was 5 € for a 🍵."),
    TextPair(context="hello wor", answer="ld, he said"),
    TextPair(context="Who is it?", answer="\nIt is “me”…"),
]
QUICK = {"first_wait": 0.01, "attempt_seconds": 2.0, "max_retries": 3}


@pytest.fixture(scope="module", params=["bytelevel", "metaspace"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def gpt2():
    tokenizer = tiny.tokenizer("bytelevel")
    return tiny.gpt2(len(tokenizer)), tokenizer


def scores_of(participant, pairs=PAIRS):
    plan = participant.plan(pairs)
    found = {}
    for batch in plan.batches:
        found.update(zip(batch, participant.score(plan, batch), strict=True))
    return [found[i] for i in range(len(pairs))]


def local(model, tokenizer, prefix):
    return participant_from_model(model, tokenizer, spec="local", method="logprob", prefix=prefix)


@pytest.mark.parametrize("style", ["vllm", "plain"])
@pytest.mark.parametrize("marked", [True, False])
def test_scores_through_a_server_equal_those_of_the_loaded_model(kind, style, marked):
    tokenizer = tiny.tokenizer(kind)
    model = tiny.gpt2(len(tokenizer))
    marks = (tokenizer.bos_token_id,) if marked else ()
    here = local(model, tokenizer, "bos" if marked else "none")
    with CompletionsServer(model, tokenizer, style=style, marks=marks) as server:
        there = open_server(server.spec, **QUICK)
        got, expected = scores_of(there), scores_of(here)
    for one, other in zip(got, expected, strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)
        assert one.tokens == other.tokens
        assert one.straddles == other.straddles
        assert one.token_ids == (other.token_ids if style == "vllm" else ())
    assert got[1].straddles
    assert got[2].straddles == expected[2].straddles


def test_scores_through_llamacpps_protocol_equal_those_of_the_loaded_model(gpt2):
    model, tokenizer = gpt2
    for prefix in ("auto", "none"):
        here = local(model, tokenizer, prefix)
        with CompletionsServer(model, tokenizer, style="llamacpp") as server:
            there = open_server(server.spec, prefix=prefix, **QUICK)
            got = scores_of(there)
        assert there.info.prefix == here.info.prefix
        for one, other in zip(got, scores_of(here), strict=True):
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-5)
            assert (one.tokens, one.token_ids) == (other.tokens, other.token_ids)
        # A part of a character cannot be forced; it is looked up among all tokens.
        assert any(body.get("n_probs", 0) > 1000 for body in server.requests)
        slots = {body["id_slot"] for body in server.requests if "id_slot" in body}
        assert slots == {0, 1}


def test_llamacpps_slots_reuse_only_what_the_same_answer_left(gpt2):
    with CompletionsServer(*gpt2, style="llamacpp") as server:
        there = open_server(server.spec, **QUICK)
        server.requests.clear()
        scores_of(there, PAIRS[:1])
        asked = [body for body in server.requests if "prompt" in body]
    assert [body["cache_prompt"] for body in asked] == [False] + [True] * (len(asked) - 1)
    assert all(
        one["prompt"] == after["prompt"][: len(one["prompt"])] for one, after in pairwise(asked)
    )


def test_a_run_through_a_server_process_is_reported_like_any_other(
    tiny_gpt2_folder, tmp_path, capsys
):
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(tiny_gpt2_folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        spec = f"server:{process.stdout.readline().strip()}#tiny"
        args = ["--limit", "20", "--out", str(tmp_path), "--json"]
        main_quietly(["run", "gricean-maxims", "--model", spec, *args])
        told = json.loads(capsys.readouterr().out)["runs"][0]
        assert told["responses"] == told["asked"] == 40
        folder = Path(told["folder"])
        main_quietly(["report", str(folder), "--json"])
        report = json.loads(capsys.readouterr().out)
    finally:
        process.communicate("\n")
    here = run(
        load_study("gricean-maxims"),
        open_participant(f"hf:{tiny_gpt2_folder}", prefix="none"),
        tmp_path / "here",
        limit=20,
    )
    cell = report["participants"][0]["cells"]["quantity_1"]
    assert (cell["usable"], cell["asked"]) == (20, 20)
    manifest = json.loads((folder / "run.json").read_text())
    participant = manifest["participant"]
    assert participant["parameters"] is None
    assert participant["dtype"] == participant["architecture"] == "unknown"
    assert participant["weights_fingerprint"].startswith("name only: ")
    assert participant["max_tokens"] == 128
    from felicity import read_run

    there = read_run(folder).responses
    for name in ("log_prob_mean", "log_prob_sum"):
        assert there[name].to_list() == pytest.approx(here.responses[name].to_list(), abs=1e-5)
    assert there["tokens"].to_list() == here.responses["tokens"].to_list()


def main_quietly(arguments):
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 0


def test_a_key_is_sent_and_written_nowhere(gpt2, tmp_path, monkeypatch):
    study = load_study(write_study(tmp_path / "study"))
    with CompletionsServer(*gpt2, key="s3cret-key") as server:
        with pytest.raises(ModelError, match=r"refused .401.: no such key") as caught:
            open_server(server.spec, **QUICK)
        assert "FELICITY_SERVER_KEY" in str(caught.value)
        monkeypatch.setenv("FELICITY_SERVER_KEY", "s3cret-key")
        run(study, open_server(server.spec, **QUICK), tmp_path / "run")
    for file in (tmp_path / "run").iterdir():
        assert b"s3cret-key" not in file.read_bytes()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("no_echo", r"do not give the text back: '.{1,3}'\n"),
        ("lowered", "do not give the text back"),
        ("zero", "every token has the log-probability 0"),
        ("infinite", "log-probabilities are not finite"),
        ("drift", "other scores after another text or beside it: 0.7 nats"),
        ("other_model", "got an answer of another; expected tiny"),
    ],
)
def test_a_server_whose_scores_cannot_be_believed_is_refused(gpt2, fault, message):
    with (
        CompletionsServer(*gpt2, fault=fault) as server,
        pytest.raises(ModelError, match=message),
    ):
        open_server(server.spec, **QUICK)


def test_a_biased_llamacpp_is_refused(gpt2):
    with (
        CompletionsServer(*gpt2, style="llamacpp", fault="biased") as server,
        pytest.raises(ModelError, match="a token that it is made to write comes with"),
    ):
        open_server(server.spec, **QUICK)


def test_small_differences_with_what_is_asked_beside_are_said(gpt2):
    with CompletionsServer(*gpt2, fault="wobble") as server:
        notes = open_server(server.spec, **QUICK).info.notes
    assert notes[-1].startswith("scores of one text differ by up to 0.01 nats")


def test_a_mark_put_twice_is_refused_and_one_asked_away_is_not_there(gpt2):
    bos = gpt2[1].bos_token_id
    with (
        CompletionsServer(*gpt2, marks=(bos, bos)) as server,
        pytest.raises(ModelError, match=r"puts '<\|endoftext\|>' twice before a text"),
    ):
        open_server(server.spec, **QUICK)
    with CompletionsServer(*gpt2, marks=(bos,)) as server:
        marked = open_server(server.spec, **QUICK)
        bare = open_server(server.spec, prefix="none", **QUICK)
    assert marked.info.prefix == f"server <|endoftext|> ({bos})"
    assert bare.info.prefix == "none"
    assert marked.plan([TextPair(context="", answer="Me.")]).batches == ((0,),)
    with pytest.raises(FaultsError, match="a first token with nothing before it"):
        bare.plan([TextPair(context="", answer="Me.")], ["i1|follower"])


def test_requests_to_vllm_share_no_cached_beginning_and_older_ones_go_without_salt(gpt2):
    with CompletionsServer(*gpt2) as server:
        scores_of(open_server(server.spec, **QUICK))
    salts = [body["cache_salt"] for body in server.requests]
    assert len(set(salts)) == len(salts) > len(PAIRS)
    with CompletionsServer(*gpt2, fault="no_salt") as server:
        assert len(scores_of(open_server(server.spec, **QUICK))) == len(PAIRS)
    with CompletionsServer(*gpt2, style="plain", fault="no_usage") as server:
        assert len(scores_of(open_server(server.spec, **QUICK))) == len(PAIRS)
    assert not any("cache_salt" in body for body in server.requests)


@pytest.mark.parametrize("most", [1, 3, None])
def test_no_more_requests_are_open_at_once_than_allowed(gpt2, most):
    with CompletionsServer(*gpt2) as server:
        there = open_server(server.spec, max_connections=most, **QUICK)
        scores_of(there, [TextPair(context=f"Is it {n}?", answer=" No.") for n in range(30)])
    assert server.most_open <= (most or MAX_CONNECTIONS)


@pytest.mark.parametrize("order", ["429", "500", "503", "error_body", "truncated", "drop"])
def test_a_passing_failure_is_asked_again(gpt2, order):
    pair = TextPair(context=f"[{order}] [ok] Who?", answer=" Me.")
    with CompletionsServer(*gpt2) as server:
        there = open_server(server.spec, **QUICK)
        assert scores_of(there, [pair])[0].status == "ok"
        text = pair.context + pair.answer
        assert sum(body["prompt"] == text for body in server.requests) == 2


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("500", "no answer after 4 attempts; the last said: order 500"),
        ("error_body", "the last said: upstream broke"),
        ("truncated", "the last said: an answer that is no JSON object"),
        ("hang", "the last said: ReadTimeout"),
    ],
)
def test_a_lasting_failure_ends_the_run_and_keeps_what_was_scored(gpt2, order, message, tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[-1]["question"] = f"[{order}] Who?"
    rows[-2]["question"] = f"[{order}] Who?"
    study = load_study(write_study(tmp_path / "study", rows=rows))
    quick = QUICK | {"attempt_seconds": 0.3}
    with CompletionsServer(*gpt2) as server:
        there = open_server(server.spec, max_connections=1, **quick)
        with pytest.raises(ModelError, match=message):
            run(study, there, tmp_path / "run")
    from felicity import read_run

    assert read_run(tmp_path / "run").responses.height == 12


def test_a_refused_text_is_named_by_its_trial(gpt2, tmp_path):
    rows = [row | {"question": "[400] Who?"} if row["word"] == "and" else row for row in ROWS]
    study = load_study(write_study(tmp_path / "study", rows=rows))
    with CompletionsServer(*gpt2) as server, pytest.raises(FaultsError) as caught:
        run(study, open_server(server.spec, **QUICK), tmp_path / "run")
    names = {fault.file for fault in caught.value.faults}
    assert "and-2-Ann|strong" in names
    assert all("order 400" in fault.got for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("server:ftp://x/v1#m", "expected server:http://HOST:PORT/v1#MODEL"),
        ("server:127.0.0.1:8000", "expected server:http://HOST:PORT/v1#MODEL"),
        ("server:http://me:pw@127.0.0.1/v1#m", "which would be written to the run"),
        ("server:http://127.0.0.1/v1?key=1#m", "which would be written to the run"),
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(spec, message):
    with pytest.raises(ModelError, match=message) as caught:
        open_participant(spec)
    assert "pw" not in str(caught.value).replace("which", "")


def test_a_model_that_is_not_served_is_named_with_those_that_are(gpt2):
    with CompletionsServer(*gpt2) as server:
        with pytest.raises(ModelError, match='got "huge"; expected one of tiny'):
            open_server(f"server:{server.url}#huge", **QUICK)
        assert open_server(f"server:{server.url}", **QUICK).info.label == "tiny"
    with CompletionsServer(*gpt2, fault="no_list") as server:
        assert open_server(server.spec, **QUICK).info.max_tokens is None
        with pytest.raises(ModelError, match=r"refused .404.: The model `huge` does not exist"):
            open_server(f"server:{server.url}#huge", **QUICK)
        with pytest.raises(ModelError, match=r"refused .404.: Not Found"):
            open_server(f"server:{server.url}", **QUICK)


def test_options_that_a_server_decides_are_refused(gpt2):
    with CompletionsServer(*gpt2) as server:
        with pytest.raises(OptionError, match="expected auto or none"):
            open_server(server.spec, prefix="eos", **QUICK)
        with pytest.raises(OptionError, match="expected logprob, of a model behind a server"):
            open_participant(server.spec, method="pll_original")
        with pytest.raises(OptionError, match="expected nothing, of a model behind a server"):
            open_participant(server.spec, dtype="bfloat16")


def test_nobody_at_the_address_is_said():
    with pytest.raises(ModelError, match="no answer after 1 attempts; the last said: ConnectError"):
        open_server("server:http://127.0.0.1:9/v1#m", max_retries=0)


def test_the_same_name_with_another_split_is_another_run(gpt2, tmp_path):
    from felicity.errors import RunError

    study = load_study(write_study(tmp_path / "study"))
    with CompletionsServer(*gpt2) as server:
        run(study, open_server(server.spec, **QUICK), tmp_path / "run", limit=2)
    # The same server at another address goes on with the run.
    with CompletionsServer(*gpt2) as server:
        done = run(study, open_server(server.spec, **QUICK), tmp_path / "run", limit=3)
    assert done.responses.height == 6
    other = tiny.tokenizer("metaspace")
    with (
        CompletionsServer(tiny.gpt2(len(other)), other) as server,
        pytest.raises(RunError, match="tokenizer: got probes only"),
    ):
        run(study, open_server(server.spec, **QUICK), tmp_path / "run")
