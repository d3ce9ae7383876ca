"""Our encoder-decoder scores against minicons 0.3.39's, made by make_minicons_seq2seq.py."""

from __future__ import annotations

import csv
from pathlib import Path

from felicity.participants import participant_from_model
from felicity.types import TextPair

import tiny


def test_mean_log_prob_equals_minicons(capsys):
    with Path(__file__).with_name("minicons_seq2seq.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    tokenizer = tiny.tokenizer("unigram")
    tokenizer.backend_tokenizer.post_processor = None
    model = tiny.t5(len(tokenizer))
    participant = participant_from_model(model, tokenizer, spec="x", method="seq2seq")
    pairs = [TextPair(context=row["context"], answer=" " + row["answer"]) for row in rows]
    plan = participant.plan(pairs)
    got = {}
    for batch in plan.batches:
        got.update(zip(batch, participant.score(plan, batch), strict=True))
    worst = max(
        abs(got[i].log_prob_mean - float(row["log_prob_mean"])) for i, row in enumerate(rows)
    )
    with capsys.disabled():
        print(f"\ntiny T5 seq2seq {len(rows)} texts, largest difference {worst:.1e}")
    assert len(rows) == 150
    assert worst <= 1e-5
