"""The probability of every number of a scale as the next thing that a model writes.

For each number v, summed over the ways in which it is spelled (``5`` and `` 5``):

    P(v) = Σ_spelling  Π_i P(t_i | text, t_1 … t_(i-1)) · P(number ends | text, t_1 … t_n)

where t_1 … t_n are the spelling's tokens as the tokenizer writes them after the text. The number
ends where the next token does not go on with it: no digit, and no point or comma with a digit
after it. So P(1) does not hold what belongs to 10. Spellings differ in their tokens, and a number
that has ended is no other, so these are disjoint events: their sum is at most 1, and what is
missing is the mass outside the scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from felicity.errors import ModelError
from felicity.scoring.reading import Ids, Reader
from felicity.types import Scale

BEFORE_NUMBER = ("", " ")
# How a token that goes on with a number begins; a byte of its own is written <0x35>.
GOES_ON = re.compile(r"(?:##)?[.,]?(?:\d|<0x3[0-9]>)")


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers of a scale as token sequences after a cue, and the tokens that go on with one.

    Attributes
    ----------
    spellings
        For each value its distinct token sequences.
    ends
        For each token of the vocabulary whether a number before it has ended.
    """

    spellings: Mapping[int, tuple[Ids, ...]]
    ends: torch.Tensor

    @cached_property
    def paths(self) -> tuple[Ids, ...]:
        """All beginnings of all sequences, each after its own beginnings."""
        sequences = [s for spellings in self.spellings.values() for s in spellings]
        found = {s[:size] for s in sequences for size in range(1, len(s) + 1)}
        return tuple(sorted(found, key=lambda path: (len(path), path)))


def spell_numbers(
    encode: Callable[[str], Ids], tokenizer: Any, scale: Scale, *, vocabulary: int, label: str
) -> Numbers:
    """Find the token sequences of a scale's numbers.

    Parameters
    ----------
    encode
        Gives the ids of a prompt that ends in the cue and the text given, encoded as one.
    tokenizer
        A transformers tokenizer.
    scale
        Whose numbers are looked for; negative ones have a hyphen before them.
    vocabulary
        How many log-probabilities the model gives; it may be more than the tokenizer has tokens.
    label
        The model's name, for errors.

    Raises
    ------
    ModelError
        Where a number cannot be told from the cue, or two numbers are the same tokens.
    """
    cue = encode("")
    spellings: dict[int, tuple[Ids, ...]] = {}
    for value in scale.values:
        written = [encode(f"{before}{value}") for before in BEFORE_NUMBER]
        after = [ids[len(cue) :] for ids in written if ids[: len(cue)] == cue]
        spellings[value] = tuple(dict.fromkeys(ids for ids in after if ids))
    sequences = [ids for found in spellings.values() for ids in found]
    if not all(spellings.values()) or len(set(sequences)) < len(sequences):
        raise ModelError(
            f"the tokenizer does not keep the numbers {scale.low} to {scale.high} apart from each "
            "other and from the text before them",
            where=label,
            hint="the distribution over the scale cannot be read; use --method sampled",
        )
    return Numbers(spellings=spellings, ends=_ending(tokenizer, vocabulary))


def _ending(tokenizer: Any, vocabulary: int) -> torch.Tensor:
    ends = torch.ones(vocabulary, dtype=torch.bool)
    for token, number in tokenizer.get_vocab().items():
        text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
        if number < vocabulary and GOES_ON.match(text):
            ends[number] = False
    return ends


def number_log_probs(reader: Reader, text: Ids, numbers: Numbers) -> dict[int, float]:
    """Return log P(v) for every value of the scale, in nats.

    Parameters
    ----------
    reader
        Its log-probabilities are float32; they are summed as such, in log-space.
    text
        The prompt, up to and with the cue.
    numbers
        From `spell_numbers` with the same cue.
    """
    found = reader.branch(text, numbers.paths)
    after = dict(zip(((), *numbers.paths), found, strict=True))

    def log_prob(ids: Ids) -> torch.Tensor:
        tokens = [after[ids[:place]][token] for place, token in enumerate(ids)]
        return torch.stack([*tokens, after[ids][numbers.ends].logsumexp(-1)]).sum()

    return {
        value: float(torch.stack([log_prob(ids) for ids in spellings]).logsumexp(-1))
        for value, spellings in numbers.spellings.items()
    }
