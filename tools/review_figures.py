"""Print the figures of the blind review of the built-in dialogues: python tools/review_figures.py.

Per round: verdicts, violators picked, maxims named, verdicts "accept". Round 1: agreement of the
two readers of each wording. Then how the 375 wordings stand after the last round.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

STUDY = Path(__file__).parents[1] / "src" / "felicity" / "studies" / "gricean-maxims"
CRITERIA = (
    "follower_follows",
    "violator_violates",
    "rewording_same",
    "child_words",
    "natural",
    "comparable",
)
Verdict = dict[str, Any]


def cohens_kappa(pairs: list[tuple[str, str]]) -> float:
    """Cohen's kappa of two readers' verdicts (Cohen 1960)."""
    n = len(pairs)
    observed = sum(a == b for a, b in pairs) / n
    labels = {label for pair in pairs for label in pair}
    expected = sum(
        sum(a == label for a, _ in pairs) * sum(b == label for _, b in pairs) for label in labels
    ) / (n * n)
    return (observed - expected) / (1 - expected)


def print_rounds(verdicts: list[Verdict]) -> None:
    """Print a line per round."""
    print("round  readers  verdicts  violator picked  maxim named  accepted")
    for number in sorted({v["round"] for v in verdicts}):
        part = [v for v in verdicts if v["round"] == number]
        maxims = sum(v["named_maxim"] == v["dialogue_id"].rsplit("-", 2)[0] for v in part)
        picked = sum(v["picked_violator"] for v in part)
        accepted = sum(v["verdict"] == "accept" for v in part)
        readers = len({v["reviewer"] for v in part})
        print(f"{number:5d} {readers:8d} {len(part):9d} {picked:16d} {maxims:12d} {accepted:9d}")


def print_first_round(first: list[Verdict]) -> None:
    """Print how often each criterion was met, and how far two readers agree."""
    met = ", ".join(f"{name} {sum(v[name] for v in first)}" for name in CRITERIA)
    print(f"\nround 1, criterion met in so many of {len(first)} verdicts: {met}")
    by_wording = defaultdict(list)
    for v in first:
        by_wording[v["dialogue_id"], v["wording"]].append(v["verdict"])
    pairs = [(a, b) for a, b in by_wording.values()]
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    print(
        f"round 1, two readers of each of {len(pairs)} wordings: same verdict {agreed:.3f}, "
        f"Cohen's kappa {cohens_kappa(pairs):.2f}"
    )


def print_last_readings(verdicts: list[Verdict]) -> None:
    """Print how the wordings stand."""
    last: dict[tuple[str, str], list[Verdict]] = {}
    for v in sorted(verdicts, key=lambda v: int(v["round"])):
        key = (v["dialogue_id"], v["wording"])
        last[key] = [v, *(w for w in last.get(key, []) if w["round"] == v["round"])]
    groups = list(last.values())
    both = sum(all(v["verdict"] == "accept" and not v["change"] for v in g) for g in groups)
    changed = sum(any(v["change"] for v in g) for g in groups)
    print(
        f"last reading of {len(groups)} wordings: accepted by both readers {both}; changed after "
        f"it and not read again {changed}; objected to by a reader and left as it is "
        f"{len(groups) - both - changed}"
    )
    dialogues = {v["dialogue_id"] for v in verdicts if v["change"]}
    print(f"dialogues changed in review: {len(dialogues)} of 125")


def main() -> None:
    """Print the figures."""
    lines = (STUDY / "review.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts: list[Verdict] = [json.loads(line) for line in lines]
    print_rounds(verdicts)
    print_first_round([v for v in verdicts if v["round"] == 1])
    print_last_readings(verdicts)


if __name__ == "__main__":
    main()
