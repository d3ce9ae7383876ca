"""Weigh what a reply says: which of its numbers is the rating, and is it one at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from felicity.rating.context import sentence_before
from felicity.rating.elsewhere import is_tentative, set_elsewhere
from felicity.rating.fields import Field, find_fields, find_marked
from felicity.rating.mentions import Mention, find_mentions
from felicity.rating.plain import without_marks
from felicity.rating.positions import Position, is_list_mark, position_of
from felicity.rating.refusals import is_refusal
from felicity.types import Scale

ReadStatus = Literal["ok", "ambiguous", "non_integer", "out_of_range", "unparsed"]

# A reply with more numbers than this is no reply to a request for one.
_MOST_NUMBERS = 500

# Words that take back what was said before them, or draw the sum of it.
_CORRECTION = re.compile(
    r"\b(?:on (?:second thoughts?|reflection|reconsideration)|upon reflection|reconsider\w*|"
    r"revis\w+|correct(?:ion|ed)|scratch that|make (?:it|that)|wait|hmm+|or rather|or better|"
    r"(?:rais|lower|bump|bring|drag|pull|drop)\w* (?:it|that|this)|"
    r"(?:I )?changed? my mind|let me re\w+|I take that back|adjust\w*|strike that|edit|oops)\b"
    r"|(?:^|[.!?,;:—(\n-])\s*(?:actually|no|rather|sorry)\b"
    r"|\A *(?:→|->) *\Z",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:overall|on balance|in the end|all in all|all things considered|ultimately|taken "
    r"together|in (?:sum|summary|conclusion|total)|to (?:sum up|conclude)|therefore|thus|hence|"
    r"final(?:ly)?|so|however|but|still|yet|in short|balancing|weighing)\b",
    re.IGNORECASE,
)
# A line that opens the next question: base models go on to ask and answer it themselves.
_NEXT_TURN = re.compile(
    r"\n[ \t*#>]*(?:user|human|question|q|scenario|instruction|task|situation|prompt|"
    r"next question)[ \t]*\d*[ \t*]*:|<\|(?:im_start|user|start_header_id)\|>|\[INST\]",
    re.IGNORECASE,
)
# A base model may tell further scenes: "Emily asks Oscar …", 'Emily: "How many?"'.
_NAMED = (
    r"(?:^|[\n.!?\"”])[\s*>]{0,8}(?:(?:For example|Next|Later|Then|Now|Another day)[,:]? )?"
    r"[A-Z][\w'-]+ "
)
_SCENE = re.compile(rf"{_NAMED}(?:ask|answer|respond|repl(?:y|ie)|say|said)(?:s|ed|d)?\b")
_ASKS = re.compile(rf"{_NAMED}ask(?:s|ed)\b")
_SPEAKER = re.compile(r"(?m:^)[ \t]*([A-Z][a-z'-]+):(?=[ \t]*[\"“A-Z])")
_FEW_WORDS = 4
# Numbers that rate one attribute each: "5 for competence", "Competent? 5", "and warmth 3".
_FOR_ONE = re.compile(r"[ \t]+(?:for |in |\()[A-Za-z]+")
_ASKED_OF = re.compile(r"\w\?[ \t]*$")
_AND_ONE = re.compile(r"\d(?:,| and|, and|;) (?:his |her |their )?[a-z]+ (?:an? )?$")
# A noun or preposition before a number makes it that word's: room 4, at 6, Python 3.
_LOOSE_HEAD = re.compile(
    r"(?:^|[,:;—→(=\"'-] ?|\b(?:an?|so|is|be|as|say|but|just|perhaps|maybe|about an?|hence) |"
    r"[\u3040-\u9fff\uac00-\ud7af])[\"'(]*$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(rf"\bfinal\b|{_CORRECTION.pattern}", re.IGNORECASE)
_NUMBER_ALONE = re.compile(r"[\s\d.,/+-]+")
_CLOSED = re.compile(
    r"[ \t\"')\]}]*(?:\n|[.!;][\"')\]]*\s|[,:(—]|[ \t]-[ \t]|[ \t]+(?:because|since)\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was read. ``settled`` where the rest of a cut-off reply could not have changed it."""

    value: int | None
    status: ReadStatus
    span: tuple[int, int] | None = None
    settled: bool = False

    def moved(self, by: int, *, settled: bool) -> Finding:
        """Return it as found in a longer text."""
        span = (self.span[0] + by, self.span[1] + by) if self.span else None
        return Finding(value=self.value, status=self.status, span=span, settled=settled)


