from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from felicity.errors import FelicityError
from felicity.stats.alignment import MEASURES, Comparison, align
from felicity.stats.cells import Axes, Cells, cells_of_values, pool_scenarios
from felicity.stats.effects import (
    cds,
    das,
    define_effect,
    effect_intervals,
    effect_values,
    esr,
    iss,
)

AXES = Axes(
    scenarios=("train", "shop", "park"),
    factors={"context": ("high", "low"), "form": ("precise", "approximate")},
    attributes=("helpful", "pedantic"),
)
MAIN = [define_effect(AXES, "main", ("form",), name) for name in AXES.attributes]
BOTH = [define_effect(AXES, "interaction", ("form", "context"), name) for name in AXES.attributes]


def single_ratings(seed: int) -> list[list[list[np.ndarray]]]:
    """Ratings by scenario, point and attribute, of different numbers."""
    rng = np.random.default_rng(seed)
    s, p, a = AXES.shape
    return [
        [[rng.integers(1, 8, rng.integers(3, 9)).astype(float) for _ in range(a)] for _ in range(p)]
        for _ in range(s)
    ]


def as_cells(ratings: list[list[list[np.ndarray]]]) -> Cells:
    values = np.full((*AXES.shape, 8), np.nan)
    for place in np.ndindex(*AXES.shape):
        mine = ratings[place[0]][place[1]][place[2]]
        values[place][: len(mine)] = mine
    return cells_of_values(values, np.isfinite(values))


def heap(ratings, points: list[int], attribute: int) -> np.ndarray:
    return np.concatenate([scenario[p][attribute] for scenario in ratings for p in points])


@pytest.mark.parametrize("seed", range(3))
def test_effects_by_plain_loops(seed):
    ratings = single_ratings(seed)
    cells = pool_scenarios(as_cells(ratings))
    main, both = effect_values(cells, MAIN), effect_values(cells, BOTH)
    balanced = effect_values(cells, MAIN, "scenario_means")
    for a in range(len(AXES.attributes)):
        # Points: high precise, high approximate, low precise, low approximate.
        means = [heap(ratings, [p], a).mean() for p in range(4)]
        pooled = heap(ratings, [0, 2], a).mean() - heap(ratings, [1, 3], a).mean()
        assert main[a] == pytest.approx(pooled)
        assert balanced[a] == pytest.approx((means[0] + means[2] - means[1] - means[3]) / 2)
        assert both[a] == pytest.approx((means[0] - means[1]) - (means[2] - means[3]))


def test_an_interval_over_one_factor_is_scipys_welch():
    rng = np.random.default_rng(1)
    axes = Axes(scenarios=("a",), factors={"form": ("x", "y")}, attributes=("b",))
    first, second = rng.normal(5, 1, 30), rng.normal(4, 2, 20)
    values = np.full((1, 2, 1, 30), np.nan)
    values[0, 0, 0], values[0, 1, 0, :20] = first, second
    cells = pool_scenarios(cells_of_values(values, np.isfinite(values)))
    found = effect_intervals(cells, [define_effect(axes, "main", ("form",), "b")])
    other = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (found.low[0], found.high[0]) == pytest.approx((other.low, other.high))


def test_an_interval_that_cannot_be_known_touches_zero():
    axes = Axes(scenarios=("a",), factors={"form": ("x", "y")}, attributes=("b",))
    one = np.ones((2, 1), dtype=np.int64)
    cells = Cells(mean=np.array([[5.0], [3.0]]), sd=np.full((2, 1), np.nan), n=one, asked=one)
    found = effect_intervals(cells, [define_effect(axes, "main", ("form",), "b")])
    assert found.touches_zero == [True]


def test_an_effect_without_one_of_its_cells_is_missing():
    cells = pool_scenarios(as_cells(single_ratings(0)))
    mean, n = cells.mean.copy(), cells.n.copy()
    mean[0, 1], n[0, 1] = np.nan, 0
    values = effect_values(Cells(mean=mean, sd=cells.sd, n=n, asked=n), [*MAIN, *BOTH])
    assert [math.isnan(value) for value in values] == [False, True, False, True]
    assert np.isnan(esr(values, np.ones(4))).tolist() == [False, True, False, True]


def test_three_factors_and_a_third_level():
    axes = Axes(
        scenarios=("a",),
        factors={"age": ("child", "adult"), "form": ("x", "y", "z"), "place": ("in", "out")},
        attributes=("b",),
    )
    mean = np.arange(12.0).reshape(12, 1) ** 2
    n = np.ones((12, 1), dtype=np.int64)
    cells = Cells(mean=mean, sd=np.ones((12, 1)), n=n, asked=n)
    by_level = mean.reshape(2, 3, 2)
    main = define_effect(axes, "main", ("form",), "b")
    crossed = define_effect(axes, "interaction", ("form", "age"), "b")
    simple = by_level[:, 0] - by_level[:, 1]
    assert effect_values(cells, [main])[0] == pytest.approx(simple.mean())
    expected = simple[0].mean() - simple[1].mean()
    assert effect_values(cells, [crossed])[0] == pytest.approx(expected)


