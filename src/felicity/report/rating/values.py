"""A rating study's report as plain values: report.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from felicity.rating.study import Effect
from felicity.report.rating.analysis import RatingAnalysis, RatingResult
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import names_of
from felicity.report.rating.words import in_words
from felicity.stats.accuracy import Interval
from felicity.stats.alignment import MEASURES
from felicity.stats.noise_ceiling import NoiseCeiling


def as_json(analysis: RatingDescription) -> dict[str, Any]:
    """Return everything as plain values; the keys are documented in docs/json.md."""
    study = analysis.study
    ceiling = analysis.ceiling if isinstance(analysis, RatingAnalysis) else None
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
        "compared": isinstance(analysis, RatingAnalysis),
        "people_floor": _finite(analysis.people_floor)
        if isinstance(analysis, RatingAnalysis)
        else None,
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


def _participant(name: str, result: RatingReplies, analysis: RatingDescription) -> dict[str, Any]:
    told = result.run.manifest
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
        **(_compared(result, analysis) if isinstance(result, RatingResult) else {}),
        "cells": [_finite_only(asdict(cell)) for cell in result.cells],
        "alike": {"items": result.alike[0], "of": result.alike[1]},
        "spread": asdict(result.spread) if result.spread else None,
    }


def _compared(result: RatingResult, analysis: RatingDescription) -> dict[str, Any]:
    summary = result.summary
    return {
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
        "missingness": [
            _finite_only(asdict(each)) | {"differs": each.differs} for each in result.missingness
        ],
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
