"""Group texts of like length, so that little is padded and nothing depends on neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from felicity.scoring.encode import Encoded


def plan_batches(
    encoded: Sequence[Encoded], *, max_tokens: int, equal_length: bool = False
) -> tuple[tuple[int, ...], ...]:
    """Sort by length and cut into batches.

    Parameters
    ----------
    encoded
        The texts.
    max_tokens
        At most this many tokens in a batch, padding included; a longer text is a batch by itself.
    equal_length
        Keep only texts of one length together, so that none is padded.

    Returns
    -------
    tuple of tuple of int
        Indices into ``encoded``; each occurs once. The same input gives the same batches, so that
        a run that was broken off goes on with the very batches of an unbroken one.
    """
    order = sorted(
        range(len(encoded)),
        key=lambda i: (len(encoded[i].ids), encoded[i].start, encoded[i].ids),
        reverse=True,
    )
    batches: list[tuple[int, ...]] = []
    batch: list[int] = []
    for i in order:
        longest = len(encoded[batch[0]].ids) if batch else 0
        full = (len(batch) + 1) * longest > max_tokens
        other = equal_length and len(encoded[i].ids) != longest
        if batch and (full or other):
            batches.append(tuple(batch))
            batch = []
        batch.append(i)
    if batch:
        batches.append(tuple(batch))
    return tuple(batches)
