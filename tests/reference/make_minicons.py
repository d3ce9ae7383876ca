"""Score 75 items with minicons: the reference numbers of tests/reference/test_minicons.py.

Run by hand in a virtual environment of its own, because minicons 0.3.39 cannot score masked models
under transformers 5:

    python -m venv /tmp/minicons
    /tmp/minicons/bin/pip install 'torch>=2.9,<2.14' transformers==4.57.6 minicons==0.3.39
    /tmp/minicons/bin/python tests/reference/make_minicons.py CACHE

CACHE is Felicity's cache folder, with both embedded models in it. The tiny models are built here
from the same seed as in the tests.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import torch
from minicons import scorer
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedTokenizerFast

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import tiny  # noqa: E402

STUDY = HERE.parents[1] / "src" / "felicity" / "studies" / "gricean-maxims"


def pairs() -> list[tuple[str, str]]:
    """Every fifth row of the study with both its answers, under one pair of names."""
    rows = [json.loads(line) for line in (STUDY / "dialogues.jsonl").read_text().splitlines()]
    found = []
    for row in rows[::5]:
        texts = {
            part: row[part].replace("{questioner}", "Leslie").replace("{responder}", "Joan")
            for part in ("question", "follower", "violator")
        }
        context = f"Leslie: {texts['question']}\nJoan:"
        found += [(context, texts["follower"]), (context, texts["violator"])]
    return found


def embedded(cache: Path, name: str, loader: type) -> tuple[object, object]:
    """Load an embedded model under transformers 4.57, which reads RoPE from another key."""
    folder = next((cache / "models").glob(f"{name}-*"))
    config = json.loads((folder / "config.json").read_text())
    theta = config.get("rope_parameters", {}).get("rope_theta")
    options = {"rope_theta": theta} if theta else {}
    special = json.loads((folder / "tokenizer_config.json").read_text())
    kept = {key: value for key, value in special.items() if key.endswith("_token")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **kept)
    model = loader.from_pretrained(folder, dtype=torch.float32, **options)
    return model.eval(), tokenizer


def main(cache: Path) -> None:
    """Write minicons.csv: model, method, context, answer, mean log-probability per token."""
    texts = pairs()
    questions, answers = [q for q, _ in texts], [a for _, a in texts]
    size = {kind: len(tiny.tokenizer(kind)) for kind in tiny.SPECIALS}
    causal = {
        "embedded:smollm2-135m": embedded(cache, "smollm2-135m", AutoModelForCausalLM),
        "tiny-gpt2": (tiny.gpt2(size["bytelevel"]), tiny.tokenizer("bytelevel")),
    }
    masked = {
        "embedded:cassette-masked": embedded(cache, "cassette-masked", AutoModelForMaskedLM),
        "tiny-roberta": (tiny.roberta(size["roberta"]), tiny.tokenizer("roberta")),
        "tiny-bert": (tiny.bert(size["wordpiece"]), tiny.tokenizer("wordpiece")),
    }
    with (HERE / "minicons.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["model", "method", "context", "answer", "log_prob_mean"])
        for name, (model, tokenizer) in causal.items():
            lm = scorer.IncrementalLMScorer(model, "cpu", tokenizer=tokenizer)
            for at in range(0, len(texts), 10):
                q, a = questions[at : at + 10], answers[at : at + 10]
                for values in zip(q, a, lm.conditional_score(q, a, separator=" "), strict=True):
                    rows.writerow([name, "logprob", *values])
        for name, (model, tokenizer) in masked.items():
            lm = scorer.MaskedLMScorer(model, "cpu", tokenizer=tokenizer)
            for metric in ("within_word_l2r", "original"):
                for at in range(0, len(texts), 10):
                    q, a = questions[at : at + 10], answers[at : at + 10]
                    scores = lm.conditional_score(q, a, separator=" ", PLL_metric=metric)
                    for values in zip(q, a, scores, strict=True):
                        rows.writerow([name, f"pll_{metric}", *values])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
