"""Tokens of a server laid along a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from felicity.scoring.alignment import align_pieces
from felicity.scoring.spans import read_spans

import tiny


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        # Each token decoded by itself loses its space, and the tokenizer puts one before the text.
        ("Ab cd", [" Ab", "cd"], [(0, 2), (2, 5)]),
        ("a  b", ["a", " b"], [(0, 1), (1, 4)]),
        # A lone space token decodes to nothing.
        ("a  b", ["a", "", "b"], [(0, 1), (1, 2), (2, 4)]),
        # Parts of a character: replaced, as bytes, as written bytes, or held back.
        ("a🍵", ["a", "�", "�", "�"], [(0, 1)] + [(1, 2)] * 3),
        ("5 €", ["5", b" \xe2", b"\x82\xac"], [(0, 1), (1, 3), (2, 3)]),
        ("ï", ["bytes:\\xc3", "bytes:\\xaf"], [(0, 1), (0, 1)]),
        ("aïb", ["a", "", "ï", "b"], [(0, 1), (1, 1), (1, 2), (2, 3)]),
        # Such a character, and such words, may stand in the text itself.
        ("a�b", ["a", "�", "b"], [(0, 1), (1, 2), (2, 3)]),
        ("bytes:\\xc3", ["bytes:\\xc3"], [(0, 10)]),
        ("", [], []),
    ],
)  # fmt: skip
def test_pieces_cover_the_characters_that_they_stand_for(text, pieces, expected):
    assert align_pieces(text, pieces) == expected


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Who? Me.", []),
        ("Who? Me.", ["Who", "?"]),
        ("Who? Me.", ["Who", "?", " Me", ".", " And"]),
        ("Who? Me.", ["who", "?", " Me", "."]),
        ("Who? Me.", ["<s>", "Who", "?", " Me", "."]),
        ("Who?Me.", ["Who", "?", " Me", "."]),
        ("abc", ["a", "�", "c"]),
        ("ï", [b"\xc3"]),
        ("a", ["token_id:5"]),
    ],
)
def test_pieces_that_do_not_give_the_text_back_are_none(text, pieces):
    assert align_pieces(text, pieces) is None


@pytest.mark.parametrize("kind", ["bytelevel", "metaspace"])
@given(text=st.text(st.characters(codec="utf-8", categories=("L", "P", "S", "Zs")), min_size=1))
def test_tokens_decoded_one_by_one_lie_where_the_tokenizers_own_offsets_are(kind, text):
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    decoded = tokenizer.decode(ids)
    if tokenizer.unk_token_id in ids or decoded.strip() != text.strip():
        return
    pieces = [tokenizer.decode([i]) for i in ids]
    spans = align_pieces(text, pieces)
    own = read_spans(tokenizer, [text])[0]
    kept = [i for i, added in enumerate(own.added) if not added]
    assert spans is not None
    # A space that is put before the text covers nothing of it; the tokenizer says that it does.
    first = 0 if pieces[0].strip() else 1
    assert [end for _, end in spans][first:] == [own.ends[i] for i in kept][first:]


TOKENIZERS = {kind: tiny.tokenizer(kind) for kind in ("bytelevel", "metaspace")}
