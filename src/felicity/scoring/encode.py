"""From pairs of context and answer to token ids with the answer's place in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from felicity.errors import Fault, FaultsError
from felicity.scoring.prefix import Prefix
from felicity.scoring.spans import Spans, read_spans
from felicity.types import TextPair


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """One pair as a model reads it.

    Attributes
    ----------
    ids
        All ids fed to the model, prefix and special tokens included.
    start, stop
        The answer's tokens are ``ids[start:stop]``.
    tokens
        The answer's tokens as pieces of the text.
    words
        For each id the number of its word; −1 for special tokens.
    straddles
        True where the answer's first token also covers characters of the context.
    """

    ids: tuple[int, ...]
    start: int
    stop: int
    tokens: tuple[str, ...]
    words: tuple[int, ...]
    straddles: bool

    @property
    def answer_ids(self) -> tuple[int, ...]:
        """Ids of the answer's tokens."""
        return self.ids[self.start : self.stop]


def encode_pairs(
    tokenizer: Any,
    pairs: Sequence[TextPair],
    *,
    prefix: Prefix | None,
    max_tokens: int | None,
    names: Sequence[str] | None = None,
) -> list[Encoded]:
    """Encode each pair once, as one text, and find the answer in it.

    Parameters
    ----------
    tokenizer
        A transformers tokenizer.
    pairs
        Contexts and answers.
    prefix
        For a causal model: what stands before the text; special tokens that the tokenizer adds
        after the text are left off. For a masked model None: the tokenizer's own special tokens
        stay where they are.
    max_tokens
        The model's limit, or None.
    names
        What the pairs are called in an error; their texts where not given.

    Raises
    ------
    FaultsError
        With every pair that cannot be scored: too long, without an answer token, or whose first
        answer token has nothing before it in a causal model.
    """
    spans = read_spans(tokenizer, [pair.context + pair.answer for pair in pairs])
    encoded: list[Encoded] = []
    faults: list[Fault] = []
    for number, (pair, span) in enumerate(zip(pairs, spans, strict=True)):
        text = pair.context + pair.answer
        one = place_answer(span, len(pair.context), text, prefix)
        encoded.append(one)
        fault = _fault(one, prefix, max_tokens)
        if fault:
            field, got, allowed = fault
            name = names[number] if names else repr(text[:60])
            faults.append(Fault(file=name, field=field, got=got, allowed=allowed))
    if faults:
        raise FaultsError(faults, where="encoding", hint="nothing was scored")
    return encoded


def place_answer(span: Spans, border: int, text: str, prefix: Prefix | None) -> Encoded:
    """Find the answer's tokens: those that reach past the border, a character of ``text``."""
    keep = range(len(span.ids))
    before: tuple[int, ...] = ()
    if prefix is not None:
        keep_list = [i for i in keep if not span.added[i]]
        before = prefix.ids
    else:
        keep_list = list(keep)
    ids = before + tuple(span.ids[i] for i in keep_list)
    shift = len(before)
    answer = [
        position
        for position, i in enumerate(keep_list, start=shift)
        if not span.added[i] and _is_answer(span.starts[i], span.ends[i], border)
    ]
    start, stop = (answer[0], answer[-1] + 1) if answer else (len(ids), len(ids))
    pieces = []
    for position in range(start, stop):
        i = keep_list[position - shift]
        pieces.append(text[span.starts[i] : span.ends[i]])
    first = keep_list[start - shift] if answer else None
    return Encoded(
        ids=ids,
        start=start,
        stop=stop,
        tokens=tuple(pieces),
        words=(-1,) * shift + tuple(span.words[i] for i in keep_list),
        straddles=first is not None and span.starts[first] < border < span.ends[first],
    )


def _is_answer(start: int, end: int, border: int) -> bool:
    """Whether a token belongs to the answer: it reaches past the border."""
    return border == 0 or end > border or (start == end and start >= border)


def _fault(
    one: Encoded, prefix: Prefix | None, max_tokens: int | None
) -> tuple[str, str, str] | None:
    if one.start == one.stop:
        return "answer", "no token of its own", "an answer of at least one token"
    if max_tokens is not None and len(one.ids) > max_tokens:
        return "length", f"{len(one.ids)} tokens", f"at most {max_tokens}, the model's limit"
    if prefix is not None and one.start == 0:
        return "answer", "a first token with nothing before it", "a context, or a prefix (--prefix)"
    return None
