"""How much faster packing makes causal scoring, and that it changes no number.

Scores the same items packed and in plain batches, interleaved, and prints the median rates, their
ratio and the largest difference: python benchmarks/packing.py [--items N] [--repeats R]
[--model SPEC] [--threads T]
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import torch

from felicity import load_study, open_participant
from felicity.scoring.selftest import largest_difference


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=225)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--model", default="embedded:smollm2-135m")
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    study = load_study("gricean-maxims")
    step = len(study.items) // chosen.items
    trials = study.trials(study.format(), study.items[::step])
    pairs = [trial.pair for trial in trials]
    packed = open_participant(chosen.model)
    ways = {"packed": packed, "plain": replace(packed, packs=False)}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    scores = {}
    for _ in range(chosen.repeats):
        for name, participant in ways.items():
            start = time.perf_counter()
            plan = participant.plan(pairs)
            found = {}
            for batch in plan.batches:
                found.update(zip(batch, participant.score(plan, batch), strict=True))
            rates[name].append(len(pairs) / 2 / (time.perf_counter() - start))
            scores[name] = [found[i] for i in range(len(pairs))]
    for name, values in rates.items():
        print(f"{name:7s} {statistics.median(values):6.1f} items/s")
    ratios = [a / b for a, b in zip(rates["packed"], rates["plain"], strict=True)]
    print(f"ratio   {statistics.median(ratios):6.2f}")
    print(f"largest difference {largest_difference(scores['packed'], scores['plain']):.1e} nats")


if __name__ == "__main__":
    main()
