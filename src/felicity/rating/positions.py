"""Where a number stands when it is the rating: alone in a line, after a label, in a statement."""

from __future__ import annotations

import re
from typing import Literal

from felicity.rating.context import line_around, sentence_after, sentence_before
from felicity.rating.elsewhere import RATING_UNIT
from felicity.rating.mentions import MOVED, Mention

Position = Literal["final", "alone", "leading", "label", "statement", "generic", "loose"]

_RATING = (
    r"(?:ratings?|scores?|grade|likert(?: scale)?(?: value)?|mine|bewertung|puntuaci[oó]n|"
    r"calificaci[oó]n|valutazione|оценка)"
)
_NOUN = (
    r"(?:ratings?|scores?|grade|likert|mine|answer|marks?|judge?ment|assessment|evaluation|"
    r"verdict|value|choice|decision|conclusion|estimate|response|result|output|number|bewertung|"
    r"note|urteil|antwort|respuesta|r[eé]ponse|risposta|nota|puntuaci[oó]n|calificaci[oó]n|"
    r"valutazione|оценка|ответ)"
)
_SOFT = (
    r"(?:(?:an?|the|about|around|approximately|roughly|probably|maybe|perhaps|likely|exactly|"
    r"definitely|clearly|just|simply|still|only|solid|strong|clear|firm|high|low|weak|decent|good|"
    r"fair|fairly|moderate|neutral|comfortable|definite|generous|confident|respectable|perfect|"
    r"full|modest|middling|number|rating|score|of|i'd say|i would say|i say|something like|say|"
    r"level|value|at|as|it's|it is|middle-of-the-road)[ ,]+)*"
)
_OPEN = r"[\s\"'“”„«‘’(\[<$~]*"
_SEPARATOR = r"(?:[:=]|->|=>|→|—|[ ]-[ ]|\bis\b|\bare\b|\bwould be\b|\bwill be\b|\bshould be\b)"
_FINAL = re.compile(
    rf"(?:\b(?:final(?:ly)?|ultimate(?:ly)?|definitive|revised|corrected|updated|adjusted|"
    rf"overall)\b"
    rf"[^.!?\n\d]{{0,40}}?\b{_NOUN}\b[^.!?\n\d]{{0,40}}?"
    rf"|\b(?:final|overall|revised|corrected|correction|updated|verdict|edit)\b"
    rf"[ ]*(?=[:=]|->|—|[ ]-[ ]))"
    rf"[ ]*(?:{_SEPARATOR}|\bof\b)?[ ]*{_OPEN}{_SOFT}{_OPEN}$",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"(?:\b{_RATING}\b(?:[ ]|[^.!?\n\d:=]{{0,60}}?[ ]*(?:{_SEPARATOR}|\bof\b|\bat\b))"
    # "Logan's answer: 146" tells what was said in the scenario.
    rf"|(?<!'s )\b{_NOUN}\b(?:[^.!?\n\d:=]{{0,40}}?[ ]*(?:[:=]|->|=>|→)|[ ](?:—|-)))"
    rf"[ ]*{_OPEN}{_SOFT}{_OPEN}$",
    re.IGNORECASE,
)
_SAID_TO_BE = re.compile(
    rf"(?<!'s )\b{_NOUN}\b(?! of guests| of people)[^.!?\n\d:=]{{0,40}}?"
    rf"\b(?:is|would be|will be|should be)\b[ ]*{_OPEN}{_SOFT}{_OPEN}$",
    re.IGNORECASE,
)
_CJK_LABEL = re.compile(r"(?:评分|评级|评价|答案|評価|回答|평가|점수)[^\d\n.]{0,12}$")
_GENERIC = re.compile(
    rf"^(?P<label>[^\n]{{0,160}}?[^\W\d][^\n]{{0,40}}?)"
    rf"(?:[:=]|->|=>|→|—|[ ]-[ ])[ ]*{_OPEN}{_SOFT}{_OPEN}$",
    re.IGNORECASE,
)
_NOT_RATED = re.compile(
    r"\b(?:number|count|total|minutes?|seconds?|hours?|weeks?|days?|months?|time|date|price|cost|"
    r"years?|pages?|steps?|confidence|certainty|probability|amount|attendees|guests|people|"
    r"reasons?|max(?:imum)?|min(?:imum)?|scale|range|midpoint|sum|duration|length|exact|states?|"
    r"motives?|said|says|answered|replied|stated|\w+'s (?:answer|reply|response|words))\b",
    re.IGNORECASE,
)
_VERB = (
    r"(?:rat(?:e|ed|ing)|scor(?:e|ed|ing)|giv(?:e|ing|en)|gave|say|go(?:ing)?|went|choos(?:e|ing)|"
    r"chose|pick(?:ed|ing)?|select(?:ed|ing)?|assign(?:ed|ing)?|put(?:ting)?|settl(?:e|ed|ing)|"
    r"opt(?:ed|ing)?|land(?:ed|ing)?|answer|call|estimate|judge|assess|evaluate|place|lean(?:ing)?|"
    r"rank|guess|think|believe|feel|vote|mark|award|deem|consider|stick|end(?:ed)?|stay|meant?)"
)
_FIRST_PERSON = re.compile(
    rf"\b(?:I|we|I'd|I'll|I'm|I've|let me|let's)\b[^.!?\n\d]{{0,60}}?\b{_VERB}\b"
    r"(?P<gap>[^.!?\n\d]{0,90})$",
    re.IGNORECASE,
)
_ELSEWHERE_GAP = re.compile(
    r"\b(?:because|since|when|which|who|after|before|while|ends?|ended|said|says|told|until)\b",
    re.IGNORECASE,
)
_THIRD_PERSON = re.compile(
    r"(?:\b(?:is|was|'s|would be|be|sounds like|feels like|seems like|looks like|it|as|makes?|"
    r"warrants?|deserves?|merits?|earns?|gets?|receives?|given|rates?|scores?|rated|scored)"
    r"(?: (?:definitely|probably|clearly|perhaps|maybe|likely|about|around|easily|at|more of))*"
    r" (?:an? )(?:\w+ )?"
    r"|\b(?:warrants?|deserves?|merits?|earns?|rates?|scores?|rated|scored)(?: (?:as|at))? )"
    r"[\"'(\[]*$",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:an?|my) (?:solid|strong|clear|firm|high|low|weak|decent|good|fair|moderate|neutral|"
    r"comfortable|definite|generous|confident|respectable|perfect|full|mere|modest|middling) $",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(
    r"(?:^|[,:—(] ?|\b(?:so|and|but) )(?:(?:so|on reflection|on second thoughts?|"
    r"hence|thus|therefore|overall|in sum|i meant?|then|nevertheless|nonetheless|"
    r"settl(?:e|ed|ing) (?:on|for)|no|nope|"
    r"wait|actually|scratch that|correction|make (?:it|that)|call it|or rather|rather|"
    r"or better|going with|go with|would (?:say|rate|give|go with)|rated?|rating|scoring|"
    r"leaning towards?|closer to|more like|say|giving it|giving|i'd|probably|definitely|maybe|"
    r"perhaps|likely|around|about|roughly|approximately)[ ,—-]+)+(?:an? )?$",
    re.IGNORECASE,
)
# "Given that he was asked casually, 3", "if I have to choose one: 5", "5 → 3".
_SUMMED = re.compile(
    r"(?:\b(?:considering|given|based on|going by|in (?:view|light) of|as (?:it is|things stand)|"
    r"if (?:I|we) (?:have to|had to|must|need to))\b[^.!?\n\d]{0,80}[,:] ?(?:an? )?"
    r"|\d ?(?:→|->) ?)$",
    re.IGNORECASE,
)
# "The price makes it 3."
_MAKES = re.compile(r"\b(?:makes?|puts) (?:it|him|her|this|that)(?: at)? $", re.IGNORECASE)
_AFTER = re.compile(
    r"[ \t]*(?:it is\b|for me\b|from me\b|is my (?:rating|answer|score|choice)|seems (?!to )|"
    r"feels (?!like)|sounds (?:right|fair|about)|would be (?:right|fair|my|appropriate)|"
    r"is (?:right|appropriate|fair|fitting|reasonable|apt|warranted|accurate|suitable|justified|"
    r"the (?:best|right|most|answer|rating))|fits\b|captures\b|looks right)",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"[\W_]*(?:(?:ok|okay|hmm+|sure|yes|well|um|uh|lol|it's|its|that's|an?|the|about|around|approximately|roughly|probably|maybe|"
    r"perhaps|definitely|likely|say|circa)[\W_]+)*",
    re.IGNORECASE,
)
_RIGHT = re.compile(rf"[\W_]*(?:{RATING_UNIT}[\W_]*)?(?:scale[\W_]*)?", re.IGNORECASE)
_LEADS = re.compile(
    rf"(?:[ \t]*{RATING_UNIT}\b)?[\"')\]]*(?:[ \t]*[,;:.!)—→=(\[](?!\d)(?![ \t]*\d+[ \t]*$)"
    r"|[ \t]+-|"
    r"[ \t]+(?:because|since|as|for|given|due|based|considering)\b|[ \t]+(?=[A-Z]))"
)
_WORD = re.compile(r"\w")
_HEAD = re.compile(r"[\s\W_]*")


def position_of(text: str, mention: Mention) -> Position:
    """Say where a number stands.

    Examples
    --------
    >>> from felicity.rating.mentions import find_mentions
    >>> from felicity.types import Scale
    >>> def where(text):
    ...     skeleton, (first, *_), _ = find_mentions(text, Scale(low=1, high=7))
    ...     return position_of(skeleton, first)
    >>> where("Final rating: 5"), where("**5**"), where("5, he is exact."), where("Rating: 5")
    ('final', 'alone', 'leading', 'label')
    >>> where("I'd go with 5"), where("Competent: 6"), where("exact, hence the 5")
    ('statement', 'generic', 'loose')
    """
    left, right = line_around(text, mention.start, mention.tail)
    before = sentence_before(text, mention.start)
    after = sentence_after(text, mention.tail)
    if _FINAL.search(before):
        return "final"
    if _LEFT.fullmatch(left) and _RIGHT.fullmatch(right):
        return "alone"
    # A sentence of one number: "He sounds sure. 6."
    stands_alone = _HEAD.fullmatch(before) and _RIGHT.fullmatch(after)
    if stands_alone and not mention.in_words and _stops(text, mention):
        return "alone"
    if _HEAD.fullmatch(left) and _LEADS.match(right) and _is_edge(text, mention):
        return "leading"
    if _LABEL.search(before) or _CJK_LABEL.search(before):
        return "label"
    if _is_statement(before, text, mention):
        return "statement"
    generic = _GENERIC.match(before)
    if generic and not _NOT_RATED.search(generic["label"]):
        return "generic"
    return "loose"


def is_list_mark(text: str, mention: Mention) -> bool:
    """Say whether a 1 at the head of a line may be the first mark of a list cut short."""
    left, right = line_around(text, mention.start, mention.tail)
    return (
        mention.values[0] == 1
        and not _HEAD.sub("", left)
        and bool(re.match(r"[.)][ \t]*[^\W\d]", right))
    )


def _stops(text: str, mention: Mention) -> bool:
    """Say whether the first or last sentence of the reply is the number alone."""
    left, right = _WORD.search(text, 0, mention.start), _WORD.search(text, mention.tail)
    return not left or not right


def _is_edge(text: str, mention: Mention) -> bool:
    """Say whether a number stands in the first or the last line with words."""
    if not _WORD.search(text, 0, mention.start):
        return True
    line_end = text.find("\n", mention.tail)
    return line_end < 0 or not _WORD.search(text, line_end)


def _is_statement(before: str, text: str, mention: Mention) -> bool:
    first_person = _FIRST_PERSON.search(before)
    if first_person and not _ELSEWHERE_GAP.search(first_person["gap"]):
        return True
    return bool(
        mention.out_of
        or _THIRD_PERSON.search(before)
        or _QUALIFIED.search(before)
        or _ELLIPTIC.search(before)
        or _SUMMED.search(before)
        or MOVED.search(before)
        or (_MAKES.search(before) and not sentence_after(text, mention.tail).strip(" .!"))
        or _AFTER.match(text, mention.tail)
        or _SAID_TO_BE.search(before)
    )
