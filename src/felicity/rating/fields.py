r"""Ratings in a form that a machine would read: JSON fields, tags, \boxed{}, [[ ]]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\}){0,300})\}")
_TAG = re.compile(
    r"<\s*(final[_ -]?(?:answer|rating|score)|answer|rating|score|result|output|response|final)"
    r"\s*>(.{0,1500}?)<\s*/\s*\1\s*>",
    re.IGNORECASE | re.DOTALL,
)
_DOUBLE = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_HASHES = re.compile(r"(?m)^[ \t]*####[ \t]+([^\n]{1,60})$")
_OPENING = re.compile(r"(?<![A-Za-z}])\{(?=\s*[\"']?[^\W\d][\w \-]{0,40}[\"']?\s*:)")
_PAIR = re.compile(
    r"(?P<quote>[\"']?)(?P<key>[^\W\d][\w \-]{0,40})(?P=quote)\s*:\s*"
    r"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\[[^\[\]{}\n]*\]|"
    r"(?![\"'\[{\s])[^,{}\n]+)(?P<end>[ \t]*[,}\n])?"
)
_RATING_KEY = re.compile(
    r"rating|score|likert|\bvalue\b|answer|\bpoints?\b|^number$|result|judge?ment|\brate\b|"
    r"response|评分|评级|答案|評価|оценка|bewertung|nota?\b",
    re.IGNORECASE,
)
_FINAL_KEY = re.compile(r"final|overall", re.IGNORECASE)
_OTHER_KEY = re.compile(
    r"max|min|scale|range|confiden|certain|prob|reason|expla|justif|why|thought|comment|\bid\b|"
    r"index|step|count|version|initial|first|prelim|tentative|previous|time|date|tokens|example",
    re.IGNORECASE,
)

Rank = Literal["final", "rating", "other"]


class Field(NamedTuple):
    """A stretch that holds a rating. ``closed``: nothing can follow that belongs to it."""

    start: int
    end: int
    rank: Rank
    closed: bool


def find_marked(text: str) -> list[Field]:
    r"""Find stretches marked as the answer, in order.

    Examples
    --------
    >>> [(f.start, f.end) for f in find_marked(r"so $\boxed{5}$")]
    [(11, 12)]
    >>> [(f.start, f.end) for f in find_marked("<answer>5</answer> [[5]]")]
    [(8, 9), (21, 22)]
    """
    spans = [match.span(match.lastindex or 0) for match in _matches(text)]
    return [Field(start, end, "final", True) for start, end in sorted(spans)]


def _matches(text: str) -> Iterator[re.Match[str]]:
    for pattern in (_BOXED, _TAG, _DOUBLE, _HASHES):
        yield from pattern.finditer(text)


def find_fields(text: str) -> list[Field]:
    r"""Find the values of JSON objects that may hold the rating, in order.

    Objects need not be strictly JSON: single quotes, bare keys, trailing commas and an end cut
    off are read as well.

    Examples
    --------
    >>> text = '{"rating": "4", "why": "2 reasons", "confidence": 3}'
    >>> [(text[f.start : f.end], f.rank) for f in find_fields(text)]
    [('4', 'rating')]
    """
    found: list[Field] = []
    position = 0
    while opening := _OPENING.search(text, position):
        end = _end_of_object(text, opening.start())
        found.extend(_pairs(text, opening.end(), end))
        position = end
    return found


def _end_of_object(text: str, start: int) -> int:
    depth, quoted, skip = 0, False, False
    for index in range(start, len(text)):
        character = text[index]
        if skip:
            skip = False
        elif character == "\\":
            skip = quoted
        elif character == '"':
            quoted = not quoted
        elif not quoted and character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return index + 1
    return len(text)


def _pairs(text: str, start: int, end: int) -> Iterator[Field]:
    for pair in _PAIR.finditer(text, start, end):
        key = pair["key"]
        value_start, value_end = pair.span("value")
        if text[value_start] in "\"'":
            value_start, value_end = value_start + 1, value_end - 1
        # An initial rating is no rating where a final one may follow; a maximum never is.
        if _OTHER_KEY.search(key):
            continue
        rank: Rank = "other"
        if _RATING_KEY.search(key):
            rank = "final" if _FINAL_KEY.search(key) else "rating"
        yield Field(value_start, value_end, rank, pair["end"] is not None)
