"""Curves, tables and figures of checkpoints, recomputed by another route."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from felicity import analyse, open_participant, run
from felicity.report.curves.analysis import (
    Checkpoint,
    curve_rows,
    curve_table,
    curve_words,
    find_curves,
    onset_table,
    words_short,
)
from felicity.stats.compare import holm

from experiment_files import save_model

WORDS = (2_000, 30_000, 1_000_000)


@pytest.fixture(scope="module")
def found(gricean, tmp_path_factory):
    """Three checkpoints of one model and one model that is none; four seeds of a tiny GPT-2."""
    home = tmp_path_factory.mktemp("curve")
    runs = []
    for seed in range(4):
        participant = open_participant(f"hf:{save_model(home / f'm{seed}', 'gpt2', seed)}")
        part = {"wording": "0", "questioner": "Leslie", "responder": "Joan"}
        runs.append(run(gricean, participant, home / f"run{seed}", where=part))
    # One that prefers every follower from its second checkpoint on, on one maxim.
    rigged = runs[1].responses.with_columns(
        pl.when(pl.col("maxim") == "relation", pl.col("answer_label") == "follower")
        .then(-0.01)
        .otherwise(pl.col("log_prob_mean"))
        .alias("log_prob_mean")
    )
    analysis = analyse(
        [runs[0], runs[2], replace(runs[1], responses=rigged), runs[3]], gricean, seed=0
    )
    # In the order of the file, which is not that of training.
    checkpoints = [
        Checkpoint(series="M", name="chck_2k", words=WORDS[0]),
        Checkpoint(series="M", name="chck_30k", words=WORDS[1]),
        Checkpoint(series="M", name="chck_1M", words=WORDS[2]),
        None,
    ]
    return analysis, checkpoints


def test_checkpoints_come_in_the_order_of_training(found):
    analysis, checkpoints = found
    (curve,) = find_curves(analysis, checkpoints)
    assert [point.words for point, _ in curve.points] == list(WORDS)
    results = [analysis.participants[place] for place in (2, 0, 1)]
    shuffled = replace(analysis, participants=(*results, analysis.participants[3]))
    places = [checkpoints[place] for place in (2, 0, 1)]
    (again,) = find_curves(shuffled, [*places, None])
    assert again.points == curve.points
    assert find_curves(analysis, [checkpoints[0], None, None, None]) == ()


def test_rows_are_the_cells_with_holm_over_checkpoints(found):
    analysis, checkpoints = found
    curves = find_curves(analysis, checkpoints)
    rows = curve_rows(curves, analysis)
    assert rows.height == 3 * 6
    for key in analysis.study.design.level_keys:
        cells = [result.cells[key] for result in analysis.participants[:3]]
        mine = rows.filter(pl.col("maxim") == key)
        assert mine["accuracy"].to_list() == [cell.accuracy for cell in cells]
        assert mine["p_chance_holm"].to_list() == pytest.approx(holm([c.p_chance for c in cells]))
    margins = analysis.participants[0].margins.filter(pl.col("maxim") == "quality")["margin"]
    first = rows.filter(maxim="quality", words=2_000)["accuracy"][0]
    assert first == pytest.approx(np.mean(margins.to_numpy() > 0))


def test_the_onset_is_where_relation_comes(found):
    analysis, checkpoints = found
    (curve,) = find_curves(analysis, checkpoints)
    assert curve.onsets["relation"].lasting == 2
    table = onset_table([curve], analysis)
    column = table.header.index("Relation")
    assert [row[column] for row in table.rows] == ["1M", "1M", "1.00"]
    assert table.people == 1
    (text,) = curve_words([curve], analysis)
    assert "3 checkpoints from 2k to 1M words: above chance on Relation from 1M words" in text
    assert "τ-b" in text
    shown = curve_table([curve], analysis)
    assert (2, shown.header.index("Relation")) in shown.bold
    assert shown.rows[2][shown.header.index("Relation")] == "1.00"


def test_bits_are_the_mean_over_answers(found):
    analysis, checkpoints = found
    (curve,) = find_curves(analysis, checkpoints)
    table = analysis.participants[1].run.responses.filter(pl.col("answer_label") == "violator")
    by_hand = np.mean(
        -table["log_prob_sum"].to_numpy() / np.log(2) / table["answer"].str.len_chars().to_numpy()
    )
    assert curve.bits[1][1] == pytest.approx(by_hand)


def test_the_figure_has_a_mark_for_each_checkpoint_and_level(found):
    altair = pytest.importorskip("altair")
    from felicity.report.curves.figures import curve_figures
    from felicity.report.figures import spec_of

    analysis, checkpoints = found
    curves = find_curves(analysis, checkpoints)
    accuracy, bits = curve_figures(curves, analysis)
    spec = spec_of(accuracy)
    assert isinstance(accuracy.chart, altair.TopLevelMixin)
    values = spec["data"]["values"]
    assert len(values) == 18
    filled = [value for value in values if value["above"]]
    assert ("Relation", 1_000_000) in {(value["level"], value["words"]) for value in filled}
    people = {value["level"]: value["people"] for value in values}
    assert people["Quantity I"] == pytest.approx(0.575)
    assert len(spec_of(bits)["data"]["values"]) == 6


def test_the_figure_is_drawn(found):
    vl_convert = pytest.importorskip("vl_convert")
    from felicity.report.curves.figures import curve_figures
    from felicity.report.figures import spec_of

    analysis, checkpoints = found
    for figure in curve_figures(find_curves(analysis, checkpoints), analysis):
        svg = vl_convert.vegalite_to_svg(spec_of(figure))
        assert "Words seen" in svg
        # A point is an arc; panels have one for each checkpoint, bits one for each answer.
        assert svg.count('aria-roledescription="point"') in (18, 6)


@pytest.mark.parametrize(
    ("words", "shown"),
    [(999, "999"), (1_000, "1k"), (1_234_567, "1.23M"), (2_000_000_000, "2B"), (None, "–")],
)
def test_words_are_short(words, shown):
    assert words_short(words) == shown
