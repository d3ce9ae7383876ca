"""From sessions to tables: single answers, participants, and the study's reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

from felicity.errors import FelicityError
from felicity.rating.study import RatingStudy
from felicity.reference_reader import axes_of, ratings_from_table
from felicity.stats.cells import count_cells
from felicity.study import Study
from felicity.survey.exclusions import Selection
from felicity.survey.texts import QUESTIONS


def participants_table(selection: Selection) -> pl.DataFrame:
    """Return a row per session, kept or not, with the reason."""
    rows = [
        {
            "participant": each.participant,
            "session": each.session,
            "list": each.number + 1,
            "survey": each.survey,
            "started": each.started,
            "complete": each.complete,
            "answers": each.answers,
            "checks_failed": each.failed,
            "checks_reached": each.checked,
            "kept": each.session not in selection.excluded,
            "excluded_for": selection.excluded.get(each.session),
            **{name: each.about.get(name) or None for name in QUESTIONS},
        }
        for each in selection.sessions
    ]
    schema = {name: pl.String() for name in ("excluded_for", *QUESTIONS)}
    return pl.DataFrame(rows, schema_overrides=schema)


def choices_table(selection: Selection, study: Study) -> pl.DataFrame:
    """Return a row per answer of the kept sessions.

    Columns: ``participant``, ``session``, ``list``, ``place`` (in the order of showing),
    ``item_id``, ``unit``, the factors, ``first`` (label shown first), ``chosen``, ``correct``,
    ``seconds``.
    """
    items = {item.item_id: item for item in study.items}
    rows = [
        {
            "participant": session.participant,
            "session": session.session,
            "list": session.number + 1,
            "place": choice.place + 1,
            "item_id": choice.item_id,
            "unit": items[choice.item_id].unit,
            **items[choice.item_id].factors,
            "first": choice.first,
            "chosen": choice.chosen,
            "correct": choice.correct,
            "seconds": choice.seconds,
        }
        for session in selection.kept
        for choice in session.choices
    ]
    return pl.DataFrame(rows, schema_overrides={"seconds": pl.Float64()})


def count_choices(
    selection: Selection, study: Study, *, group: str, source: str
) -> list[dict[str, str | int]]:
    """Count right answers per level, as a study's reference.csv has them.

    Raises
    ------
    FelicityError
        Where a level has no answer at all.
    """
    factor = study.design.factor
    levels = {item.item_id: item.factors[factor] for item in study.items}
    asked: Counter[str] = Counter()
    correct: Counter[str] = Counter()
    for session in selection.kept:
        for choice in session.choices:
            asked[levels[choice.item_id]] += 1
            correct[levels[choice.item_id]] += choice.correct
    empty = [key for key in study.design.level_keys if not asked[key]]
    if empty:
        raise FelicityError(
            f"no answer to {', '.join(empty)}; expected some to every {factor}",
            where="reference",
            hint="the other tables are written; collect more, or look why sessions were left out",
        )
    rows: list[dict[str, str | int]] = []
    for key in study.design.level_keys:
        numbers = {"correct": correct[key], "asked": asked[key]}
        rows.append({"group": group, factor: key, **numbers, "source": source})
    return rows


def ratings_table(selection: Selection, study: RatingStudy) -> pl.DataFrame:
    """Return a row per rated scene of the kept sessions, as `read_ratings` reads them.

    Columns: ``participant``, ``scenario``, the study's own factors, each attribute; then
    ``session``, ``list``, ``place`` and ``seconds``.
    """
    levels: dict[str, Mapping[str, str]] = {item.scene_id: item.factors for item in study.items}
    names = [name for name in study.factors if name != "attribute"]
    rows = [
        {
            "participant": session.participant,
            **{name: levels[scene.scene_id][name] for name in names},
            **scene.ratings,
            "session": session.session,
            "list": session.number + 1,
            "place": scene.place + 1,
            "seconds": scene.seconds,
        }
        for session in selection.kept
        for scene in session.scenes
    ]
    return pl.DataFrame(rows, schema_overrides={"seconds": pl.Float64()})


def rating_cells(ratings: pl.DataFrame, study: RatingStudy) -> pl.DataFrame:
    """Mean, sd and n of every cell by scenario, as a study's reference.csv has them.

    Raises
    ------
    FelicityError
        Where a cell has fewer than two ratings, and so no standard deviation.
    """
    from felicity.reference_model import cell_table

    axes = axes_of(study)
    cells = cell_table(count_cells(ratings_from_table(ratings, axes)), axes, ("scenario",))
    short = cells.filter(pl.col("n") < 2)
    if short.height:
        first = "-".join(short.row(0)[: len(study.factors)])
        raise FelicityError(
            f"{short.height} of {cells.height} cells have fewer than two ratings, such as {first}; "
            "expected two or more in each",
            where="reference",
            hint="the other tables are written, and `felicity report RUN --people` takes the "
            "single ratings as they are",
        )
    return cells
