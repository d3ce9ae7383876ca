"""A local model fills in a form: valid JSON of the schema, whatever it would have said."""

from __future__ import annotations

import asyncio
import json

import pytest

from felicity.build.requests import schema_of
from felicity.errors import OptionError
from felicity.participants.local_chat import local_chat_from_model, open_local_chat
from felicity.participants.local_form import LocalForm
from felicity.types import Message, Sampling

import tiny

ASKED = [Message(role="user", content="Write two.")]


@pytest.fixture(scope="module")
def chat():
    tokenizer = tiny.tokenizer("bytelevel")
    model = tiny.gpt2(len(tokenizer), n_positions=2048)
    return local_chat_from_model(model.eval(), tokenizer, spec="hf:tiny")


def ask(chat, schema, **sampling):
    form = LocalForm(chat=chat, schema=schema)
    return asyncio.run(form.ask(ASKED, Sampling(**{"temperature": 1.0, "seed": 3, **sampling})))


@pytest.mark.parametrize("step", ["template", "dialogues", "rewordings"])
def test_a_random_model_gives_json_of_the_schema(chat, step):
    reply = ask(chat, schema_of(step, 2), max_tokens=900)
    value = json.loads(reply.text)
    assert reply.finish == "stop"
    assert set(value) == set(schema_of(step)["properties"])
    for name in ("dialogues", "rewordings", "slots"):
        assert len(value.get(name, "12")) == 2
    texts = value.get("rewordings") or [t for d in value.get("dialogues", []) for t in d.values()]
    assert all(isinstance(text, str) and text == text.strip() for text in texts)


def test_the_same_seed_gives_the_same_and_another_another(chat):
    schema = schema_of("rewordings", 2)
    texts = [ask(chat, schema, max_tokens=60, seed=seed).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_form_that_is_cut_off_says_so(chat):
    reply = ask(chat, schema_of("dialogues", 4), max_tokens=5)
    assert (reply.finish, reply.tokens_out) == ("length", 5)
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.text)


def test_a_form_longer_than_what_the_model_reads_is_cut_off(tiny_gpt2_folder):
    short = open_local_chat(f"hf:{tiny_gpt2_folder}")
    reply = ask(short, schema_of("dialogues", 4), max_tokens=500)
    assert reply.finish == "length"
    assert reply.text.startswith('{"dialogues": [{"question": "')


def test_the_form_is_part_of_who_answers(chat):
    form = LocalForm(chat=chat, schema=schema_of("rewordings", 2))
    assert form.info.identity == {**chat.info.identity, "form": "json"}


def test_a_list_without_a_length_cannot_be_filled_in(chat):
    with pytest.raises(OptionError, match="expected object, array with maxItems, or string"):
        ask(chat, {"type": "number"})
