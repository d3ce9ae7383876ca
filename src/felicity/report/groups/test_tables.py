"""The tests over groups as tables: gains, and the mixed model."""

from __future__ import annotations

from collections.abc import Sequence

from felicity.report.groups.tables import bounds, p_value, two
from felicity.report.groups.tests import GainRow, MixedModel
from felicity.report.text_table import NONE, TextTable
from felicity.study import Design


def gains_table(rows: Sequence[GainRow], remarks: Sequence[str], design: Design) -> TextTable:
    """Make the table of gains from one group to the next."""
    short = {level.key: level.short for level in design.levels}
    return TextTable(
        name="gains",
        title=f"Gain in accuracy from one group to the next, by architecture and {design.factor}",
        header=(
            "From",
            "To",
            "Architecture",
            design.factor.capitalize(),
            "Gain",
            "95 % interval",
            "p",
            "p (Holm)",
            "Dialogues",
        ),
        rows=tuple(
            (
                row.first,
                row.second,
                row.architecture,
                short[row.level],
                NONE if row.gain.value is None else two(row.gain.value),
                bounds(row.gain.interval),
                p_value(row.gain.p),
                p_value(row.p_holm),
                str(row.gain.units),
            )
            for row in rows
        ),
        left=4,
        note="Paired over the items that both have. Interval: bootstrap over dialogues, none where "
        "all gain alike; p: sign-flip test over dialogues, Holm-corrected over the gains of a step."
        + "".join(f" {remark}" for remark in remarks),
    )


def mixed_model_table(model: MixedModel, factor: str) -> TextTable:
    """Make the table of the mixed model's tests, or of why there are none."""
    fitted = ""
    if model.fit is not None:
        fitted = (
            f" {model.fit.rows} rows, {model.fit.units} dialogues, whose log-odds vary with a "
            f"standard deviation of {model.fit.unit_sd:.2f}."
        )
    return TextTable(
        name="mixed_model",
        title=f"Logistic mixed model: won ~ {factor} × model + (1 | dialogue)",
        header=("Effect", "χ²", "df", "p"),
        rows=tuple(
            (name, f"{test.chi2:.2f}", str(test.df), p_value(test.p)) for name, test in model.tests
        ),
        left=1,
        note="Likelihood-ratio tests: each effect beside the fit without it, the interaction "
        "beside both. A row is a dialogue of a model, won where most of its copies are."
        + fitted
        + "".join(f" {remark}" for remark in model.remarks),
    )
