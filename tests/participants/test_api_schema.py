"""A model behind an API is held to a schema, or asked without where it refuses one."""

from __future__ import annotations

import asyncio

import pytest

from felicity.build.adding import NewSet, start_build
from felicity.build.folder import read_build
from felicity.build.growing import grow
from felicity.build.requests import schema_of
from felicity.build.writers import AskedWriter
from felicity.participants.api import open_api
from felicity.types import Message, Sampling

from fixtures.misbehaving_server import MisbehavingServer

pytest.importorskip("inspect_ai")


@pytest.fixture
def server():
    with MisbehavingServer() as server:
        yield server


def opened(server, step="rewordings"):
    return open_api(
        "openai-api/desk/good-model",
        base_url=server.url,
        api_key="key",
        max_retries=0,
        response_schema=schema_of(step),
    )


def ask(who, *texts):
    async def all_of_them():
        try:
            return [
                await who.ask([Message(role="user", content=text)], Sampling(temperature=1.0))
                for text in texts
            ]
        finally:
            await who.close()

    return asyncio.run(all_of_them())


def test_the_schema_is_sent_as_it_is(server):
    ask(opened(server), "Reword.")
    form = server.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["rewordings"]
    assert form["json_schema"]["schema"]["additionalProperties"] is False
    assert form["json_schema"]["strict"] is True


def test_a_refused_schema_is_left_out_from_then_on(server):
    replies = ask(opened(server), "[no_schema] [ok]", "Again.")
    assert [(reply.finish, reply.text) for reply in replies] == [("stop", "5"), ("stop", "5")]
    assert ["response_format" in seen.body for seen in server.requests] == [True, False, False]


def test_another_failure_keeps_the_schema(server):
    replies = ask(opened(server), "[401]", "Again.")
    assert [reply.finish for reply in replies] == ["error", "stop"]
    assert ["response_format" in seen.body for seen in server.requests] == [True, True]


def test_a_set_is_grown_by_a_real_server(server, tmp_path):
    base = tmp_path / "base.csv"
    base.write_text("maxim,question,follower,violator\nquality,Who sang?,A bird.,A stone.\n")
    start_build(tmp_path / "set", NewSet(), base, "Ann")
    server.reply = '{"rewordings": ["Who was singing?", "Who was it that sang?"]}'
    writer = AskedWriter(opened(server), sampling=Sampling(temperature=0.5, seed=1))
    growth = grow(tmp_path / "set", ["rewordings"], lambda _: writer)[0]
    assert (growth.taken, growth.statuses) == (2, {"ok": 1})
    lines = read_build(tmp_path / "set").wordings
    assert [line.question for line in lines][1:] == ["Who was singing?", "Who was it that sang?"]
    assert lines[1].made is not None
    assert lines[1].made.by == "api:openai-api/desk/good-model"
