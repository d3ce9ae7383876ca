"""What a reply's numbers are: points on the scale, ranges, or numbers that belong elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from felicity.rating.numerals import Number, find_numbers
from felicity.rating.plain import blank
from felicity.types import Scale

Kind = Literal["point", "range", "foreign"]

_FRACTION_GAP = re.compile(
    r"\s*(?:points?|stars?)?\s*(?P<close>[)\]\"']?)\s*\(?\s*(?:(?P<slash>/)|,?\s*out[ -]of|"
    r"(?P<of>\b(?:of|von|sur|de|di|av|van|из)\b))\s*"
    r"(?:a (?:possible|total of|maximum of|max of)|an? |the|max(?:imum)?(?: of)?)?\s*",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(
    r"[ \t]*(?:\([^()\n]{0,40}\)[ \t]*(?!,)|[ \t]+or (?:so|thereabouts)\b)?"
    r"(?:[.?!;][ \t]+or\b|,|-|~|&|±|\.\.+|…|/|"
    r"[,(/]?[ \t]*\b(?:to|till|through|thru|or|and|if not|maybe|perhaps|possibly|almost|nearly|"
    r"(?:could|might|may)(?: also| even)? be|"
    r"leaning(?: towards?)?|bordering on|verging on|bis|oder|ou|à|o|y)\b,?"
    r"(?:[ \t]+(?:maybe|perhaps|possibly|even|rather|at (?:most|best))\b,?)?)"
    r"[ \t]*(?:(?:an?|the|low|high|strong|weak)[ \t]+)*|[ \t]+",
    re.IGNORECASE,
)
_LOWER_WORD = re.compile(r"[ \t]*[a-z]{2,}")
_LOOSE = re.compile(r"[ \t]+-[ \t]+|[ \t]*,[ \t]*")
# "Lower my rating from 5 to 3" and "that drags it down to 3" name where a rating ends up.
_MOVE = r"(?:lower|chang|rais|revis|mov|drop|drag|pull|bring|push|adjust|reduc|updat|bump)\w*"
MOVED = re.compile(
    rf"(?:\b(?:ratings?|scores?)\b[^.!?\n]{{0,20}}\b{_MOVE}"
    rf"|\b{_MOVE} (?:it|that|this|my|the (?:rating|score))\b)[^.!?\n]{{0,40}}\bto (?:an? )?$",
    re.IGNORECASE,
)
# A dash that stands off its number heads a list or negates: "- 2" on a scale of -3 to 3.
_DASH_APART = re.compile(r"(?:^|[\n:=(])[ \t]*-[ \t]+$")
# "4, or rather 5" and "4, no, 5" are corrections, not ranges.
_CORRECTS = re.compile(r"\bor (?:rather|better|actually)\b", re.IGNORECASE)
_RANGE_HEAD = re.compile(
    r"(?:\b(?:between|from|either|anywhere (?:between|from)|somewhere (?:between|in the))\b[ \t]*"
    r"(?:an?[ \t]+)?)$",
    re.IGNORECASE,
)
_BOUND_HEAD = re.compile(
    r"(?:\b(?:at (?:least|most)|no (?:more|less|higher|lower) than|up to)\b"
    r"[ \t]*(?:an?[ \t]+)?|(?<![-=])[<>≤≥][ \t]*)$",
    re.IGNORECASE,
)
_BOUND_TAIL = re.compile(r"\+|[ \t]*(?:-?ish\b|or (?:more|less|higher|lower|above|below)\b)")
_PERCENT = re.compile(r"[ \t]*(?:%|percent\b|per cent\b|pct\b)", re.IGNORECASE)
_OF_A_SCALE = re.compile(
    r"\b(?:on|using|in|with|from)?[ \t]*(?:an?|the|your|this|my)?[ \t]*(?:[A-Za-z-]+[ \t]+)?"
    r"(?P<word>scale|range)\b[ \t]*(?:\(|of|from|ranging from|going from|"
    r"that (?:goes|runs) from|:|is|,)*"
    r"[ \t]*(?:from|between)?[ \t]*$",
    re.IGNORECASE,
)
_SCALE_TAIL = re.compile(
    r"[ \t]*(?:\([^()\n]{0,60}\))?[ \t]*\)?[ \t]*(?:(?:[a-z-]+[ \t]+)?(?:scale|range)\b)?,?",
    re.IGNORECASE,
)
_POINT_SCALE = (
    re.compile(r"(?:on|using)?[ \t]*(?:an?|the|your|this)?[ \t]*$", re.IGNORECASE),
    re.compile(
        r"(?:-point\b|[ ]point(?=[ \t]+(?:\w+[ \t]+)?scale))"
        r"(?:[ \t]+[A-Za-z-]+)?(?:[ \t]+scale\b)?",
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One number, or several joined into a range, as a reply names it.

    ``values`` holds one value for a point, all of them for a range. ``foreign`` is a point on
    another scale: 5/10 where 1–7 was asked for. ``tail`` is where the whole phrase ends:
    after "out of 7" in "6 out of 7". ``glued`` and a value of None mark what is no number.
    """

    start: int
    end: int
    tail: int
    values: tuple[Fraction | None, ...]
    kind: Kind
    in_words: bool
    glued: bool
    out_of: bool = False

    @property
    def usable(self) -> bool:
        """Whether this is a number at all."""
        return not self.glued and None not in self.values


