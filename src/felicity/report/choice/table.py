"""The main table: a row per participant, a column per level, people below."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from felicity.report.choice.analysis import OVERALL, Analysis, Cell
from felicity.report.text_table import NONE, TextTable
from felicity.study import Design


def number(value: float | None) -> str:
    """Write a share as papers do.

    Examples
    --------
    >>> number(0.575), number(1.0), number(None)
    ('.58', '1.00', '–')
    """
    if value is None:
        return NONE
    # Half up, as a reader rounds 23 of 40.
    text = f"{int(value * 100 + 0.5 + 1e-9) / 100:.2f}"
    return text.removeprefix("0") if value < 1 else text


def show_cell(cell: Cell, with_interval: bool) -> str:
    """Write a cell: accuracy, and its interval if asked for."""
    if cell.interval is None or not with_interval:
        return number(cell.accuracy)
    low, high = number(cell.interval.low), number(cell.interval.high)
    return f"{number(cell.accuracy)} [{low}, {high}]"


def names_of(analysis: Analysis) -> list[str]:
    """Name each participant; add what tells two apart: method, prefix, dtype, else the folder."""
    told = [result.run.manifest for result in analysis.participants]
    names = [result.run.label for result in analysis.participants]
    for extra in ("method", "prefix", "dtype"):
        places = [(name, str(t["format"]["name"])) for name, t in zip(names, told, strict=True)]
        for i, place in enumerate(places):
            if places.count(place) > 1 and extra in told[i]["participant"]:
                names[i] = f"{names[i]}, {extra} {told[i]['participant'][extra]}"
    places = [(name, str(t["format"]["name"])) for name, t in zip(names, told, strict=True)]
    return [
        f"{name} ({result.run.folder})" if places.count(place) > 1 else name
        for name, place, result in zip(names, places, analysis.participants, strict=True)
    ]


def main_table(analysis: Analysis, *, intervals: bool = True) -> TextTable:
    """Make the table of accuracies."""
    levels = [*analysis.study.design.levels]
    keys = [*(level.key for level in levels), OVERALL]
    rows = []
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        cells = result.cells
        rows.append(
            (
                name,
                str(result.run.manifest["format"]["name"]),
                *(show_cell(cells[key], intervals) for key in keys),
                f"{cells[OVERALL].usable} of {cells[OVERALL].asked}",
                str(cells[OVERALL].ties),
            )
        )
    for label, cells in analysis.people.items():
        shown = (show_cell(cells[key], intervals) for key in keys)
        rows.append((label, NONE, *shown, f"{cells[OVERALL].asked} answers", NONE))
    by_score = "" if analysis.score == "log_prob_mean" else f", compared by {analysis.score}"
    return TextTable(
        name="table",
        title=f"{analysis.study.title} Accuracy by {analysis.study.design.factor}{by_score}",
        header=(
            "Participant",
            "Format",
            *(level.short for level in levels),
            "Overall",
            "Usable",
            "Ties",
        ),
        rows=tuple(rows),
        people=len(analysis.people),
        note=(
            f"Accuracy: {_measured(analysis)}; chance is {chance_words(level_cells(analysis))}. "
            "In brackets 95 % intervals: over dialogues for models (bootstrap), over answers for "
            "people (Wilson)."
        ),
    )


def rivals(design: Design) -> str:
    """Say what the first answer is compared with: the other, or the best of several."""
    return design.answers[1] if len(design.answers) == 2 else "best other answer"


def chance_words(cells: Sequence[Cell]) -> str:
    """Say what chance is at the cells of levels; one half where there is none of a run."""
    shares = [cell.chance for cell in cells] or [0.5]
    low, high = min(shares), max(shares)
    return number(low) if low == high else f"{number(low)} to {number(high)} by level"


def level_cells(analysis: Analysis) -> list[Cell]:
    """Return the cells of every level of every participant, without the overall ones."""
    return [c for result in analysis.participants for k, c in result.cells.items() if k != OVERALL]


def _measured(analysis: Analysis) -> str:
    """Say what is counted: of the items, and of the replies of those that were asked."""
    said = []
    if any(result.orders is None for result in analysis.participants):
        first = analysis.study.design.answers[0]
        said.append(f"share of items whose {first} has the strictly higher {analysis.score}")
    if any(result.orders is not None for result in analysis.participants):
        pick = (
            analysis.study.asked.pick if analysis.study.asked else analysis.study.design.answers[1]
        )
        said.append(
            f"for format asked, share of usable replies that point out the {pick}, each item being "
            "shown in both orders"
        )
    return "; ".join(said)


def as_csv(analysis: Analysis) -> str:
    """Write one row per participant and level, for R and pandas; numbers are not rounded."""
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(
        [
            "participant",
            "kind",
            "method",
            "format",
            "score",
            analysis.study.design.factor,
            "accuracy",
            "low",
            "high",
            "interval",
            "correct",
            "ties",
            "usable",
            "asked",
            "units",
            "p_chance",
            "p_chance_holm",
        ]
    )
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        told = result.run.manifest
        start = [name, "model", told["participant"]["method"], told["format"]["name"], result.score]
        for key, cell in result.cells.items():
            rows.writerow([*start, key, *_numbers(cell)])
    for label, cells in analysis.people.items():
        for key, cell in cells.items():
            rows.writerow([label, "people", "", "", "", key, *_numbers(cell)])
    return stream.getvalue()


def _numbers(cell: Cell) -> list[object]:
    interval = cell.interval
    bounds = [interval.low, interval.high, interval.method] if interval else [None, None, None]
    return [
        cell.accuracy,
        *bounds,
        cell.correct,
        cell.ties,
        cell.usable,
        cell.asked,
        cell.units,
        cell.p_chance,
        cell.p_chance_holm,
    ]
