"""Encoder-decoder models: the question is read by the encoder, the answer by the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from felicity.errors import Fault, FaultsError
from felicity.scoring.causal import token_scores
from felicity.scoring.devices import input_device
from felicity.scoring.encode import Encoded, encode_pairs
from felicity.scoring.packed import only_at
from felicity.types import TextPair, TokenScores


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPair(Encoded):
    """A question for the encoder and an answer for the decoder.

    Attributes
    ----------
    source
        Ids for the encoder, with the special tokens that the tokenizer adds.
    ids
        Ids for the decoder: its start, whatever special tokens the tokenizer puts before a text,
        the answer. What the tokenizer appends (``</s>``) is left off and never scored.
    """

    source: tuple[int, ...]


class TargetSide:
    """A tokenizer that reads texts as targets: translation models split them otherwise."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.is_fast = getattr(tokenizer, "is_fast", False)
        self.decode = tokenizer.decode

    def __call__(self, texts: Any, **options: Any) -> Any:
        """Encode texts as targets."""
        return self._tokenizer(text_target=texts, **options)


def encode_questions(
    tokenizer: Any,
    pairs: Sequence[TextPair],
    *,
    start: tuple[int, ...],
    max_tokens: int | None,
    names: Sequence[str] | None = None,
) -> list[EncodedPair]:
    """Encode contexts for the encoder and answers for the decoder.

    Parameters
    ----------
    tokenizer
        A transformers tokenizer.
    pairs
        Contexts and answers. The space at the join belongs to neither text.
    start
        Ids that the decoder begins with.
    max_tokens
        The limit of each side, or None.
    names
        What the pairs are called in an error; their texts where not given.

    Raises
    ------
    FaultsError
        With every pair that cannot be scored: too long on either side, an answer without a token,
        a context of which nothing is left to read.
    """
    names = names or [repr((pair.context + pair.answer)[:60]) for pair in pairs]
    sources = tokenizer([pair.context.rstrip() for pair in pairs])["input_ids"] if pairs else []
    answers = [TextPair(context="", answer=pair.answer.lstrip()) for pair in pairs]
    targets, faults = _encode_answers(TargetSide(tokenizer), answers, names)
    encoded = []
    for place, (name, source) in enumerate(zip(names, sources, strict=True)):
        if not source:
            allowed = "a text that can be read"
            faults.append(Fault(file=name, field="context", got="no token", allowed=allowed))
        if place not in targets:
            continue
        one = _join(tuple(map(int, source)), targets[place], start)
        encoded.append(one)
        longest = max(len(one.source), len(one.ids))
        if max_tokens is not None and longest > max_tokens:
            allowed = f"at most {max_tokens} on each side, the model's limit"
            got = f"{longest} tokens"
            faults.append(Fault(file=name, field="length", got=got, allowed=allowed))
    if faults:
        raise FaultsError(faults, where="encoding", hint="nothing was scored")
    return encoded


def _encode_answers(
    tokenizer: Any, answers: Sequence[TextPair], names: Sequence[str]
) -> tuple[dict[int, Encoded], list[Fault]]:
    """Return the answers that can be scored, by place, and the faults of all others."""
    places = [str(place) for place in range(len(answers))]
    faults: list[Fault] = []
    try:
        encoded = encode_pairs(tokenizer, answers, prefix=None, max_tokens=None, names=places)
    except FaultsError as error:
        bad = {int(fault.file) for fault in error.faults}
        faults = [replace(fault, file=names[int(fault.file)]) for fault in error.faults]
        good = [place for place in range(len(answers)) if place not in bad]
        encoded = encode_pairs(
            tokenizer, [answers[place] for place in good], prefix=None, max_tokens=None
        )
        return dict(zip(good, encoded, strict=True)), faults
    return dict(enumerate(encoded)), faults


def _join(source: tuple[int, ...], target: Encoded, start: tuple[int, ...]) -> EncodedPair:
    return EncodedPair(
        ids=start + target.ids[: target.stop],
        start=target.start + len(start),
        stop=target.stop + len(start),
        tokens=target.tokens,
        words=(-1,) * len(start) + target.words[: target.stop],
        straddles=False,
        source=source,
    )