def find_mentions(text: str, scale: Scale) -> tuple[str, list[Mention], bool]:
    """Find the numbers of a plain text and join those that belong together.

    Returns
    -------
    skeleton, mentions, foreign
        The text with descriptions of the scale overwritten, the mentions outside them, and
        whether the reply names a scale with other ends than ``scale``.

    Examples
    --------
    >>> scale = Scale(low=1, high=7)
    >>> skeleton, found, _ = find_mentions("On a scale of 1 to 7, I'd call it a 5", scale)
    >>> skeleton.strip(), [str(m.values[0]) for m in found]
    ("I'd call it a 5", ['5'])
    >>> [m.kind for m in find_mentions("6 out of 7. 9/10. 4 or 5.", scale)[1]]
    ['point', 'foreign', 'range']
    """
    text = _without_listing(text, scale)
    points = _join_fractions(text, _points(text, scale), scale)
    skeleton, kept, foreign = text, [], False
    for chain in _chains(text, points, scale):
        start, tail = chain[0].start, chain[-1].tail
        if len(chain) > 1:
            head = _RANGE_HEAD.search(text, max(0, start - 30), start)
            named = _OF_A_SCALE.search(text, max(0, start - 60), head.start() if head else start)
            other = named and named["word"].lower() == "scale" and len(chain) == 2
            if _spans_scale(chain, scale) or other:
                foreign |= not _spans_scale(chain, scale)
                begin = named.start() if named else head.start() if head else start
                after = _SCALE_TAIL.match(text, tail)
                skeleton = blank(skeleton, begin, after.end() if after else tail)
                continue
            kept.append(_range(chain, head.start() if head else start))
            continue
        (mention,) = chain
        before = _POINT_SCALE[0].search(text, max(0, start - 20), start)
        named_points = _POINT_SCALE[1].match(text, mention.end)
        if named_points and before:
            foreign |= mention.values[0] not in {scale.high, len(scale.values)}
            skeleton = blank(skeleton, before.start(), named_points.end())
            continue
        kept.append(_bounded(text, mention))
    return skeleton, kept, foreign


def _without_listing(text: str, scale: Scale) -> str:
    """Overwrite the scale written out value by value: 1 2 3 4 5 6 7."""
    if len(scale.values) > 11 or len(scale.values) < 3:
        return text
    listing = r"[\s,;/:-]+".join(rf"\+?{value}" for value in scale.values)
    return re.sub(rf"(?<![\w-]){listing}(?!\w)", lambda m: blank(m[0], 0, len(m[0])), text)


def _points(text: str, scale: Scale) -> list[Mention]:
    return [_point(text, number, scale) for number in find_numbers(text)]


def _point(text: str, number: Number, scale: Scale) -> Mention:
    percent = _PERCENT.match(text, number.end)
    of_hundred = (scale.low, scale.high) == (0, 100)
    kind: Kind = "foreign" if percent and not of_hundred else "point"
    values: tuple[Fraction | None, ...] = (number.value,)
    if (
        scale.low < 0
        and number.value
        and _DASH_APART.search(text, max(0, number.start - 12), number.start)
    ):
        kind, values = "range", (-number.value, number.value)
    return Mention(
        start=number.start,
        end=number.end,
        tail=percent.end() if percent else number.end,
        values=values,
        kind=kind,
        in_words=number.in_words,
        glued=number.glued,
    )


