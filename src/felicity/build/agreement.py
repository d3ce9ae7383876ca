"""How far annotators agree, and how well they tell the violator without being told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from felicity.build.decisions import Decision, current_decisions, read_decisions
from felicity.build.outcome import shown_digest
from felicity.build.wording import Wording
from felicity.errors import FelicityError
from felicity.stats.accuracy import Interval, percentile_interval, wilson_interval

VERDICTS = ("keep", "reject")
DRAWS = 2000
# Where a figure cannot be had from more of the draws than this, it has no interval.
FEWEST_DRAWS = 0.9
Verdicts = Mapping[tuple[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Two annotators on the lines that both have judged.

    ``same`` of ``lines`` got one verdict, keep or reject. ``kappa`` is None where both gave one
    verdict throughout, so that chance agreement is all there could be. Intervals resample
    dialogues, since the lines of one are judged together.
    """

    annotators: tuple[str, str]
    lines: int
    same: int
    kappa: float | None
    same_interval: Interval | None = None
    kappa_interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JointAgreement:
    """All annotators on the lines that two or more have judged: Krippendorff's alpha, nominal."""

    annotators: tuple[str, ...]
    lines: int
    alpha: float | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindChoices:
    """How often an annotator took the violator to be the violator, before being told.

    ``maxims`` has the two counts by maxim, of those dialogues that the set still has.
    """

    annotator: str
    right: int
    chosen: int
    interval: Interval
    maxims: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAgreement:
    """All that is said of the annotators of a set; ``joint`` where there are three or more."""

    pairs: tuple[PairAgreement, ...]
    joint: JointAgreement | None
    choices: tuple[BlindChoices, ...]


def set_agreement(folder: Path, wordings: Sequence[Wording], *, seed: int = 0) -> SetAgreement:
    """Read the decisions on a set, and compare its annotators."""
    decisions = read_decisions(folder)
    verdicts = verdicts_of(wordings, decisions)
    return SetAgreement(
        pairs=tuple(pair_agreements(verdicts, seed=seed)),
        joint=joint_agreement(verdicts, seed=seed),
        choices=tuple(blind_choices(decisions, wordings)),
    )


def verdicts_of(wordings: Sequence[Wording], decisions: Sequence[Decision]) -> Verdicts:
    """Return annotators' verdicts, ``keep`` or ``reject``, of each dialogue and wording.

    Adjudication is not counted: it is made in sight of the others. Nor is what was decided about
    texts that have changed since.
    """
    of_dialogue: dict[str, list[Wording]] = defaultdict(list)
    for line in wordings:
        of_dialogue[line.dialogue_id].append(line)
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    held = [d for d in current_decisions(decisions) if d.judges and d.role == "annotator"]
    # What is said of a dialogue as a whole first, so that what is said of one wording replaces it.
    for decision in sorted(held, key=lambda d: d.wording is not None):
        lines = of_dialogue.get(decision.dialogue_id, [])
        if decision.shown != shown_digest(lines):
            continue
        for line in lines:
            if decision.wording in (None, line.wording):
                verdict = "reject" if decision.kind == "reject" else "keep"
                found[line.dialogue_id, line.wording][decision.annotator] = verdict
    return found


def pair_agreements(verdicts: Verdicts, *, seed: int = 0) -> list[PairAgreement]:
    """Compare each two annotators."""
    annotators = sorted({name for by in verdicts.values() for name in by})
    found = []
    for pair in combinations(annotators, 2):
        both = {key: by for key, by in verdicts.items() if {*pair} <= {*by}}
        if both:
            found.append(_agreement_of(pair, both, seed))
    return found


def _agreement_of(pair: tuple[str, str], both: Verdicts, seed: int) -> PairAgreement:
    first, second = pair
    pairs = [(by[first], by[second]) for by in both.values()]
    # Shape (dialogues, 2, 2): how often which verdicts met.
    counts = _by_dialogue(both, lambda by: _met(by[first], by[second]))
    drawn = _resample(counts, seed)
    total = drawn.sum((1, 2))
    agreed = drawn[:, 0, 0] + drawn[:, 1, 1]
    chance = (drawn.sum(1) * drawn.sum(2)).sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas = (agreed * total - chance) / (total * total - chance)
    return PairAgreement(
        annotators=pair,
        lines=len(pairs),
        same=sum(a == b for a, b in pairs),
        kappa=cohens_kappa(pairs),
        same_interval=_interval(agreed / total, len(counts)),
        kappa_interval=_interval(kappas, len(counts)),
    )


