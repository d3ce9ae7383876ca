"""A table of hostile replies: what is taken of each, and why not more."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from felicity.build.drafts import STATUSES, read_drafts
from felicity.build.requests import Request

ONE = {"question": "Who sang?", "follower": "A bird.", "violator": "A stone."}
TWO = {"question": "Who ran?", "follower": "A fox.", "violator": "A hill."}
DIALOGUES = Request(
    step="dialogues", target="q-01", count=2, prompt="", fixed=(("Who slept?", "A cat.", "A cup."),)
)
REWORDINGS = Request(
    step="rewordings", target="q-01-1", count=2, prompt="", fixed=(("Who sang?",),)
)
SLOTS = {
    "situation": "s", "question": "Who {did}?", "follower": "A {thing}.", "violator": "A {odd}.",
    "slots": [{"name": n, "type": "t"} for n in ("did", "thing", "odd")], "why": "w",
}  # fmt: skip
TEMPLATE = Request(step="template", target="quality-01", count=1, prompt="")


def dialogues(*entries: object) -> str:
    return json.dumps({"dialogues": list(entries)}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "finish", "status", "taken"),
    [
        (dialogues(ONE, TWO), "stop", "ok", 2),
        (dialogues(ONE, TWO), "length", "ok", 2),
        (f"Sure!\n```json\n{dialogues(ONE, TWO)}\n```\nAnything else?", "stop", "ok", 2),
        (f"<think>{dialogues(ONE)}</think>{dialogues(ONE, TWO)}", "stop", "ok", 2),
        (dialogues(ONE) + "\nNo, better:\n" + dialogues(ONE, TWO), "stop", "ok", 2),
        (json.dumps(ONE), "stop", "partial", 1),
        (dialogues(ONE, ONE), "stop", "partial", 1),
        (dialogues(ONE, {**ONE, "question": "WHO  sang?!"}), "stop", "partial", 1),
        (dialogues(ONE, "Who ran?"), "stop", "partial", 1),
        (dialogues(ONE, {**TWO, "violator": "A {stone}."}), "stop", "partial", 1),
        (dialogues(ONE, TWO, {"question": "Who fell?", "follower": "I.", "violator": "U."}),
         "stop", "ok", 2),
        (dialogues({**ONE, "violator": "A stone\nfell."}), "stop", "text", 0),
        (dialogues({**ONE, "violator": "…"}), "stop", "text", 0),
        (dialogues({**ONE, "violator": "a" * 301}), "stop", "text", 0),
        (dialogues({**ONE, "violator": ""}), "stop", "text", 0),
        (dialogues({**ONE, "violator": "A\u0000stone."}), "stop", "text", 0),
        (dialogues({**ONE, "violator": ONE["follower"]}), "stop", "same", 0),
        (dialogues({**ONE, "violator": "{responder} did."}), "stop", "placeholders", 0),
        (dialogues({"question": "who slept", "follower": "a cat", "violator": "a cup"}),
         "stop", "repeats", 0),
        (dialogues({**ONE, "violator": 3}), "stop", "fields", 0),
        (dialogues({**ONE, "violator": None}), "stop", "fields", 0),
        (dialogues({"question": "Who?", "follower": "I."}), "stop", "fields", 0),
        (dialogues(), "stop", "fields", 0),
        ('{"dialogues": {"0": {}}}', "stop", "fields", 0),
        ('{"items": []}', "stop", "fields", 0),
        (dialogues(ONE, TWO)[:-20], "length", "fields", 0),
        (dialogues(ONE)[:30], "length", "truncated", 0),
        (dialogues(ONE)[:30], "stop", "no_json", 0),
        ("[1, 2]", "stop", "no_json", 0),
        ("{" * 5000, "stop", "no_json", 0),
        ('{"dialogues":' * 3000, "stop", "no_json", 0),
        ("", "stop", "empty", 0),
        (" \n", "stop", "empty", 0),
        ("", "length", "truncated", 0),
        ("<think>hm", "length", "truncated", 0),
        ("I cannot help with that.", "stop", "no_json", 0),
    ],
)  # fmt: skip
def test_dialogues(text, finish, status, taken):
    drafts = read_drafts(text, finish, DIALOGUES)
    if text.startswith('{"dialogues"') and finish == "length" and status == "fields":
        # Cut off in its second dialogue: the first is whole, and stands by itself.
        status, taken = "partial", 1
    assert (drafts.status, drafts.count) == (status, taken)


def test_speakers_may_be_named_by_both_answers():
    both = {"question": "Who, {responder}?", "follower": "Me, {questioner}.",
            "violator": "You, {questioner}."}  # fmt: skip
    assert read_drafts(dialogues(both), "stop", DIALOGUES).texts == (both,)


@pytest.mark.parametrize(
    ("reply", "status", "taken"),
    [
        ({"rewordings": ["Who was singing?", "Who sang a song?"]}, "ok", 2),
        ({"rewordings": [" Who  was singing? ", "who was singing"]}, "partial", 1),
        ({"rewordings": ["Who sang?"]}, "repeats", 0),
        ({"rewordings": "Who was singing?"}, "fields", 0),
        ({"rewordings": [{"question": "Who was singing?"}]}, "partial", 1),
        ({"rewordings": [["Who was singing?"]]}, "fields", 0),
        ({"rewordings": ["Who {did} it?"]}, "placeholders", 0),
        ({"questions": ["Who was singing?"]}, "fields", 0),
    ],
)
def test_rewordings(reply, status, taken):
    drafts = read_drafts(json.dumps(reply), "stop", REWORDINGS)
    assert (drafts.status, drafts.count) == (status, taken)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, "ok"),
        ({"slots": {"did": "t", "{thing}": "t", "odd": "t"}}, "ok"),
        ({"slots": SLOTS["slots"][:2]}, "placeholders"),
        ({"slots": []}, "placeholders"),
        ({"slots": "did"}, "fields"),
        ({"slots": [{"name": "a b", "type": "t"}]}, "fields"),
        ({"slots": [*SLOTS["slots"], {"name": "did", "type": "t"}]}, "fields"),
        ({"slots": [*SLOTS["slots"], {"name": "more", "type": "t"}]}, "placeholders"),
        ({"slots": [{"name": "did"}]}, "fields"),
        ({"why": None}, "fields"),
        ({"why": ""}, "text"),
        ({"violator": SLOTS["follower"]}, "same"),
    ],
)
def test_templates(change, status):
    drafts = read_drafts(json.dumps(SLOTS | change), "stop", TEMPLATE, maxim="quality")
    assert drafts.status == status
    assert (drafts.template is not None) == (status == "ok")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["stop", "length", "odd"]))
def test_any_text_has_a_status_and_no_half_item(text, finish):
    for request in (DIALOGUES, REWORDINGS, TEMPLATE):
        drafts = read_drafts(text, finish, request)
        assert drafts.status in STATUSES
        assert (drafts.count > 0) == (drafts.status in ("ok", "partial"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["dialogues", "rewordings", "question", "follower", "violator", "slots"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(json_values)
def test_any_json_has_a_status_and_whole_texts(value):
    for request in (DIALOGUES, REWORDINGS, TEMPLATE):
        drafts = read_drafts(json.dumps(value), "stop", request)
        for texts in drafts.texts:
            assert all(isinstance(text, str) and text.strip() for text in texts.values())
