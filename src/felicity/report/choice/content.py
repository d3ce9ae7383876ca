"""All that the report of a choice study says, before it is a file."""

from __future__ import annotations

import io

import polars as pl

from felicity.report.choice.analysis import OVERALL, Analysis
from felicity.report.choice.findings import ChoiceFindings, find_out
from felicity.report.choice.findings_words import cautions, group_words
from felicity.report.choice.margins import calibration_table, margins_summary
from felicity.report.choice.methods import methods_paragraph
from felicity.report.choice.silent_choices import choices_table
from felicity.report.choice.table import as_csv, main_table, names_of
from felicity.report.choice.values import choice_values
from felicity.report.choice.words import in_words
from felicity.report.citations import bibliography
from felicity.report.content import ReportContent
from felicity.report.figures import Figure, missing_packages
from felicity.report.groups.members import Grouping, group_members
from felicity.report.groups.tables import (
    concordance_table,
    correlations_table,
    grouped_table,
    ranks_table,
)
from felicity.report.groups.test_tables import gains_table, mixed_model_table
from felicity.report.text_table import NONE, TextTable


def choice_content(analysis: Analysis, grouping: Grouping | None = None) -> ReportContent:
    """Make the report of a choice study.

    Parameters
    ----------
    analysis
        The runs beside people.
    grouping
        Which models belong together, and published rows; by default none do.

    Returns
    -------
    ReportContent
        Without figures where the packages of felicity[report] are not installed.
    """
    grouping = grouping or group_members(analysis)
    found = find_out(analysis, grouping)
    return ReportContent(
        title=analysis.study.title,
        ran=_ran(analysis),
        headline=(*in_words(analysis), *group_words(found, analysis)),
        cautions=cautions(found, analysis),
        tables=_tables(analysis, found),
        figures=() if missing_packages() else _figures(analysis, found),
        results=_results(analysis, grouping),
        methods=methods_paragraph(analysis, grouping),
        citations=bibliography(
            analysis.study.folder, [result.run.manifest for result in analysis.participants]
        ),
        values=choice_values(analysis, found),
    )


def _ran(analysis: Analysis) -> TextTable:
    rows = []
    for name, result in zip(names_of(analysis), analysis.participants, strict=True):
        told, overall = result.run.manifest["participant"], result.cells[OVERALL]
        rows.append(
            (
                name,
                str(told["spec"]),
                str(told.get("revision") or NONE),
                str(told["method"]),
                str(result.run.manifest["format"]["name"]),
                str(told.get("prefix") or NONE),
                f"{overall.usable} of {overall.asked}",
            )
        )
    return TextTable(
        name="ran",
        title="What was run",
        header=("Participant", "Model", "Revision", "Method", "Format", "Prefix", "Usable"),
        rows=tuple(rows),
        left=6,
    )


def _tables(analysis: Analysis, found: ChoiceFindings) -> tuple[TextTable, ...]:
    design = analysis.study.design
    tables: list[TextTable | None] = [main_table(analysis)] if analysis.participants else []
    if found.grouping.groups:
        tables += [
            grouped_table(found.grouping, analysis.people, design),
            grouped_table(found.grouping, analysis.people, design, intervals=True),
            ranks_table(found.grouping, design),
            concordance_table(found.statistics),
            correlations_table(found.statistics, design),
        ]
    if found.gains:
        tables.append(gains_table(found.gains, found.gain_remarks, design))
    if found.model is not None:
        tables.append(mixed_model_table(found.model, design.factor))
    tables += [
        choices_table(model, design, place) for place, model in enumerate(found.choices, start=1)
    ]
    if found.margins:
        tables += [margins_summary(found.margins, design), calibration_table(found.margins)]
    return tuple(table for table in tables if table is not None)


def _figures(analysis: Analysis, found: ChoiceFindings) -> tuple[Figure, ...]:
    from felicity.report.choice import figures as draw
    from felicity.report.choice import margin_figures

    design = analysis.study.design
    figures: list[Figure | None] = [
        draw.accuracy_figure(found.grouping, analysis.people, design),
        draw.correlations_figure(found.statistics, design),
    ]
    figures += [
        draw.choices_figure(model, design, place)
        for place, model in enumerate(found.choices, start=1)
    ]
    for place, margins in enumerate(found.margins, start=1):
        figures.append(margin_figures.margins_figure(margins, design, place))
        figures.append(margin_figures.calibration_figure(margins, place))
    return tuple(figure for figure in figures if figure is not None)


def _results(analysis: Analysis, grouping: Grouping) -> pl.DataFrame:
    """Make a tidy table, a row for each participant and level: runs, published rows, people."""
    factor = analysis.study.design.factor
    text = ("participant", "kind", "method", "format", "score", factor)
    table = pl.read_csv(
        io.StringIO(as_csv(analysis)),
        schema_overrides={**dict.fromkeys(text, pl.String), "interval": pl.String},
        infer_schema_length=None,
    )
    members = [(group.name, member) for group in grouping.groups for member in group.members]
    members += [("", member) for member in grouping.others]
    homes = {id(m.result): name for name, m in members if m.result is not None and name}
    groups = [homes.get(id(result)) for result in analysis.participants for _ in result.cells] + [
        None
    ] * (table.height - sum(len(r.cells) for r in analysis.participants))
    table = table.with_columns(pl.Series("group", groups, dtype=pl.String))
    published = [
        {
            "participant": member.name,
            "kind": "published",
            "group": name or None,
            factor: key,
            "accuracy": cell.accuracy,
        }
        for name, member in members
        if member.result is None
        for key, cell in member.cells.items()
    ]
    return pl.concat([table, pl.DataFrame(published)], how="diagonal") if published else table
