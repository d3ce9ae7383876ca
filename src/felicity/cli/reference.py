"""`felicity reference`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.cli.studies import StudyArgument
from felicity.errors import FelicityError


def reference(
    study: StudyArgument,
    source: Annotated[
        Path, typer.Option("--from", help="CSV of individual ratings, a row per participant.")
    ],
    out: Path = typer.Option(None, help="Folder for reference.csv, cells.csv and effects.csv."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Rebuild a rating study's human cells and effects; test them with a mixed model."""
    from felicity.reference_model import build_reference, mark_compared
    from felicity.reference_reader import RatingDesign, axes_of, read_ratings
    from felicity.study import load_study

    loaded = load_study(study)
    if not isinstance(loaded, RatingDesign):
        raise FelicityError(
            f"got a {loaded.paradigm} study; expected a rating study", where=loaded.name
        )
    axes = axes_of(loaded)
    found = build_reference(read_ratings(source, axes, loaded.scale), axes)
    effects = mark_compared(found.effects, loaded.effects)
    tables = {"reference": found.scenario_cells, "cells": found.cells, "effects": effects}
    if as_json:
        print_json({name: table.to_dicts() for name, table in tables.items()})
    else:
        print_table(
            ("Effect", "Attribute", "Δ", "Estimate", "SE", "z", "p", "p < .05", "Compared"),
            [
                (
                    f"{row['kind']}: {row['factors']}",
                    row["attribute"],
                    *(f"{row[name]:+.3f}" for name in ("difference", "estimate")),
                    f"{row['standard_error']:.3f}",
                    f"{row['z']:+.2f}",
                    "< .0001" if row["p"] < 1e-4 else f"{row['p']:.4f}",
                    "yes" if row["significant"] else "no",
                    "yes" if row["compared"] else "no",
                )
                for row in effects.to_dicts()
            ],
            title="Mixed model per attribute, random intercept for scenario",
            left=2,
        )
        for name, text in effects.select("attribute", "note").unique().sort("note").rows():
            if text:
                note(f"{name}: {text}")
    compared = effects.filter("compared")
    note(
        f"of the {compared.height} effects that the study compares models on,"
        f" {compared['significant'].sum()} are significant"
    )
    note(f"{found.scenario_cells.height} cells by scenario, {found.cells.height} pooled")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.write_csv(out / f"{name}.csv")
            note(f"wrote {out / name}.csv")
