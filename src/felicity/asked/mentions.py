"""Where a reply speaks of one of the two answers: by label, by its text, or by its place."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from felicity.types import Choice

NOUN = (
    r"(?:answer|option|choice|reply|response|letter|label|version|sentence|statement|line|"
    r"candidate)"
)
QUOTED = "¤"  # stands where a quotation stood
# Characters around a mention that are looked at, so that a long reply takes time by its length.
NEAR = 300
_MARKS = str.maketrans({**dict.fromkeys("*_`#~>|", " "), "“": '"', "”": '"', "„": '"', "«": '"',
                        "»": '"', "‘": "'", "’": "'"})  # fmt: skip
# After an "A" that begins a sentence these tell the label from the article.
_VERBS = (
    r"(?:is|isn't|was|wasn't|would|wouldn't|sounds|seems|looks|feels|appears|because|since|as|and|"
    r"or|does|doesn't|has|makes|contains|gives|says|fits|breaks|violates|but|while|for|fails|"
    r"ignores|repeats|should|over|than|vs)\b"
)
_ENDS = r"(?=\s*(?:$|[.,;:!?)\]}\"'\n]))"
_OPENS = rf"(?:^|[\n(\[\"':]|\b(?:{NOUN}|is|be|it's|that's))\s*$"
_NOT_IT = re.compile(
    r"\b(?:not|rather than|instead of|unlike|than|over|compared (?:to|with)|as opposed to|"
    rf"in contrast to)\s+(?:the\s+)?(?:{NOUN}\s+)?[\"'(]*$",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"[\s:.,)(\]—–-]*")
_JOIN = r"(?:or|and|nor|/|&|\+|vs\.?|versus|and/or)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A stretch of a reply that stands for the answer shown first (0) or second (1).

    ``own_words`` where the answer's text stands there, with or without its label.
    """

    place: int
    start: int
    end: int
    own_words: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A reply made ready: quotations overwritten, its mentions in order.

    Attributes
    ----------
    undecided
        Whether it speaks of both or neither ("A or B", "both").
    crossed
        Whether it gives one answer's label to the other's text.
    """

    text: str
    mentions: tuple[Mention, ...]
    undecided: bool
    crossed: bool


def plain(text: str) -> str:
    """Write full-width characters, quotation marks and Markdown plainly; places stay the same.

    Examples
    --------
    >>> plain("**Ｂ**: “no”")
    '  B  : "no"'
    """
    forms = (unicodedata.normalize("NFKC", character) for character in text)
    same = (form if len(form) == 1 else old for form, old in zip(forms, text, strict=True))
    return "".join(same).translate(_MARKS)


def before(text: str, place: int) -> str:
    """Return what stands near before a place; a letter stands for what is further away."""
    return text[:place] if place <= NEAR else f"x{text[place - NEAR : place]}"


def after(text: str, place: int) -> str:
    """Return what stands near after a place; a letter stands for what is further away."""
    return text[place:] if len(text) - place <= NEAR else f"{text[place : place + NEAR]}x"


def read_mentions(text: str, choice: Choice) -> Reading:
    """Find what a plain text says of the two answers.

    Left out are what merely repeats the question (both answers with their labels, "A or B"), what
    is set against the answer ("rather than A"), labels inside other quotations, and the article.
    """
    text, quotes = _take_quotes(_unwrapped(text), choice)
    labels = [m for place in (0, 1) for m in _labels(text, choice.labels[place], place, choice)]
    joined, crossed = _join(text, sorted(labels, key=lambda m: m.start), quotes)
    text, joined = _drop_repeated_question(text, joined)
    text, joined, pairs = _drop_pairs(text, joined)
    joined = [m for m in joined if not _NOT_IT.search(before(text, m.start))]
    undecided = pairs or re.search(r"\b(?:both|neither|either|equally)\b", text, re.I) is not None
    return Reading(text=text, mentions=tuple(joined), undecided=undecided, crossed=crossed)


def _overwrite(text: str, start: int, end: int, mark: str) -> str:
    return text[:start] + mark * (end - start) + text[end:]


def _unwrapped(text: str) -> str:
    """Take away quotation marks around a whole reply."""
    found = re.fullmatch(r"(\s*)\"([^\"]*)\"(\s*)", text)
    return f"{found[1]} {found[2]} {found[3]}" if found else text


def _take_quotes(text: str, choice: Choice) -> tuple[str, list[Mention]]:
    """Find the answers quoted in full, the longer first; overwrite these and other quotations."""
    found: list[Mention] = []
    for place in sorted((0, 1), key=lambda p: -len(choice.answers[p])):
        words = [re.escape(w) for w in plain(choice.answers[place]).rstrip(" .!?…").split()]
        spaced = r"\s+".join(words)
        whole = rf"(?<!\w)\"?{spaced}(?!\s*(?:…|\.\.))[.!?]*(?=\s*(?:$|[\"',;:)\n]))\"?"
        if len(words) < 2:
            whole = rf"\"{words[0] if words else ''}[.!?]*\"|^\s*{''.join(words)}[.!?]*\s*$"
        for match in re.finditer(whole, text, re.IGNORECASE) if words else ():
            found.append(Mention(place=place, start=match.start(), end=match.end(), own_words=True))
            text = _overwrite(text, match.start(), match.end(), QUOTED)
    for match in re.finditer(r"\"[^\"\n]*\w[\s,.;:!?'-]+\w[^\"\n]*\"", text):
        text = _overwrite(text, match.start(), match.end(), QUOTED)
    return text, sorted(found, key=lambda m: m.start)


def _labels(text: str, label: str, place: int, choice: Choice) -> list[Mention]:
    """Find one label, and other ways of naming the answer by its place."""
    digits = all(known.isdigit() for known in choice.labels)
    found = [
        Mention(place=place, start=match.start(), end=match.end())
        for match in re.finditer(
            rf"(?<![\w+-])(?<!\w'){re.escape(label)}(?![\w+]|-\w|'(?!s\b)\w|[.,]\d)",
            text,
            re.IGNORECASE,
        )
        if _is_label(text, match, label)
    ]
    ordinal = ("first|1st", "second|2nd")[place]
    number = "" if digits else rf"|\b{NOUN}\s+(?:#\s*)?{place + 1}\b(?!\s*[.,]\d)"
    named = rf"\b(?:the\s+)?(?:{ordinal})\s+(?:{NOUN}|one)\b{number}"
    found += [
        Mention(place=place, start=match.start(), end=match.end())
        for match in re.finditer(named, text, re.IGNORECASE)
    ]
    return found


def _is_label(text: str, match: re.Match[str], label: str) -> bool:
    """Tell a label from a word: "a" as an article, first of all."""
    if label.lower() != "a":
        return True
    ahead, behind = after(text, match.end()), before(text, match.start())
    delimited = re.match(_ENDS, ahead) is not None
    if match.group() != label:
        return delimited and re.search(_OPENS, behind, re.IGNORECASE) is not None
    if delimited or re.match(rf"\s*[—–/&-]|'s\b|\s*{QUOTED}|\s+{_VERBS}", ahead):
        return True
    starts = re.search(r"(?:^|[.!?:\n\"(])\s*(?:[-•]\s*)?$", behind) is not None
    return not starts and text.upper() != text


def _join(
    text: str, labels: Sequence[Mention], quotes: Sequence[Mention]
) -> tuple[list[Mention], bool]:
    """Make one mention of a label with its answer's text beside it; see whether any is crossed."""
    by_start, starts = {quote.start: quote for quote in quotes}, [quote.start for quote in quotes]
    joined, crossed = [], False
    for label in labels:
        place = bisect_left(starts, label.end)
        beside = by_start.get(starts[place]) if place < len(starts) else None
        if beside is None or not _BESIDE.fullmatch(text, label.end, beside.start):
            joined.append(label)
            continue
        del by_start[beside.start]
        crossed = crossed or beside.place != label.place
        joined.append(Mention(place=label.place, start=label.start, end=beside.end, own_words=True))
    return sorted([*joined, *by_start.values()], key=lambda m: m.start), crossed


