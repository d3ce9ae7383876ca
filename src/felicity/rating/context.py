"""What stands before and around a place in a text."""

from __future__ import annotations

import re

# Not after "e.g.", "i.e." or "vs.", and not within a decimal number.
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!vs)(?:[.!?;][\"')\]*_]*(?=\s)|\n)")
_SPACES = re.compile(r"[ \t]+")
_REACH = 400


def sentence_before(text: str, position: int) -> str:
    """Return what the sentence says before a place, with runs of spaces made one.

    It looks back 400 characters at most, so that the cost does not grow with the reply.

    Examples
    --------
    >>> sentence_before("He is exact, e.g. here. I'd   say 6", 34)
    "I'd say "
    """
    reach = text[max(0, position - _REACH) : position]
    start = 0
    for end in _SENTENCE_END.finditer(reach):
        start = end.end()
    return _SPACES.sub(" ", reach[start:]).lstrip(" ")


def sentence_after(text: str, position: int) -> str:
    """Return what the sentence says after a place.

    Examples
    --------
    >>> sentence_after("I'd say 6 because. So", 9)
    ' because'
    """
    reach = text[position : position + _REACH]
    end = _SENTENCE_END.search(reach)
    return reach[: end.start()] if end else reach


def line_around(text: str, start: int, end: int) -> tuple[str, str]:
    r"""Return what stands before and after a stretch in its own line, 400 characters at most.

    Examples
    --------
    >>> line_around("a\n(5).\nb", 3, 4)
    ('(', ').')
    """
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return text[max(first, start - _REACH) : start], text[end : min(last, end + _REACH)]
