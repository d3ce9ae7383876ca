"""Compare the reply parser with replies read by hand, and with the paper's values.

    python benchmarks/parse_handcheck.py [SHARED]

SHARED holds data/social-meaning/published_replies_*.jsonl; default ../shared beside the
checkout. Of the replies that the paper's one-digit rule drops, 100 are drawn with a fixed seed,
or all where there are fewer; their values as read by hand are in tests/rating/hand_check.csv,
by sample id.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections import Counter
from pathlib import Path

from scipy.stats import binomtest

from felicity.rating import PARSER_VERSION, parse_as_published, parse_reply
from felicity.types import Scale

ROOT = Path(__file__).resolve().parents[1]
FILES = ("published_replies_MIN.jsonl", "published_replies_ALT.jsonl")
KEYS = ("model", "scenario", "context", "utterance", "attribute", "sample_id")
SCALE = Scale(low=1, high=7)
SEED, WANTED = 3, 100


def main() -> None:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    replies = {}
    for name in FILES:
        text = (shared / "data" / "social-meaning" / name).read_text(encoding="utf-8")
        for row in map(json.loads, text.splitlines()):
            replies[name, *(str(row[key]) for key in KEYS)] = row
    print(f"parser version {PARSER_VERSION}; {len(replies)} replies")
    compare_with_paper(replies)
    compare_with_hand(replies)


def compare_with_paper(replies: dict) -> None:
    rule = sum(
        parse_as_published(row["raw_response"], SCALE).value == row["likert"]
        for row in replies.values()
    )
    print(f"one-digit rule gives the published value or none: {rule} of {len(replies)}")
    kept = {key: row for key, row in replies.items() if row["valid"]}
    differ = [
        key
        for key, row in kept.items()
        if parse_reply(row["raw_response"], "stop", SCALE).value != row["likert"]
    ]
    print(f"kept by the paper: {len(kept)}; parser gives another value: {len(differ)}")
    for key in differ:
        print("  ", *key)


def compare_with_hand(replies: dict) -> None:
    with (ROOT / "tests" / "rating" / "hand_check.csv").open(encoding="utf-8") as handle:
        hand = {(row["file"], *(row[key] for key in KEYS)): row for row in csv.DictReader(handle)}
    dropped = sorted(key for key, row in replies.items() if not row["valid"])
    drawn = random.Random(SEED).sample(dropped, min(WANTED, len(dropped)))
    unread = [key for key in drawn if key not in hand]
    if unread:
        sys.exit(f"{len(unread)} of the replies drawn have not been read by hand: {unread[0]}")
    statuses, right, wrong = Counter(), 0, []
    has_value = sum(bool(hand[key]["value"]) for key in drawn)
    for key in drawn:
        parsed = parse_reply(replies[key]["raw_response"], "stop", SCALE)
        statuses[parsed.status] += 1
        if parsed.value is not None and str(parsed.value) == hand[key]["value"]:
            right += 1
        elif parsed.value is not None or hand[key]["value"]:
            wrong.append((key, parsed.value, hand[key]["value"]))
    print(f"dropped by the paper: {len(dropped)}; read by hand: {len(drawn)}, {dict(statuses)}")
    print_share("precision", right, statuses["ok"])
    print_share("recall", right, has_value)
    for key, value, by_hand in wrong:
        print("  ", *key, f"parser {value}, by hand {by_hand or 'none'}")


def print_share(name: str, part: int, whole: int) -> None:
    interval = binomtest(part, whole).proportion_ci(method="exact")
    print(f"{name}: {part} of {whole} = {part / whole:.3f}", end=" ")
    print(f"(95 % Clopper-Pearson {interval.low:.3f} to {interval.high:.3f})")


if __name__ == "__main__":
    main()