def _join_fractions(text: str, points: list[Mention], scale: Scale) -> list[Mention]:
    """Join a number with the highest one that it is said to be out of."""
    joined: list[Mention] = []
    index = 0
    while index < len(points):
        top, bottom = points[index], points[index + 1] if index + 1 < len(points) else None
        gap = _FRACTION_GAP.fullmatch(text, top.tail, bottom.start) if bottom else None
        kind = _fraction_kind(gap, top, bottom, scale) if gap and bottom else None
        if kind is None or bottom is None:
            joined.append(top)
            index += 1
            continue
        tail = bottom.tail + (text[bottom.tail : bottom.tail + 1] in {")", "]"})
        joined.append(replace(top, tail=tail, kind=kind, out_of=True))
        index += 2
    return joined


def _fraction_kind(gap: re.Match[str], top: Mention, bottom: Mention, scale: Scale) -> Kind | None:
    high = bottom.values[0]
    if high is None or top.values[0] is None or bottom.glued:
        return None
    if high == scale.high:
        return "point"
    if gap["of"]:
        return None
    # "4/5" on a scale of 1–7 may be four or five as well as four out of five.
    few = len(scale.values) <= 11
    if gap["slash"] and few and abs(high - top.values[0]) == 1 and int(high) in scale:
        return None
    return "foreign"


def _chains(text: str, points: list[Mention], scale: Scale) -> list[list[Mention]]:
    """Group numbers with nothing between them but what joins a range or a list of choices."""
    chains: list[list[Mention]] = []
    for point in points:
        # "On a scale of 1 to 7, 5": the comma ends the scale.
        whole = chains and len(chains[-1]) == 2 and _spans_scale(chains[-1], scale)
        ends = whole and "," not in text[chains[-1][0].tail : chains[-1][1].start]
        if chains and not ends and _joins(text, chains[-1][-1], point):
            chains[-1].append(point)
        else:
            chains.append([point])
    return chains


def _joins(text: str, left: Mention, right: Mention) -> bool:
    if left.glued or right.glued or None in (*left.values, *right.values):
        return False
    gap = text[left.tail : right.start]
    match = _RANGE_GAP.fullmatch(gap)
    # A sign may have been taken for part of the second number: "4 -5".
    if match is None or _CORRECTS.search(gap):
        return False
    if MOVED.search(text, max(0, left.start - 80), right.start):
        return False
    # In "5 - 2 weeks is exact" and "6, 2 weeks is exact" the dash or comma joins two clauses.
    follows = _LOWER_WORD.match(text, right.tail)
    return not (_LOOSE.fullmatch(gap) and follows and not _FOLLOWS_RANGE.match(text, right.tail))


_FOLLOWS_RANGE = re.compile(
    r"[ \t]*(?:or|and|to|on|out|points?|stars?|because|since|as|for|depending|"
    r"scale|at (?:most|best|least)|would|range)\b"
)


def _spans_scale(chain: Sequence[Mention], scale: Scale) -> bool:
    values = [value for mention in chain for value in mention.values]
    return {scale.low, scale.high} == {values[0], values[-1]} and (
        len(values) == 2 or len(values) == len(scale.values)
    )


def _range(chain: Sequence[Mention], start: int) -> Mention:
    return Mention(
        start=start,
        end=chain[-1].end,
        tail=chain[-1].tail,
        values=tuple(value for mention in chain for value in mention.values),
        kind="range",
        in_words=all(mention.in_words for mention in chain),
        glued=False,
    )


def _bounded(text: str, mention: Mention) -> Mention:
    """Make a lower or upper bound a range: "at least 5", "5+"."""
    head = _BOUND_HEAD.search(text, max(0, mention.start - 20), mention.start)
    tail = _BOUND_TAIL.match(text, mention.tail)
    # "<6>" fills in a blank and "bump it up to 6" moves; neither is a bound.
    blank_filled = text[mention.tail : mention.tail + 1] == ">"
    if blank_filled or MOVED.search(text, max(0, mention.start - 80), mention.start):
        head = None
    if not (head or tail):
        return mention
    return replace(
        mention,
        kind="range",
        start=head.start() if head else mention.start,
        tail=tail.end() if tail else mention.tail,
    )
