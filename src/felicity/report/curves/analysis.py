"""Learning curves of a choice study: the checkpoints of a model as they come to be above chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from felicity.report.choice.analysis import OVERALL, Analysis, ParticipantResult
from felicity.report.choice.table import chance_words, level_cells, number
from felicity.report.text_table import NONE, TextTable
from felicity.runner import Run
from felicity.stats.curves import ALPHA, Onset, OrderAgreement, agree_on_order, find_onset


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a participant stands: which model's checkpoint it is, and the words it has seen."""

    series: str
    name: str
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One model's checkpoints in the order of training, under one way of asking it.

    Attributes
    ----------
    points
        Checkpoints with their results.
    bits
        Bits per character of both answers at each checkpoint, in the study's order of answers;
        empty for an asked run.
    onsets
        For each level, when it comes to be above chance.
    agreement
        For each group of people, how far their order of difficulty is the order of onset.
    """

    name: str
    points: tuple[tuple[Checkpoint, ParticipantResult], ...]
    bits: tuple[tuple[float, ...], ...]
    onsets: dict[str, Onset]
    agreement: dict[str, OrderAgreement | None]

    def words_at(self, place: int | None) -> int | None:
        """Return the words seen at a checkpoint."""
        return None if place is None else self.points[place][0].words


def find_curves(analysis: Analysis, checkpoints: Sequence[Checkpoint | None]) -> tuple[Curve, ...]:
    """Put the checkpoints of each model together.

    Parameters
    ----------
    analysis
        Of all runs.
    checkpoints
        One for each participant of ``analysis``; None where it is no checkpoint, or nothing says
        how many words it has seen.

    Returns
    -------
    tuple of Curve
        One for each model, method and format with at least two checkpoints.
    """
    found: dict[tuple[str, str, str], list[tuple[Checkpoint, ParticipantResult]]] = {}
    for checkpoint, result in zip(checkpoints, analysis.participants, strict=True):
        if checkpoint is not None:
            told = result.run.manifest
            method, fmt = told["participant"]["method"], told["format"]["name"]
            found.setdefault((checkpoint.series, method, fmt), []).append((checkpoint, result))
    several = {key: points for key, points in found.items() if len(points) > 1}
    names = [series for series, _, _ in several]
    return tuple(
        _curve(
            series if names.count(series) == 1 else f"{series}, {method}, {fmt}", points, analysis
        )
        for (series, method, fmt), points in several.items()
    )


def _curve(
    name: str, points: list[tuple[Checkpoint, ParticipantResult]], analysis: Analysis
) -> Curve:
    points = sorted(points, key=lambda point: point[0].words)
    keys = analysis.study.design.level_keys
    onsets = {
        key: find_onset(
            [result.cells[key].accuracy for _, result in points],
            [result.cells[key].p_chance for _, result in points],
            [result.cells[key].chance for _, result in points],
        )
        for key in keys
    }
    words = [
        None if (place := onsets[key].lasting) is None else points[place][0].words for key in keys
    ]
    agreement = {
        label: agree_on_order(words, [cells[key].accuracy or 0.0 for key in keys])
        for label, cells in analysis.people.items()
    }
    labels = analysis.study.design.answers
    return Curve(
        name=name,
        points=tuple(points),
        bits=tuple(_bits(result, labels) for _, result in points),
        onsets=onsets,
        agreement=agreement,
    )


def _bits(result: ParticipantResult, labels: tuple[str, ...]) -> tuple[float, ...]:
    """Average the bits per character of each answer: how well the model knows the language."""
    if not isinstance(result.run, Run):
        return ()
    table = result.run.responses
    means = [
        table.filter(pl.col("answer_label") == label)["bits_per_character"].mean()
        for label in labels
    ]
    return tuple(float(mean) if isinstance(mean, float) else float("nan") for mean in means)


def curve_rows(curves: Sequence[Curve], analysis: Analysis) -> pl.DataFrame:
    """Return a row per model, checkpoint and level, unrounded, for R and pandas.

    Returns
    -------
    polars.DataFrame
        ``model``, ``checkpoint``, ``words``, the study's factor, ``accuracy``, ``low``, ``high``,
        ``usable``, ``asked``, ``p_chance``, ``p_chance_holm`` (over checkpoints) and
        ``above_chance``; the last three are null for ``overall``.
    """
    rows = []
    for curve in curves:
        for place, (checkpoint, result) in enumerate(curve.points):
            for key, cell in result.cells.items():
                onset = curve.onsets.get(key)
                rows.append(
                    {
                        "model": curve.name,
                        "checkpoint": checkpoint.name,
                        "words": checkpoint.words,
                        analysis.study.design.factor: key,
                        "accuracy": cell.accuracy,
                        "low": cell.interval.low if cell.interval else None,
                        "high": cell.interval.high if cell.interval else None,
                        "usable": cell.usable,
                        "asked": cell.asked,
                        "p_chance": cell.p_chance,
                        "p_chance_holm": onset.p_holm[place] if onset else None,
                        "above_chance": onset.above[place] if onset else None,
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def curve_table(curves: Sequence[Curve], analysis: Analysis) -> TextTable:
    """Make the table of checkpoints: accuracy of each level, bold where it is above chance."""
    design = analysis.study.design
    keys = [*design.level_keys, OVERALL]
    rows, bold = [], set()
    for curve in curves:
        for place, (checkpoint, result) in enumerate(curve.points):
            bits = curve.bits[place] or (None,) * len(design.answers)
            rows.append(
                (
                    curve.name,
                    words_short(checkpoint.words),
                    *(number(result.cells[key].accuracy) for key in keys),
                    *(NONE if value is None else f"{value:.2f}" for value in bits),
                )
            )
            bold |= {
                (len(rows) - 1, 2 + column)
                for column, key in enumerate(design.level_keys)
                if curve.onsets[key].above[place]
            }
    for label, cells in analysis.people.items():
        shown = (number(cells[key].accuracy) for key in keys)
        rows.append((label, NONE, *shown, *([NONE] * len(design.answers))))
    return TextTable(
        name="curve",
        title=f"{analysis.study.title} Accuracy by {design.factor} and words seen",
        header=(
            "Model",
            "Words",
            *(level.short for level in design.levels),
            "Overall",
            *(f"Bits ({label})" for label in design.answers),
        ),
        rows=tuple(rows),
        people=len(analysis.people),
        note=(
            f"Bold: above chance ({chance_words(level_cells(analysis))}) by a test over dialogues, "
            f"Holm-corrected over the checkpoints of a model, α = {ALPHA}. Bits: mean bits per "
            "character of an answer, which fall as a model learns the language at all."
        ),
        left=1,
        bold=frozenset(bold),
    )


def onset_table(curves: Sequence[Curve], analysis: Analysis) -> TextTable:
    """Make the table of onsets: the words after which a level is above chance, and stays so."""
    levels = analysis.study.design.levels
    rows: list[tuple[str, ...]] = []
    for curve in curves:
        found = [curve.onsets[level.key] for level in levels]
        firsts = (words_short(curve.words_at(onset.first)) for onset in found)
        lasting = (words_short(curve.words_at(onset.lasting)) for onset in found)
        rows.append((curve.name, "first above chance", *firsts))
        rows.append((curve.name, "above chance from there on", *lasting))
    rows += [
        (label, "accuracy", *(number(cells[level.key].accuracy) for level in levels))
        for label, cells in analysis.people.items()
    ]
    return TextTable(
        name="onset",
        title=f"Words seen when each {analysis.study.design.factor} comes to be above chance",
        header=("Model", "", *(level.short for level in levels)),
        rows=tuple(rows),
        people=len(analysis.people),
        note=" ".join(curve_words(curves, analysis)),
        left=2,
    )


def curve_words(curves: Sequence[Curve], analysis: Analysis) -> list[str]:
    """Say what the curves say, a paragraph for each model."""
    return [_about(curve, analysis) for curve in curves]


def _about(curve: Curve, analysis: Analysis) -> str:
    levels = analysis.study.design.levels
    first, last = curve.points[0][0], curve.points[-1][0]
    text = (
        f"{curve.name}, {len(curve.points)} checkpoints from {words_short(first.words)} to "
        f"{words_short(last.words)} words:"
    )
    came = [
        f"{level.short} from {words_short(curve.words_at(curve.onsets[level.key].lasting))} words"
        for level in sorted(levels, key=lambda each: curve.onsets[each.key].lasting or 0)
        if curve.onsets[level.key].lasting is not None
    ]
    never = [level.short for level in levels if curve.onsets[level.key].lasting is None]
    if came:
        text += f" above chance on {', '.join(came)}."
    if never:
        text += f" Not above chance at the end on {', '.join(never)}."
    if curve.bits[0]:
        before, after = (sum(curve.bits[place]) / len(curve.bits[place]) for place in (0, -1))
        text += f" Bits per character of the answers go from {before:.2f} to {after:.2f}."
    for label, agreement in curve.agreement.items():
        if agreement is None:
            text += f" With no order of onset there is nothing to compare with {label}."
        else:
            text += (
                f" Order of onset beside {label} from easiest to hardest: τ-b = "
                f"{agreement.tau:.2f} (p = {agreement.p:.2f} over {agreement.levels} levels; what "
                "never comes is last)."
            )
    return text


def words_short(words: int | None) -> str:
    """Write a number of words.

    Examples
    --------
    >>> words_short(300_000), words_short(1_500_000), words_short(None)
    ('300k', '1.5M', '–')
    """
    if words is None:
        return NONE
    for size, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")):
        if words >= size:
            return f"{words / size:.3g}{unit}"
    return str(words)
