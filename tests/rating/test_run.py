"""Rating runs: nothing lost, nothing paid for twice, nothing silent."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from felicity.errors import OptionError, RunError
from felicity.participants.api import open_api
from felicity.participants.chat import ChatInfo
from felicity.rating.cost import Budget, Prices, estimate
from felicity.rating.journal import ReplyJournal, only_run
from felicity.rating.parsing import Parser
from felicity.rating.run import read_ratings, reparse, run_ratings
from felicity.types import Conversation, Message, Reply, Sampling, Scale, Turn

from fixtures.misbehaving_server import MisbehavingServer

SCALE = Scale(low=1, high=7, low_label="not at all", high_label="very")
SAMPLING = Sampling(temperature=1.0, max_tokens=20)
MANIFEST = {"study": "desk", "data_hash": "d1"}


@dataclass(frozen=True)
class Found:
    value: int | None
    status: str
    span: tuple[int, int] | None = None


def one_number(text: str, finish: str, scale: Scale, *, reasoning: str | None = None) -> Found:
    """A parser for these tests: a reply that is a number and nothing else."""
    if finish == "content_filter":
        return Found(None, "refused")
    if finish == "length":
        return Found(None, "truncated")
    if not text:
        return Found(None, "empty")
    found = re.fullmatch(r"\s*(\d)\s*", text)
    return Found(int(found[1]), "ok", found.span(1)) if found else Found(None, "unparsed")


PARSER = Parser(parse=one_number, version="test-1")


def question(text: str, repeat: int = 0, prompting: str = "MIN") -> Conversation:
    return Conversation(
        conversation_id=f"{text}|{prompting}|{repeat}",
        prompting=prompting,
        repeat=repeat,
        system="Rate.",
        turns=(Turn(trial_id=f"{text}|{prompting}|{repeat}", item_id=text, text=f"Q {text}"),),
        scale=SCALE,
    )


def questions(*texts: str, repeats: int = 1) -> list[Conversation]:
    return [question(text, repeat) for text in texts for repeat in range(repeats)]


class Fake:
    """A participant in this process: replies by a function of the last message."""

    def __init__(self, say=lambda text: "4", *, label: str = "fake", wait: float = 0.0) -> None:
        self.info = ChatInfo(spec=f"fake:{label}", label=label, method="sampled", model="fake-1")
        self.max_connections = 4
        self.say, self.wait = say, wait
        self.asked: list[tuple[Message, ...]] = []
        self.samplings: list[Sampling] = []
        self.closed = 0

    async def ask(self, messages, sampling) -> Reply:
        self.asked.append(tuple(messages))
        self.samplings.append(sampling)
        await asyncio.sleep(self.wait)
        said = self.say(messages[-1].content)
        if isinstance(said, Exception):
            raise said
        reply = Reply(
            text=said,
            reasoning=None,
            finish="stop",
            model_id="fake-1",
            effective=sampling,
            tokens_in=100,
            tokens_out=10,
            seconds=0.1,
        )
        return replace(reply, text="", finish="error", error="no") if said == "error" else reply

    async def close(self) -> None:
        self.closed += 1


def run(conversations, who, folder, **options):
    options = {"sampling": SAMPLING, "manifest": MANIFEST, "parser": PARSER} | options
    return run_ratings(conversations, who, folder, **options)


def on(server: MisbehavingServer, **limits):
    limits = {"max_retries": 0, "attempt_seconds": 4, "max_connections": 4} | limits
    return open_api("openai-api/desk/good-model", base_url=server.url, api_key="key", **limits)


@pytest.fixture
def server():
    with MisbehavingServer() as server:
        yield server


# Each misbehaviour in a run -----------------------------------------------------------------

MISBEHAVIOURS = {
    # order: status after the first sitting, after the second, requests in all
    "ok": ("ok", "ok", 1),
    "429] [ok": ("ok", "ok", 2),
    "500] [ok": ("ok", "ok", 2),
    "drop] [ok": ("ok", "ok", 2),
    "500] [500] [500] [ok": ("error", "ok", 4),
    "drop] [drop] [drop] [ok": ("error", "ok", 4),
    "error_body] [ok": ("error", "ok", 2),
    "truncated] [ok": ("error", "ok", 2),
    "hang] [ok": ("error", "ok", 2),
    "empty": ("empty", "empty", 1),
    "wrong_model": ("model_mismatch", "model_mismatch", 1),
    "dated_model": ("ok", "ok", 1),
    "filtered": ("refused", "refused", 1),
    "filter_400": ("refused", "refused", 1),
    "length": ("truncated", "truncated", 1),
    "reasoning": ("ok", "ok", 1),
    "error_body": ("error", "error", 2),
}


def test_each_misbehaviour_has_its_status_and_is_asked_again_only_if_it_failed(server, tmp_path):
    asked = questions(*(f"[{order}]" for order in MISBEHAVIOURS))
    first = run(asked, on(server), tmp_path / "run")
    statuses = dict(first.responses.select("item_id", "status").iter_rows())
    assert statuses == {f"[{order}]": after[0] for order, after in MISBEHAVIOURS.items()}
    assert first.responses.height == len(asked)
    assert not first.complete

    second = run(asked, on(server), tmp_path / "run")
    statuses = dict(second.responses.select("item_id", "status").iter_rows())
    assert statuses == {f"[{order}]": after[1] for order, after in MISBEHAVIOURS.items()}
    requests = {order: server.times(f"Q [{order}]") for order in MISBEHAVIOURS}
    assert requests == {order: after[2] for order, after in MISBEHAVIOURS.items()}
    values = second.responses.filter(pl.col("status") != "ok")["value"]
    assert values.is_null().all(), "what is not ok has no value"
    attempts = dict(second.responses.select("item_id", "attempts").iter_rows())
    assert attempts["[error_body] [ok]"] == 2
    assert attempts["[ok]"] == 1
    by_item = {row["item_id"]: row for row in second.responses.iter_rows(named=True)}
    assert by_item["[wrong_model]"]["model_id"] == "another-model"
    assert by_item["[reasoning]"]["reasoning"] == "Hm, 3 or 6?"
    assert by_item["[error_body]"]["error"] == "upstream broke"
    assert by_item["[ok]"]["tokens_in"] == 100


def test_an_error_body_is_never_a_final_reply(server, tmp_path):
    run(questions("[error_body]", "fine"), on(server), tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "journal.sqlite") as db:
        rows = db.execute("SELECT final, text, error FROM replies WHERE item_id LIKE '[%'")
        assert rows.fetchall() == [(0, "", "upstream broke")]
        assert db.execute("SELECT COUNT(*) FROM parsed").fetchone() == (1,), "and is not parsed"
    db.close()


def test_a_text_that_utf8_cannot_hold_is_kept_and_the_run_goes_on(server, tmp_path):
    asked = questions("fine", "[half_surrogate]")
    assert run(asked, on(server), tmp_path / "run").complete
    assert run(asked, on(server), tmp_path / "run").complete
    assert len(server.requests) == 2


# Interrupt, kill, go on ---------------------------------------------------------------------

CHILD = """
import sys
sys.path[:0] = {paths!r}
from test_run import PARSER, MANIFEST, SAMPLING, kill_questions
from felicity.participants.api import open_api
from felicity.rating.run import run_ratings
who = open_api("openai-api/desk/good-model", base_url={url!r}, api_key="key", max_connections=4)
run_ratings(kill_questions(), who, {folder!r}, sampling=SAMPLING, manifest=MANIFEST, parser=PARSER)
"""


def kill_questions() -> list[Conversation]:
    return questions(*(f"item {number}" for number in range(30)), repeats=4)


def start_child(server: MisbehavingServer, folder: Path) -> subprocess.Popen[bytes]:
    import felicity

    here = Path(__file__).parent
    paths = [str(here), str(here.parent), str(Path(felicity.__file__).parents[1])]
    code = CHILD.format(paths=paths, url=server.url, folder=str(folder))
    environment = {name: value for name, value in os.environ.items() if "PYTHONPATH" not in name}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)


def wait_for(server: MisbehavingServer, requests: int) -> None:
    limit = time.monotonic() + 60
    while len(server.requests) < requests:
        assert time.monotonic() < limit, f"only {len(server.requests)} requests came"
        time.sleep(0.005)


def finals(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "journal.sqlite") as db:
        rows = db.execute("SELECT messages FROM replies JOIN prompts USING (prompt) WHERE final=1")
        texts = [json.loads(messages)[-1][1] for (messages,) in rows]
    db.close()
    return texts


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_kill_9_in_mid_run_and_again_and_nothing_is_lost_or_paid_for_twice(server, tmp_path):
    server.delay = 0.02
    folder, total = tmp_path / "run", len(kill_questions())
    lost = 0
    for requests in (30, 75):
        child = start_child(server, folder)
        wait_for(server, requests)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        time.sleep(0.1)  # what was under way reaches the server's count
        kept = len(finals(folder))
        assert 0 < kept < total
        lost = len(server.requests) - kept
        # What a killed process had under way cannot be in the journal; everything else is.
        assert lost <= 2 * 4
    before = finals(folder)
    asked_before = len(server.requests)

    finished = run(kill_questions(), on(server), folder)
    assert finished.complete
    assert len(server.requests) - asked_before == total - len(before), "only what is missing"
    assert finished.responses.height == total
    assert set(finished.responses["status"]) == {"ok"}
    assert finished.responses["trial_id"].n_unique() == total
    assert len(finals(folder)) == total
    assert len(finished.manifest["sessions"]) == 3
    assert len(server.requests) == total + lost
    again = run(kill_questions(), on(server), folder)
    assert len(server.requests) == total + lost, "a finished run asks nothing"
    assert again.responses.equals(finished.responses)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
def test_an_interrupt_lets_in_what_is_under_way(server, tmp_path):
    server.delay = 0.1
    child = start_child(server, tmp_path / "run")
    wait_for(server, 20)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    # Importing inspect_ai makes an interrupt end in code 130, without a traceback.
    assert child.returncode in (130, -signal.SIGINT)
    assert len(finals(tmp_path / "run")) == len(server.requests), "all that was sent is kept"
    assert (tmp_path / "run" / "responses.parquet").is_file()


def test_a_second_run_is_kept_out_of_the_folder(tmp_path):
    run(questions("a"), Fake(), tmp_path / "run")
    with only_run(tmp_path / "run"), pytest.raises(RunError, match="another run is writing"):
        run(questions("a", "b"), Fake(), tmp_path / "run")


# What identifies a run ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sampling": Sampling(temperature=0.0)}, "sampling: got"),
        ({"manifest": MANIFEST | {"data_hash": "d2"}}, "data: got d2; expected d1"),
    ],
)
def test_another_run_is_refused(tmp_path, change, said):
    run(questions("a"), Fake(), tmp_path / "run")
    with pytest.raises(RunError) as caught:
        run(questions("a"), Fake(), tmp_path / "run", **change)
    assert said in str(caught.value)


def test_another_model_and_another_text_are_refused(tmp_path):
    run(questions("a"), Fake(), tmp_path / "run")
    with pytest.raises(RunError, match="model: got fake:other"):
        run(questions("a"), Fake(label="other"), tmp_path / "run")
    changed = replace(question("a"), system="Rate it.")
    with pytest.raises(RunError, match=r"trial a\|MIN\|0 was answered under another"):
        run([changed], Fake(), tmp_path / "run")


def test_more_questions_go_into_the_same_folder(tmp_path):
    who = Fake()
    run(questions("a"), who, tmp_path / "run")
    finished = run(questions("a", "b", repeats=2), who, tmp_path / "run")
    assert len(who.asked) == 4
    assert finished.responses["trial_id"].to_list() == ["a|MIN|0", "a|MIN|1", "b|MIN|0", "b|MIN|1"]


def test_trial_ids_must_be_unique_and_there_must_be_some(tmp_path):
    with pytest.raises(RunError, match="occur more than once"):
        run([question("a"), question("a")], Fake(), tmp_path / "run")
    with pytest.raises(RunError, match="nothing to ask"):
        run([], Fake(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# Conversations, seeds, concurrency ----------------------------------------------------------


def block(repeat: int = 0) -> Conversation:
    turns = tuple(
        Turn(trial_id=f"{word}|{repeat}", item_id=word, text=f"How {word}?")
        for word in ("kind", "clever", "pedantic")
    )
    return replace(question("block", repeat), turns=turns)


def test_turns_come_after_the_earlier_replies(tmp_path):
    who = Fake(lambda text: str(len(text) % 7))
    finished = run([block()], who, tmp_path / "run")
    assert [(m.role, m.content) for m in who.asked[-1]] == [
        ("system", "Rate."),
        ("user", "How kind?"),
        ("assistant", "2"),
        ("user", "How clever?"),
        ("assistant", "4"),
        ("user", "How pedantic?"),
    ]
    assert finished.responses["turn"].to_list() == [0, 1, 2]


def test_a_conversation_goes_on_where_it_broke_off(tmp_path):
    broken = Fake(lambda text: "error" if "clever" in text else "3")
    first = run([block()], broken, tmp_path / "run")
    assert len(broken.asked) == 2, "a question is not put without the reply before it"
    assert first.responses["status"].to_list() == ["ok", "error"]
    whole = Fake(lambda text: "6")
    finished = run([block()], whole, tmp_path / "run")
    assert [m.content for m in whole.asked[0]] == ["Rate.", "How kind?", "3", "How clever?"]
    assert finished.responses["value"].to_list() == [3, 6, 6]
    assert finished.responses["attempts"].to_list() == [1, 2, 1]


def test_every_trial_has_a_seed_of_its_own_and_the_same_again(tmp_path):
    who, again = Fake(), Fake()
    sampling = replace(SAMPLING, seed=7)
    run(questions("a", "b", repeats=5), who, tmp_path / "run", sampling=sampling)
    run(questions("a", "b", repeats=5), again, tmp_path / "again", sampling=sampling)
    seeds = [sampling.seed for sampling in who.samplings]
    assert len(set(seeds)) == 10
    assert sorted(seeds) == sorted(sampling.seed for sampling in again.samplings)
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_no_more_requests_are_open_than_allowed(server, tmp_path):
    server.delay = 0.03
    run(questions("a", repeats=30), on(server, max_connections=3), tmp_path / "run")
    assert server.most_open == 3
    server.most_open = 0
    run(questions("a", repeats=30), on(server), tmp_path / "two", max_connections=2)
    assert server.most_open == 2


def test_in_a_running_loop_as_in_a_notebook(tmp_path):
    async def cell():
        return run(questions("a", "b"), Fake(), tmp_path / "run")

    assert asyncio.run(cell()).complete


def test_progress_counts_up_to_all(tmp_path):
    said: list[tuple[int, int]] = []
    run(questions("a", "b"), Fake(), tmp_path / "run")
    run(
        questions("a", "b", "c"),
        Fake(),
        tmp_path / "run",
        progress=lambda *pair: said.append(pair),
    )
    assert said == [(2, 3), (3, 3)]


# Smoke calls, errors, cost ------------------------------------------------------------------


def test_unusable_first_replies_end_the_run_and_are_shown(tmp_path):
    who = Fake(lambda text: "As an AI I cannot rate")
    with pytest.raises(RunError) as caught:
        run(questions(*"abcdefgh", repeats=5), who, tmp_path / "run")
    assert len(who.asked) == 3
    assert len({asked[-1].content for asked in who.asked}) == 3, "of different items"
    assert str(caught.value).count('unparsed (by fake-1, stop): "As an AI I cannot rate"') == 3
    with pytest.raises(RunError):
        run(questions(*"abcdefgh", repeats=5), who, tmp_path / "run")
    assert len(who.asked) == 3, "the same again is not paid for again"
    assert read_ratings(tmp_path / "run").responses.height == 3
    on_all_the_same = run(questions(*"abcdefgh", repeats=5), who, tmp_path / "run", smoke=0)
    assert on_all_the_same.complete


def test_first_errors_are_shown_and_count_for_nothing(server, tmp_path):
    with pytest.raises(RunError, match="error: no such key"):
        run(questions("[401]", "[401] [ok]"), on(server), tmp_path / "run")
    assert len(server.requests) == 2


def test_first_replies_of_another_model_are_named(server, tmp_path):
    with pytest.raises(RunError, match=r"model_mismatch \(by another-model"):
        run(questions("[wrong_model]", repeats=9), on(server), tmp_path / "run")
    assert len(server.requests) == 3


def test_failing_on_and_on_ends_the_run(tmp_path):
    said = iter(["4"] * 10 + ["error"] * 1000)
    who = Fake(lambda text: next(said))
    finished = run(questions("a", repeats=200), who, tmp_path / "run")
    assert finished.stopped == "errors"
    assert 35 <= len(who.asked) <= 35 + who.max_connections
    assert not finished.complete


def test_a_participant_that_breaks_ends_the_run_and_keeps_the_replies(tmp_path):
    said = iter(["4"] * 10 + [RunError("out of memory")] * 1000)
    who = Fake(lambda text: next(said))
    with pytest.raises(RunError, match="out of memory"):
        run(questions("a", repeats=200), who, tmp_path / "run")
    assert read_ratings(tmp_path / "run").responses.height == 10
    assert who.closed == 1


PRICES = Prices(tokens_in=1000.0, tokens_out=10_000.0)  # 0.20 for each reply of the fake


def test_the_limit_on_cost_holds_over_all_sittings(tmp_path):
    asked = questions("a", repeats=100)
    first, second = Fake(wait=0.001), Fake(wait=0.001)
    stopped = run(asked, first, tmp_path / "run", prices=PRICES, max_cost=2.0)
    assert stopped.stopped == "max_cost"
    # A reply costs 0.20 and may cost 0.30 (20 tokens out at most): the last that fits is the ninth.
    assert len(first.asked) == 9
    again = run(asked, second, tmp_path / "run", prices=PRICES, max_cost=2.0)
    assert (again.stopped, len(second.asked)) == ("max_cost", 0)
    more = run(asked, second, tmp_path / "run", prices=PRICES, max_cost=3.0)
    assert (more.stopped, len(second.asked)) == ("max_cost", 5)


def test_a_breaking_participant_leaves_nobody_waiting_for_the_budget(tmp_path):
    # Two requests fit at a time, so that the others wait while one breaks.
    said = iter(["4", "4", "4", "4", RunError("out of memory"), "4"])
    who = Fake(lambda text: next(said), wait=0.01)
    with pytest.raises(RunError, match="out of memory"):
        run(questions("a", repeats=50), who, tmp_path / "run", prices=PRICES, max_cost=1.5)
    assert read_ratings(tmp_path / "run").responses.height == 5


def test_a_limit_on_cost_needs_prices(tmp_path):
    with pytest.raises(OptionError, match="needs prices"):
        Budget(None, 1.0, None)
    with pytest.raises(OptionError, match="two numbers of 0 or more"):
        Prices(tokens_in=-1, tokens_out=1)


def test_an_estimate_counts_what_later_turns_repeat():
    found = estimate([block(), block(1)], PRICES, sampling=Sampling(max_tokens=50))
    first = len("Rate.") + len("How kind?")
    second, third = first + len("How clever?"), first + len("How clever?How pedantic?")
    turns = sum(-(-length // 4) for length in (first, second, third))
    assert found.calls == 6
    assert found.tokens_in == (2 * (turns + 3 * 2), 2 * (turns + 3 * 50))
    assert found.tokens_out == (12, 300)
    assert found.cost == pytest.approx(
        (found.tokens_in[0] / 1e3 + 0.12, found.tokens_in[1] / 1e3 + 3.0)
    )
    assert [[m.content for m in sample] for sample in found.samples] == [["Rate.", "How kind?"]]


# Sampling, journal, tables ------------------------------------------------------------------


def test_a_refused_temperature_stands_in_the_manifest_and_in_each_row(server, tmp_path):
    asked = questions("[no_temperature] [ok]", "other")
    finished = run(asked, on(server, max_connections=1), tmp_path / "run")
    assert finished.responses["temperature_requested"].to_list() == [1.0, 1.0]
    assert finished.responses["temperature_effective"].to_list() == [None, None]
    assert finished.manifest["sampling"]["temperature"] == 1.0
    (effective,) = finished.manifest["sampling_effective"]
    assert (effective["temperature"], effective["replies"]) == (None, 2)
    assert finished.manifest["sampling_notes"] == [
        "temperature: 1.0 was asked for, nothing was sent (2 of 2 replies)"
    ]
    requests = len(server.requests)
    assert run(asked, on(server), tmp_path / "run").complete, "its key holds what was sent"
    assert len(server.requests) == requests


def test_replies_cannot_be_changed_even_by_hand(tmp_path):
    run(questions("a"), Fake(), tmp_path / "run")
    db = sqlite3.connect(tmp_path / "run" / "journal.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        db.execute("UPDATE replies SET text = '7'")
    with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
        db.execute("DELETE FROM replies")
    db.close()


def test_one_question_at_a_time_never_waits_for_others_to_write_with(tmp_path, monkeypatch):
    monkeypatch.setattr("felicity.rating.writer.GATHER_SECONDS", 3600)
    who = Fake()
    who.max_connections = 1
    assert run(questions("a", repeats=3), who, tmp_path / "run").complete


def test_a_second_final_reply_to_a_trial_is_refused(tmp_path):
    run(questions("a"), Fake(), tmp_path / "run")
    with ReplyJournal(tmp_path / "run" / "journal.sqlite") as journal:
        (row,) = journal.rows()
        assert row.attempt.messages[-1].content == "Q a"
        assert row.attempt.scale == SCALE
        with pytest.raises(RunError, match="there already"):
            journal.add([row.attempt])


def test_parsing_again_changes_values_and_no_reply(tmp_path):
    who = Fake(lambda text: "4!")
    before = run(questions("a", "b"), who, tmp_path / "run", smoke=0)
    assert before.responses["status"].to_list() == ["unparsed", "unparsed"]

    def tolerant(text, finish, scale, *, reasoning=None):
        return Found(4, "ok", (0, 1))

    after = reparse(tmp_path / "run", Parser(parse=tolerant, version="test-2"))
    assert after.responses["value"].to_list() == [4.0, 4.0]
    assert set(after.responses["parser_version"]) == {"test-2"}
    raw = ["trial_id", "text", "finish", "key", "created", "attempts"]
    assert after.responses.select(raw).equals(before.responses.select(raw))
    assert after.manifest["parser_version"] == "test-2"
    assert len(who.asked) == 2


def test_the_tables_on_disk_are_the_responses(tmp_path):
    finished = run(questions("a", "b", repeats=2), Fake(), tmp_path / "run")
    parquet = pl.read_parquet(tmp_path / "run" / "responses.parquet")
    assert parquet.equals(finished.responses)
    csv = pl.read_csv(tmp_path / "run" / "responses.csv", schema=parquet.schema)
    assert csv.equals(parquet.with_columns(pl.col(pl.String)))
    assert finished.manifest["paradigm"] == "rating"
    assert finished.manifest["participant"]["label"] == "fake"


def test_a_choice_run_is_no_rating_run(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"felicity_run": 1}))
    with pytest.raises(RunError, match="choice study"):
        read_ratings(tmp_path)
