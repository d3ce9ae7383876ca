"""Make published_cells.csv: the models' 24 cells from the social-meaning paper's public replies.

Run by hand where the reply files are: python tests/reference/make_published_cells.py FOLDER
(published_replies_MIN.jsonl and published_replies_ALT.jsonl in it). Plain Python on purpose: it is
a second route to what felicity.stats computes. A reply counts where the paper's one-digit rule
kept it (``valid``); ``asked`` counts all.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

FORMS = {"precise": "precise", "approx": "approximate"}
COLUMNS = ("prompting", "model", "context", "form", "attribute", "mean", "sd", "n", "asked")


def published_cells(folder: Path) -> list[dict[str, str]]:
    rows = []
    for prompting in ("MIN", "ALT"):
        ratings = defaultdict(list)
        asked = defaultdict(int)
        with (folder / f"published_replies_{prompting}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                reply = json.loads(line)
                form = FORMS[reply["utterance"]]
                key = (prompting, reply["model"], reply["context"], form, reply["attribute"])
                asked[key] += 1
                if reply["valid"]:
                    ratings[key].append(reply["likert"])
        for key in sorted(asked):
            figures = (
                repr(statistics.fmean(ratings[key])),
                repr(statistics.stdev(ratings[key])),
                str(len(ratings[key])),
                str(asked[key]),
            )
            rows.append(dict(zip(COLUMNS, (*key, *figures), strict=True)))
    return rows


if __name__ == "__main__":
    with (Path(__file__).parent / "published_cells.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(published_cells(Path(sys.argv[1])))
