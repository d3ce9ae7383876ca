"""Models behind an API, against a real server that misbehaves on purpose."""

from __future__ import annotations

import asyncio
import time

import pytest

from felicity.errors import ModelError
from felicity.participants.api import ApiParticipant, open_api
from felicity.types import Message, Reply, Sampling

from fixtures.misbehaving_server import MisbehavingServer

pytest.importorskip("inspect_ai")
PLAIN = Sampling(temperature=1.0)


@pytest.fixture
def server():
    with MisbehavingServer() as server:
        yield server


def participant(server: MisbehavingServer, model: str = "openai-api/desk/good-model", **limits):
    limits = {"max_retries": 0, "attempt_seconds": 20} | limits
    anthropic = model.startswith(("anthropic", "google"))
    return open_api(
        model, base_url=server.address if anthropic else server.url, api_key="key", **limits
    )


def ask(who: ApiParticipant, *texts: str, sampling: Sampling = PLAIN) -> Reply:
    roles = ["user", "assistant"] * len(texts)
    messages = [Message(role=role, content=text) for role, text in zip(roles, texts, strict=False)]

    async def one() -> Reply:
        try:
            return await who.ask([Message(role="system", content="Rate."), *messages], sampling)
        finally:
            await who.close()

    return asyncio.run(one())


def test_a_reply_is_kept_whole_and_sent_as_given(server):
    sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=50, seed=3)
    reply = ask(participant(server), "How helpful?", "4", "How kind?", sampling=sampling)
    assert (reply.text, reply.finish, reply.model_id) == ("5", "stop", "good-model")
    assert (reply.tokens_in, reply.tokens_out, reply.reasoning) == (100, 10, None)
    assert reply.effective == sampling
    assert reply.error is None
    assert reply.seconds > 0
    body = server.requests[0].body
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "Rate."),
        ("user", "How helpful?"),
        ("assistant", "4"),
        ("user", "How kind?"),
    ]
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["seed"]) == (
        0.7,
        0.9,
        50,
        3,
    )


def test_what_is_not_asked_for_is_not_sent(server):
    reply = ask(participant(server), "How helpful?", sampling=Sampling(temperature=None))
    assert reply.effective == Sampling(temperature=None)
    assert not {"temperature", "top_p", "max_tokens", "seed"} & set(server.requests[0].body)


def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(server):
    started = time.monotonic()
    reply = ask(participant(server), "[429] [ok]")
    assert (reply.text, reply.finish) == ("5", "stop")
    assert time.monotonic() - started >= 1.0
    assert len(server.requests) == 2


@pytest.mark.parametrize("order", ["500", "drop"])
def test_a_passing_fault_is_tried_again(server, order):
    reply = ask(participant(server), f"[{order}] [ok]")
    assert (reply.text, reply.finish) == ("5", "stop")
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("500", "we broke"),
        ("401", "no such key"),
        ("drop", "onnection"),
        ("error_body", "upstream broke"),
        ("error_in_choice", "provider gave up"),
        ("no_choices", "no choice"),
        ("truncated", ""),
        ("bare_text", "ERROR 400 bad gateway"),
        ("too_long", "too long a prompt"),
    ],
)
def test_a_failure_is_an_error_with_what_the_provider_said(server, order, said):
    reply = ask(participant(server), f"[{order}]")
    assert reply.finish == "error"
    assert reply.text == ""
    assert reply.error
    assert said in reply.error
    assert reply.effective == PLAIN, "what was sent is known of failures too"
    assert "key" not in reply.error.replace("no such key", ""), "no secret in messages"


def test_a_hang_ends(server):
    started = time.monotonic()
    reply = ask(participant(server, attempt_seconds=1), "[hang]")
    assert reply.finish == "error"
    assert "timeout" in reply.error
    assert 1 <= time.monotonic() - started < 8


@pytest.mark.parametrize(
    ("order", "text", "finish"),
    [
        ("empty", "", "stop"),
        ("filtered", "", "content_filter"),
        ("length", "First I consider", "length"),
    ],
)
def test_odd_replies_are_replies(server, order, text, finish):
    reply = ask(participant(server), f"[{order}]")
    assert (reply.text, reply.finish, reply.error) == (text, finish, None)


