r"""A reply in words → which of two answers it names, or none, with one status.

Never guesses. Reasoning is set aside, then evidence is asked for in this order; the first kind
that is there decides:

1. a stretch marked as the answer: ``\boxed{B}``, ``<answer>B</answer>``, ``[[B]]``, a JSON field,
   ``Final answer: B``, or a last line that is an answer and no more.
2. an answer that begins the reply or has a line of its own ("B", "B because …", the answer quoted
   in full), one that is chosen ("I'd pick B", "the silly answer is B", "Answer: B"), one that is
   called by a word of the question ("B is silly", "A does not fit").

Evidence of one kind that names both answers, "A or B", "both" and "neither" are ``ambiguous``. An
answer that is spoken of without being named ("A is polite") counts for nothing.

A reply that was cut off (finish ``length``), or whose rest a filter held back, has an answer only
where no more could change it: a marked one, or a label that begins the reply and has a line of its
own or a reason ("B because"). A lone "B" may have become "Both", and "A." a list of both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from felicity.asked.clauses import named_answers, own_lines
from felicity.asked.mentions import NOUN, Reading, plain, read_mentions
from felicity.rating.endings import Ending, Unread, set_aside
from felicity.rating.refusals import is_refusal
from felicity.types import Choice

PARSER_VERSION = "asked-2"

ChoiceStatus = Literal[
    "ok",
    "refused",
    "empty",
    "truncated",
    "truncated_in_reasoning",
    "ambiguous",
    "unparsed",
    "error",
    "model_mismatch",
]
CHOICE_STATUSES: tuple[ChoiceStatus, ...] = get_args(ChoiceStatus)

Span = tuple[int, int]
# What chat templates end a turn with, where a server lets it through.
_SPECIAL = re.compile(r"<\|(?:im_end|im_start|eot_id|end|endoftext|end_of_text)\|>|</?s>")
_FIELD = re.compile(r"answer|choice|pick|letter|label|option|select|verdict|result|response", re.I)
_CORRECTS = re.compile(
    r"\b(?:actually|on (?:second|further) thoughts?|on reflection|correction|update|wait|hmm|no"
    r"|scratch that|sorry|i mean|rather|instead|then|change my (?:mind|answer))\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(r"\b(?:or|maybe|perhaps|actually|no)\b[\s,]+(?:both|neither)\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedChoice:
    """What a reply says.

    Attributes
    ----------
    value
        0 for the answer shown first, 1 for the second; None unless ``status`` is ``ok``.
    status
        One of ``CHOICE_STATUSES``. ``model_mismatch`` is a state of a request, never set here.
    span
        Where in the reply the answer is named, from and to; None where it is not.
    """

    value: int | None
    status: ChoiceStatus
    span: Span | None


def parse_choice(
    text: str, finish: str, choice: Choice, /, *, reasoning: str | None = None
) -> ParsedChoice:
    """Read out of a reply which answer it names.

    Parameters
    ----------
    text
        The reply.
    finish
        Why the model stopped: ``stop``, ``length``, ``content_filter``, ``error`` or the
        provider's own word. A reply of finish ``error`` is not read.
    choice
        The answers as they were shown.
    reasoning
        Reasoning that came in a field of its own. Nothing is read from it; it tells a reply cut
        off while reasoning from an empty one.

    Examples
    --------
    >>> shown = Choice(labels=("A", "B"), answers=("At noon.", "Shut up."), words=("silly",))
    >>> parse_choice("The silly answer is B because A tells the time.", "stop", shown)
    ParsedChoice(value=1, status='ok', span=(20, 21))
    >>> parse_choice("A is a silly answer to some, B to others.", "length", shown).status
    'truncated'
    >>> [parse_choice(said, "stop", shown).status for said in ("A or B", "a silly answer", "")]
    ['ambiguous', 'unparsed', 'empty']
    """
    visible, unread = set_aside(_SPECIAL.sub(_spaces, text), finish, reasoning)
    if unread is not None:
        return _none(unread)
    reading = read_mentions(plain(visible), choice)
    return _decide(visible, Ending.of(finish).broken_off, choice, reading)


def _decide(
    visible: str, broken_off: Unread | None, choice: Choice, reading: Reading
) -> ParsedChoice:
    marked = list(_marked(visible, choice))
    named = marked or ([] if broken_off else list(_last_line(reading)))
    named = named or [
        (place, (mention.start, mention.end))
        for place, mention in named_answers(reading, choice.labels, choice.words)
    ]
    places = {place for place, _ in named}
    if len(places) > 1 or (reading.crossed and not marked) or _TAKEN_BACK.search(reading.text):
        return _none(broken_off or "ambiguous")
    if places:
        place, span = named[-1 if marked else 0]
        if not marked and _is_corrected(reading, place, span):
            return _none(broken_off or "ambiguous")
        if broken_off and not (marked or _is_closed(visible, span, choice)):
            return _none(broken_off)
        return ParsedChoice(value=place, status="ok", span=span)
    # To decline one answer ("I would not pick A") is not to decline to answer.
    declines = not reading.mentions and is_refusal(plain(visible))
    if broken_off or declines:
        return _none(broken_off or "refused")
    open_ = reading.undecided or len({m.place for m in reading.mentions}) == 2
    return _none("ambiguous" if open_ else "unparsed")


def _is_corrected(reading: Reading, place: int, span: Span) -> bool:
    """Whether the other answer is named later, after a word that takes the first back."""
    return any(
        _CORRECTS.search(reading.text, span[1], mention.start)
        for mention in reading.mentions
        if mention.place != place and mention.start >= span[1]
    )


def _marked(text: str, choice: Choice) -> Iterator[tuple[int, Span]]:
    """Yield answers in marks that nothing else is written in."""
    yield from _fields(text, choice)
    for place, label in enumerate(choice.labels):
        name = rf"\(?(?:\\text\{{\s*)?(?:{NOUN}\s+)?({re.escape(label)})\)?\.?"
        marks = (
            rf"\\boxed\{{\s*{name}\s*\}}|<answer>\s*{name}\s*</answer>|\[\[\s*{name}\s*\]\]"
            rf"|\bfinal (?:answer|choice)\W*(?:is\W+|:\W*){name}(?=[\s*_.!\"']*(?:\n|$))"
        )
        for match in re.finditer(marks, text, re.IGNORECASE):
            group = match.lastindex or 0
            yield place, match.span(group)


def _fields(text: str, choice: Choice) -> Iterator[tuple[int, Span]]:
    """Yield what a JSON object gives as its answer: a label, or an answer's text."""
    for match in re.finditer(r"\{[^{}]*\}", text):
        try:
            fields = json.loads(match.group())
        except ValueError:
            continue
        for key, value in fields.items():
            said = re.sub(rf"^{NOUN}\s+", "", _bare(value), flags=re.IGNORECASE)
            for place in (0, 1):
                names = (_bare(choice.labels[place]), _bare(choice.answers[place]))
                if said in names and (_FIELD.search(key) or _is_word(key, choice)):
                    yield place, match.span()


