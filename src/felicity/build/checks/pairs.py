"""Checks that set texts side by side: the two answers, wordings of a question, dialogues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

from felicity.build.checks.result import CheckResult, Value
from felicity.build.folder import BuildFolder
from felicity.build.template import SLOT
from felicity.build.wording import ORIGINAL, Wording
from felicity.errors import FelicityError
from felicity.stats.cues import words

# Calibrated on the built-in set (docs/decisions/0021): its own lie within all of them.
LONGEST_DIFFERENCE = 0.4
LEAST_SHARED = 0.1
MOST_ALIKE = 85.0
REWORDED = (45.0, 95.0)


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


def same_answers(build: BuildFolder) -> CheckResult:
    """Answers that differ between the wordings of a dialogue."""
    values = []
    originals = {line.dialogue_id: line for line in build.originals}
    for line in build.wordings:
        original = originals[line.dialogue_id]
        differ = [n for n in ("follower", "violator") if line.texts[n] != original.texts[n]]
        problem = f"another {' and '.join(differ)} than wording 0" if differ else ""
        values.append(_value(line, float(bool(differ)), problem))
    return CheckResult(
        name="same answers",
        what="share of lines whose answers differ from wording 0",
        figure="share",
        allowed="none",
        values=tuple(values),
    )


def same_names(build: BuildFolder) -> CheckResult:
    """Speakers that only one of the two answers names."""
    values = []
    for line in build.originals:
        first, second = (sorted(SLOT.findall(text)) for text in (line.follower, line.violator))
        problem = "the answers name different speakers" if first != second else ""
        values.append(_value(line, float(first != second), problem))
    return CheckResult(
        name="same names",
        what="share of dialogues whose answers name different speakers",
        figure="share",
        allowed="none",
        values=tuple(values),
    )


def length_difference(build: BuildFolder) -> CheckResult:
    """How far the two answers differ in length."""
    values = []
    for line in build.originals:
        lengths = len(line.follower), len(line.violator)
        figure = abs(lengths[0] - lengths[1]) / max(lengths)
        wrong = figure > LONGEST_DIFFERENCE
        values.append(
            _value(line, figure, f"{lengths[0]} and {lengths[1]} characters" if wrong else "")
        )
    return CheckResult(
        name="length difference",
        what="mean difference of the answers' lengths, as a share of the longer",
        figure="mean",
        allowed=f"at most {LONGEST_DIFFERENCE}",
        values=tuple(values),
    )


def shared_words(build: BuildFolder) -> CheckResult:
    """How many words the two answers share."""
    values = []
    for line in build.originals:
        first, second = set(words(line.follower)), set(words(line.violator))
        figure = len(first & second) / max(1, len(first | second))
        problem = "the answers share hardly a word" if figure < LEAST_SHARED else ""
        values.append(_value(line, figure, problem))
    return CheckResult(
        name="shared words",
        what="mean share of the answers' words that stand in both",
        figure="mean",
        allowed=f"at least {LEAST_SHARED}",
        values=tuple(values),
    )


def rewordings(build: BuildFolder) -> CheckResult:
    """Rewordings that are too close to another wording, or too far from the original."""
    ratio = _ratio()
    low, high = REWORDED
    values = []
    for line in build.wordings:
        if line.wording == ORIGINAL:
            continue
        others = [o for o in build.of_dialogue(line.dialogue_id) if o.order < line.order]
        alike = [ratio(_bare(line.question), _bare(other.question)) for other in others]
        problem = ""
        if max(alike) >= high:
            problem = f"too close to wording {others[alike.index(max(alike))].wording}"
        elif alike[0] < low:
            problem = "too far from wording 0"
        values.append(_value(line, alike[0] / 100, problem))
    return CheckResult(
        name="rewordings",
        what="mean likeness of a rewording to its question, in characters",
        figure="mean",
        allowed=f"{low / 100:.2f} to {high / 100:.2f}",
        values=tuple(values),
    )


def duplicates(build: BuildFolder) -> CheckResult:
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
    values = []
    for place, line in enumerate(lines):
        alike, other = nearest[place]
        same = "the same as" if alike == 100 else "nearly the same as"
        problem = f"{same} {lines[other].dialogue_id}" if alike >= MOST_ALIKE else ""
        values.append(_value(line, alike / 100, problem))
    return CheckResult(
        name="duplicates",
        what="greatest likeness of a dialogue to another, in characters",
        figure="max",
        allowed=f"below {MOST_ALIKE / 100:.2f}",
        values=tuple(values),
    )


def _bare(text: str) -> str:
    """Leave out case and marks, which make no other text of it."""
    return " ".join(words(text))


def _value(line: Wording, figure: float, problem: str) -> Value:
    return Value(
        maxim=line.maxim,
        unit=line.dialogue_id,
        wording=line.wording,
        figure=figure,
        problem=problem,
    )


PAIR_CHECKS: Sequence[Callable[[BuildFolder], CheckResult]] = (
    same_answers,
    same_names,
    duplicates,
    rewordings,
    length_difference,
    shared_words,
)
