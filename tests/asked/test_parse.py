"""Replies to a choice: none may be misread, and as few as may be left unread."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from felicity.asked.parse import CHOICE_STATUSES, parse_choice
from felicity.types import Choice

WORDS = ("silly", "sillier", "silliest", "rude", "odd", "does not fit", "doesn't fit")
SHOWN = Choice(
    labels=("A", "B"),
    answers=("A boat took us over the lake.", "Mind your own business, you nosy thing."),
    words=WORDS,
)
A, B = 0, 1

OK = [
    # the label alone
    ("A", A),
    ("B", B),
    (" B \n", B),
    ("**B**", B),
    ("__A__", A),
    ("`B`", B),
    ("B.", B),
    ("b.", B),
    ("b", B),
    ("a", A),
    ("a.", A),
    ("(B)", B),
    ("(a)", A),
    ("[A]", A),
    ('"B"', B),
    ("“A”", A),
    ("Ｂ", B),
    ("B)", B),
    ("## B", B),
    ("> B", B),
    ("B 😀", B),
    ("Answer: A", A),
    ("answer: b", B),
    ("**Answer:** B", B),
    ("Answer: **B**.", B),
    ("Answer - B", B),
    ("Answer B", B),
    ("Option A.", A),
    ("The answer is B.", B),
    ("The answer is: A", A),
    ("My answer: B", B),
    ("My choice is A", A),
    ("The silly answer is a.", A),
    ("It's B.", B),
    ("Definitely B.", B),
    ("That would be A.", A),
    ("I choose B", B),
    ("I'd pick A.", A),
    ("I would say B", B),
    ("I would go with answer B.", B),
    ("I think it's A.", A),
    ("So, B.", B),
    ("It has to be B.", B),
    ("B<|im_end|>", B),
    ("The silly answer, in my view, is B.", B),
    ("The silly answer (B) tells nothing.", B),
    ("B seems to be the odd one.", B),
    ("B clearly does not fit.", B),
    ("B, the one about business, is rude.", B),
    ("B = rude, A = fine", B),
    ("Sure! The answer is B.", B),
    # with reasons
    ("B because it is unkind.", B),
    ("If I had to choose, I'd pick B.", B),
    ("I would not, to be frank, call either fine, but the silly answer is B.", B),
    ("B, because A answers the question.", B),
    ("B. A answers the question politely.", B),
    ("B: it is unkind.", B),
    ("B - it is unkind and A is not.", B),
    ("B — it is unkind.", B),
    ("B\n\nThe answer in A is friendly and to the point.", B),
    ("**B**\n\nA is friendly.", B),
    ("The silly answer is B because A tells how they crossed.", B),
    ("The silly answer is B, since A tells how they crossed.", B),
    ("The answer that does not fit is B.", B),
    ("The one that doesn't fit is B", B),
    ("B is the silly one.", B),
    ("B is rude.", B),
    ("B's tone is rude.", B),
    ("Answer B is rude, while A is fine.", B),
    ("A is fine, but B is rude.", B),
    ("A is fine. B is rude.", B),
    ("A is fine and B is rude.", B),
    ("B does not fit; A does.", B),
    ("A is not silly. B is silly.", B),
    ("A isn't rude, B is rude.", B),
    ("B is sillier than A.", B),
    ("I'd pick B over A.", B),
    ("I'd pick B rather than A.", B),
    ("Not A. The silly one is B.", B),
    ("Unlike A, B is rude.", B),
    ("The silly answer is B, not A.", B),
    ("Neither is very silly, but the rude one is B.", B),
    ("Both answer the question in a way, but B is rude.", B),
    ("Of A and B, B is rude.", B),
    ("Between A and B, the silly answer is B.", B),
    ("A silly answer would be unkind, so I pick B.", B),
    ("A silly answer, clearly: B", B),
    ("The second answer is rude.", B),
    ("The silly answer is the first one.", A),
    ("Answer 2 is rude.", B),
    ("As an AI I have no feelings, but B is rude.", B),
    ("I'm sorry, but B is rude.", B),
    # the answer in words
    ("Mind your own business, you nosy thing.", B),
    ('"Mind your own business, you nosy thing."', B),
    ("mind your own business, you nosy thing", B),
    ('B: "Mind your own business, you nosy thing."', B),
    ("B: Mind your own business, you nosy thing.", B),
    ("A. A boat took us over the lake.", A),
    ("A boat took us over the lake.", A),
    ('The silly answer is "Mind your own business, you nosy thing."', B),
    ('"Mind your own business, you nosy thing." is rude.', B),
    ("The silly answer is:\n\n**Mind your own business, you nosy thing.**", B),
    # the prompt repeated, lists
    (
        'A: "A boat took us over the lake."\nB: "Mind your own business, you nosy thing."\n\nB',
        B,
    ),
    (
        'A: "A boat took us over the lake."\nB: "Mind your own business, you nosy thing."\n'
        "Which answer is silly: A or B?\nThe silly answer is B.",
        B,
    ),
    ("Which answer is silly, A or B? B", B),
    ("A: friendly and to the point\nB: rude", B),
    ("A: friendly.\nB: unkind.\n\nAnswer: B", B),
    ("A) friendly. B) rude.", B),
    ("- A: fine\n- B: silly\n", B),
    ("Step 1: A tells how.\nStep 2: B tells nothing.\n\nB", B),
    ("At first A looks odd to me.\n\nFinal answer: B", B),
    # marks and fields
    (r"\boxed{B}", B),
    (r"So $\boxed{\text{A}}$.", A),
    ("<answer>B</answer>", B),
    ("A is odd, I thought. [[B]]", B),
    ('{"answer": "B"}', B),
    ('```json\n{"answer": "b", "why": "A is friendly"}\n```', B),
    ('{"why": "a rude tone", "silly_answer": "Answer B"}', B),
    ('{"answer": "Mind your own business, you nosy thing."}', B),
    ("{'answer': 'B'}", B),
    # reasoning
    ("<think>A is odd. A?</think>B", B),
    ("A is odd, so maybe A.</think>\n\nB", B),
    ("<think>B</think><think>A</think> **A**", A),
    ("<thinking>\nA or B?\n</thinking>\nAnswer: A", A),
]

NONE = [
    ("", "empty"),
    ("  \n", "empty"),
    ("<think>A or B? A.</think>", "empty"),
    ("<think>A is the silly one", "truncated_in_reasoning"),
    ("A or B", "ambiguous"),
    ("A and B", "ambiguous"),
    ("A/B", "ambiguous"),
    ("A, B", "ambiguous"),
    ("Both", "ambiguous"),
    ("both.", "ambiguous"),
    ("Both A and B are rude.", "ambiguous"),
    ("Neither", "ambiguous"),
    ("Neither A nor B is silly.", "ambiguous"),
    ("Neither. A is fine and B is fine.", "ambiguous"),
    ("Either.", "ambiguous"),
    ("A is silly. B is silly.", "ambiguous"),
    ("A\nB", "ambiguous"),
    ("Option A. Option B.", "ambiguous"),
    ("A. B.", "ambiguous"),
    ("A) B)", "ambiguous"),
    ("A: B", "ambiguous"),
    ("B, A", "ambiguous"),
    ("A, or perhaps B.", "ambiguous"),
    ("A, no, B", "ambiguous"),
    ("B\n\nOn reflection:\n\nA", "ambiguous"),
    ("B is silly. A is also rude.", "ambiguous"),
    ("The silly one could be B, the rude one is A; B is silly.", "ambiguous"),
    ("It could be A, it could be B.", "ambiguous"),
    ("Maybe A, maybe B.", "ambiguous"),
    ("B, or maybe both.", "ambiguous"),
    ("A is polite. B is impatient.", "ambiguous"),
    ("Is it A or B?", "ambiguous"),
    ('A: "Mind your own business, you nosy thing."', "ambiguous"),
    ('{"answer": "A", "choice": "B"}', "ambiguous"),
    (
        'A: "A boat took us over the lake."\nB: "Mind your own business, you nosy thing."',
        "unparsed",
    ),
    ('A: "A boat took us over the sea."\nB: "Mind the gap."', "ambiguous"),
    ('A: "A boat took us over the sea."', "unparsed"),
    ('A: "A boat took us over the lake." is a fine answer.', "unparsed"),
    ("a silly answer", "unparsed"),
    ("A silly answer.", "unparsed"),
    ("A rude one.", "unparsed"),
    ("That is a rude thing to say.", "unparsed"),
    ("THAT IS A RUDE THING", "unparsed"),
    ("A is polite.", "unparsed"),
    ("The polite answer is A.", "unparsed"),
    ("The answer that fits is A.", "unparsed"),
    ("A is not silly.", "unparsed"),
    ("A isn't rude.", "unparsed"),
    ("A is less silly.", "unparsed"),
    ("A might seem odd at first.", "unparsed"),
    ("If A were silly, it would not help.", "unparsed"),
    ("Not A.", "unparsed"),
    ("The answer is not B.", "unparsed"),
    ("I would not pick A.", "unparsed"),
    ("I would not, whatever they say, pick A.", "unparsed"),
    ("I don't think it's B.", "unparsed"),
    ("The answer", "unparsed"),
    ("C", "unparsed"),
    ("A B", "unparsed"),
    ("Banana", "unparsed"),
    ("Bold of you to ask.", "unparsed"),
    ("He said a bad thing.", "unparsed"),
    ("I got a B- in school.", "unparsed"),
    ('The plan "A or nothing, silly" was dropped.', "unparsed"),
    ("🤷", "unparsed"),
    ("B?", "unparsed"),
    ("Is B silly? No.", "unparsed"),
    ("The one that fits is A, the other doesn't fit.", "unparsed"),
    ("A is fine and the other is silly.", "unparsed"),
    ("A responds politely to an odd question.", "unparsed"),
    ("A is a polite reply to an odd question.", "unparsed"),
    ("A avoids being rude.", "unparsed"),
    ("The answer that is not silly is A.", "unparsed"),
    ("The fine answer is A.", "unparsed"),
    ("The answer is the rude one.", "unparsed"),
    ("Joan gave a silly answer.", "unparsed"),
    ("It is not B that is silly.", "unparsed"),
    ("A is anything but silly.", "unparsed"),
    ("Nobody would call A silly.", "unparsed"),
    ("I doubt that A is rude.", "unparsed"),
    ("A was never rude.", "unparsed"),
    ("A makes sense and is on topic.", "unparsed"),
    ("See figure A.", "unparsed"),
    ("An answer like A is what a kind person says.", "unparsed"),
    ("I'm sorry, but I can't help with that.", "refused"),
    ("I cannot judge whether an answer is rude.", "refused"),
    ("As an AI language model, I do not find things silly.", "refused"),
    ("I prefer not to answer.", "refused"),
    ("I can't choose between A and B.", "refused"),
    ("Error 503: upstream unavailable", "error"),
]

CUT = [
    ("B", None),
    ("A", None),
    ("Answer: B", None),
    ("B.", None),
    ("**B**", None),
    ("(A)", None),
    ("A: fine", None),
    ("A) fine", None),
    ('A: "I am not sure what', None),
    ("**B**\n\n", B),
    ("Answer: B\n\nThe", B),
    ("B\n\nThe second answ", B),
    ("B because it is un", B),
    ("B, because", None),
    ("B is silly, and A", None),
    ("The silly answer is B", None),
    ("", None),
    ('A: "A boat took us over the lake."\nB: "Mind your own', None),
    ('A: "A boat took us over the lake."\nB', None),
    ('A: "A boat took us over the sea."\nB: "Mind the', None),
    ("Let us look at both. A", None),
    ("<answer>B</answer> since", B),
]


@pytest.mark.parametrize(("reply", "value"), OK)
def test_an_answer_that_is_named_is_read(reply, value):
    found = parse_choice(reply, "stop", SHOWN)
    assert (found.value, found.status) == (value, "ok")
    assert 0 <= found.span[0] < found.span[1] <= len(reply)


@pytest.mark.parametrize(("reply", "status"), NONE)
def test_what_names_no_answer_has_none(reply, status):
    found = parse_choice(reply, "stop", SHOWN)
    assert (found.value, found.status, found.span) == (None, status, None)


@pytest.mark.parametrize(("reply", "value"), CUT)
def test_a_reply_that_was_cut_off_counts_only_if_no_more_could_change_it(reply, value):
    found = parse_choice(reply, "length", SHOWN)
    assert (found.value, found.status) == (value, "truncated" if value is None else "ok")


@pytest.mark.parametrize(
    ("finish", "status"),
    [("MAX_TOKENS", "truncated"), ("Length ", "truncated"), ("SAFETY", "refused"), ("stop", "ok")],
)
def test_a_finish_is_known_in_every_provider_s_words(finish, status):
    """A lone letter counts only in a reply that is whole."""
    assert parse_choice("A", finish, SHOWN).status == status


def test_the_finish_decides_where_there_is_no_text():
    assert parse_choice("", "content_filter", SHOWN).status == "refused"
    assert parse_choice("I will", "content_filter", SHOWN).status == "refused"
    assert parse_choice("", "length", SHOWN, reasoning="A?").status == "truncated_in_reasoning"
    assert parse_choice("B", "error", SHOWN).status == "error"


@pytest.mark.parametrize("labels", [("1", "2"), ("X", "Y"), ("Left", "Right"), ("P", "Q")])
@pytest.mark.parametrize("place", [A, B])
@pytest.mark.parametrize(
    "reply",
    [
        "{}", "{}.", "**{}**", "Answer: {}", "The silly answer is {}.", "{} is rude.", "({})",
        "Option {}", "I'd pick {} for 2 reasons.", '{{"answer": "{}"}}', "{}, because it is rude",
    ],
)  # fmt: skip
def test_other_labels_are_read_alike(labels, place, reply):
    choice = replace(SHOWN, labels=labels)
    assert parse_choice(reply.format(labels[place]), "stop", choice).value == place


def test_one_answer_within_the_other_is_told_from_it():
    choice = Choice(
        labels=("A", "B"),
        answers=("We had some ice.", "We had some ice that was cold."),
        words=WORDS,
    )
    assert parse_choice("We had some ice that was cold.", "stop", choice).value == B
    assert parse_choice("We had some ice.", "stop", choice).value == A
    assert parse_choice('"We had some ice that is cold" is silly.', "stop", choice).value is None
    assert parse_choice('"We had some ice…" is silly.', "stop", choice).value is None
    flipped = replace(choice, answers=choice.answers[::-1])
    assert parse_choice("We had some ice that was cold.", "stop", flipped).value == A


def test_a_label_within_an_answer_is_no_label():
    choice = replace(SHOWN, answers=("Plan B is the best.", "Plan A is silly."))
    assert parse_choice("Plan A is silly.", "stop", choice).value == B
    assert parse_choice('The silly answer is A: "Plan B is the best."', "stop", choice).value == A


@pytest.mark.parametrize(
    "reply", [reply for reply, _ in OK if SHOWN.answers[0] not in reply and "boat" not in reply]
)
def test_swapping_the_answers_shown_changes_the_answer_in_words_only(reply):
    """What is said by label stays at its label; what is quoted moves with its text."""
    swapped = replace(SHOWN, answers=SHOWN.answers[::-1])
    quoted = SHOWN.answers[1].rstrip(".").lower() in reply.lower()
    found = parse_choice(reply, "stop", SHOWN)
    other = parse_choice(reply, "stop", swapped)
    if not quoted:
        assert other == found
    elif other.status == "ok":
        assert other.value == 1 - found.value
    else:
        assert other.status == "ambiguous", "a label with the other's text"


@given(st.text(max_size=200), st.sampled_from(["stop", "length", "content_filter", "odd word"]))
def test_any_text_has_a_status_and_a_value_only_if_ok(text, finish):
    found = parse_choice(text, finish, SHOWN)
    assert found.status in CHOICE_STATUSES
    assert (found.value is not None) == (found.status == "ok") == (found.span is not None)


WORDS_OF_REPLIES = (
    *("A", "B", "a", "b", "or", "and", "is", "not", "silly", "rude", "the", "answer", "both"),
    *("other", ".", ",", ":", "?", "\n"),
)


@given(st.lists(st.sampled_from(WORDS_OF_REPLIES), max_size=12))
def test_any_words_have_a_status_and_a_value_only_if_ok(words):
    found = parse_choice(" ".join(words), "stop", SHOWN)
    assert (found.value is not None) == (found.status == "ok") == (found.span is not None)


@pytest.mark.parametrize("piece", ["A and B ", "B, ", "A: x\n", " ", "\n", "<think>x</think>", '"'])
def test_a_reply_that_runs_on_is_read_all_the_same(piece):
    """Models fall into loops; a pattern that took the square of the length would not end here."""
    found = parse_choice(piece * (24_000 // len(piece)) + "x", "stop", SHOWN)
    assert (found.value is not None) == (found.status == "ok")
