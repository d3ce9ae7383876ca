r"""A reply in words → a value of the scale, or none, with one status.

Never clamps, never guesses, and takes no number that belongs to something else.

What is set aside first, in this order: reasoning (``<think>`` and its like, with or without the
opening mark), marks (Markdown, LaTeX, tags, struck-out words), descriptions of the scale ("1 to
7", "7-point", "1 = not at all, 7 = very"), and every number that counts, dates, prices, orders,
quotes, denies ("not a 7", "rather than 7") or shows an example.

Then evidence is asked for in this order; the first kind that is there decides:

1. a stretch marked as the answer: ``\boxed{5}``, ``<answer>5</answer>``, ``[[5]]``, ``#### 5``;
   then "Final rating: 5". The last one counts.
2. a JSON field: ``final_…``, then rating, score, answer and their like, then the one field that
   is a number.
3. the rating itself said in the text: a line or the first or last sentence that is a number and
   no more (so also a whole reply), the first or last line headed by one ("6, because"), a label
   ("Rating: 5"), a statement ("I'd go with 5", "it deserves a 5", "6 out of 7"). These are one
   kind, since any may correct any other: where they differ, the last counts if words of
   correction or conclusion lead up to it ("on reflection", "actually", "overall"), and
   otherwise the reply is ambiguous.
4. any other label: "Competent: 6".
5. the only number that is left, unless the reply refuses.

A range or choice ("4-5", "4 or 5", "at least 5") is ``ambiguous``, a point between whole numbers
``non_integer``, one outside the scale or on another scale (9/10, 5/10, 80 % where 1–7 was asked)
``out_of_range``: none of them has a value.

A reply that was cut off (finish ``length``) has a value only where nothing after could change it:
the rating is of kind 1 or 2 and closed, or it is a line of its own, a leading number or a label,
is followed by more text, and that text does not go back on it. A lone "5" that was cut off may
have become 5.5. Such a reply is ``truncated``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from felicity.errors import OptionError
from felicity.rating.endings import Ending, set_aside
from felicity.rating.evidence import read_rating
from felicity.rating.mentions import find_mentions
from felicity.rating.plain import same_characters, without_marks
from felicity.rating.refusals import is_refusal
from felicity.types import Scale

PARSER_VERSION = "2"

ParseStatus = Literal[
    "ok",
    "refused",
    "empty",
    "truncated",
    "truncated_in_reasoning",
    "ambiguous",
    "non_integer",
    "out_of_range",
    "unparsed",
    "error",
    "model_mismatch",
]
PARSE_STATUSES: tuple[ParseStatus, ...] = get_args(ParseStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reply says.

    Attributes
    ----------
    value
        The rating; None unless ``status`` is ``ok``.
    status
        One of ``PARSE_STATUSES``. ``error`` and ``model_mismatch`` are states of a request; the
        second is never set here.
    span
        Where in the reply the number stands that decided, from and to; None where none did.
    """

    value: int | None
    status: ParseStatus
    span: tuple[int, int] | None


def parse_reply(text: str, finish: str, scale: Scale, *, reasoning: str | None = None) -> Parsed:
    """Read the rating out of a reply.

    Parameters
    ----------
    text
        The reply.
    finish
        Why the model stopped: ``stop``, ``length``, ``content_filter``, ``error`` or the
        provider's own word for one of these. A reply of finish ``error`` is not read.
    scale
        The scale that was asked for.
    reasoning
        Reasoning that came in a field of its own. Nothing is read from it; it tells a reply cut
        off while reasoning from an empty one.

    Examples
    --------
    >>> scale = Scale(low=1, high=7)
    >>> parse_reply("On a scale of 1 to 7, I'd call it a 5", "stop", scale)
    Parsed(value=5, status='ok', span=(36, 37))
    >>> parse_reply("6, not 7: 5 minutes and 13 seconds is exact.", "stop", scale).value
    6
    >>> parse_reply("4 or 5", "stop", scale)
    Parsed(value=None, status='ambiguous', span=(0, 6))
    >>> parse_reply("<think>maybe 5", "length", scale).status
    'truncated_in_reasoning'
    """
    visible, unread = set_aside(same_characters(text), finish, reasoning)
    if unread is not None:
        return _none(unread)
    finding = read_rating(visible, scale)
    broken_off = Ending.of(finish).broken_off
    if broken_off is not None and not finding.settled:
        return _none(broken_off)
    if finding.status == "unparsed":
        skeleton, _, _ = find_mentions(without_marks(visible), scale)
        return _none("refused" if is_refusal(skeleton) else "unparsed")
    return Parsed(value=finding.value, status=finding.status, span=finding.span)


def parse_as_published(text: str, scale: Scale) -> Parsed:
    r"""Read a reply by the rule of Solt, Mühlenbernd & Burbelko (2025), to reproduce their tables.

    It keeps a reply only if exactly one digit of the scale stands in it by itself
    (``\b[1-7]\b``), whatever the digit means.

    Raises
    ------
    OptionError
        If the scale has values that are not one digit.

    Examples
    --------
    >>> scale = Scale(low=1, high=7)
    >>> parse_as_published("6\n\nHe gives the exact number, 146.", scale).value
    6
    >>> parse_as_published("6\n\n5 minutes and 13 seconds is exact.", scale).status
    'ambiguous'
    """
    if scale.low < 0 or scale.high > 9:
        raise OptionError(
            f"got {scale.low} to {scale.high}; expected a scale within 0 to 9",
            where="scale",
            hint="the published rule reads single digits; leave --as-published out",
        )
    digits = list(re.finditer(rf"\b[{scale.low}-{scale.high}]\b", text))
    if len(digits) == 1:
        return Parsed(value=int(digits[0].group()), status="ok", span=digits[0].span())
    if digits:
        return _none("ambiguous")
    return _none("unparsed" if text.strip() else "empty")


def _none(status: ParseStatus) -> Parsed:
    return Parsed(value=None, status=status, span=None)
