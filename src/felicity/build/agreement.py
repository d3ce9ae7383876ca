"""How far annotators agree, and how well they tell the violator without being told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from felicity.build.decisions import Decision, current_decisions
from felicity.build.outcome import shown_digest
from felicity.build.wording import Wording

Verdicts = Mapping[tuple[str, str], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Two annotators on the lines that both have judged.

    ``same`` of ``lines`` got one verdict, keep or reject. ``kappa`` is None where both gave one
    verdict throughout, so that chance agreement is all there could be.
    """

    annotators: tuple[str, str]
    lines: int
    same: int
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindChoices:
    """How often an annotator took the violator to be the violator, before being told."""

    annotator: str
    right: int
    chosen: int


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


def pair_agreements(verdicts: Verdicts) -> list[PairAgreement]:
    """Compare each two annotators."""
    annotators = sorted({name for by in verdicts.values() for name in by})
    found = []
    for first, second in combinations(annotators, 2):
        pairs = [(by[first], by[second]) for by in verdicts.values() if {first, second} <= {*by}]
        if pairs:
            found.append(
                PairAgreement(
                    annotators=(first, second),
                    lines=len(pairs),
                    same=sum(a == b for a, b in pairs),
                    kappa=cohens_kappa(pairs),
                )
            )
    return found


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


def blind_choices(decisions: Sequence[Decision]) -> list[BlindChoices]:
    """Count each annotator's first choices: a human baseline of the set."""
    chosen: dict[str, list[bool]] = defaultdict(list)
    for decision in current_decisions(decisions):
        if decision.kind == "choose":
            chosen[decision.annotator].append(decision.chosen == "violator")
    return [
        BlindChoices(annotator=name, right=sum(right), chosen=len(right))
        for name, right in sorted(chosen.items())
    ]
