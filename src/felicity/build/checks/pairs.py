"""Checks that set texts side by side: the two answers, wordings of a question, dialogues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from felicity.build.checks.result import Check, Value, at, check
from felicity.build.folder import BuildFolder
from felicity.build.template import SLOT
from felicity.build.wording import ORIGINAL
from felicity.errors import FelicityError
from felicity.stats.cues import words

# Calibrated on the built-in set (docs/decisions/0021): its own lie within all of them.
LONGEST_DIFFERENCE = 0.4
LEAST_SHARED = 0.1
MOST_ALIKE = 85.0
TOO_FAR, TOO_CLOSE = 45.0, 95.0


def _ratio() -> Callable[[str, str], float]:
    try:
        from rapidfuzz import fuzz
    except ImportError as error:
        raise FelicityError(
            "comparing texts needs rapidfuzz, which is not installed",
            where="checks",
            hint="pip install 'felicity[build]'",
        ) from error
    return fuzz.ratio


@check("same answers", "share of lines whose answers differ from wording 0", "share", "none")
def same_answers(build: BuildFolder) -> Iterator[Value]:
    """Answers that differ between the wordings of a dialogue."""
    originals = {line.dialogue_id: line for line in build.originals}
    for line in build.wordings:
        original = originals[line.dialogue_id]
        differ = [n for n in ("follower", "violator") if line.texts[n] != original.texts[n]]
        problem = f"another {' and '.join(differ)} than wording 0" if differ else ""
        yield at(line, float(bool(differ)), problem)


@check("same names", "share of dialogues whose answers name different speakers", "share", "none")
def same_names(build: BuildFolder) -> Iterator[Value]:
    """Speakers that only one of the two answers names."""
    for line in build.originals:
        first, second = (sorted(SLOT.findall(text)) for text in (line.follower, line.violator))
        problem = "the answers name different speakers" if first != second else ""
        yield at(line, float(first != second), problem)


@check(
    "length difference",
    "mean difference of the answers' lengths, as a share of the longer",
    "mean",
    f"at most {LONGEST_DIFFERENCE}",
)
def length_difference(build: BuildFolder) -> Iterator[Value]:
    """How far the two answers differ in length."""
    for line in build.originals:
        lengths = len(line.follower), len(line.violator)
        figure = abs(lengths[0] - lengths[1]) / max(lengths)
        wrong = figure > LONGEST_DIFFERENCE
        yield at(line, figure, f"{lengths[0]} and {lengths[1]} characters" if wrong else "")


@check(
    "shared words",
    "mean share of the answers' words that stand in both",
    "mean",
    f"at least {LEAST_SHARED}",
)
def shared_words(build: BuildFolder) -> Iterator[Value]:
    """How many words the two answers share."""
    for line in build.originals:
        first, second = set(words(line.follower)), set(words(line.violator))
        figure = len(first & second) / max(1, len(first | second))
        problem = "the answers share hardly a word" if figure < LEAST_SHARED else ""
        yield at(line, figure, problem)


@check(
    "rewordings",
    "mean likeness of a rewording to its question, in characters",
    "mean",
    f"{TOO_FAR / 100:.2f} to {TOO_CLOSE / 100:.2f}",
)
def rewordings(build: BuildFolder) -> Iterator[Value]:
    """Rewordings that are too close to another wording, or too far from the original."""
    ratio = _ratio()
    for line in build.wordings:
        if line.wording == ORIGINAL:
            continue
        others = [o for o in build.of_dialogue(line.dialogue_id) if o.order < line.order]
        alike = [ratio(_bare(line.question), _bare(other.question)) for other in others]
        problem = ""
        if max(alike) >= TOO_CLOSE:
            problem = f"too close to wording {others[alike.index(max(alike))].wording}"
        elif alike[0] < TOO_FAR:
            problem = "too far from wording 0"
        yield at(line, alike[0] / 100, problem)


@check(
    "duplicates",
    "greatest likeness of a dialogue to another, in characters",
    "max",
    f"below {MOST_ALIKE / 100:.2f}",
)
def duplicates(build: BuildFolder) -> Iterator[Value]:
    """Dialogues that are the same as another, or nearly."""
    ratio = _ratio()
    lines = build.originals
    texts = [_bare(" ".join(line.texts.values())) for line in lines]
    nearest: dict[int, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for (i, first), (j, second) in combinations(enumerate(texts), 2):
        alike = ratio(first, second)
        for here, there in ((i, j), (j, i)):
            if alike > nearest[here][0]:
                nearest[here] = (alike, there)
    for place, line in enumerate(lines):
        alike, other = nearest[place]
        same = "the same as" if alike == 100 else "nearly the same as"
        problem = f"{same} {lines[other].dialogue_id}" if alike >= MOST_ALIKE else ""
        yield at(line, alike / 100, problem)


def _bare(text: str) -> str:
    """Leave out case and marks, which make no other text of it."""
    return " ".join(words(text))


PAIR_CHECKS: Sequence[Check] = (
    same_answers,
    same_names,
    duplicates,
    rewordings,
    length_difference,
    shared_words,
)
