"""How many tokens a plan computes: a value that can be printed before anything is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from felicity.scoring.encode import Encoded
from felicity.scoring.masked import masked_copies
from felicity.scoring.packed import grow_tree, pack, read_part
from felicity.scoring.seq2seq import EncodedPair
from felicity.types import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlan:
    """What a model will have to compute.

    Attributes
    ----------
    texts, batches
        How many there are.
    plain
        Tokens that the model must read, text by text; of a masked model, of all masked copies; of
        an encoder-decoder, on both sides.
    computed
        Tokens that it does read: what texts share, once.
    padding
        Tokens read for nothing.
    heads
        Places where a next or masked token is predicted.

    Examples
    --------
    >>> print(TokenPlan(texts=2, batches=1, plain=40, computed=25, padding=0, heads=9))
    2 texts in 1 batch: 40 tokens, 25 after sharing (1.60 times fewer), 0 of padding; 9 predictions
    """

    texts: int
    batches: int
    plain: int
    computed: int
    padding: int
    heads: int

    def __str__(self) -> str:
        batches = f"{self.batches:,} batch{'' if self.batches == 1 else 'es'}"
        fewer = self.plain / self.computed if self.computed else 1.0
        return (
            f"{self.texts:,} texts in {batches}: {self.plain:,} tokens, {self.computed:,} after "
            f"sharing ({fewer:.2f} times fewer), {self.padding:,} of padding; "
            f"{self.heads:,} predictions"
        )


def count_tokens(
    encoded: Sequence[Encoded],
    batches: Sequence[Sequence[int]],
    *,
    way: str,
    method: Method,
) -> TokenPlan:
    """Count what a plan computes.

    Parameters
    ----------
    encoded, batches, way
        As in a participant's plan.
    method
        The participant's.
    """
    plain = computed = padding = heads = 0
    for batch in batches:
        texts = [encoded[i] for i in batch]
        if way == "masked":
            copies, places = masked_copies(texts, method=method, mask_id=-1)
            width = len(texts[0].ids)
            plain += width * sum(map(len, places))
            computed += width * len(copies)
            heads += len(copies)
            continue
        if way == "seq2seq":
            answers = [read_part(one) for one in texts]
            questions = [one.source for one in texts if isinstance(one, EncodedPair)]
            plain += sum(map(len, [*questions, *answers]))
            for side in (list(dict.fromkeys(questions)), answers):
                computed += sum(map(len, side))
                padding += sum(max(map(len, side)) - len(text) for text in side)
            heads += sum(one.stop - one.start for one in texts)
            continue
        plain += sum(len(read_part(one)) for one in texts)
        if way == "tree":
            row, paths = grow_tree(texts)
            computed += len(row.ids)
            heads += len({node for nodes in paths for node in nodes})
            continue
        sizes = [len(one.ids) for one in texts]
        if way == "rows":
            sizes = [len(row.ids) for row in pack(texts)[0]]
        computed += sum(sizes)
        padding += len(sizes) * max(sizes) - sum(sizes)
        heads += sum(one.stop - one.start for one in texts)
    return TokenPlan(
        texts=len(encoded),
        batches=len(batches),
        plain=plain,
        computed=computed,
        padding=padding,
        heads=heads,
    )
