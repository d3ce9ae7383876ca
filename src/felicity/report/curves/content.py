"""Learning curves as part of a choice study's report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from felicity.report.choice.analysis import Analysis
from felicity.report.content import ReportContent
from felicity.report.curves.analysis import Curve, curve_table, curve_words, onset_table
from felicity.report.curves.figures import curve_figures
from felicity.report.figures import missing_packages


def with_curves(
    content: ReportContent, curves: Sequence[Curve], analysis: Analysis
) -> ReportContent:
    """Add tables, figures and words of learning curves; without any curve nothing changes."""
    if not curves:
        return content
    figures = () if missing_packages() else curve_figures(curves, analysis)
    return replace(
        content,
        headline=(*curve_words(curves, analysis), *content.headline),
        tables=(*content.tables, curve_table(curves, analysis), onset_table(curves, analysis)),
        figures=(*content.figures, *figures),
        values={**content.values, "curves": [_plain(curve) for curve in curves]},
    )


def _plain(curve: Curve) -> dict[str, Any]:
    return {
        "name": curve.name,
        "checkpoints": [
            {"name": checkpoint.name, "words": checkpoint.words, "bits_per_character": list(bits)}
            for (checkpoint, _), bits in zip(curve.points, curve.bits, strict=True)
        ],
        "onsets": {
            key: {
                "p_chance_holm": list(onset.p_holm),
                "above_chance": list(onset.above),
                "first": curve.words_at(onset.first),
                "lasting": curve.words_at(onset.lasting),
            }
            for key, onset in curve.onsets.items()
        },
        "order_beside_people": {
            label: None if found is None else asdict(found)
            for label, found in curve.agreement.items()
        },
    }
