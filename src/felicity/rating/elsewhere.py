"""Numbers that are no rating: quantities, dates, prices, lists, quotations, denials, examples."""

from __future__ import annotations

import re
from collections.abc import Sequence

from felicity.rating.context import sentence_before
from felicity.rating.mentions import Mention
from felicity.types import Scale

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_FIXED = re.compile(
    r"https?://\S+"
    r"|\d{1,2}:\d{2}(?::\d{2})?|\d+'\d+\"?|\b[Nn][or]\.[ \t]*\d+"
    r"|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}([-/.])\d{1,2}\1\d{2,4}"
    rf"|\b{_MONTH}[ \t]+\d{{1,2}}\b(?:,?[ \t]*\d{{4}})?|\b\d{{1,2}}[ \t]+(?:of[ \t]+)?{_MONTH}"
    r"(?:[ \t]+\d{4})?(?![a-z])"
    r"|[$€£¥₹][ \t]?\d[\d,.]*\d|[$€£¥₹][ \t]?\d|\d[\d,.]*[ \t]?[€£¥₹]"
)
RATING_UNIT = (
    r"(?:points?|pts|stars?|Punkte?n?|Sterne|étoiles?|puntos?|pontos?|punti|балл\w*|分|点|점)"
)
# After a rating come these; any other word after a number is what the number counts.
_NO_UNIT = re.compile(
    rf"(?i:{RATING_UNIT}|because|since|as|for|on|out|but|given|due|which|that|is|are|was|would|"
    r"seems?|feels?|sounds?|looks?|if|from|here|overall|in|at|this|he|she|they|it|it's|i|i'd|we|"
    r"the|an?|my|his|her|their|though|although|while|whereas|so|based|considering|when|where|"
    r"with|without|rather|instead|or|and|to|not|than|too|fits|captures|thus|therefore|hence|"
    r"maybe|perhaps|again|still|yet|too|may|might|could|will|can|reflects?|indicates?|suggests?|"
    r"meaning|means|being|represents?|final|no|wait|actually|however|by|even|does|works|"
    r"please|thanks?|imo|imho|honestly|range|should|has|had|were|\w+ly)\b"
)
_UNIT = re.compile(
    r"(?:[ \t]*|-)(?:and a half[ \t]+)?(?i:more |whole |full |long |short |good |extra )?"
    r"(?i:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|decades?|times?|"
    r"a\.?m|p\.?m|o'clock|people|guests?|attendees?|dollars?|cents?|euros?|pounds?|bucks|usd|"
    r"meters?|metres?|miles?|km|kg|items?|reasons?|words?|sentences?|st|nd|rd|th|"
    r"in \d+ [a-z]+|in the (?:morning|afternoon|evening)|past\b|to (?:midnight|noon))\b"
)
_WORD = re.compile(r"(?:[ \t]+|-)(?P<word>[^\W\d_][\w'-]*)")
_SURE = re.compile(r"[ \t]*(?:sure|confident|certain|of\b|accurate|correct|probab|likely)")
_COUNTED = re.compile(
    r"\b(?<!this )(?<!the )(?<!that )(?:steps?|reasons?|options?|points?|parts?|questions?|"
    r"scenarios?|examples?|sections?|items?|attributes?|persons?|speakers?|participants?|cases?|versions?|pages?|chapters?|"
    r"figures?|tables?|states?|motives?|possibilit(?:y|ies)|hypothes[ei]s|knowledge states?|"
    r"alternatives?|utterances?|contexts?|rooms?|lines?|no\.|nr\.|number of|tasks?|turns?|stages?)"
    r"[ \t]*#?[ \t]*$|#$",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:choose|chose|pick|select|go with|answer is) (?:the )?(?:option|number|point|level) $",
    re.IGNORECASE,
)
_TORN = re.compile(r"\b(?:decid\w+|choos\w+|sure|certain|torn|waver\w*)\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[.!?;:\n()—→]|[ \t]-[ \t]|,[ \t]*(?:(?:an?|perhaps|maybe|probably|rather|closer|more like)"
    r"[ \t]+)*$|,?[ \t]+\b(?:but|so|yet|hence|thus|therefore|giving|which)\b|"
    r",?[ \t]+and[ \t]+(?=I\b|would\b|thus\b|so\b|give\b)|"
    r",[ \t]+(?=(?:given|based on|considering|going by)\b)|"
    r",[ \t]+(?=(?:I|I'd|I'll|it|it's|this|my|he|she|they|we|just|making)\b)|,[ \t]+(?=[A-Z])"
)
_DENIED = re.compile(
    r"\b(?:not(?! at all\b)|cannot|no|never|neither|nor|hardly|\w+n't)\b[^\n]*$"
    r"|\b(?:rather than|instead of|as opposed to|versus|vs\.?|compared (?:to|with))[^\n]{0,40}$"
    r"|\b(?:(?:less|more|fewer|greater|higher|lower|better|worse) than|above|below|beyond|over|"
    r"under|short of|exceed\w*)[ \t]+(?:an?|the)?[ \t]*$",
    re.IGNORECASE,
)
_IS = r"(?:is|was|would be|would have been|might be|may be|seems?|feels?|'s)"
_DENIED_AFTER = re.compile(
    rf"[ \t]*(?:{_IS}[ \t]+(?:not\b|excessive\b|reserved\b|out of\b|unlikely\b|impossible\b)"
    r"|(?:is|was|would|does)n't\b"
    rf"|(?:{_IS}[ \t]+)?(?:both |a bit |a little |far |much |clearly |just |way )*too "
    r"(?:high|low|much|little|harsh|generous|strong|weak|extreme)\b"
    r"|would be (?:perfect|ideal)\b|(?:would require|requires|would need)\b"
    r"|(?:drops|falls|rises|becomes)\b|to (?:an? )?[+-]?\d"
    r"|is the (?:high|low)est (?:possible )?(?:rating|score|value|point|number|end)\b(?! I\b))",
    re.IGNORECASE,
)
_UNLESS = re.compile(
    r"[^.!?\n]{0,60}?\b(?:if (?!I (?:had|have|must)|forced|pressed|anything)|unless|"
    r"had (?:it|he|she|they|the)|were (?:it|he|she|they))\b",
    re.IGNORECASE,
)
# "Had he said 'about 150', I'd have given a 4."
_COUNTERFACTUAL = re.compile(
    r"(?:\bwould|'d) have (?:given|rated|said|scored|chosen|been|gone|earned|deserved|got|picked)\b"
    r"|^(?:If (?!I )[\w ]{1,30} (?:had|were(?! to\b| up to\b))|Had \w+)\b"
)
_IN_FACT = re.compile(r"\bbut\b|\bas (?:it is|things stand)\b|;", re.IGNORECASE)
_SPEAKS = r"(?:said|says|(?:answer|replie|respond|ask|utter|explain)(?:s|d|ed))"
# One number in quotes is a rating, unless it is said to be spoken.
_SPOKEN = re.compile(rf"\b{_SPEAKS}[:,]? ?[\"“„«]$", re.IGNORECASE)
_WOULD = re.compile(r"(?:\b(?:would|could|might)\b|'d\b)[^.!?\n]*$", re.IGNORECASE)
_TENTATIVE = re.compile(
    r"\b(?:initial(?:ly)?|first (?:impression|thought|guess|rating|instinct)|at first|preliminary|"
    r"tentative|previous(?:ly)?|original(?:ly)?|earlier|starting)\b[^.!?\n]{0,40}$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\be\.g\b|\bfor (?:example|instance)\b|\bsuch as\b|"
    r"\bexamples?[ \t]*(?:answer|rating|reply|response|output)?[ \t]*:)[^\n]*$",
    re.IGNORECASE,
)
# A paragraph that is headed "Example"; where the head stands alone, the paragraph after it.
_EXAMPLE_BLOCK = re.compile(
    r"(?im:^)[^\w\n]*(?:[Hh]ere(?:'s| is) )?(?:[Aa]n? |[Tt]he )?(?:[Ww]orked )?(?i:example)\b"
    r"[^\n]*(?:(?<=:)[ \t]*\n[ \t]*(?=\n))?(?:\n(?![ \t]*\n)[^\n]*)*"
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|(?<![\w'])'[^'\n]*'(?!\w)")
_LONE = re.compile(
    r"[\W_]*\d+(?:[.,]\d+)?(?:[ \t]*(?:/|out of)[ \t]*\d+)?[\W_]*|[\W_]*[A-Za-z-]+[\W_]*"
)
_PARENTHESIS = re.compile(r"\([^()\n]*\)")
_LIST_MARK = re.compile(r"(?:^|\n)[ \t]*[-•(]?[ \t]*$")
_NUMBERED_LABEL = re.compile(r"[.)][ \t]*[^\W\d][^\n\d]{0,80}[:=][ \t]*[+-]?\d")
_LIST_TAIL = re.compile(r"[.):][ \t]*[^\s\d]|\)")
_GLOSS = re.compile(
    r"[ \t]*(?:=|being\b|means?\b|meaning\b|represents?\b|indicates?\b|stands for\b|"
    r"corresponds? to\b|for (?:not|very)\b|is (?:not|very|the (?:low|high)est|(?:low|high)est)\b|"
    r"\((?:not|very|lowest|highest|extremely|completely|totally)\b|"
    r"(?:the[ \t]+)?(?:lowest|highest|best|worst|maximum|minimum)\b)",
    re.IGNORECASE,
)
_GIVES = re.compile(
    r"\b(?:giv(?:e|ing)|assign|rate|award|choose|pick|go with|stay)\b", re.IGNORECASE
)
_GLOSS_HEAD = re.compile(r"\b(?:where|with|and|assuming|if)[ \t]+(?:an?[ \t]+)?$", re.IGNORECASE)
_GLOSS_COLON = re.compile(r"[ \t]*[:-][ \t]*[^\s\d]")
_MIDDLE = re.compile(
    r"\b(?:mid-?point|middle|end-?points?|(?:max|min)imum(?: (?:score|rating|value))?|"
    r"highest (?:possible|value)|lowest (?:possible|value)|neutral point)"
    r"(?: of the scale)?[ \t]*(?:is|of|are|,|\(|:|=)?[ \t]*$",
    re.IGNORECASE,
)


def is_elsewhere(text: str, mention: Mention) -> bool:
    """Say whether a number belongs to something else than a rating, by what stands around it.

    Parameters
    ----------
    text
        The skeleton of :func:`felicity.rating.mentions.find_mentions`.
    mention
        The number.
    """
    sentence = sentence_before(text, mention.start)
    clause = sentence
    for boundary in _CLAUSE.finditer(sentence):
        clause = sentence[boundary.end() :]
    return bool(
        not mention.usable
        or _counts_something(text, mention)
        or (_COUNTED.search(sentence) and not _CHOSEN.search(sentence))
        or (_MIDDLE.search(sentence) and not _GIVES.search(sentence))
        or (_DENIED.search(clause) and not (mention.kind == "range" and _TORN.search(clause)))
        or _DENIED_AFTER.match(text, mention.tail)
        or (_WOULD.search(sentence) and _UNLESS.match(text, mention.tail))
        or _COUNTERFACTUAL.search(_IN_FACT.split(sentence)[-1])
        or _SPOKEN.search(sentence)
        or _EXAMPLE.search(sentence)
    )


def _counts_something(text: str, mention: Mention) -> bool:
    if _UNIT.match(text, mention.tail):
        return True
    if mention.kind == "foreign" and not mention.out_of and _SURE.match(text, mention.tail):
        return True
    word = _WORD.match(text, mention.tail)
    if word is None or _NO_UNIT.match(word["word"]):
        return False
    # A capital begins a sentence whose full stop is missing. Letters that have no capitals
    # belong to scripts that write no space before the next word.
    first = word["word"][0]
    return first.islower()


def is_tentative(text: str, mention: Mention) -> bool:
    """Say whether a rating is called initial, preliminary or a first impression."""
    return bool(_TENTATIVE.search(sentence_before(text, mention.start)))


def set_elsewhere(text: str, mentions: Sequence[Mention], scale: Scale) -> list[Mention]:
    """Keep the mentions that may be a rating.

    Examples
    --------
    >>> from felicity.rating.mentions import find_mentions
    >>> from felicity.types import Scale
    >>> def kept(text):
    ...     scale = Scale(low=1, high=7)
    ...     skeleton, found, _ = find_mentions(text, scale)
    ...     return [text[m.start : m.end] for m in set_elsewhere(skeleton, found, scale)]
    >>> kept("5 minutes and 13 seconds, $509.55, 11:47, September 15, 1983: 6, not a 7")
    ['6']
    >>> kept("1 = not at all helpful, 7 = very helpful")
    []
    """
    taken = [match.span() for match in _FIXED.finditer(text)]
    taken += [match.span() for match in _EXAMPLE_BLOCK.finditer(text)]
    taken += _quotations(text)
    kept = [
        mention
        for mention in _without_ends(text, _without_legends(text, mentions), scale)
        if not _overlaps(taken, mention) and not is_elsewhere(text, mention)
    ]
    kept = _without_lists(text, kept)
    return _without_glosses(text, kept)


def _overlaps(spans: Sequence[tuple[int, int]], mention: Mention) -> bool:
    return any(start < mention.end and mention.start < end for start, end in spans)


def _quotations(text: str) -> list[tuple[int, int]]:
    """Find quotations, but for one number in quotes and a reply that is one quotation whole."""
    first = re.search(r"\w", text)
    if first is None:
        return []
    last = next(place for place in reversed(range(len(text))) if text[place].isalnum())
    return [
        match.span()
        for match in _QUOTED.finditer(text)
        if not _LONE.fullmatch(match.group())
        and not (match.start() < first.start() and last < match.end())
    ]


def _without_lists(text: str, mentions: list[Mention]) -> list[Mention]:
    """Drop the marks of a numbered list: 1. 2. 3. at the head of lines, (1) (2) in a line."""
    marks = [
        mention
        for mention in mentions
        if mention.kind == "point"
        and not mention.in_words
        and (
            (_LIST_MARK.search(text, max(0, mention.start - 20), mention.start))
            or text[mention.end : mention.end + 1] == ")"
        )
        and _LIST_TAIL.match(text, mention.end)
    ]
    # A list whose first mark stands within a line is one of three marks or more.
    runs = (_marks_from(marks, first) for first in (1, 2))
    places = {
        mark.start
        for run, fewest in zip(runs, (2, 3), strict=True)
        if len(run) >= fewest
        for mark in run
    }
    # A list cut short after a rating, and "1. Competent: 5", have one mark.
    if marks and marks[0].values[0] == 1 and marks[0] != mentions[0]:
        places.add(marks[0].start)
    places |= {mark.start for mark in marks if _NUMBERED_LABEL.match(text, mark.end)}
    return [mention for mention in mentions if mention.start not in places]


def _marks_from(marks: Sequence[Mention], first: int) -> list[Mention]:
    """Return the marks that count up by one from ``first``."""
    run: list[Mention] = []
    for mark in marks:
        if mark.values[0] == first + len(run):
            run.append(mark)
    return run


def _without_legends(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Drop numbers explained in parentheses after another: 6 - high (1 = low, 7 = high)."""
    spans = [match.span() for match in _PARENTHESIS.finditer(text)]
    inside = [m for m in mentions if _overlaps(spans, m) and _is_glossed(text, m)]
    outside = any(m.usable and not _overlaps(spans, m) for m in mentions)
    return [m for m in mentions if not (outside and m in inside)]


def _without_ends(text: str, mentions: Sequence[Mention], scale: Scale) -> list[Mention]:
    """Drop the explained numbers of a reply that explains both ends of the scale."""
    glossed = [m for m in mentions if m.kind == "point" and _is_glossed(text, m)]
    if {scale.low, scale.high} <= {mention.values[0] for mention in glossed}:
        return [mention for mention in mentions if mention not in glossed]
    return list(mentions)


def _without_glosses(text: str, mentions: list[Mention]) -> list[Mention]:
    """Drop numbers that a reply explains: 1 = not at all, 7 = very."""
    glossed = [
        mention for mention in mentions if mention.kind == "point" and _is_glossed(text, mention)
    ]
    if len({mention.values for mention in glossed}) > 1:
        return [mention for mention in mentions if mention not in glossed]
    told = [m for m in glossed if _GLOSS_HEAD.search(text, max(0, m.start - 12), m.start)]
    return [mention for mention in mentions if mention not in told]


def _is_glossed(text: str, mention: Mention) -> bool:
    if _GLOSS.match(text, mention.tail):
        return True
    before = text[max(0, mention.start - 20) : mention.start]
    heads_line = re.search(r"(?:^|\n|[,;(])[ \t]*[-•]?[ \t]*$", before)
    return bool(heads_line and _GLOSS_COLON.match(text, mention.tail))
