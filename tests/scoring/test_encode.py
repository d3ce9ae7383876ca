"""Where the answer begins: hostile texts against every kind of tokenizer."""

from __future__ import annotations

import pytest

from felicity.errors import FaultsError, OptionError
from felicity.scoring.encode import encode_pairs
from felicity.scoring.prefix import choose_prefix
from felicity.types import TextPair

import tiny

CAUSAL = ("bytelevel", "metaspace")
HOSTILE = [
    ("curly quotes", "Leslie: Where?\nJoan:", " “Here,” she said…"),
    ("emoji", "Who?", " 🍎👨‍👩‍👧 me"),
    ("combining accents", "Who?", " Zoe\u0308 and Rene\u0301"),
    ("accent at the border", "Rene\u0301", " is here."),
    ("zero width", "Who?", " a\u200bb \ufeffc"),
    ("leading spaces", "Who?", "   me"),
    ("newline first", "Who?", "\nJoan: me"),
    ("no space", "Q?", "A"),
    ("context ends in a space", "Q: ", "It is."),
    ("one token", "Who?", " I"),
    ("empty context", "", " It is here."),
    ("eos text in the question", "a <|endoftext|> </s> b", " c d"),
]


def encode(kind: str, context: str, answer: str, prefix: str = "auto", **special):
    tokenizer = tiny.tokenizer(kind, **special)
    chosen = choose_prefix(tokenizer, prefix) if kind in CAUSAL else None
    pair = TextPair(context=context, answer=answer)
    return encode_pairs(tokenizer, [pair], prefix=chosen, max_tokens=None)[0]


@pytest.mark.parametrize("kind", list(tiny.SPECIALS))
@pytest.mark.parametrize(("name", "context", "answer"), HOSTILE, ids=[h[0] for h in HOSTILE])
def test_answer_tokens_cover_the_answer_and_nothing_of_the_context(kind, name, context, answer):
    one = encode(kind, context, answer)
    text = "".join(piece for i, piece in enumerate(one.tokens) if piece not in one.tokens[:i])
    letters = {c for c in answer if c.isalnum()}
    assert letters <= set(text)
    # Left of the border no token holds a letter of the answer: encode the context alone.
    alone = encode(kind, "x", context) if context.strip() else None
    if alone is not None and not one.straddles and kind == "wordpiece":
        assert one.start <= len(alone.answer_ids) + 1
    assert one.start < one.stop <= len(one.ids)


def test_a_token_that_spans_the_join_is_the_answers_and_flagged():
    tokenizer = tiny.tokenizer("bytelevel")
    tokenizer.add_tokens(["world"])
    prefix = choose_prefix(tokenizer)
    pairs = [TextPair(context="hello wor", answer="ld"), TextPair(context="hello ", answer="It")]
    joined, space = encode_pairs(tokenizer, pairs, prefix=prefix, max_tokens=None)
    assert joined.tokens == ("world",)
    assert joined.straddles
    assert space.tokens[0] == " I"
    assert space.straddles


def test_same_text_split_in_two_ways_keeps_its_two_answers():
    tokenizer = tiny.tokenizer("bytelevel")
    pairs = [TextPair(context="a b", answer=" c d"), TextPair(context="a b c", answer=" d")]
    longer, shorter = encode_pairs(
        tokenizer, pairs, prefix=choose_prefix(tokenizer), max_tokens=None
    )
    assert longer.ids == shorter.ids
    assert longer.tokens == (" c", " d")
    assert shorter.tokens == (" d",)


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_leading_space_of_an_answer_without_context_is_the_answers(kind):
    one = encode(kind, "", " Zebras")
    assert "".join(one.tokens) == " Zebras"
    assert one.start == 1


def test_emoji_pieces_all_belong_to_the_answer():
    one = encode("bytelevel", "Who?", "🍎")
    assert len(one.tokens) == 4
    assert set(one.tokens) == {"🍎"}


def test_a_tokenizer_that_appends_eos_loses_no_answer_token_and_scores_no_eos():
    from tokenizers import processors

    tokenizer = tiny.tokenizer("bytelevel")
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
    )
    assert tokenizer("a")["input_ids"][-1] == 0
    prefix = choose_prefix(tokenizer)
    pair = TextPair(context="Who is it?", answer=" It is me.")
    (one,) = encode_pairs(tokenizer, [pair], prefix=prefix, max_tokens=None)
    assert "".join(one.tokens) == " It is me."
    assert one.stop == len(one.ids)
    assert one.ids.count(0) == 1  # the prefix, once