def test_a_filter_that_answers_in_the_models_place_is_no_text_of_the_models(server):
    reply = ask(participant(server), "[filter_400]")
    assert (reply.text, reply.finish) == ("", "content_filter")
    assert (reply.error, reply.model_id) == ("the prompt was filtered", None)


def test_another_model_is_named(server):
    assert ask(participant(server), "[wrong_model]").model_id == "another-model"


def test_reasoning_in_a_field_and_in_the_text(server):
    in_field = ask(participant(server), "[reasoning]")
    assert (in_field.text, in_field.reasoning) == ("5", "Hm, 3 or 6?")
    in_text = ask(participant(server), "[think]")
    assert (in_text.text, in_text.reasoning) == ("<think>Hm, 3 or 6?</think>\n5", None)


def test_a_model_that_refuses_temperature_is_asked_without_and_it_shows(server):
    who = participant(server)
    reply = ask(who, "[no_temperature] [ok]")
    assert (reply.text, reply.effective.temperature) == ("5", None)
    assert len(server.requests) == 2
    ask(who, "another question")
    assert "temperature" not in server.requests[-1].body
    assert len(server.requests) == 3, "it is not tried a second time"


def test_a_temperature_out_of_range_is_the_users_to_mend(server):
    reply = ask(participant(server), "[bad_temperature]", sampling=Sampling(temperature=1.5))
    assert reply.finish == "error"
    assert reply.error == "temperature must be between 0 and 1"
    assert len(server.requests) == 1


# google-genai itself, which inherits from aiohttp's session.
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize(
    ("model", "answered", "temperature"),
    [
        ("openai/gpt-4o-mini", "gpt-4o-mini", 1.0),
        # inspect_ai leaves the temperature out for models that it knows to refuse it.
        ("openai/gpt-5-mini", "gpt-5-mini", None),
        ("google/gemini-2.0-flash", "gemini-2.0-flash-001", 1.0),
    ],
)
def test_effective_sampling_is_read_from_the_request(server, model, answered, temperature):
    reply = ask(participant(server, model), "How helpful?")
    assert reply.error is None
    assert (reply.text, reply.finish, reply.model_id) == ("5", "stop", answered)
    assert (reply.tokens_in, reply.tokens_out) == (100, 10)
    assert reply.effective.temperature == temperature
    assert len(server.requests) == 1


# The anthropic package itself, of the day on which a model is to be withdrawn.
@pytest.mark.filterwarnings("ignore:The model 'claude-sonnet-4-5' is deprecated:DeprecationWarning")
def test_anthropics_effective_sampling_is_what_the_request_held(server):
    sampling = Sampling(temperature=1.0, max_tokens=400)
    reply = ask(participant(server, "anthropic/claude-sonnet-4-5"), "Kind?", sampling=sampling)
    assert reply.error is None
    assert (reply.text, reply.finish, reply.model_id) == ("5", "stop", "claude-sonnet-4-5")
    assert (reply.tokens_in, reply.tokens_out) == (100, 10)
    # The package of late 2026 sends no temperature at all; earlier ones do.
    assert reply.effective.temperature == server.requests[0].body.get("temperature")
    assert reply.effective.max_tokens == 400


def test_what_describes_it_holds_no_secret(server):
    who = open_api(
        "api:openai-api/desk/org/good-model",
        base_url="http://me:secret@127.0.0.1:9/v1?key=secret",
        api_key="secret",
    )
    assert (who.info.spec, who.info.model) == (
        "api:openai-api/desk/org/good-model",
        "org/good-model",
    )
    assert who.info.details["address"] == "http://127.0.0.1:9/v1"
    assert "secret" not in repr(who.info)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt-4o", 'got "gpt-4o"; expected api:PROVIDER/MODEL'),
        ("nobody/gpt-4o", "nobody"),
        ("openai-api/desk/good-model", "DESK_API_KEY"),
    ],
)
def test_what_cannot_be_opened_says_why(monkeypatch, model, said):
    monkeypatch.delenv("DESK_API_KEY", raising=False)
    with pytest.raises(ModelError) as caught:
        open_api(model)
    assert said in str(caught.value)
    assert "hint:" in str(caught.value)
    assert "[bold]" not in str(caught.value)
