"""A study as tasks of lm-evaluation-harness: a task a level, and a group of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from felicity.interop.texts import Rendered, identifier, jsonl
from felicity.study import Format, Study

# Loads the rows that lie beside it, so that the folder works wherever it is put, without a network.
READER = '''"""Read the items that lie beside this file."""

import json
from pathlib import Path

import datasets


def read_level(level, **_):
    """Return the items of one level as the split "test"."""
    lines = (Path(__file__).parent / "items.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["level"] == level]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
'''


def lm_eval_files(study: Study, fmt: Format, items: Sequence[Rendered]) -> dict[str, str]:
    """Return the files: rows, reader, a task for each level, a group."""
    stem = f"felicity_{identifier(study.name)}"
    factor = study.design.factor
    rows = [
        {
            "item_id": one.item.item_id,
            "level": one.item.factors[factor],
            "context": one.context,
            "choices": list(one.answers),
            "gold": 0,
        }
        for one in items
    ]
    present = {row["level"] for row in rows}
    levels = [key for key in study.design.level_keys if key in present]
    files = {
        "items.jsonl": jsonl(rows),
        "felicity_items.py": READER,
        f"_{stem}.yaml": _common(study, fmt),
    }
    for level in levels:
        files[f"{stem}_{identifier(level)}.yaml"] = (
            f"include: _{stem}.yaml\n"
            f"task: {stem}_{identifier(level)}\n"
            f"task_alias: {json.dumps(level)}\n"
            f"dataset_kwargs:\n  level: {json.dumps(level)}\n"
        )
    files[f"{stem}.yaml"] = _group(stem, [f"{stem}_{identifier(level)}" for level in levels])
    return files


def _common(study: Study, fmt: Format) -> str:
    return (
        f"# {study.title} Version {study.version}, format {fmt.name}. Licence {study.licence}.\n"
        "custom_dataset: !function felicity_items.read_level\n"
        "output_type: multiple_choice\n"
        "test_split: test\n"
        "doc_to_text: context\n"
        "doc_to_choice: choices\n"
        "doc_to_target: gold\n"
        "# The answers hold the space or line break that comes before them.\n"
        'target_delimiter: ""\n'
        "num_fewshot: 0\n"
        "metric_list:\n"
        "  - metric: acc\n    aggregation: mean\n    higher_is_better: true\n"
        "  - metric: acc_norm\n    aggregation: mean\n    higher_is_better: true\n"
    )


def _group(stem: str, tasks: Sequence[str]) -> str:
    listed = "".join(f"  - {task}\n" for task in tasks)
    metrics = "".join(
        f"  - metric: {metric}\n    aggregation: mean\n    weight_by_size: false\n"
        for metric in ("acc", "acc_norm")
    )
    return (
        f"group: {stem}\n"
        f"task:\n{listed}"
        "# The overall score is the mean of the levels.\n"
        f"aggregate_metric_list:\n{metrics}"
        "metadata:\n  version: 1.0\n"
    )