class _Placed(NamedTuple):
    mention: Mention
    position: Position
    finding: Finding


class _Text(NamedTuple):
    """A reply's numbers that may be ratings, with what surrounds them."""

    skeleton: str
    placed: tuple[_Placed, ...]


_UNPARSED = Finding(value=None, status="unparsed")
_AMBIGUOUS = Finding(value=None, status="ambiguous")


def read_rating(visible: str, scale: Scale) -> Finding:
    r"""Read a reply without its reasoning.

    Where it goes on to ask and answer questions of its own, what comes before the first of these
    is read alone, if it has a rating that nothing afterwards takes back.

    Examples
    --------
    >>> read_rating("5\n\nQuestion: How helpful?\nAnswer: 3", Scale(low=1, high=7)).value
    5
    """
    turn = _NEXT_TURN.search(visible) or _next_scene(visible)
    if turn and visible[: turn.start()].strip() and not _TAKEN_BACK.search(visible, turn.end()):
        finding = _weigh(visible[: turn.start()], scale)
        if finding.status != "unparsed":
            return finding.moved(0, settled=True)
    return _weigh(visible, scale)


def _next_scene(visible: str) -> re.Match[str] | None:
    """Find the scene that a reply goes on to tell after a rating and no more."""
    scene = _ASKS.search(visible, 1)
    return scene if scene and len(visible[: scene.start()].split()) <= _FEW_WORDS else None


def _weigh(visible: str, scale: Scale) -> Finding:
    """Ask for evidence in the order that :mod:`felicity.rating.parse` states."""
    text = _place(visible, scale)
    return (
        _from_fields(visible, find_marked(visible), scale)
        or _from_text(text, ("final",))
        or _from_fields(visible, find_fields(visible), scale)
        or _from_text(text, ("alone", "leading", "label", "statement"))
        or _from_text(text, ("generic",))
        or _from_text(_only_number(text), ("loose",))
        or _UNPARSED
    )


def _place(visible: str, scale: Scale) -> _Text:
    skeleton, mentions, foreign = find_mentions(without_marks(visible), scale)
    if len(mentions) > _MOST_NUMBERS:
        return _Text(skeleton, ())
    placed = (
        _Placed(mention, position_of(skeleton, mention), _outcome(mention, scale, foreign))
        for mention in set_elsewhere(skeleton, mentions, scale)
    )
    return _Text(skeleton, tuple(placed))


def _from_fields(visible: str, fields: Sequence[Field], scale: Scale) -> Finding | None:
    """Read marked stretches and fields, those of the highest rank that hold a rating."""
    for rank in ("final", "rating", "other"):
        found: list[Finding] = []
        for field in fields:
            inner = visible[field.start : field.end]
            if field.rank != rank or (rank == "other" and not _NUMBER_ALONE.fullmatch(inner)):
                continue
            finding = _weigh(inner, scale)
            if finding.status != "unparsed":
                found.append(finding.moved(field.start, settled=field.closed))
        if found:
            differ = len({(finding.value, finding.status) for finding in found}) > 1
            return _AMBIGUOUS if differ and rank != "final" else found[-1]
    return None


def _from_text(text: _Text, positions: Sequence[Position]) -> Finding | None:
    """Read the numbers that stand in one of the given positions."""
    found = [placed for placed in text.placed if placed.position in positions]
    found = [p for p in found if not is_tentative(text.skeleton, p.mention)] or found
    if _is_superseded(text, found):
        return _AMBIGUOUS
    if any(placed.finding.status == "ok" for placed in found):
        # A number that is off the scale in the midst of a sentence, or in quotes, was said of
        # something else.
        found = [
            placed
            for placed in found
            if placed.finding.status != "out_of_range"
            or not (placed.position == "statement" or _is_quoted(text.skeleton, placed.mention))
        ]
    if not found:
        return None
    if positions != ("final",) and _contradicts(text.skeleton, found):
        return _AMBIGUOUS
    if positions != ("final",) and any(_is_beside(text.skeleton, found, p) for p in text.placed):
        return _AMBIGUOUS
    mention, position, finding = found[-1]
    return finding.moved(0, settled=_is_settled(text.skeleton, mention, position))