def _bare(value: object) -> str:
    return " ".join(plain(str(value)).lower().split()).strip(" .!?\"'()")


def _is_word(key: str, choice: Choice) -> bool:
    return any(word.lower() in key.lower().replace("_", " ") for word in choice.words)


def _last_line(reading: Reading) -> Iterator[tuple[int, Span]]:
    """Yield the answer that is the reply's last line and no more, and any other alone in a line."""
    found = list(own_lines(reading))
    if not found or found[-1][1] != reading.mentions[-1]:
        return
    if re.fullmatch(r"[^\w?]*", reading.text[found[-1][1].end :]):
        yield from ((place, (mention.start, mention.end)) for place, mention in found)


def _is_closed(text: str, span: Span, choice: Choice) -> bool:
    """Whether a label begins the reply and has a line of its own, or a reason.

    "A: fine" and "A." may be the beginning of a list of both, and so may an answer's text.
    """
    if text[slice(*span)].lower() not in {label.lower() for label in choice.labels}:
        return False
    begins = re.fullmatch(rf"\W*(?:{NOUN}\s*:?)?\W*", plain(text[: span[0]]), re.IGNORECASE)
    after = re.match(r"[^\w\n?,]*\n|[*_`)\]\"']*\s+(?:because|since)\b", text[span[1] :])
    return begins is not None and after is not None


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _none(status: ChoiceStatus) -> ParsedChoice:
    return ParsedChoice(value=None, status=status, span=None)
