"""How wide the margins are, level by level, and whether wide ones are right more often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from felicity.report.choice.analysis import Analysis, ParticipantResult
from felicity.report.choice.table import names_of, number, rivals
from felicity.report.groups.tables import bounds, three
from felicity.report.text_table import NONE, TextTable
from felicity.stats.accuracy import Floats
from felicity.stats.calibration import Calibration, calibrate
from felicity.study import Design

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NATS = ("log_prob_mean", "log_prob_sum", "pmi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """The margins of one scored participant: by level, and their calibration.

    ``calibration`` is None where a margin is no log-odds: where the score is not in nats, or an
    item has more than two answers.
    """

    name: str
    format: str
    score: str
    by_level: dict[str, Floats]
    calibration: Calibration | None


def measure_margins(analysis: Analysis) -> tuple[Margins, ...]:
    """Collect the margins of every participant that was scored; asked ones have none."""
    return tuple(
        _measure(name, result, analysis)
        for name, result in zip(names_of(analysis), analysis.participants, strict=True)
        if result.orders is None
    )


def _measure(name: str, result: ParticipantResult, analysis: Analysis) -> Margins:
    design = analysis.study.design
    usable = result.margins.filter(pl.col("margin").is_not_null())
    calibration = None
    if result.score in NATS and len(design.answers) == 2:
        calibration = calibrate(
            usable["margin"].cast(pl.Float64).to_numpy(),
            np.asarray(usable["unit"].to_list(), dtype=np.str_),
            np.random.default_rng(analysis.seed),
        )
    return Margins(
        name=name,
        format=str(result.run.manifest["format"]["name"]),
        score=result.score,
        by_level={
            key: usable.filter(pl.col(design.factor) == key)["margin"].cast(pl.Float64).to_numpy()
            for key in design.level_keys
        },
        calibration=calibration,
    )


def margins_summary(found: Sequence[Margins], design: Design) -> TextTable:
    """Make the table of quantiles of margins."""
    rows = []
    for one in found:
        for level in design.levels:
            values = one.by_level[level.key]
            cells = [NONE] * len(QUANTILES)
            if len(values):
                cells = [signed(value) for value in np.quantile(values, QUANTILES)]
            rows.append((one.name, one.format, level.short, *cells, str(len(values))))
    return TextTable(
        name="margins",
        title=f"Margins by {design.factor}",
        header=(
            "Participant",
            "Format",
            design.factor.capitalize(),
            *(f"{round(100 * q)} %" for q in QUANTILES),
            "n",
        ),
        rows=tuple(rows),
        left=3,
        note=f"Quantiles of the {design.answers[0]}'s score minus the {rivals(design)}'s "
        f"({', '.join(dict.fromkeys(one.score for one in found))}); above 0 the "
        f"{design.answers[0]} wins.",
    )


def calibration_table(found: Sequence[Margins]) -> TextTable | None:
    """Make the table of accuracy by width of the margin."""
    rows = []
    errors = []
    for one in found:
        if one.calibration is None or one.calibration.error is None:
            continue
        errors.append(f"{one.name}, {one.format}: {three(one.calibration.error)}")
        rows += [
            (
                one.name,
                one.format,
                f"{part.low:.2f} to {part.high:.2f}",
                str(part.n),
                number(part.confidence),
                number(part.accuracy),
                bounds(part.interval),
            )
            for part in one.calibration.bins
        ]
    if not rows:
        return None
    return TextTable(
        name="calibration",
        title="Accuracy by width of the margin",
        header=(
            "Participant",
            "Format",
            "|Margin| (nats)",
            "n",
            "Expected",
            "Accuracy",
            "95 % interval",
        ),
        rows=tuple(rows),
        left=2,
        note="Bins of about equal number; ties are in none. Expected: mean of the logistic "
        "function of |margin|. Intervals over dialogues. Expected calibration error: "
        f"{'; '.join(errors)}.",
    )


def signed(value: float) -> str:
    """Write a margin with its sign and two places.

    Examples
    --------
    >>> signed(0.5), signed(-1.234), signed(-0.001)
    ('+0.50', '−1.23', '0.00')
    """
    text = f"{abs(value):.2f}"
    if float(text) == 0:
        return text
    return ("−" if value < 0 else "+") + text