def plan_questions(
    encoded: Sequence[EncodedPair], *, max_tokens: int
) -> tuple[tuple[int, ...], ...]:
    """Keep the answers to one question together, questions of like length beside each other.

    Parameters
    ----------
    encoded
        The pairs.
    max_tokens
        At most this many tokens in a batch, of encoder and decoder together, padding included.

    Returns
    -------
    tuple of tuple of int
        Indices into ``encoded``; each occurs once. The same input gives the same batches.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for i in sorted(range(len(encoded)), key=lambda i: (len(encoded[i].ids), encoded[i].ids)):
        groups.setdefault(encoded[i].source, []).append(i)
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    for source in sorted(groups, key=lambda ids: (len(ids), ids), reverse=True):
        if batch and _size(encoded, [*batch, *groups[source]]) > max_tokens:
            batches.append(tuple(batch))
            batch = []
        for i in groups[source]:
            if batch and _size(encoded, [*batch, i]) > max_tokens:
                batches.append(tuple(batch))
                batch = []
            batch.append(i)
    if batch:
        batches.append(tuple(batch))
    return tuple(batches)


def _size(encoded: Sequence[EncodedPair], batch: Sequence[int]) -> int:
    # A row of the decoder looks at its question's whole row, so it counts for each.
    width = max(len(encoded[i].source) for i in batch) + max(len(encoded[i].ids) for i in batch)
    return len(batch) * width


@torch.inference_mode()
def score_shared(model: Any, batch: Sequence[EncodedPair], *, pad_id: int) -> list[TokenScores]:
    """Score answers; each question goes through the encoder once, the head sees answers only.

    Parameters
    ----------
    model
        A transformers encoder-decoder model, in eval mode.
    batch
        Encoded pairs; both sides are padded on the right with ``pad_id``, which masks hide.

    Returns
    -------
    list of TokenScores
        Natural-log probabilities, from a log-softmax in float32 whatever the model's dtype.
    """
    device = input_device(model)
    sources = list(dict.fromkeys(one.source for one in batch))
    ids, mask = _padded(sources, pad_id, device)
    read = model.get_encoder()(input_ids=ids, attention_mask=mask)
    rows = [sources.index(one.source) for one in batch]
    read["last_hidden_state"] = read["last_hidden_state"][rows]
    answers, answer_mask = _padded([one.ids[: one.stop - 1] for one in batch], pad_id, device)
    places = [(row, p) for row, one in enumerate(batch) for p in range(one.start - 1, one.stop - 1)]
    head_rows, head_places = [row for row, _ in places], [place for _, place in places]
    with only_at(model.get_output_embeddings(), head_rows, head_places):
        logits = model(
            encoder_outputs=read,
            attention_mask=mask[rows],
            decoder_input_ids=answers,
            decoder_attention_mask=answer_mask,
            use_cache=False,
        ).logits[0]
    return _read_off(logits, batch)


@torch.inference_mode()
def score_plain(model: Any, batch: Sequence[EncodedPair], *, pad_id: int) -> list[TokenScores]:
    """Score answers by one ordinary call of the model, whatever its class; as `score_shared`."""
    device = input_device(model)
    ids, mask = _padded([one.source for one in batch], pad_id, device)
    answers, answer_mask = _padded([one.ids[: one.stop - 1] for one in batch], pad_id, device)
    logits = model(
        input_ids=ids,
        attention_mask=mask,
        decoder_input_ids=answers,
        decoder_attention_mask=answer_mask,
        use_cache=False,
    ).logits
    needed = [logits[row, one.start - 1 : one.stop - 1] for row, one in enumerate(batch)]
    return _read_off(torch.cat(needed), batch)


def _padded(
    texts: Sequence[Sequence[int]], pad_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask of shape (texts, longest), padded on the right."""
    width = max(map(len, texts))
    ids = torch.full((len(texts), width), pad_id, dtype=torch.long)
    mask = torch.zeros((len(texts), width), dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = 1
    return ids.to(device), mask.to(device)


def _read_off(logits: torch.Tensor, batch: Sequence[EncodedPair]) -> list[TokenScores]:
    """Read the answers' log-probabilities off logits, a row for each token of each answer."""
    wanted = torch.tensor([i for one in batch for i in one.answer_ids], device=logits.device)
    values: list[float] = []
    # In blocks: the vocabulary of mT5 has 250,000 tokens.
    for part, target in zip(torch.split(logits, 256), torch.split(wanted, 256), strict=True):
        full = part.float()
        values += (full.gather(1, target[:, None])[:, 0] - full.logsumexp(dim=1)).tolist()
    scores, at = [], 0
    for one in batch:
        size = one.stop - one.start
        scores.append(token_scores(one, values[at : at + size]))
        at += size
    return scores
