"""A real server: what it gives, what it takes, and what it still has after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from felicity.errors import RunError
from felicity.survey.make import PUBLIC, write_survey
from felicity.survey.store import ANSWERS, AnswerStore

from surveying import call, choice_study, content_of, serving, visit


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    content = content_of(choice_study(tmp_path_factory.mktemp("study") / "s"), consent="Yes?")
    write_survey(folder, content)
    return folder, content


@pytest.fixture(scope="module")
def server(survey):
    with serving(survey[0]) as (address, _):
        yield address


def test_it_gives_the_page_and_nothing_else(survey, server):
    for name in PUBLIC:
        status, body = call(server + name)
        assert status == 200
        if name != "served.js":
            assert body == (survey[0] / name).read_bytes()
    assert call(server)[1].startswith(b"<!doctype html>")
    assert call(server + "served.js")[1] == b"const SERVED = true;\n"
    for name in (ANSWERS, f"{ANSWERS}-wal", "../study.toml", "%2e%2e/x", "vendor/", "vendor"):
        assert call(server + name)[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "told"),
    [
        ("api/session", {"survey": "old"}, {}, 400, "the page is of another survey"),
        ("api/session", [1], {}, 400, "expected a JSON object"),
        ("api/session", b"{", {}, 400, "expected JSON"),
        ("api/session", b"[" * 100_000, {}, 400, "expected JSON"),
        ("api/session", b"\xff", {}, 400, "expected JSON"),
        ("api/session", {"participant": 5}, {}, 400, "participant: expected a short text"),
        ("api/session", {"participant": "x" * 201}, {}, 400, "participant: expected a short"),
        ("api/session", {}, {"Origin": "https://elsewhere.example"}, 400, "another site"),
        ("api/session", {}, {"Content_Type": "text/plain"}, 400, "expected application/json"),
        ("api/rows", {"session": "none", "rows": []}, {}, 404, "no such session"),
        ("api/rows", {"session": "none", "rows": [5]}, {}, 400, "trial_index and part"),
        ("api/rows", {"session": "n", "rows": [{"part": "trial", "trial_index": -1}]}, {}, 400, ""),
        ("api/rows", {"session": "n", "rows": [{"part": 1, "trial_index": 1}]}, {}, 400, ""),
        ("api/rows", {"session": "n", "rows": [{"part": "", "trial_index": True}]}, {}, 400, ""),
        ("api/rows", {"rows": "x"}, {}, 400, "expected session and rows"),
        ("api/rows", b" " * 1_000_001, {}, 400, "too large"),
    ],
)  # fmt: skip
def test_what_no_page_of_ours_sends_is_refused(server, path, body, headers, status, told):
    got, answer = call(server + path, body, **headers)
    assert got == status
    assert told in json.loads(answer)["error"]


def test_lists_stay_balanced_when_all_come_at_once(survey, server):
    def come(_: int) -> int:
        body = {"survey": survey[1]["survey"], "participant": ""}
        return json.loads(call(server + "api/session", body)[1])["list"]

    with ThreadPoolExecutor(8) as pool:
        counts = Counter(pool.map(come, range(20)))
    assert counts == {0: 10, 1: 10}


def test_what_was_taken_survives_a_kill_and_the_server_goes_on(tmp_path):
    content = content_of(choice_study(tmp_path / "s"), consent="Yes?")
    folder = tmp_path / "survey"
    write_survey(folder, content)
    rows = visit(content, "x", answer=lambda _: "strong")
    body = {"survey": content["survey"], "participant": "ann"}
    with serving(folder) as (address, process):
        session = json.loads(call(address + "api/session", body)[1])["session"]
        for row in rows[:3]:
            assert call(address + "api/rows", {"session": session, "rows": [row]})[0] == 200
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    with serving(folder) as (address, process):
        # The page sends again what it had no reply to; the first version of a row stays.
        again = [rows[2] | {"chosen": "weak"}, *rows[3:]]
        assert call(address + "api/rows", {"session": session, "rows": again})[0] == 200
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=30)[1]
    assert f"1 sessions begun, 1 complete, {len(rows)} rows" in told
    assert "Traceback" not in told
    with AnswerStore(folder / ANSWERS, read_only=True) as store:
        kept = list(store.rows())
    assert [row["trial_index"] for row in kept] == list(range(len(rows)))
    assert {row["session"] for row in kept} == {session}
    assert {row["participant"] for row in kept} == {"ann"}
    assert kept[2]["chosen"] == "strong"


def test_a_port_that_is_taken_is_said(survey, server):
    port = server.rstrip("/").rpartition(":")[2]
    words = ["survey", "serve", str(survey[0]), "--port", port]
    done = subprocess.run(
        [sys.executable, "-m", "felicity", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"127.0.0.1:{port}: cannot listen: Address already in use" in done.stderr
    assert "choose another with --port" in done.stderr


def test_sessions_given_up_long_ago_do_not_count_for_their_list(tmp_path):
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with AnswerStore(tmp_path / ANSWERS) as store:
        first = [store.open_session("s", "", 3, now=now - timedelta(hours=2))[1] for _ in range(4)]
        assert first == [0, 1, 2, 0]
        done, number = store.open_session("s", "", 3, now=now - timedelta(hours=2))
        assert number == 1
        store.add(done, [{"trial_index": 0, "part": "end"}])
        assert [store.open_session("s", "", 3, now=now)[1] for _ in range(5)] == [0, 2, 0, 1, 2]


def test_who_comes_back_gets_the_same_list(tmp_path):
    with AnswerStore(tmp_path / ANSWERS) as store:
        one, two = (store.open_session("s", "ann", 4) for _ in range(2))
        assert one[1] == two[1] == 0
        assert one[0] != two[0]
        assert [store.open_session("s", "", 4)[1] for _ in range(2)] == [1, 2]


def test_rows_are_added_all_or_none(tmp_path):
    with AnswerStore(tmp_path / ANSWERS) as store:
        with pytest.raises(RunError, match="no such session"):
            store.add("nobody", [{"trial_index": 0, "part": "trial"}])
        assert store.count() == {"begun": 0, "answered": 0, "complete": 0, "rows": 0}
