"""Checks of one text at a time: words, placeholders, marks, doubled words, speakers' names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from felicity.build.checks.result import CheckResult, Value, at, check
from felicity.build.folder import BuildFolder
from felicity.build.wording import ORIGINAL, ROLES, TEXTS, Wording
from felicity.stats.cues import words
from felicity.wordfrequency import has_word_frequencies, mean_zipf, rare_words

_ROLE = re.compile("|".join(rf"\{{{role}\}}" for role in ROLES))
_LEFT = re.compile(
    r"\{[^{}]*\}?|\}|\[[^\]]*\]|<[^<>]*>|_{2,}|\*+|\b(?:TODO|XXX+)\b|\b(?:person|speaker) [A-C]\b",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"^(?:{'|'.join(TEXTS)}|answer|antwort|frage|q|a)\s*[:=]", re.IGNORECASE)
_MARKS = (
    (re.compile(r"\s[,.!?;:]"), "a space before a mark"),
    (re.compile(r"([,.!?;:])(?:\1)"), "a mark twice"),
    (re.compile(r"[,;:](?=[^\W\d_])"), "no space after a mark"),
    (re.compile(r"  "), "two spaces"),
    (_LABEL, "a label in the text"),
)
_QUOTES = "\"'„“”‚‘’«»‹›"
_END_OF_ANSWER = re.compile(r"[.!?][\"“”’»]?$")


def texts_of(line: Wording) -> dict[str, str]:
    """Return the texts to look at: answers are the same in every wording, so once."""
    return line.texts if line.wording == ORIGINAL else {"question": line.question}


Look = Callable[[str, str], tuple[float, str]]


def _of_lines(build: BuildFolder, look: Look) -> Iterator[Value]:
    """Look at each text of each line; its figure is the mean over its texts."""
    for line in build.wordings:
        found = [look(name, text) for name, text in texts_of(line).items()]
        problem = "; ".join(problem for _, problem in found if problem)
        yield at(line, sum(figure for figure, _ in found) / len(found), problem)


def _faults(
    build: BuildFolder, find: Callable[[str, str], Sequence[str]], by: str
) -> Iterator[Value]:
    """Find faults in each text of each line, and name the text."""

    def look(name: str, text: str) -> tuple[float, str]:
        found = find(name, text)
        return float(len(found)), f"{name}: {by.join(found)}" if found else ""

    return _of_lines(build, look)


def vocabulary(build: BuildFolder) -> CheckResult | None:
    """Words above a child's level; None where word frequencies are not to be had."""
    language = build.plan.language
    if not has_word_frequencies(language.code):
        return None

    def look(_name: str, text: str) -> tuple[float, str]:
        bare = _ROLE.sub(" ", text)
        rare = rare_words(bare, language.code, language.rarest_word)
        listed = ", ".join(f"{word} {zipf:.1f}" for word, zipf in rare.items())
        return mean_zipf(bare, language.code), listed

    return CheckResult(
        name="vocabulary",
        what="mean Zipf frequency of words",
        figure="mean",
        allowed=f"no word below {language.rarest_word}",
        values=tuple(_of_lines(build, look)),
    )


@check("placeholders", "share of lines with a placeholder left", "share", "only those of speakers")
def placeholders(build: BuildFolder) -> Iterator[Value]:
    """Slots and other stand-ins that were left in a text."""

    def find(_name: str, text: str) -> list[str]:
        return [found for found in _LEFT.findall(text) if not _ROLE.fullmatch(found)]

    return _faults(build, find, by=" ")


@check(
    "punctuation",
    "share of lines with a mark out of place",
    "share",
    "capital, ? or . ! ?, plain quotes",
)
def punctuation(build: BuildFolder) -> Iterator[Value]:
    """Find marks, capitals and quotes that are not as elsewhere."""
    allowed = set(build.plan.language.quote_marks)

    def find(name: str, text: str) -> list[str]:
        found = [words_ for pattern, words_ in _MARKS if pattern.search(text)]
        if name == "question" and not text.endswith("?"):
            found.append("no question mark at the end")
        if name != "question" and not _END_OF_ANSWER.search(text):
            found.append("no full stop at the end")
        first = next((c for c in text if c.isalpha() or c == "{"), "")
        if first.islower():
            found.append("no capital at the beginning")
        foreign = {c for c in text if c in _QUOTES and c not in allowed and c != "’"}
        if foreign or text.count('"') % 2:
            found.append("odd quotation marks")
        if len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES:
            found.append("quotation marks around the whole")
        return found

    return _faults(build, find, by=", ")


@check("doubled words", "share of lines with a word twice in a row", "share", "none")
def doubled_words(build: BuildFolder) -> Iterator[Value]:
    """Find a word that stands twice in a row: a slip that any reader sees."""

    def find(_name: str, text: str) -> list[str]:
        return [a for a, b in pairwise(words(text)) if a == b]

    return _faults(build, find, by=", ")


@check(
    "names in texts",
    "share of lines with a speaker's name in them",
    "share",
    "only placeholders",
)
def names_in_texts(build: BuildFolder) -> Iterator[Value]:
    """Find a speaker's name in a text: it would not rotate with the speakers."""
    names = {name.lower() for name in build.plan.names}

    def find(_name: str, text: str) -> list[str]:
        return [word for word in words(text) if word.removesuffix("'s") in names]

    return _faults(build, find, by=", ")


@check("names as words", "share of names that are words", "share", "none")
def names_as_words(build: BuildFolder) -> Iterator[Value]:
    """Names of speakers that are words too."""
    known = build.plan.language.name_words
    used = {
        word for line in build.wordings for text in line.texts.values() for word in text.split()
    }
    for name in build.plan.names:
        problem = ""
        if name.lower() in known:
            problem = f"{name} is a word too"
        elif name.lower() in used:
            problem = f"{name.lower()} stands in a text as a word"
        yield Value(maxim="", unit=name, figure=float(bool(problem)), problem=problem)
