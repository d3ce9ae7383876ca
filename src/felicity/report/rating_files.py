"""Write the files of a rating study's report."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from felicity.rating.study import Effect
from felicity.report.files import write_texts
from felicity.report.rating_analysis import RatingAnalysis, RatingResult
from felicity.report.rating_table import (
    cells_csv,
    effects_csv,
    effects_table,
    measures_csv,
    measures_table,
    names_of,
)
from felicity.report.rating_words import in_words
from felicity.report.text_table import as_latex, as_markdown
from felicity.stats.accuracy import Interval
from felicity.stats.alignment import MEASURES
from felicity.stats.noise_ceiling import NoiseCeiling


def as_json(analysis: RatingAnalysis) -> dict[str, Any]:
    """Return everything as plain values; the keys are documented in docs/json.md."""
    study, ceiling = analysis.study, analysis.ceiling
    return {
        "paradigm": "rating",
        "study": study.name,
        "study_version": study.version,
        "unit": analysis.unit,
        "unit_factors": list(study.units[analysis.unit]),
        "weighting": analysis.weighting,
        "as_published": analysis.as_published,
        "seed": analysis.seed,
        "resamples": analysis.n_resamples,
        "effects": [_effect(effect) for effect in study.effects],
        "participants": [
            _participant(name, result, analysis)
            for name, result in zip(names_of(analysis), analysis.results, strict=True)
        ],
        "noise_ceiling": None if ceiling is None else _ceiling(ceiling),
        "words": in_words(analysis),
    }


def _ceiling(ceiling: NoiseCeiling) -> dict[str, Any]:
    measures = {key: _value(ceiling.mean[key], ceiling.range[key]) for key in MEASURES}
    return {"splits": ceiling.splits, "measures": measures}


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "name": effect.name,
        "kind": effect.kind,
        "factors": list(effect.factors),
        "attribute": effect.attribute,
    }


def _participant(name: str, result: RatingResult, analysis: RatingAnalysis) -> dict[str, Any]:
    told, summary = result.run.manifest, result.summary
    return {
        "name": name,
        "run": str(result.run.folder),
        "spec": told["participant"]["spec"],
        "method": told["participant"]["method"],
        "prompting": result.prompting,
        "complete": result.run.complete,
        "parser_version": told.get("parser_version"),
        "asked": result.asked,
        "usable": result.usable,
        "read_by_parser": result.read_by_parser,
        "statuses": result.statuses,
        "cells_compared": int(summary.point.cells),
        "measures": {
            key: _value(float(getattr(summary.point, key)), summary.intervals[key])
            for key in MEASURES
        },
        "ccc_variants": {key: _finite(value) for key, value in result.ccc_variants.items()},
        "other_weighting": {key: _finite(value) for key, value in result.other_weighting.items()},
        "largest_shift": _finite(result.largest_shift),
        "effects": [
            _effect(effect)
            | {
                "model_effect": _finite(estimate.model_effect),
                "human_effect": _finite(estimate.human_effect),
                "human_low": _finite(estimate.human_interval.low),
                "human_high": _finite(estimate.human_interval.high),
                "esr": _value(estimate.esr, estimate.interval),
                "unstable": estimate.unstable,
            }
            for effect, estimate in zip(analysis.study.effects, summary.esr, strict=True)
        ],
        "cells": [_finite_only(asdict(cell)) for cell in result.cells],
        "missingness": [
            _finite_only(asdict(each)) | {"differs": each.differs} for each in result.missingness
        ],
        "alike": {"items": result.alike[0], "of": result.alike[1]},
        "spread": asdict(result.spread) if result.spread else None,
    }


def _value(value: float, interval: Interval | None) -> dict[str, Any]:
    return {
        "value": _finite(value),
        "low": _finite(interval.low) if interval else None,
        "high": _finite(interval.high) if interval else None,
        "interval": interval.method if interval else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _finite_only(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _finite(value) if isinstance(value, float) else value for key, value in fields.items()
    }


def write_rating_report(analysis: RatingAnalysis, folder: Path) -> Mapping[str, Path]:
    """Write table.md, table.tex, measures.csv, effects.csv, cells.csv and report.json.

    Returns
    -------
    mapping
        Name to path.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    tables = (measures_table(analysis), effects_table(analysis))
    words = "\n\n".join(in_words(analysis))
    return write_texts(
        folder,
        {
            "table.md": "\n".join(map(as_markdown, tables)) + f"\n{words}\n",
            "table.tex": "\n".join(map(as_latex, tables)),
            "measures.csv": measures_csv(analysis),
            "effects.csv": effects_csv(analysis),
            "cells.csv": cells_csv(analysis),
            "report.json": json.dumps(as_json(analysis), indent=2, ensure_ascii=False) + "\n",
        },
    )
