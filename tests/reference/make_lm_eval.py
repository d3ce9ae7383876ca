"""Run lm-evaluation-harness on our export: the reference numbers of test_lm_eval.py.

Run by hand in a virtual environment of its own, with Felicity's source beside it:

    python -m venv /tmp/lmeval
    /tmp/lmeval/bin/pip install 'torch>=2.9,<2.14' 'transformers>=5' lm_eval==0.4.13 -e '.[local]'
    HF_HUB_OFFLINE=1 /tmp/lmeval/bin/python tests/reference/make_lm_eval.py CACHE

CACHE is Felicity's cache folder, with the embedded models in it. The harness is as installed: it
reads the exported folder by ``include_path`` and is told nothing more.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import lm_eval
import torch
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from felicity.interop import export_study
from felicity.study import Study, load_choice_study

HERE = Path(__file__).parent
GROUP = "felicity_gricean_maxims"
FORMATS = ("names", "named-answer")


def sample(study: Study) -> Study:
    """Ten dialogues of each maxim, in one wording and one pair of names."""
    chosen = study.select({"wording": "0", "questioner": "Leslie", "responder": "Joan"})
    kept = []
    for key in study.design.level_keys:
        kept += [item for item in chosen if item.factors["maxim"] == key][:10]
    return replace(study, items=tuple(kept))


def main(cache: Path) -> None:
    """Write lm_eval.csv (a row an item, sums of both answers) and lm_eval.json (accuracies)."""
    torch.set_num_threads(1)
    model = HFLM(
        pretrained=str(next((cache / "models").glob("smollm2-135m-*"))),
        # In double precision, so that sums differ by our rounding alone: in float32 the harness is
        # up to 2e-4 nats off its own double-precision sums, and we are 3e-5.
        dtype="float64",
        batch_size=8,
        device="cpu",
    )
    study = sample(load_choice_study("gricean-maxims"))
    rows, told = [], {}
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            export_study(study, "lm-eval", folder, format=name)
            found = lm_eval.simple_evaluate(
                model=model,
                tasks=[GROUP],
                task_manager=TaskManager(include_path=folder, include_defaults=False),
                log_samples=True,
                bootstrap_iters=0,
            )
        told[name] = {
            task: {key: value for key, value in result.items() if isinstance(value, float)}
            for task, result in found["results"].items()
        }
        for samples in found["samples"].values():
            for one in samples:
                sums = [pair[0] for pair in one["filtered_resps"]]
                rows.append([name, one["doc"]["item_id"], one["doc"]["level"], *sums])
    with (HERE / "lm_eval.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["format", "item_id", "level", "follower", "violator"])
        writer.writerows(rows)
    (HERE / "lm_eval.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
