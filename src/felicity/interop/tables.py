"""A study as a table, and as a folder that Hugging Face `datasets` loads."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from felicity.interop.texts import Rendered, identifier, jsonl
from felicity.study import Format, Study
from felicity.types import Item


def item_row(study: Study, item: Item) -> dict[str, str]:
    """Return an item as one row: question, answers, the factor, then all else."""
    factor = study.design.factor
    return {
        "question": item.question,
        **{label: item.answers.get(label, "") for label in study.design.answers},
        factor: item.factors[factor],
        "item_id": item.item_id,
        "unit": item.unit,
        **{name: value for name, value in item.factors.items() if name not in (factor, "unit")},
    }


def csv_files(study: Study, items: Sequence[Rendered]) -> dict[str, str]:
    """Return the table, with the columns question, the answers and the factor first."""
    rows = [item_row(study, one.item) for one in items]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return {f"{identifier(study.name)}.csv": stream.getvalue()}


def hf_files(study: Study, fmt: Format, items: Sequence[Rendered]) -> dict[str, str]:
    """Return the rows and the card; rows hold the texts as scored beside those of the item."""
    rows: list[Mapping[str, object]] = [
        {
            **item_row(study, one.item),
            "context": one.context,
            "choices": list(one.answers),
            "gold": 0,
        }
        for one in items
    ]
    return {"data/test.jsonl": jsonl(rows), "README.md": _card(study, fmt, rows)}


def _card(study: Study, fmt: Format, rows: Sequence[Mapping[str, object]]) -> str:
    sizes = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    size = next((name for limit, name in sizes if len(rows) < limit), "100K<n<1M")
    datasheet = (study.folder / "README.md").read_text(encoding="utf-8")
    first = study.design.answers[0]
    return (
        "---\n"
        f"license: {study.licence.lower()}\n"
        f"language:\n- {study.language}\n"
        f"pretty_name: {study.name}\n"
        f"size_categories:\n- {size}\n"
        "task_categories:\n- multiple-choice\n"
        "configs:\n- config_name: default\n  data_files:\n"
        "  - split: test\n    path: data/test.jsonl\n"
        "---\n\n"
        f"# {study.name} {study.version}\n\n{study.title}\n\n"
        f"{len(rows)} items. `context` and `choices` are the texts that a model reads under format "
        f"`{fmt.name}`, as one text with nothing between them; `gold` is the index of the "
        f"{first}. `unit` is what repeats across items: resample it, not the rows.\n\n"
        f"## Datasheet\n\n{datasheet}"
    )
