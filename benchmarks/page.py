"""How large report.html grows and how fast it opens: 20 models × 4,500 responses.

    python benchmarks/page.py [--models 20] [--keep PAGE]

The study is the Gricean one, whole (2,250 items, two answers each); the scores are drawn, the
tokens are the answers' own words and halves of words, different for each model, so that nothing
packs better than it would in a real report. Prints a line each: size, time to make it, and times
in a real browser (Debian's chromium, medians of five), from the start of the load to what is on
the screen.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import polars as pl

from felicity.report.content import ReportContent
from felicity.report.page import PAGE, build_page
from felicity.report.text_table import TextTable
from felicity.responses import LISTS, NUMBERS
from felicity.runner import Run
from felicity.study import Study, load_choice_study

REPEATS = 5
SEEN = {
    "first screen": ("", "h1"),
    "list of items": ("#item=", ".row"),
    "an open item": ("#item={last}", ".token"),
}


def pieces(answer: str, rng: random.Random) -> list[str]:
    """Cut an answer into tokens: its words, some of them in two."""
    found = []
    for word in answer.split():
        cut = rng.randrange(1, len(word)) if len(word) > 3 and rng.random() < 0.4 else len(word)
        found += [part for part in (f" {word[:cut]}", word[cut:]) if part]
    return found


def row(item, label: str, rng: random.Random) -> dict[str, object]:
    tokens = pieces(item.answers[label], rng)
    log_probs = [-rng.gammavariate(2, 1.8) for _ in tokens]
    total = math.fsum(log_probs)
    return {
        "item_id": item.item_id,
        "unit": item.unit,
        **item.factors,
        "question": item.question,
        "answer_label": label,
        "answer": item.answers[label],
        "status": "ok",
        "n_tokens": len(tokens),
        "n_characters": len(item.answers[label]),
        "log_prob_sum": total,
        "log_prob_mean": total / len(tokens),
        "bits_per_character": -total / math.log(2) / len(item.answers[label]),
        "pmi": rng.gauss(3, 2),
        "straddles": False,
        "token_ids": [],
        "tokens": tokens,
        "log_probs": log_probs,
    }


def drawn_run(study: Study, number: int, folder: Path) -> Run:
    rng = random.Random(number)
    rows = [row(item, label, rng) for item in study.items for label in study.design.answers]
    fmt = study.format()
    return Run(
        folder=folder,
        study=study,
        manifest={
            "participant": {"label": f"model-{number:02d}", "method": "logprob"},
            "format": {"name": fmt.name, "context": fmt.context, "answer": fmt.answer},
        },
        responses=pl.DataFrame(rows, schema_overrides=NUMBERS | LISTS),
        asked=len(rows),
    )


def content(study: Study) -> ReportContent:
    table = TextTable(name="ran", title="What was run", header=("Model",), rows=(("drawn",),))
    return ReportContent(
        title=study.title,
        ran=table,
        headline=("Scores are drawn.",),
        cautions=(),
        tables=(table,),
        figures=(),
        results=pl.DataFrame(),
        methods="",
        citations="",
        values={},
    )


def seconds_to(page, address: str, sight: str) -> float:
    page.goto("about:blank")
    started = time.perf_counter()
    page.goto(address)
    page.locator(sight).first.wait_for()
    return time.perf_counter() - started


def measure(path: Path, last: str) -> None:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for what, (hash_, sight) in SEEN.items():
            times = [
                seconds_to(page, path.as_uri() + hash_.format(last=last), sight)
                for _ in range(REPEATS)
            ]
            print(f"{what}: {statistics.median(times):.2f} s (worst {max(times):.2f} s)")
        page.goto(path.as_uri() + "#item=")
        page.locator(".row").first.wait_for()
        started = time.perf_counter()
        page.get_by_label("Search").fill("rabbit")
        page.locator(".count", has_text="of 2,250").wait_for()
        print(f"search of all items: {time.perf_counter() - started:.2f} s")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="keep the page here")
    given = parser.parse_args()
    study = load_choice_study("gricean-maxims")
    with tempfile.TemporaryDirectory() as scratch:
        runs = [drawn_run(study, number, Path(scratch)) for number in range(given.models)]
        started = time.perf_counter()
        text = build_page(content(study), runs, study)
        path = given.keep or Path(scratch) / PAGE
        path.write_text(text, encoding="utf-8")
        rows = sum(run.responses.height for run in runs)
        print(f"{rows:,} responses: {path.stat().st_size / 1e6:.1f} MB", end=", ")
        print(f"made in {time.perf_counter() - started:.1f} s")
        measure(path.resolve(), study.items[-1].item_id)


if __name__ == "__main__":
    main()
