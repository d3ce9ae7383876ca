"""Write a report's files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from felicity.errors import RunError
from felicity.report.choice.analysis import Analysis, Cell
from felicity.report.choice.table import as_csv, main_table, names_of
from felicity.report.choice.words import in_words
from felicity.report.text_table import as_latex, as_markdown
from felicity.stats.orders import OrderEffects


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Return everything as plain values; the keys are documented in docs/json.md."""
    design = analysis.study.design
    participants = []
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        told = result.run.manifest
        participants.append(
            {
                "name": name,
                "run": str(result.run.folder),
                "spec": told["participant"]["spec"],
                "method": told["participant"]["method"],
                "format": told["format"]["name"],
                "prefix": told["participant"].get("prefix"),
                "dtype": told["participant"].get("dtype"),
                "precision": told.get("precision"),
                "complete": result.run.complete,
                "statuses": dict(result.statuses),
                "cells": {key: _plain_cell(cell) for key, cell in result.cells.items()},
                "variants": result.variants,
                "orders": _plain_orders(result.orders),
            }
        )
    return {
        "study": analysis.study.name,
        "study_version": analysis.study.version,
        "factor": design.factor,
        "levels": [asdict(level) for level in design.levels],
        "score": analysis.score,
        "seed": analysis.seed,
        "participants": participants,
        "people": {
            label: {key: _plain_cell(cell) for key, cell in cells.items()}
            for label, cells in analysis.people.items()
        },
        "words": in_words(analysis),
    }


def _plain_cell(cell: Cell) -> dict[str, Any]:
    interval = cell.interval
    return {
        "accuracy": _finite(cell.accuracy),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "interval": interval.method if interval else None,
        "correct": cell.correct,
        "ties": cell.ties,
        "usable": cell.usable,
        "asked": cell.asked,
        "units": cell.units,
        "chance": cell.chance,
        "p_chance": cell.p_chance,
        "p_chance_holm": cell.p_chance_holm,
        "against": {
            label: {
                "difference": difference.value,
                "low": difference.interval.low,
                "high": difference.interval.high,
                "p": difference.p,
            }
            for label, difference in (cell.against or {}).items()
        },
    }


def _plain_orders(orders: OrderEffects | None) -> dict[str, Any] | None:
    if orders is None:
        return None
    interval = orders.interval
    return {
        "position_bias": orders.position_bias,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "picks": orders.picks,
        "consistency": orders.consistency,
        "pairs": orders.pairs,
        "asked": orders.asked,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def write_report(analysis: Analysis, folder: Path) -> Mapping[str, Path]:
    """Write table.md, table.tex, accuracy.csv and report.json; return their paths.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    plain = json.dumps(as_json(analysis), indent=2, ensure_ascii=False) + "\n"
    return write_texts(folder, {**table_texts(analysis), "report.json": plain})


def table_texts(analysis: Analysis) -> dict[str, str]:
    """Return the main table with the words, as Markdown, LaTeX and CSV, by file name."""
    table = main_table(analysis)
    words = "\n\n".join(in_words(analysis))
    return {
        "table.md": f"{as_markdown(table)}\n{words}\n",
        "table.tex": as_latex(table),
        "accuracy.csv": as_csv(analysis),
    }


def write_texts(folder: Path, texts: Mapping[str, str]) -> Mapping[str, Path]:
    """Write each text to the file of its name; return the paths.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    paths = {name: folder / name for name in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            paths[name].write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(
            f"the report cannot be written: {error.strerror}",
            where=str(folder),
            hint="choose another folder with --out",
        ) from error
    return paths
