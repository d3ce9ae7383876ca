"""Checks of one text at a time: words, placeholders, marks, doubled words, speakers' names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from felicity.build.checks.result import CheckResult, Value
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


def _each(
    build: BuildFolder, look: Callable[[str, str], tuple[float, str]]
) -> Iterator[tuple[Wording, list[tuple[float, str]]]]:
    for line in build.wordings:
        yield line, [look(name, text) for name, text in texts_of(line).items()]


def _of_lines(
    build: BuildFolder, look: Callable[[str, str], tuple[float, str]]
) -> tuple[Value, ...]:
    """Look at each text of each line; its figure is the mean over its texts."""
    return tuple(
        Value(
            maxim=line.maxim,
            unit=line.dialogue_id,
            wording=line.wording,
            figure=sum(figure for figure, _ in found) / len(found),
            problem="; ".join(problem for _, problem in found if problem),
        )
        for line, found in _each(build, look)
    )


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
        values=_of_lines(build, look),
    )


def placeholders(build: BuildFolder) -> CheckResult:
    """Slots and other stand-ins that were left in a text."""

    def look(name: str, text: str) -> tuple[float, str]:
        left = [found for found in _LEFT.findall(text) if not _ROLE.fullmatch(found)]
        return float(len(left)), f"{name}: {' '.join(left)}" if left else ""

    return CheckResult(
        name="placeholders",
        what="share of lines with a placeholder left",
        figure="share",
        allowed="only those of speakers",
        values=_of_lines(build, look),
    )


def punctuation(build: BuildFolder) -> CheckResult:
    """Find marks, capitals and quotes that are not as elsewhere."""
    allowed = set(build.plan.language.quote_marks)

    def look(name: str, text: str) -> tuple[float, str]:
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
        return float(len(found)), f"{name}: {', '.join(found)}" if found else ""

    return CheckResult(
        name="punctuation",
        what="share of lines with a mark out of place",
        figure="share",
        allowed="capital, ? or . ! ?, plain quotes",
        values=_of_lines(build, look),
    )


def doubled_words(build: BuildFolder) -> CheckResult:
    """Find a word that stands twice in a row: a slip that any reader sees."""

    def look(name: str, text: str) -> tuple[float, str]:
        split = words(text)
        twice = [a for a, b in pairwise(split) if a == b]
        return float(len(twice)), f"{name}: {', '.join(twice)}" if twice else ""

    return CheckResult(
        name="doubled words",
        what="share of lines with a word twice in a row",
        figure="share",
        allowed="none",
        values=_of_lines(build, look),
    )


def names_in_texts(build: BuildFolder) -> CheckResult:
    """Find a speaker's name in a text: it would not rotate with the speakers."""
    names = {name.lower() for name in build.plan.names}

    def look(name: str, text: str) -> tuple[float, str]:
        found = [word for word in words(text) if word.removesuffix("'s") in names]
        return float(len(found)), f"{name}: {', '.join(found)}" if found else ""

    return CheckResult(
        name="names in texts",
        what="share of lines with a speaker's name in them",
        figure="share",
        allowed="only placeholders",
        values=_of_lines(build, look),
    )


def names_as_words(build: BuildFolder) -> CheckResult:
    """Names of speakers that are words too."""
    known = build.plan.language.name_words
    used = {
        word for line in build.wordings for text in line.texts.values() for word in text.split()
    }
    values = []
    for name in build.plan.names:
        problem = ""
        if name.lower() in known:
            problem = f"{name} is a word too"
        elif name.lower() in used:
            problem = f"{name.lower()} stands in a text as a word"
        values.append(Value(maxim="", unit=name, figure=float(bool(problem)), problem=problem))
    return CheckResult(
        name="names as words",
        what="share of names that are words",
        figure="share",
        allowed="none",
        values=tuple(values),
    )