def _is_quoted(skeleton: str, mention: Mention) -> bool:
    return skeleton[max(0, mention.start - 1) : mention.start] in {'"', "“"}


def _is_superseded(text: _Text, found: Sequence[_Placed]) -> bool:
    """Say whether the last of these is tentative and another number comes after it."""
    return bool(
        found
        and is_tentative(text.skeleton, found[-1].mention)
        and any(
            later.mention.start > found[-1].mention.start
            and later.finding.status == "ok"
            and not _same(later, found[-1])
            for later in text.placed
        )
    )


def _only_number(text: _Text) -> _Text:
    """Keep numbers without any position only where they can be nothing but a rating."""
    if not any(p.position == "loose" for p in text.placed) or is_refusal(text.skeleton):
        return _Text(text.skeleton, ())
    kept = (
        placed
        for placed in text.placed
        if placed.finding.status in {"ok", "ambiguous"}
        and not placed.mention.in_words
        and (
            placed.mention.kind == "range"
            or _LOOSE_HEAD.search(sentence_before(text.skeleton, placed.mention.start))
        )
    )
    return _Text(text.skeleton, tuple(kept))


def _outcome(mention: Mention, scale: Scale, foreign: bool) -> Finding:
    span = (mention.start, mention.end)
    value = mention.values[0]
    if mention.kind == "range" or value is None:
        return Finding(value=None, status="ambiguous", span=span)
    on_other_scale = mention.kind == "foreign" or (foreign and not mention.out_of)
    if on_other_scale or not scale.low <= value <= scale.high:
        return Finding(value=None, status="out_of_range", span=span)
    if value.denominator != 1:
        return Finding(value=None, status="non_integer", span=span)
    return Finding(value=int(value), status="ok", span=span)


def _contradicts(skeleton: str, found: Sequence[_Placed]) -> bool:
    """Say whether an earlier number differs from the last without being corrected by it."""
    last = found[-1]
    for earlier in reversed(found[:-1]):
        if _same(earlier, last):
            continue
        # "Between 4 and 5, I'd choose 5" settles what the range left open.
        if last.finding.status == "ok" and _within(last.mention, earlier.mention):
            continue
        between = skeleton[earlier.mention.tail : last.mention.start]
        return not (_CORRECTION.search(between) or _CONCLUSION.search(between))
    return False


def _is_beside(skeleton: str, found: Sequence[_Placed], other: _Placed) -> bool:
    """Say whether another number rates another attribute: "5 for warmth and a 3 for tact"."""
    last = found[-1]
    if other.finding.status != "ok" or other in found or _same(other, last):
        return False
    for_each = (_FOR_ONE.match(skeleton, placed.mention.tail) for placed in (last, other))
    asked = (
        _ASKED_OF.search(skeleton[: placed.mention.start][-20:]) is not None
        for placed in (last, other)
    )
    before = sentence_before(skeleton, other.mention.start)
    return all(for_each) or all(asked) or bool(_AND_ONE.search(before))


def _same(one: _Placed, other: _Placed) -> bool:
    return (one.finding.status, one.mention.values) == (other.finding.status, other.mention.values)


def _within(point: Mention, wide: Mention) -> bool:
    ends = [value for value in wide.values if value is not None]
    value = point.values[0]
    return wide.kind == "range" and value is not None and min(ends) <= value <= max(ends)


def _is_settled(skeleton: str, mention: Mention, position: Position) -> bool:
    """Say whether a reply, had it been cut off, could not have changed this rating."""
    if position not in {"final", "alone", "leading", "label"} or is_list_mark(skeleton, mention):
        return False
    rest = skeleton[mention.tail :]
    if _is_amid_scenes(skeleton[: mention.start], rest):
        return False
    return bool(_CLOSED.match(rest)) and bool(rest.strip()) and not _CORRECTION.search(rest)


def _is_amid_scenes(before: str, after: str) -> bool:
    """Say whether a number stands between two scenes that the reply tells of."""
    speakers = set(_SPEAKER.findall(before)) & set(_SPEAKER.findall(after))
    return bool(speakers or (_SCENE.search(before) and _ASKS.search(after)))
