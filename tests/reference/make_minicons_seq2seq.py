"""Score 75 items with minicons' Seq2SeqScorer, for tests/reference/test_minicons_seq2seq.py.

Run by hand, in a virtual environment of its own that also has minicons 0.3.39:

    python tests/reference/make_minicons_seq2seq.py

minicons encodes questions without special tokens. So that both read the same, the tokenizer here
adds none.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from minicons.scorer import Seq2SeqScorer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import tiny  # noqa: E402

STUDY = HERE.parents[1] / "src" / "felicity" / "studies" / "gricean-maxims"


def pairs() -> list[tuple[str, str]]:
    """Every fifth row of the study with both its answers, under one pair of names."""
    rows = [json.loads(line) for line in (STUDY / "dialogues.jsonl").read_text().splitlines()]
    found = []
    for row in rows[::5]:
        question, follower, violator = (
            row[part].replace("{questioner}", "Leslie").replace("{responder}", "Joan")
            for part in ("question", "follower", "violator")
        )
        context = f"Leslie: {question}\nJoan:"
        found += [(context, follower), (context, violator)]
    return found


def main() -> None:
    """Write minicons_seq2seq.csv: context, answer, mean log-probability per token."""
    # The scorer wants a bos token, and changes nothing here where it has one.
    tokenizer = tiny.tokenizer("unigram", bos_token="<pad>")
    tokenizer.backend_tokenizer.post_processor = None
    scorer = Seq2SeqScorer(tiny.t5(len(tokenizer)), device="cpu", tokenizer=tokenizer)
    contexts, answers = map(list, zip(*pairs(), strict=True))
    scores = []
    for at in range(0, len(answers), 10):
        scores += scorer.conditional_score(contexts[at : at + 10], answers[at : at + 10])
    with (HERE / "minicons_seq2seq.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["context", "answer", "log_prob_mean"])
        for context, answer, score in zip(contexts, answers, scores, strict=True):
            writer.writerow([context, answer, f"{score:.8f}"])


if __name__ == "__main__":
    main()
