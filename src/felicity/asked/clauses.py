"""Which answer the sentences of a reply name as the one that was asked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from felicity.asked.mentions import NOUN, QUOTED, Mention, Reading, after, before

Found = tuple[int, Mention]

_BREAK = re.compile(
    r"[.!?]+(?=[\s\"')]|$)|[;\n]|\s[–-]+\s|—|(?:,\s*)?\b(?:but|while|whereas|because|since|"
    r"although|though|even if|however)\b",
    re.IGNORECASE,
)
_NEW_SUBJECT = re.compile(
    rf"(?:,|\band\b|\bso\b)\s*(?:the\s+)?(?:{NOUN}\s*)?[\"'(]*$", re.IGNORECASE
)
# Before a word that would name the answer: these take it back.
_NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|hardly|less|least|nothing|nobody|without|cannot|doubt|deny|avoids?|"
    r"anything but|far from|free of)\b|n't\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|other|at first|initially|may|might|could|can|although|though|even)\b",
    re.IGNORECASE,
)
# What may follow an answer that is named and no more.
_ENDS = (
    rf"\s*(?:$|[.;:!)\]}}\"'\n{QUOTED}—–]|\s-|,(?!\s*[\"'(]*(?:{NOUN}\s*)?LABEL\b|\s*(?:or\b|wait\b|actually\b|no[,.]))"
    r"|(?:because|since|as|for|due|over|rather|instead|not)\b)"
)
_SAID = (
    r"(?:choose|chose|pick(?:ed)?|select(?:ed)?|say|go with|going with|went with|vote for|"
    r"point (?:to|at|out)|opt for|think|guess|believe|answer)(?:\s+(?:that\s+)?it(?:'s| is))?"
)
_SURELY = r"(?:definitely|probably|clearly|obviously|certainly|likely|surely|definitively)"
_IS = rf"(?:\s*[:=→]|\s*->|\s+(?:is|would be|must be|has to be|should be)\b:?)(?:\s*{_SURELY}\b)?"

_NAMED = rf"(?:(?:(?:the|my)\s+)?{NOUN}(?:\s+is\b)?)?\W*"
_MINE = re.compile(rf"\b(?:I|I'd|I'll|I'm|we|we'd)\b[^.;!?]*?\b{_SAID}$", re.IGNORECASE)
_LINK = (
    r"(?:is|was|seems|sounds|looks|feels|appears|comes across|would be|must be|has|contains|makes|"
    r"because|being)\b"
)
# Between an answer and the word that is said of it: few words, and none that say it of another.
_SAID_OF = re.compile(
    rf"(?!.*\b(?:to (?!be\b)|for\b|question))(?:(?:\W+\w+){{0,2}}\W+$|\W*[:=–-]|"
    rf"(?:\W+\w+){{0,6}}?\W+{_LINK}(?:\W+\w+){{0,6}}\W+$)",
    re.IGNORECASE,
)
_THEN_NAMED = re.compile(
    rf"\b(?:is|was|would be|must be|has to be)\b|[:=(]\W*(?:{NOUN}\W*)?$", re.IGNORECASE
)
_ASKED = re.compile(r"\s+(?:question|situation|request)\b", re.IGNORECASE)
_BEGINS = re.compile(rf"(?:^|\n|[.!?;,{QUOTED}\"'])[\s(•-]*(?:{NOUN}\s+)?$", re.IGNORECASE)
_HEADED = re.compile(r"\)?\s*[:.)]\s*\S|\s+[–—-]\s+\S")
_REST = re.compile(rf"[^\w\n?{QUOTED}]*(?:\n|$)")
# A label that heads other words than its answer's.
_OTHER_WORDS = re.compile(rf"[^\w\n]{{0,4}}{QUOTED}")
_WORD = re.compile(r"[\w?]")
_LINE = re.compile(rf"(?:^|\n)\W*{_NAMED}$", re.IGNORECASE)
_SENTENCE = re.compile(rf"[.?!)]\W*{_NAMED}$", re.IGNORECASE)
_LEADS = re.compile(rf"{_IS}$", re.IGNORECASE)


def named_answers(reading: Reading, labels: Sequence[str], words: Sequence[str]) -> Iterator[Found]:
    """Yield each place that the reply names, with the mention that does."""
    ends = re.compile(
        _ENDS.replace("LABEL", f"(?:{'|'.join(map(re.escape, labels))})"), re.IGNORECASE
    )
    listed = _is_list(reading)
    yield from own_lines(reading)
    yield from _last_sentence(reading)
    if not listed:
        yield from _leading(reading, ends)
    for clause, mentions in _clauses(reading, listed):
        if clause.rstrip().endswith("?"):
            continue
        yield from _chosen(clause, mentions, ends, words)
        yield from _described(clause, mentions, words)


def _is_list(reading: Reading) -> bool:
    """Whether the reply goes through both answers, each headed by its label."""
    heads = {m.place for m in reading.mentions if _is_heading(reading.text, m)}
    return heads == {0, 1}


def _is_heading(text: str, mention: Mention) -> bool:
    begins = _BEGINS.search(before(text, mention.start)) is not None
    headed = _HEADED.match(after(text, mention.end)) is not None
    return begins and (headed or mention.own_words)


def own_lines(reading: Reading) -> Iterator[Found]:
    """Yield each answer that has a line of its own, but not a list of both with their texts."""
    listed = _is_list(reading)
    for mention in reading.mentions:
        if listed and mention.own_words and _is_heading(reading.text, mention):
            continue
        line = _LINE.search(before(reading.text, mention.start))
        if line and _REST.match(after(reading.text, mention.end)):
            yield mention.place, mention


def _last_sentence(reading: Reading) -> Iterator[Found]:
    """Yield the last answer where it is a sentence; with the one it stands bare beside, if any."""
    for number, mention in list(enumerate(reading.mentions))[-1:]:
        if _WORD.search(reading.text, mention.end):
            return
        for other in reading.mentions[:number][-1:]:
            if not _WORD.search(reading.text, other.end, mention.start):
                yield other.place, other
                yield mention.place, mention
        if _SENTENCE.search(before(reading.text, mention.start)):
            yield mention.place, mention


def _leading(reading: Reading, ends: re.Pattern[str]) -> Iterator[Found]:
    """Yield the answer that begins the reply and stands by itself."""
    for mention in reading.mentions[:1]:
        begins = re.fullmatch(rf"\W*{_NAMED}", before(reading.text, mention.start), re.IGNORECASE)
        rest = after(reading.text, mention.end)
        if begins and ends.match(rest) and not _OTHER_WORDS.match(rest):
            yield mention.place, mention


def _clauses(reading: Reading, listed: bool) -> Iterator[tuple[str, list[tuple[int, Mention]]]]:
    """Cut the reply into clauses, each with its mentions and where they begin in it."""
    text, heads = (
        reading.text,
        [m for m in reading.mentions if listed and _is_heading(reading.text, m)],
    )
    closed = {m.end for m in heads} | {m.end + 1 for m in heads}
    cuts = {match.end() for match in _BREAK.finditer(text) if match.start() not in closed}
    cuts.update(m.start for m in reading.mentions[1:] if _NEW_SUBJECT.search(before(text, m.start)))
    places = sorted(cuts | {m.start for m in heads} | {0, len(text)})
    starts = [m.start for m in reading.mentions]
    for start, end in pairwise(places):
        inside = reading.mentions[bisect_left(starts, start) : bisect_left(starts, end)]
        yield text[start:end], [(m.start - start, m) for m in inside]


def _chosen(
    clause: str,
    mentions: Sequence[tuple[int, Mention]],
    ends: re.Pattern[str],
    words: Sequence[str],
) -> Iterator[Found]:
    """``I'd pick B``, ``the (silly) answer is B``, ``Answer: B``, ``it's B``."""
    kinds = "|".join(["final", "correct", "right", "overall", *map(re.escape, words)])
    noun = rf"(?:{NOUN}|pick|selection|verdict|one)"
    told = re.compile(
        rf"(?:^|[^\w\s'’]|\b(?:so|thus|therefore|hence|then|say|think|believe|that|conclusion)\b)"
        rf"\s*[\"']?(?:(?:the|my|your|this)\s+)?(?:(?:{kinds})\s+)*{noun}[\"')]*{_IS}$"
        rf"|^\W*(?:(?:so|thus|hence|therefore)\W+)?"
        rf"(?:(?:it|that|this)(?:'s| is| would be| must be| has to be)"
        rf"(?:\s+{_SURELY})?|{_SURELY}|so|thus|hence|therefore|"
        rf"(?:I )?(?:choose|pick|select(?:ed)?):?)$",
        re.IGNORECASE,
    )
    for start, mention in mentions:
        said = before(clause, start).rstrip(" ,\"'([{")
        if not _LEADS.search(said):
            said = re.sub(rf"\b(?:the\s+)?{NOUN}\W*$", "", said, flags=re.IGNORECASE).rstrip()
        nearest = said.rpartition(",")[2]
        mine = _MINE.search(said) is not None and not _NEGATION.search(said)
        chosen = mine or (told.search(said) is not None and not _NEGATION.search(nearest))
        end = start + mention.end - mention.start
        if chosen and not _UNSURE.search(nearest) and ends.match(after(clause, end)):
            yield mention.place, mention


def _described(
    clause: str, mentions: Sequence[tuple[int, Mention]], words: Sequence[str]
) -> Iterator[Found]:
    """``B is silly``, ``the one that does not fit is B``: one answer, called by a word asked for.

    The word must be said of the answer, and not denied, nor the sentence be a supposition.
    """
    if len({mention.place for _, mention in mentions}) != 1 or _UNSURE.search(clause):
        return
    start, mention = mentions[0]
    end = start + mention.end - mention.start
    for word in sorted(words, key=len, reverse=True):
        for match in re.finditer(rf"\b{re.escape(word)}\b", clause, re.IGNORECASE):
            if _NEGATION.search(clause[: match.start()]) or _ASKED.match(clause[match.end() :]):
                continue
            named = match.end() <= start and _THEN_NAMED.search(clause[match.end() : start])
            said_of = match.start() >= end and _SAID_OF.match(clause[end : match.start()])
            if named or said_of:
                yield mention.place, mention
                return