def _drop_repeated_question(text: str, mentions: list[Mention]) -> tuple[str, list[Mention]]:
    """Drop answers that stand each in a line with its label where both do: the prompt, repeated."""
    lines = [
        m
        for m in mentions
        if m.own_words
        and text[m.start] != QUOTED
        and re.search(r"(?:^|\n)[\s•(-]*$", before(text, m.start))
        and re.match(r"[\s.\"']*(?:\n|$)", after(text, m.end))
    ]
    if {m.place for m in lines} != {0, 1}:
        return text, mentions
    repeated = set(lines)
    for mention in lines:
        text = _overwrite(text, mention.start, mention.end, " ")
    return text, [m for m in mentions if m not in repeated]


def _drop_pairs(text: str, mentions: list[Mention]) -> tuple[str, list[Mention], bool]:
    """Drop mentions joined to a pair, "A or B": that says neither."""
    dropped: set[Mention] = set()
    for one, two in pairwise(mentions):
        between = after(text[: two.start], one.end)
        joined = re.fullmatch(
            rf"[\s\"')]*{_JOIN}[\s\"'(]*(?:the\s+)?(?:{NOUN}\s*)?[\"'(]*", between, re.IGNORECASE
        )
        if joined is None or one.place == two.place or one in dropped:
            continue
        if re.search(r"\band\b", between) and re.match(rf"\s+{_VERBS}", after(text, two.end)):
            continue  # "the silly one is A and B is fine": two clauses
        dropped |= {one, two}
        text = _overwrite(text, one.start, two.end, " ")
    return text, [m for m in mentions if m not in dropped], bool(dropped)
