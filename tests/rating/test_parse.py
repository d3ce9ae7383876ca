"""What a reply says, tried on replies of every kind that can go wrong."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from felicity.cli.parse import parse_scale
from felicity.errors import OptionError
from felicity.rating import PARSE_STATUSES, PARSER_VERSION, parse_as_published, parse_reply
from felicity.types import Scale

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("FELICITY_SHARED", HERE.parents[1] / ".." / "shared"))
SEVEN = Scale(low=1, high=7)
needs_shared = pytest.mark.skipif(
    not SHARED.exists(), reason="needs ../shared (or FELICITY_SHARED), which is not in the repo"
)


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


HOSTILE = rows(HERE / "hostile_replies.jsonl")


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in HOSTILE}))
def test_every_hostile_reply_of_a_kind(kind):
    wrong = []
    for row in HOSTILE:
        if row["kind"] == kind:
            parsed = parse_reply(
                row["reply"],
                row["finish"],
                parse_scale(row["scale"]),
                reasoning=row.get("reasoning"),
            )
            if (parsed.value, parsed.status) != (row["value"], row["status"]):
                wrong.append((row, parsed))
    assert not wrong


@needs_shared
def test_given_cases():
    for row in rows(SHARED / "cases" / "replies.jsonl"):
        parsed = parse_reply(row["reply"], row["finish"], SEVEN)
        assert (parsed.value, parsed.status) == (row["value"], row["status"]), row


def published():
    for name in ("published_replies_MIN.jsonl", "published_replies_ALT.jsonl"):
        for row in rows(SHARED / "data" / "social-meaning" / name):
            yield name, row


@needs_shared
def test_published_replies_that_the_paper_kept_have_the_papers_values():
    kept = [row for _, row in published() if row["valid"]]
    assert len(kept) == 8542
    for row in kept:
        assert parse_reply(row["raw_response"], "stop", SEVEN).value == row["likert"], row


@needs_shared
def test_the_papers_own_rule_gives_its_own_values():
    for _, row in published():
        assert parse_as_published(row["raw_response"], SEVEN).value == row["likert"], row


@needs_shared
def test_dropped_replies_read_by_hand():
    with (HERE / "hand_check.csv").open(encoding="utf-8") as handle:
        labels = list(csv.DictReader(handle))
    keys = ("model", "scenario", "context", "utterance", "attribute", "sample_id")
    replies = {
        (name, *(str(row[key]) for key in keys)): row["raw_response"]
        for name, row in published()
        if not row["valid"]
    }
    assert len(labels) == len(replies) == 98
    for label in labels:
        parsed = parse_reply(replies[label["file"], *(label[key] for key in keys)], "stop", SEVEN)
        assert parsed.value == (int(label["value"]) if label["value"] else None), label


def test_span_shows_the_number_in_the_reply_as_it_came():
    for text, number in (
        ("<think>3</think>\n**６**", "６"),
        ("On a scale of 1 to 7, I'd call it a 5", "5"),
        ('```json\n{"why": "2 reasons", "rating": "4"}\n```', "4"),
        (r"so $\boxed{\text{5}}$", "5"),
        ("I'd say Six, all told", "Six"),
        ("between 5 and 6", "between 5 and 6"),
    ):
        parsed = parse_reply(text, "stop", SEVEN)
        assert parsed.span is not None
        assert text[slice(*parsed.span)] == number


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_words_for_a_reply_cut_off(finish):
    assert parse_reply("I'd say 5", finish, SEVEN).status == "truncated"


def test_a_failed_request_is_never_read():
    assert parse_reply("5", "error", SEVEN).status == "error"


def test_statuses_and_version():
    assert "model_mismatch" in PARSE_STATUSES
    assert PARSER_VERSION
    assert {row["status"] for row in HOSTILE} == set(PARSE_STATUSES) - {"model_mismatch"}


def test_published_rule_only_knows_single_digits():
    with pytest.raises(OptionError, match="within 0 to 9"):
        parse_as_published("50", Scale(low=0, high=100))
    assert parse_as_published("3 or 4", SEVEN).status == "ambiguous"
    assert parse_as_published("none", SEVEN).status == "unparsed"
    assert parse_as_published(" ", SEVEN).status == "empty"
    assert parse_as_published("11:47 and 146, so 6", SEVEN).value == 6


SCALES = st.sampled_from(
    [SEVEN, Scale(low=0, high=100), Scale(low=-3, high=3), Scale(low=1, high=5)]
)
# Text of pieces that mean something to the parser reaches further than random characters.
PIECES = r"""
    1 3 5 7 9 -2 5.5 ½ 6/7 4-5 five , . : ; ( ) [ ] { } " ' ` ** _ # | $ % ~ ~~ < > \boxed{ }
    <think> </think> <answer> </answer> {"rating": rating Rating: final answer I'd say not a scale
    of to or and out between minutes if e.g. example: 1. ```json ``` \frac{6}{7}
"""
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES.split()), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PIECES.split()), max_size=10).map("\n".join),
    st.lists(st.sampled_from(PIECES.split()), max_size=10).map("".join),
)
FINISHES = st.sampled_from(["stop", "length", "content_filter", "error", "", "tool_calls"])


@settings(max_examples=400, deadline=None)
@given(TEXTS, FINISHES, SCALES, st.one_of(st.none(), st.text(max_size=10)))
def test_never_raises_and_value_is_on_the_scale_exactly_when_ok(text, finish, scale, reasoning):
    parsed = parse_reply(text, finish, scale, reasoning=reasoning)
    assert parsed.status in PARSE_STATUSES
    assert (parsed.value is not None) == (parsed.status == "ok")
    assert parsed.value is None or parsed.value in scale
    if parsed.span:
        start, end = parsed.span
        assert 0 <= start < end <= len(text)
    if parsed.status == "ok":
        assert parsed.span


@settings(max_examples=200, deadline=None)
@given(TEXTS, SCALES)
def test_cutting_a_reply_off_never_gives_a_value_it_would_not_have(text, scale):
    cut = parse_reply(text, "length", scale)
    if cut.status == "ok":
        assert cut.value == parse_reply(text, "stop", scale).value


@settings(deadline=None)
@given(st.text(max_size=40), st.integers(1, 7))
def test_reasoning_changes_nothing(thought, value):
    reply = f"<think>{thought.replace('<', '')}</think>\n{value}"
    assert parse_reply(reply, "stop", SEVEN).value == value


@settings(deadline=None)
@given(
    st.sampled_from(range(0x0660, 0x1D7F6)).filter(lambda code: chr(code).isdecimal()),
    st.sampled_from(["{}", "**{}**", "Rating: {}", "I'd rate this a {}.", "{}/7", "{} out of 7"]),
)
def test_digits_of_any_script(code, form):
    value = int(chr(code))
    parsed = parse_reply(form.format(chr(code)), "stop", SEVEN)
    if value in SEVEN:
        assert parsed.value == value
    else:
        assert parsed.status == "out_of_range"


@settings(deadline=None)
@given(SCALES, st.data())
def test_every_value_of_every_scale_in_every_form(scale, data):
    value = data.draw(st.integers(scale.low, scale.high))
    form = data.draw(
        st.sampled_from(
            [
                "{v}",
                "Rating: {v}",
                '{{"rating": {v}}}',
                r"\boxed{{{v}}}",
                "On a scale of {low} to {high}, I'd say {v}.",
                "{v}\n\nThe exact 5 minutes and 13 seconds show it; 11:47 would not.",
                "1. He may know.\n2. He may boast.\n\n{v}",
                "{low} = not at all, {high} = very. Final rating: {v}",
            ]
        )
    )
    text = form.format(v=value, low=scale.low, high=scale.high)
    assert parse_reply(text, "stop", scale).value == value


@pytest.mark.parametrize(
    "piece", ["5 ", "4-5 or ", "\n", '"', '{"a":', "<answer>", "\\boxed{", "I can't ", "~", "1.\n"]
)
def test_a_reply_run_wild_is_read_all_the_same(piece):
    """A pattern that took the square of the length would not end here."""
    found = parse_reply(piece * 12_000, "stop", SEVEN)
    assert (found.value is not None) == (found.status == "ok")
