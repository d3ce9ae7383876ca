"""Tables for papers: agreement, calibration, errors, and how many replies were usable where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from felicity.report.rating.analysis import RatingAnalysis
from felicity.report.rating.marks import roles_of
from felicity.report.rating.replies import RatingDescription, RatingReplies
from felicity.report.rating.table import figure, names_of, with_interval, write_csv
from felicity.report.text_table import NONE, TextTable

AGREEMENT = {"spearman": "ρ", "ccc": "CCC", "rmse": "RMSE"}
CALIBRATION = {"cds_main": "CDS_m", "cds_interaction": "CDS_i", "cds": "CDS"}
ERRORS = {"rmse": "Against means", "rmse_individuals": "Against individuals"}
HIGHER_IS_BETTER = ("spearman", "ccc")


def paper_tables(analysis: RatingAnalysis) -> tuple[TextTable, ...]:
    """Make the tables of agreement, of calibration and of errors, the best figures bold."""
    count = len(analysis.results[0].cells)
    cells = (
        f"Over {count} cell means, {analysis.weighting.replace('_', ' ')}. In brackets 95 %"
        " intervals by bootstrap. Bold: best of the participants."
    )
    published = " CCC as published." if analysis.as_published else ""
    floor = ("People's own means", NONE, figure(0.0), figure(analysis.people_floor))
    return (
        _table(
            analysis,
            "agreement",
            "Agreement of cell means with people's",
            AGREEMENT,
            f"{cells}{published}",
        ),
        _table(
            analysis,
            "calibration",
            "Deviation of effect sizes from people's",
            CALIBRATION,
            "Mean of |ESR − 1| over main effects (m), interactions (i), all; 0 is perfect, and 1 is"
            " what equal ratings of all cells get. In brackets 95 % intervals by bootstrap. Bold:"
            " best of the participants.",
        ),
        _table(
            analysis,
            "errors",
            "Root mean squared error (RMSE)",
            ERRORS,
            f"{cells} Whoever gives each cell people's own mean still misses individuals by so"
            " much as the last row says.",
            (floor,),
        ),
    )


def _table(
    analysis: RatingAnalysis,
    name: str,
    title: str,
    headings: Mapping[str, str],
    note: str,
    people: tuple[tuple[str, ...], ...] = (),
) -> TextTable:
    results, ceiling = analysis.results, analysis.ceiling
    rows = [
        (
            who,
            result.prompting,
            *(
                with_interval(
                    float(getattr(result.summary.point, key)), result.summary.intervals[key]
                )
                for key in headings
            ),
        )
        for who, result in zip(names_of(analysis), results, strict=True)
    ]
    if ceiling is not None:
        halves = (with_interval(ceiling.mean[key], ceiling.range[key]) for key in headings)
        people = (("People, half against half", NONE, *halves), *people)
    bold = set()
    for place, key in enumerate(headings):
        values = [float(getattr(result.summary.point, key)) for result in results]
        bold |= {(row, place + 2) for row in _best(values, key)}
    return TextTable(
        name=name,
        title=f"{analysis.study.title} {title}",
        header=("Participant", "Prompting", *headings.values()),
        rows=(*rows, *people),
        people=len(people),
        note=note,
        bold=frozenset(bold),
    )


def _best(values: Sequence[float], key: str) -> list[int]:
    """Rows of the best value; none where there is nothing to choose from."""
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return []
    best = max(known) if key in HIGHER_IS_BETTER else min(known)
    return [row for row, value in enumerate(values) if value == best]


def statuses_table(analysis: RatingDescription) -> TextTable:
    """Make the table of what became of replies: a row per participant and prompting."""
    found = [result.statuses for result in analysis.results]
    kinds = sorted({kind for each in found for kind in each} - {"ok"})
    rows = [
        (
            name,
            result.prompting,
            str(result.asked),
            str(result.usable),
            *(str(statuses.get(kind, 0)) for kind in kinds),
        )
        for name, result, statuses in zip(names_of(analysis), analysis.results, found, strict=True)
    ]
    return TextTable(
        name="statuses",
        title=f"{analysis.study.title} What became of the replies",
        header=("Participant", "Prompting", "Asked", "Usable", *kinds),
        rows=tuple(rows),
        note="A reply with another status has no rating, and keeps its row.",
    )


def usable_table(analysis: RatingDescription) -> TextTable:
    """Make the table of usable replies by cell; attributes that lack none are put in one row."""
    roles, factors = roles_of(analysis.study), analysis.study.factors
    names = [name for name in (roles.line, roles.x) if name]
    rest = [name for name in factors if name not in (*names, "scenario")]
    points = list(
        dict.fromkeys(
            tuple(cell.factors[name] for name in names) for cell in analysis.results[0].design_cells
        )
    )
    rows: list[tuple[str, ...]] = []
    for who, result in zip(names_of(analysis), analysis.results, strict=True):
        rows += [(who, result.prompting, *row) for row in _usable_rows(result, names, rest, points)]
    return TextTable(
        name="usable",
        title=f"{analysis.study.title} Usable replies by cell",
        header=("Participant", "Prompting", "Attribute", *(", ".join(point) for point in points)),
        rows=tuple(rows),
        note=f"Usable of asked, by {' and '.join(names)}. Attributes that lack none are summed.",
        left=3,
    )


def _usable_rows(
    result: RatingReplies,
    names: Sequence[str],
    rest: Sequence[str],
    points: Sequence[tuple[str, ...]],
) -> list[tuple[str, ...]]:
    counts: dict[str, dict[tuple[str, ...], tuple[int, int]]] = {}
    for cell in result.design_cells:
        panel = ", ".join(cell.factors[name] for name in reversed(rest))
        point = tuple(cell.factors[name] for name in names)
        counts.setdefault(panel, {})[point] = (cell.usable, cell.asked)
    lacking = {k: v for k, v in counts.items() if any(n < asked for n, asked in v.values())}
    whole = [v for k, v in counts.items() if k not in lacking]
    rows = [(k, *(f"{v[point][0]} of {v[point][1]}" for point in points))
            for k, v in lacking.items()]  # fmt: skip
    if whole:
        sums = [sum(each[point][1] for each in whole) for point in points]
        others = f"the {len(whole)} other{'s' if len(whole) > 1 else ''}"
        label = others if lacking else "every attribute"
        rows.append((label, *(f"{n} of {n}" for n in sums)))
    return rows


def statuses_csv(analysis: RatingDescription) -> str:
    """Write a row per participant, prompting, design cell and status: how many replies have it."""
    factors = [name for name in analysis.study.factors if name != "scenario"]
    rows = []
    for who, result in zip(names_of(analysis), analysis.results, strict=True):
        counts = result.responses.group_by(*factors, "status").len().sort(*factors, "status")
        rows += [(who, result.prompting, *row) for row in counts.iter_rows()]
    return write_csv(("participant", "prompting", *factors, "status", "replies"), rows)
