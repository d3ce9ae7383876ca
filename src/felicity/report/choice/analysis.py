"""The numbers of a choice study: accuracy per level beside people's, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from felicity.errors import OptionError, RunError, one_of
from felicity.report.choice.asked import ChoiceRun, measure_orders, pick_margins
from felicity.runner import Run
from felicity.stats.accuracy import (
    Counts,
    Floats,
    Interval,
    accuracy_interval,
    count_wins,
    percentile_interval,
    resample_accuracy,
    wilson_interval,
)
from felicity.stats.compare import (
    Difference,
    compare_with_people,
    difference_of_draws,
    draw_people,
    holm,
    p_against_chance,
    p_against_share,
)
from felicity.stats.orders import OrderEffects
from felicity.study import Design, ReferenceGroup, Study

SCORES = ("log_prob_mean", "log_prob_sum", "bits_per_character", "pmi")
LOWER_IS_BETTER = ("bits_per_character",)
OVERALL = "overall"
# What an asked run has in the place of a score.
PICK = "pick"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number of the table with all that a reader may ask about it.

    ``accuracy`` is None where nothing was usable; p-values and comparisons likewise. ``chance`` is
    the mean over usable items of one in the number of answers.
    """

    accuracy: float | None
    interval: Interval | None
    correct: int
    ties: int
    usable: int
    asked: int
    units: int
    p_chance: float | None = None
    p_chance_holm: float | None = None
    against: Mapping[str, Difference] | None = None
    chance: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantResult:
    """A participant's row: cells by level and overall, and accuracy under each variant.

    ``margins`` has a row per item: ``item_id``, ``unit``, the factors and ``margin`` (first
    answer's score minus the best of the others'; None where any is missing). An asked run has a
    row per item and order, with ``margin`` 1 for a right pick and −1 for a wrong one, and has
    ``orders``.
    """

    run: ChoiceRun
    score: str
    cells: Mapping[str, Cell]
    variants: Mapping[str, Mapping[str, Mapping[str, float]]]
    statuses: Mapping[str, int]
    margins: pl.DataFrame
    orders: OrderEffects | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Every participant's row, and people's."""

    study: Study
    participants: tuple[ParticipantResult, ...]
    people: Mapping[str, Mapping[str, Cell]]
    score: str
    seed: int

    def __repr__(self) -> str:
        names = ", ".join(result.run.label for result in self.participants)
        return f"Analysis({self.study.name!r}: {names or 'people alone'})"

    def _repr_html_(self) -> str:
        from felicity.report.choice.table import main_table

        return main_table(self)._repr_html_()


def analyse(
    runs: Sequence[ChoiceRun], study: Study, *, score: str = "log_prob_mean", seed: int = 0
) -> Analysis:
    """Compute the table of a choice study.

    Parameters
    ----------
    runs
        Runs of this study, by log-probability or asked.
    study
        The study.
    score
        ``log_prob_mean`` (the papers'), ``log_prob_sum``, ``bits_per_character`` or ``pmi``. An
        asked run has none of them: its picks count.
    seed
        Of the resampling.

    Raises
    ------
    OptionError, RunError
        For an unknown score; for no runs, or runs of different studies.
    """
    if score not in SCORES:
        raise OptionError(f'got "{score}"; expected {one_of(SCORES)}', where="--score")
    if not runs:
        raise RunError("no run was given", hint="give one or more run folders")
    folders = [run.folder.resolve() for run in runs]
    for folder in folders:
        if folders.count(folder) > 1:
            raise RunError("this run was given twice", where=str(folder))
    for run in runs:
        if run.manifest["study"] != study.name:
            raise RunError(
                f"study: got {run.manifest['study']}; expected {study.name}",
                where=str(run.folder),
                hint="report the runs of one study at a time",
            )
        _check_given(run, score)
    return Analysis(
        study=study,
        participants=tuple(_result(run, study, score, seed) for run in runs),
        people={group.label: _people(group, study.design) for group in study.reference},
        score=score,
        seed=seed,
    )


def _check_given(run: ChoiceRun, score: str) -> None:
    """Refuse a score that somebody's table does not hold, rather than count nothing as usable."""
    given = run.manifest.get("given")
    if given is not None and score not in given["scores"]:
        raise RunError(
            f"its scores were given as {' and '.join(given['scores'])}; {score} is not known",
            where=str(run.folder),
            hint=f"--score {given['scores'][0]}",
        )


def analyse_people(study: Study, *, seed: int = 0) -> Analysis:
    """Return people's rows alone, for tables of published accuracies without a run."""
    return Analysis(
        study=study,
        participants=(),
        people={group.label: _people(group, study.design) for group in study.reference},
        score=SCORES[0],
        seed=seed,
    )


def margins_table(run: Run, design: Design, score: str) -> pl.DataFrame:
    """Subtract the best of the other answers' scores from the first's, item by item."""
    first, *others = design.answers
    keep = [c for c in run.responses.columns if c in {"item_id", "unit", *_factors(run)}]
    sign = -1 if score in LOWER_IS_BETTER else 1
    asked = {item.item_id: len(item.answers) for item in run.study.items}
    scored = run.responses.with_columns(
        (pl.col(score) * sign).alias("signed"),
        pl.col("item_id").replace_strict(asked, return_dtype=pl.Int64).alias("n_answers"),
    )
    rest = scored.filter(pl.col("answer_label").is_in(others))
    # An item counts only where every one of its answers has a score.
    best = rest.group_by(keep, maintain_order=True).agg(
        pl.when(pl.col("signed").count() == pl.col("n_answers").first() - 1)
        .then(pl.col("signed").max())
        .alias("second")
    )
    joined = scored.filter(pl.col("answer_label") == first).join(
        best, on=keep, how="full", coalesce=True, maintain_order="left_right"
    )
    return joined.select(*keep, (pl.col("signed") - pl.col("second")).alias("margin"))


def _factors(run: Run) -> list[str]:
    columns = run.responses.columns
    return columns[columns.index("unit") + 1 : columns.index("question")]


def _counts(table: pl.DataFrame) -> Counts:
    margins = table["margin"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return count_wins(margins, np.asarray(table["unit"].to_list(), dtype=np.str_))


def _result(run: ChoiceRun, study: Study, score: str, seed: int) -> ParticipantResult:
    design = study.design
    if isinstance(run, Run):
        margins, statuses, groups = (
            margins_table(run, design, score),
            run.responses,
            design.variants,
        )
    else:
        margins, statuses, score = pick_margins(run), run.trials, PICK
        groups = (*design.variants, ("shown_first",))
    rng = np.random.default_rng(seed)
    cells: dict[str, Cell] = {}
    draws: list[Floats] = []
    for key in design.level_keys:
        of_level = margins.filter(pl.col(design.factor) == key)
        counts = _counts(of_level)
        drawn = resample_accuracy(counts, rng)
        draws.append(drawn)
        people = {g.label: (g.correct[key], g.asked[key]) for g in study.reference}
        # Chance is that of the items which the accuracy rests on.
        known = of_level.filter(pl.col("margin").is_not_null())
        chance = chance_of(study, (known if known.height else of_level)["item_id"])
        cells[key] = _cell(counts, drawn, rng, people, chance)
    cells = _corrected(cells)
    cells[OVERALL] = _overall(cells, np.mean(draws, axis=0), rng, study)
    return ParticipantResult(
        run=run,
        score=score,
        cells=cells,
        variants=_variants(margins, design, groups),
        statuses=dict(statuses["status"].value_counts().iter_rows()),
        margins=margins,
        orders=None if isinstance(run, Run) else measure_orders(run, seed),
    )


def chance_of(study: Study, item_ids: Iterable[str]) -> float:
    """How often a blind guess is right: one in the number of answers, over items."""
    asked = set(item_ids)
    shares = [1 / len(item.answers) for item in study.items if item.item_id in asked]
    return float(np.mean(shares)) if shares else 1 / len(study.design.answers)


def _cell(
    counts: Counts,
    draws: Floats,
    rng: np.random.Generator,
    people: Mapping[str, tuple[int, int]],
    chance: float,
) -> Cell:
    usable = int(counts.usable.sum())
    known = usable > 0
    return Cell(
        accuracy=counts.accuracy if known else None,
        interval=accuracy_interval(counts, draws),
        correct=int(counts.wins.sum()),
        ties=int(counts.ties.sum()),
        usable=usable,
        asked=counts.asked,
        units=int((counts.usable > 0).sum()),
        p_chance=_p_chance(counts, rng, chance) if known else None,
        chance=chance,
        against={
            label: compare_with_people(counts.accuracy, draws, correct, asked, rng)
            for label, (correct, asked) in people.items()
        }
        if known
        else None,
    )


def _p_chance(counts: Counts, rng: np.random.Generator, chance: float) -> float:
    if chance == 0.5:
        return p_against_chance(counts, rng)
    return p_against_share(counts, chance, rng)


def _corrected(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Add p-values corrected for the number of levels tested (Holm)."""
    tested = [key for key, cell in cells.items() if cell.p_chance is not None]
    corrected = holm([p for key in tested if (p := cells[key].p_chance) is not None])
    return dict(cells) | {
        key: replace(cells[key], p_chance_holm=p) for key, p in zip(tested, corrected, strict=True)
    }


def _overall(
    cells: Mapping[str, Cell], draws: Floats, rng: np.random.Generator, study: Study
) -> Cell:
    """Average the levels; there is none where a level is missing."""
    parts = list(cells.values())
    values = [cell.accuracy for cell in parts if cell.accuracy is not None]
    whole = len(values) == len(parts)
    accuracy = float(np.mean(values)) if whole else None
    against = None
    if accuracy is not None:
        against = {}
        for group in study.reference:
            shares = [group.correct[key] / group.asked[key] for key in cells]
            people = [
                draw_people(group.correct[key], group.asked[key], len(draws), rng) for key in cells
            ]
            against[group.label] = difference_of_draws(
                accuracy - float(np.mean(shares)), draws - np.mean(people, axis=0)
            )
    return Cell(
        accuracy=accuracy,
        interval=percentile_interval(draws, "bootstrap over units", accuracy) if whole else None,
        correct=sum(cell.correct for cell in parts),
        ties=sum(cell.ties for cell in parts),
        usable=sum(cell.usable for cell in parts),
        asked=sum(cell.asked for cell in parts),
        units=sum(cell.units for cell in parts),
        against=against,
        chance=float(np.mean([cell.chance for cell in parts])),
    )


def _variants(
    margins: pl.DataFrame, design: Design, groups: Sequence[tuple[str, ...]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Accuracy per level under each variant: how much wording or names alone move the score."""
    table: dict[str, dict[str, dict[str, float]]] = {}
    for group in groups:
        by = pl.concat_str([pl.col(c) for c in group], separator="/").alias("variant")
        rows: dict[str, dict[str, float]] = {}
        for (variant,), part in sorted(margins.with_columns(by).group_by("variant")):
            rows[str(variant)] = {
                key: counts.accuracy
                for key in design.level_keys
                if (counts := _counts(part.filter(pl.col(design.factor) == key))).usable.any()
            }
        table[" × ".join(group)] = rows
    return table


def _people(group: ReferenceGroup, design: Design) -> dict[str, Cell]:
    pairs = {key: (group.correct[key], group.asked[key]) for key in design.level_keys}
    pairs[OVERALL] = (sum(group.correct.values()), sum(group.asked.values()))
    cells = {}
    for key, (correct, asked) in pairs.items():
        cells[key] = Cell(
            accuracy=correct / asked,
            interval=wilson_interval(correct, asked),
            correct=correct,
            ties=0,
            usable=asked,
            asked=asked,
            units=asked,
        )
    values = [group.correct[key] / group.asked[key] for key in design.level_keys]
    cells[OVERALL] = replace(cells[OVERALL], accuracy=float(np.mean(values)))
    return cells