def test_a_tokenizer_that_adds_bos_by_itself_gets_no_second():
    tokenizer = tiny.tokenizer("metaspace")
    for policy in ("auto", "bos"):
        one = encode("metaspace", "Who?", " me", prefix=policy)
        assert one.ids.count(tokenizer.bos_token_id) == 1
    assert tokenizer.bos_token_id not in encode("metaspace", "Who?", " me", prefix="none").ids


def test_special_tokens_are_found_by_mask_not_by_position():
    """A masked tokenizer without CLS and SEP: nothing is cut off the text."""
    tokenizer = tiny.tokenizer("bytelevel")
    pair = TextPair(context="Who?", answer=" It is me.")
    (one,) = encode_pairs(tokenizer, [pair], prefix=None, max_tokens=None)
    assert "".join(one.tokens) == " It is me."
    assert one.stop == len(one.ids)


def test_a_tokenizer_without_offsets_is_aligned_by_decoding():
    from transformers import ByT5Tokenizer

    tokenizer = ByT5Tokenizer()
    assert not tokenizer.is_fast
    pair = TextPair(context="Wer ist es?", answer=" Zoë 🍎.")
    (one,) = encode_pairs(
        tokenizer, [pair], prefix=choose_prefix(tokenizer, "none"), max_tokens=None
    )
    assert len(one.answer_ids) == len(" Zoë 🍎.".encode())
    assert bytes(i - 3 for i in one.answer_ids).decode() == " Zoë 🍎."
    assert one.words[one.start] != one.words[one.start - 1]
    assert one.words[one.start] != one.words[-1]


def test_all_faults_are_told_at_once_and_name_the_text():
    tokenizer = tiny.tokenizer("bytelevel")
    pairs = [
        TextPair(context="", answer=" It is me."),
        TextPair(context="Who?", answer=""),
        TextPair(context="Who? " * 30, answer=" me"),
    ]
    with pytest.raises(FaultsError) as caught:
        encode_pairs(tokenizer, pairs, prefix=choose_prefix(tokenizer, "none"), max_tokens=20)
    text = str(caught.value)
    assert len(caught.value.faults) == 3
    assert "a first token with nothing before it" in text
    assert "no token of its own" in text
    assert "at most 20, the model's limit" in text
    assert "nothing was scored" in text


@pytest.mark.parametrize(
    ("special", "policy", "expected"),
    [
        ({}, "auto", "bos <|endoftext|> (0)"),
        ({}, "none", "none"),
        ({}, "5", "id ! (5)"),
        ({"bos_token": "he"}, "auto", "bos he"),
    ],
)
def test_prefix_policies(special, policy, expected):
    tokenizer = tiny.tokenizer("bytelevel", **special)
    if policy == "5":
        expected = f"id {tokenizer.convert_ids_to_tokens(5)} (5)"
    assert str(choose_prefix(tokenizer, policy)).startswith(expected)


def test_a_chat_marker_is_no_prefix():
    tokenizer = tiny.tokenizer("bytelevel", bos_token="<|im_start|>", eos_token="<|im_end|>")
    tokenizer.chat_template = "{{ '<|im_start|>' + message + '<|im_end|>' }}"
    assert str(choose_prefix(tokenizer)) == "id <|endoftext|> (0)"


def test_no_prefix_where_there_is_no_token_for_one():
    tokenizer = tiny.tokenizer("wordpiece")
    tokenizer.backend_tokenizer.post_processor = None
    from tokenizers import processors

    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", special_tokens=[]
    )
    assert str(choose_prefix(tokenizer)) == "none"
    with pytest.raises(OptionError, match="has no bos token"):
        choose_prefix(tokenizer, "bos")


@pytest.mark.parametrize("policy", ["sep", "99999", "-1"])
def test_an_unknown_prefix_is_refused(policy):
    with pytest.raises(OptionError, match="expected"):
        choose_prefix(tiny.tokenizer("bytelevel"), policy)
