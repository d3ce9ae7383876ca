"""Our scores against minicons 0.3.39's, made by make_minicons.py in an environment of its own."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from felicity import open_participant
from felicity.participants import participant_from_model
from felicity.types import TextPair

import tiny
from conftest import embedded_folder

HERE = Path(__file__).parent
MODELS = {
    "tiny-gpt2": (tiny.gpt2, "bytelevel"),
    "tiny-roberta": (tiny.roberta, "roberta"),
    "tiny-bert": (tiny.bert, "wordpiece"),
}


def reference() -> dict[tuple[str, str], list[tuple[TextPair, float]]]:
    groups = defaultdict(list)
    with (HERE / "minicons.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            pair = TextPair(context=row["context"], answer=" " + row["answer"])
            groups[row["model"], row["method"]].append((pair, float(row["log_prob_mean"])))
    return groups


REFERENCE = reference()


def open_for(model: str, method: str):
    # minicons puts nothing before a causal text.
    prefix = "none" if method == "logprob" else "auto"
    if model.startswith("embedded:"):
        embedded_folder(model.removeprefix("embedded:"))
        return open_participant(model, method=method, prefix=prefix)
    build, kind = MODELS[model]
    tokenizer = tiny.tokenizer(kind)
    return participant_from_model(
        build(len(tokenizer)), tokenizer, spec=model, method=method, prefix=prefix
    )


@pytest.mark.parametrize(("model", "method"), list(REFERENCE))
def test_mean_log_prob_equals_minicons(model, method, capsys):
    participant = open_for(model, method)
    pairs = [pair for pair, _ in REFERENCE[model, method]]
    plan = participant.plan(pairs)
    got = {}
    for batch in plan.batches:
        got.update(zip(batch, participant.score(plan, batch), strict=True))
    worst = max(
        abs(got[i].log_prob_mean - expected)
        for i, (_, expected) in enumerate(REFERENCE[model, method])
    )
    with capsys.disabled():
        print(f"\n{model:26s} {method:20s} {len(pairs)} texts, largest difference {worst:.1e}")
    assert len(pairs) == 150
    assert worst <= 1e-5
