"""From one worker to two on Ray, on this machine, and what bounds it beyond.

Scores the same items with one worker and with two, in turn, by workers of one thread that have
their model already, and prints seconds and the gain. Beside it what does not scale: starting Ray,
loading the model, the driver's processor time for a row, rows per second into the journal.

    python benchmarks/ray_scaling.py [--model SPEC] [--limit N] [--rounds N] [--batch-tokens N]
        [--json FILE]

Run it on a machine with two processors or more that does nothing else: where they are shared, two
workers gain what others leave over.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from felicity import load_study, run
from felicity.cluster import Cluster, OnRay, Opening
from felicity.journal import Journal

# Half a processor in Ray's books, so that those that wait leave room; one thread all the same.
SHARE = 0.5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", default="embedded:smollm2-135m")
    options.add_argument("--limit", type=int, default=300)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--batch-tokens", type=int, default=256)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    opening = Opening(spec=given.model, threads=1, batch_tokens=given.batch_tokens)
    began = time.perf_counter()
    with Cluster(OnRay(cpus=SHARE, workers=2)) as two, tempfile.TemporaryDirectory() as place:
        started = time.perf_counter() - began
        with (
            two.open(opening) as pair,
            Cluster(OnRay(cpus=SHARE, workers=1)) as one,
            one.open(opening) as single,
        ):
            warm_up = 0
            while len(pair.workers()) < 2:
                timed(pair, Path(place) / f"warm{warm_up}", given.limit)
                warm_up += 1
            rows = [
                {
                    name: timed(participant, Path(place) / f"{name}-{turn}", given.limit)
                    for name, participant in (("one", single), ("two", pair))
                }
                for turn in range(given.rounds)
            ]
            loads = [each["seconds_to_load"] for each in (*single.workers(), *pair.workers())]
        gains = [row["one"]["seconds"] / row["two"]["seconds"] for row in rows]
        driver = [row["two"]["driver"] / (2 * given.limit) for row in rows]
        found = {
            "model": given.model,
            "rows": 2 * given.limit,
            "rounds": rows,
            "gain": round(statistics.median(gains), 3),
            "seconds_to_start_ray": round(started, 2),
            "seconds_to_load": [round(each, 2) for each in loads],
            "driver_ms_per_row": round(1000 * statistics.median(driver), 3),
            "journal_rows_per_second": round(journal_speed(Path(place))),
            "processors": os.cpu_count(),
            "load_average": round(os.getloadavg()[0], 1),
        }
    print(json.dumps(found, indent=2))
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def timed(participant: Any, folder: Path, limit: int) -> dict[str, float]:
    """Run once: seconds by the clock, and of this process's processors."""
    study = load_study("gricean-maxims")
    clock, used = time.perf_counter(), time.process_time()
    run(study, participant, folder, limit=limit)
    return {
        "seconds": round(time.perf_counter() - clock, 3),
        "driver": round(time.process_time() - used, 4),
    }


def journal_speed(place: Path) -> float:
    """Return rows per second into a journal, twenty to a transaction, each made durable."""
    with Journal(place / "one-0" / "journal.sqlite", read_only=True) as read:
        known = list(read)
    rows = [replace(known[i % len(known)], trial_id=f"t{i}|a") for i in range(4000)]
    began = time.perf_counter()
    with Journal(place / "speed.sqlite") as journal:
        for start in range(0, len(rows), 20):
            journal.add(rows[start : start + 20])
    return len(rows) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
