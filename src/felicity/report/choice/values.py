"""The report of a choice study as plain values: report.json and `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from felicity.report.choice.analysis import Analysis
from felicity.report.choice.files import as_json
from felicity.report.choice.findings import ChoiceFindings
from felicity.report.choice.margins import QUANTILES, Margins
from felicity.report.groups.members import Member
from felicity.report.groups.tables import GroupStatistics


def choice_values(analysis: Analysis, found: ChoiceFindings) -> Mapping[str, Any]:
    """Return everything as plain values; the keys are documented in docs/json.md."""
    statistics = {one.group.name: one for one in found.statistics}
    keys = analysis.study.design.level_keys
    return {
        **as_json(analysis),
        "groups": [
            {
                "name": group.name,
                "members": [_member(member) for member in group.members],
                "average": {
                    key: group.average(key)
                    for key in (group.members[0].cells if group.members else ())
                },
                **_statistics(statistics.get(group.name), keys),
            }
            for group in found.grouping.groups
        ],
        "others": [_member(member) for member in found.grouping.others],
        "gains": [
            {
                "from": row.first,
                "to": row.second,
                "architecture": row.architecture,
                "level": row.level,
                **asdict(row.gain),
                "p_holm": row.p_holm,
            }
            for row in found.gains
        ],
        "gain_remarks": list(found.gain_remarks),
        "mixed_model": _mixed_model(found),
        "choices": [
            {"name": model.name, "items": model.items, "cells": [asdict(c) for c in model.choices]}
            for model in found.choices
        ],
        "margins": [_margins(one) for one in found.margins],
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "architecture": member.architecture,
        "run": str(member.result.run.folder) if member.result else None,
        "accuracy": {key: cell.accuracy for key, cell in member.cells.items()},
    }


def _statistics(one: GroupStatistics | None, keys: tuple[str, ...]) -> dict[str, Any]:
    if one is None:
        return {"concordance": None, "correlations": []}
    return {
        "concordance": asdict(one.concordance),
        "correlations": [
            {"first": first, "second": second, **asdict(one.correlations[j][i])}
            for i, second in enumerate(keys)
            for j, first in enumerate(keys[:i])
        ],
    }


def _mixed_model(found: ChoiceFindings) -> dict[str, Any] | None:
    model = found.model
    if model is None:
        return None
    fit = model.fit
    cells = []
    if fit is not None:
        estimates = zip(model.cells, fit.coefficients, fit.standard_errors, strict=True)
        cells = [
            {"model": name, "level": level, "log_odds": float(b), "standard_error": _finite(e)}
            for (name, level), b, e in estimates
        ]
    return {
        "tests": [{"effect": name, **asdict(test)} for name, test in model.tests],
        "cells": cells,
        "unit_sd": fit.unit_sd if fit else None,
        "rows": fit.rows if fit else 0,
        "units": fit.units if fit else 0,
        "remarks": list(model.remarks),
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _margins(one: Margins) -> dict[str, Any]:
    return {
        "name": one.name,
        "format": one.format,
        "score": one.score,
        "quantiles": {
            key: dict(
                zip(map(str, QUANTILES), map(float, np.quantile(values, QUANTILES)), strict=True)
            )
            if len(values)
            else None
            for key, values in one.by_level.items()
        },
        "calibration": asdict(one.calibration) if one.calibration else None,
    }
