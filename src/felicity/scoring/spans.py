"""Which characters of a text each token covers, for any tokenizer.

The border between context and answer is read off these spans, from one encoding of the whole
text, and never from token counts of two encodings (decision 0002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from felicity.errors import ModelError

LEADING_SPACE = ("Ġ", "▁")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """One text as tokens. All tuples have one entry per token.

    Attributes
    ----------
    ids
        Token ids, with whatever special tokens the tokenizer adds by itself.
    starts, ends
        Characters covered, ``text[start:end]``; a space that a tokenizer folds into a token is
        counted in. ``(0, 0)`` for added special tokens.
    added
        True for special tokens that the tokenizer added (by its mask, never by position).
    words
        Number of the word that the token is part of; −1 for added tokens.
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    added: tuple[bool, ...]
    words: tuple[int, ...]


def read_spans(tokenizer: Any, texts: Sequence[str]) -> list[Spans]:
    """Encode texts, each once, and say which characters every token covers.

    Parameters
    ----------
    tokenizer
        A transformers tokenizer. One without offsets (a slow one) is read by decoding growing
        prefixes, which works where decoding gives the text back.
    texts
        The whole texts, context and answer together.

    Raises
    ------
    ModelError
        Where a tokenizer has no offsets and does not give the text back either.
    """
    if not texts:
        return []
    if getattr(tokenizer, "is_fast", False):
        return _fast_spans(tokenizer, texts)
    return [_slow_spans(tokenizer, text) for text in texts]


def _fast_spans(tokenizer: Any, texts: Sequence[str]) -> list[Spans]:
    encodings = tokenizer(
        list(texts),
        add_special_tokens=True,
        padding=False,
        truncation=False,
        return_attention_mask=False,
        return_token_type_ids=False,
    ).encodings
    result = []
    for text, encoding in zip(texts, encodings, strict=True):
        # The mask of an encoding marks what the tokenizer added; a special token that stands in
        # the text itself has a span and is text like any other.
        added = tuple(
            bool(flag) and start == end
            for flag, (start, end) in zip(
                encoding.special_tokens_mask, encoding.offsets, strict=True
            )
        )
        spans = _with_spaces(text, encoding.tokens, encoding.offsets)
        result.append(
            Spans(
                ids=tuple(encoding.ids),
                starts=tuple(start for start, _ in spans),
                ends=tuple(end for _, end in spans),
                added=added,
                words=tuple(-1 if word is None else word for word in encoding.word_ids),
            )
        )
    return result


def _with_spaces(
    text: str, tokens: Sequence[str], offsets: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Give back to a token the spaces that its tokenizer trims off its offsets."""
    spans = []
    before = 0
    for token, (start, end) in zip(tokens, offsets, strict=True):
        spaces = len(token) - len(token.lstrip("".join(LEADING_SPACE)))
        first, last = start, end
        while spaces and first > before and text[first - 1].isspace():
            first, spaces = first - 1, spaces - 1
        while spaces and first == start == end and text[last : last + 1].isspace():
            last, spaces = last + 1, spaces - 1
        spans.append((first, last))
        before = max(before, last)
    return spans


def _slow_spans(tokenizer: Any, text: str) -> Spans:
    """Align by decoding growing prefixes; words are split at spaces."""
    encoded = tokenizer(text, add_special_tokens=True, return_special_tokens_mask=True)
    ids = tuple(int(i) for i in encoded["input_ids"])
    added = tuple(bool(flag) for flag in encoded["special_tokens_mask"])
    core = [i for i, is_added in zip(ids, added, strict=True) if not is_added]

    def decode(part: Sequence[int]) -> str:
        return str(tokenizer.decode(part, clean_up_tokenization_spaces=False))

    if decode(core) != text:
        raise ModelError(
            "this tokenizer gives no character offsets, and its decoding does not give the text "
            f"back (got {decode(core)!r})",
            where=repr(text),
            hint="use a fast tokenizer for this model (a tokenizer.json file)",
        )
    ends = [0]
    for count in range(1, len(core) + 1):
        ends.append(max(ends[-1], _common_length(decode(core[:count]), text)))
    ends[-1] = len(text)
    spans = iter(pairwise(ends))
    starts_ends = [(0, 0) if is_added else next(spans) for is_added in added]
    words, word, last_end = [], -1, 0
    for (start, end), is_added in zip(starts_ends, added, strict=True):
        if is_added:
            words.append(-1)
            continue
        touches_space = text[start : start + 1].isspace() or text[last_end - 1 : last_end].isspace()
        if word < 0 or touches_space:
            word += 1
        words.append(word)
        last_end = end
    return Spans(
        ids=ids,
        starts=tuple(start for start, _ in starts_ends),
        ends=tuple(end for _, end in starts_ends),
        added=added,
        words=tuple(words),
    )


def _common_length(decoded: str, text: str) -> int:
    """Length of the common beginning; a character that is not whole yet does not count."""
    length = 0
    for left, right in zip(decoded, text, strict=False):
        if left != right:
            break
        length += 1
    return length