def test_ratios_and_shares_by_hand():
    human = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    model = np.array([2.0, -1.0, -0.5, 1.0, np.nan])
    ratios = esr(model, human)
    np.testing.assert_array_equal(ratios, [2.0, 0.5, -1.0, np.nan, np.nan])
    assert float(cds(ratios)) == pytest.approx((1 + 0.5 + 2) / 3)
    assert float(das(model, human)) == pytest.approx(2 / 3)
    assert float(iss(model, human)) == pytest.approx(2 / 3)
    assert math.isnan(cds(np.array([np.nan])))
    assert math.isnan(das(np.array([np.nan]), np.array([1.0])))


@pytest.mark.parametrize("unit", ["design", "scenario"])
@pytest.mark.parametrize("weighting", ["pooled", "scenario_means"])
def test_a_model_like_people(unit, weighting):
    cells = as_cells(single_ratings(4))
    comparison = Comparison(effects=(*MAIN, *BOTH), unit=unit, weighting=weighting)
    found = align(cells, cells, comparison)
    np.testing.assert_allclose(found.esr, 1)
    ones = ("spearman", "kendall", "pearson", "ccc", "das", "iss")
    zeros = ("rmse", "cds", "cds_main", "cds_interaction")
    assert [float(getattr(found, name)) for name in ones] == pytest.approx([1] * 6)
    assert [float(getattr(found, name)) for name in zeros] == pytest.approx([0] * 4, abs=1e-12)
    assert int(found.cells) == (24 if unit == "scenario" else 8)


def test_a_model_twice_as_strong_and_one_the_other_way_round():
    cells = as_cells(single_ratings(4))
    comparison = Comparison(effects=(*MAIN, *BOTH))
    twice = Cells(mean=2 * cells.mean, sd=cells.sd, n=cells.n, asked=cells.asked)
    found = align(twice, cells, comparison)
    np.testing.assert_allclose(found.esr, 2)
    assert [float(found.cds), float(found.das), float(found.iss)] == pytest.approx([1, 1, 1])
    turned = Cells(mean=8 - cells.mean, sd=cells.sd, n=cells.n, asked=cells.asked)
    found = align(turned, cells, comparison)
    np.testing.assert_allclose(found.esr, -1)
    assert [float(found.cds), float(found.das), float(found.iss)] == pytest.approx([2, 0, 0])
    assert float(found.spearman) == pytest.approx(-1)


def test_rmse_against_individuals_is_of_the_ratings_themselves():
    people, model = single_ratings(5), single_ratings(6)
    found = align(as_cells(model), as_cells(people), Comparison(effects=tuple(MAIN)))
    squares = [
        (rating - heap(model, [p], a).mean()) ** 2
        for p in range(4)
        for a in range(2)
        for rating in heap(people, [p], a)
    ]
    assert float(found.rmse_individuals) == pytest.approx(math.sqrt(np.mean(squares)))


def test_a_lost_cell_is_left_out_and_counted():
    model, people = as_cells(single_ratings(5)), as_cells(single_ratings(6))
    n, mean = model.n.copy(), model.mean.copy()
    n[:, 2, 1], mean[:, 2, 1] = 0, np.nan
    lost = Cells(mean=mean, sd=model.sd, n=n, asked=model.asked)
    found = align(lost, people, Comparison(effects=(*MAIN, *BOTH)))
    assert int(found.cells) == 7
    assert np.isnan(found.esr).tolist() == [False, True, False, True]
    assert all(np.isfinite(getattr(found, name)) for name in MEASURES)


def test_errors():
    with pytest.raises(FelicityError, match='attribute: got "kind"; expected one of helpful, ped'):
        define_effect(AXES, "main", ("form",), "kind")
    with pytest.raises(FelicityError, match='factors: got "tone"; expected one of context, form'):
        define_effect(AXES, "main", ("tone",), "helpful")
    with pytest.raises(
        FelicityError, match=r'interaction: got "form"; expected 2 of context, form'
    ):
        define_effect(AXES, "interaction", ("form",), "helpful")
    with pytest.raises(FelicityError, match='kind: got "simple"; expected one of main, interact'):
        define_effect(AXES, "simple", ("form",), "helpful")
    with pytest.raises(FelicityError, match="effects: got no effect"):
        Comparison(effects=())
    cells = as_cells(single_ratings(0))
    pooled = Cells(**{f: getattr(pool_scenarios(cells), f)[None] for f in Cells.__slots__})
    assert align(cells, pooled, Comparison(effects=tuple(MAIN))).ccc == pytest.approx(1)
    with pytest.raises(FelicityError, match="unit: got 1 scenarios of people and 3 of the model"):
        align(cells, pooled, Comparison(effects=tuple(MAIN), unit="scenario"))
