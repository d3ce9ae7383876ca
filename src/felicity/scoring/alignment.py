"""Which characters of a text each token covers, where only the tokens' own texts are known.

A server that scores a text says how it has split it, each token written out by itself. Written out
by itself a token may lose its leading space (SentencePiece), or be a part of a character. So the
pieces are laid along the bytes of the text that was sent; where they do not give it back, nothing
that the server says of it can be believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Piece = str | bytes
Span = tuple[int, int]

NOT_WHOLE = "\N{REPLACEMENT CHARACTER}"
WRITTEN_BYTES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
# One replacement character stands for at most so many bytes of a character that is not whole.
MOST_BYTES = 3


def align_pieces(text: str, pieces: Sequence[Piece]) -> list[Span] | None:
    r"""Lay tokens along a text.

    Parameters
    ----------
    text
        What was sent.
    pieces
        The tokens as texts, or as bytes; ``bytes:\xc3`` and replacement characters stand for parts
        of a character. No special tokens among them.

    Returns
    -------
    list of (int, int) or None
        For each token the characters that it covers, ``text[start:end]``; a character of several
        tokens stands at each, and a space that a server trims off a token is counted in. None
        where the tokens do not give the text back.

    Examples
    --------
    >>> align_pieces("Who? Me.", ["Who", "?", " Me", "."])
    [(0, 3), (3, 4), (4, 7), (7, 8)]
    >>> align_pieces("Who? Me.", ["Who", "?", "Me", "."])
    [(0, 3), (3, 4), (4, 7), (7, 8)]
    >>> align_pieces("naïve", ["na", b"\xc3", b"\xaf", "ve"])
    [(0, 2), (2, 3), (2, 3), (3, 5)]
    >>> align_pieces("Who? Me.", ["Who", "?"]) is None
    True
    """
    data = text.encode("utf-8", "surrogatepass")
    # Where each token may begin, and from where its beginning is reached first.
    reached: list[dict[int, int]] = [{0: 0}]
    for place, piece in enumerate(pieces):
        step: dict[int, int] = {}
        for start in reached[-1]:
            for end in _ends(data, start, _as_bytes(piece, text), first=place == 0):
                step.setdefault(end, start)
        if not step:
            return None
        reached.append(step)
    if len(data) not in reached[-1]:
        return None
    borders = [len(data)]
    for step in reversed(reached[1:]):
        borders.append(step[borders[-1]])
    borders.reverse()
    starts, ends = _characters(text)
    return [
        (starts[low], ends[high] if high > low else starts[low]) for low, high in pairwise(borders)
    ]


def _as_bytes(piece: Piece, text: str) -> Piece:
    if isinstance(piece, str):
        written = WRITTEN_BYTES.fullmatch(piece)
        if written and piece not in text:
            return bytes.fromhex(written.group(1).replace("\\x", ""))
    return piece


def _ends(data: bytes, start: int, piece: Piece, *, first: bool) -> list[int]:
    """Say where a token that begins at a byte may end, the likeliest first."""
    ends = _exact_ends(data, start, piece)
    if data[start : start + 1] == b" ":
        # Its space was trimmed off.
        ends += _exact_ends(data, start + 1, piece)
    if first and isinstance(piece, str) and piece.startswith(" "):
        # Such tokenizers also put a space before the text.
        ends += _exact_ends(data, start, piece[1:])
    return ends


def _exact_ends(data: bytes, start: int, piece: Piece) -> list[int]:
    if isinstance(piece, bytes):
        return [start + len(piece)] if data.startswith(piece, start) else []
    ends = [start]
    for part in re.split(f"({NOT_WHOLE}+)", piece):
        if part.startswith(NOT_WHOLE):
            ends = [
                end + size
                for end in ends
                for size in range(len(part), MOST_BYTES * len(part) + 1)
                if _not_ascii(data[end : end + size], size)
            ]
        else:
            raw = part.encode("utf-8", "surrogatepass")
            ends = [end + len(raw) for end in ends if data.startswith(raw, end)]
    return ends


def _not_ascii(part: bytes, size: int) -> bool:
    return len(part) == size and all(byte >= 0x80 for byte in part)


def _characters(text: str) -> tuple[list[int], list[int]]:
    """For each border between bytes: the character that it lies in or before, and the one after."""
    starts, ends = [], [0]
    for place, character in enumerate(text):
        size = len(character.encode("utf-8", "surrogatepass"))
        starts += [place] * size
        ends += [place + 1] * size
    return [*starts, len(text)], ends
