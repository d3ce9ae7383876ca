"""Columns of repeated values, and blocks of data inside a page."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any


def coded(values: Iterable[Any]) -> dict[str, list[Any]]:
    """Write a column as its different values and, row by row, the place of each.

    Examples
    --------
    >>> coded(["b", "a", "b"])
    {'levels': ['b', 'a'], 'codes': [0, 1, 0]}
    """
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return {"levels": list(places), "codes": codes}


def rounded(values: Sequence[float | None], digits: int = 4) -> list[float | None]:
    """Round a column for the page; what is missing or not finite is null there.

    Examples
    --------
    >>> rounded([1.23456, None, float("-inf")])
    [1.2346, None, None]
    """
    return [
        None if value is None or not math.isfinite(value) else round(value, digits)
        for value in values
    ]


def block(value: Any) -> str:
    """Pack a value as JSON, gzip, base64: the browser unpacks a block when it is looked at.

    The same value makes the same text, so that a report written twice is the same file.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = gzip.compress(text.encode("utf-8", "replace"), compresslevel=7, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def inline_json(value: Any) -> str:
    r"""Write JSON that may stand inside a script element: nothing in it can end the element.

    Examples
    --------
    >>> print(inline_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # Half a surrogate pair cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