def joint_agreement(verdicts: Verdicts, *, seed: int = 0) -> JointAgreement | None:
    """Return Krippendorff's alpha (2004, section 11.3) of three annotators or more, else None.

    Lines that only some have judged count with what there is.

    Raises
    ------
    FelicityError
        Where the package ``krippendorff`` is not installed.

    Examples
    --------
    >>> by = [{"ann": "keep", "bo": "keep", "cy": "keep"}, {"ann": "keep", "bo": "reject"}]
    >>> found = joint_agreement({("q-01-1", "0"): by[0], ("q-01-2", "0"): by[1]})
    >>> found.lines, round(found.alpha, 3)
    (2, 0.0)
    """
    several = {key: by for key, by in verdicts.items() if len(by) > 1}
    annotators = tuple(sorted({name for by in several.values() for name in by}))
    if len(annotators) < 3:
        return None
    of_dialogue: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for (dialogue_id, _), by in several.items():
        of_dialogue[dialogue_id].append(_cast(by.values()))
    blocks = [np.stack(lines) for lines in of_dialogue.values()]
    drawn = np.random.default_rng(seed).integers(len(blocks), size=(DRAWS, len(blocks)))
    alphas = [_alpha(np.concatenate([blocks[b] for b in draw])) for draw in drawn]
    alpha = _alpha(np.concatenate(blocks))
    return JointAgreement(
        annotators=annotators,
        lines=len(several),
        alpha=None if np.isnan(alpha) else alpha,
        interval=_interval(np.array(alphas), len(blocks)),
    )


def _alpha(counts: NDArray[np.float64]) -> float:
    """Alpha of counts of shape (lines, verdicts); NaN where one verdict is all there is."""
    try:
        import krippendorff
    except ImportError as error:
        raise FelicityError(
            "the package krippendorff is not installed",
            where="agreement of more than two annotators",
            hint="pip install 'felicity[build]'",
        ) from error
    if (counts.sum(0) > 0).sum() < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _met(first: str, second: str) -> NDArray[np.float64]:
    counts = np.zeros((2, 2))
    counts[VERDICTS.index(first), VERDICTS.index(second)] = 1
    return counts


def _cast(verdicts: Iterable[str]) -> NDArray[np.float64]:
    given = list(verdicts)
    return np.array([given.count(verdict) for verdict in VERDICTS], dtype=float)


def _by_dialogue(
    verdicts: Verdicts, count: Callable[[Mapping[str, str]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Add up counts of lines over each dialogue, stacked along the first axis."""
    sums: dict[str, NDArray[np.float64]] = {}
    for (dialogue_id, _), by in verdicts.items():
        here = count(by)
        sums[dialogue_id] = sums[dialogue_id] + here if dialogue_id in sums else here
    return np.stack(list(sums.values()))


def _resample(counts: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Draw as many dialogues as there are, with replacement, and add them up; ``DRAWS`` times."""
    n = len(counts)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    return np.tensordot(weights, counts, axes=1)


def _interval(draws: NDArray[np.float64], dialogues: int) -> Interval | None:
    known = draws[~np.isnan(draws)]
    if dialogues < 2 or len(known) < FEWEST_DRAWS * len(draws) or np.ptp(known) == 0:
        # Draws that are all one figure (two who never differ, one who says the same of all) tell
        # nothing of how far it could be from the truth.
        return None
    return percentile_interval(known, "bootstrap over dialogues")


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa (1960) of two annotators' verdicts; None where chance makes all of it.

    Examples
    --------
    >>> cohens_kappa([("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15)
    0.4
    """
    n = len(pairs)
    labels = {label for pair in pairs for label in pair}
    # In whole numbers, so that an exact agreement is exactly 1.
    observed = sum(a == b for a, b in pairs) * n
    expected = sum(sum(a == k for a, _ in pairs) * sum(b == k for _, b in pairs) for k in labels)
    return None if expected == n * n else (observed - expected) / (n * n - expected)


def blind_choices(
    decisions: Sequence[Decision], wordings: Sequence[Wording] = ()
) -> list[BlindChoices]:
    """Count each annotator's first choices: a human baseline of the set."""
    maxim_of = {line.dialogue_id: line.maxim for line in wordings}
    chosen: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    for decision in current_decisions(decisions):
        if decision.kind == "choose":
            right = decision.chosen == "violator"
            chosen[decision.annotator].append((right, maxim_of.get(decision.dialogue_id, "")))
    found = []
    for name, choices in sorted(chosen.items()):
        found_it = sum(is_right for is_right, _ in choices)
        of_maxim: dict[str, list[bool]] = defaultdict(list)
        for is_right, maxim in choices:
            if maxim:
                of_maxim[maxim].append(is_right)
        found.append(
            BlindChoices(
                annotator=name,
                right=found_it,
                chosen=len(choices),
                interval=wilson_interval(found_it, len(choices)),
                maxims={maxim: (sum(them), len(them)) for maxim, them in of_maxim.items()},
            )
        )
    return found
