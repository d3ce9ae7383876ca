from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from felicity.errors import FelicityError
from felicity.stats.cell_intervals import mean_intervals, resample_means
from felicity.stats.cells import (
    Axes,
    Cells,
    Ratings,
    arrange_ratings,
    count_cells,
    pool_scenarios,
    weighting_shift,
)
from felicity.stats.missingness import compare_missingness

AXES = Axes(
    scenarios=("train", "shop"),
    factors={"context": ("high", "low"), "form": ("precise", "approximate")},
    attributes=("helpful", "pedantic"),
)


def invented(rng: np.random.Generator, share_lost: float = 0.2) -> list[dict[str, object]]:
    rows = []
    for scenario in AXES.scenarios:
        for context, form in AXES.points:
            for repeat in range(int(rng.integers(3, 9))):
                for attribute in AXES.attributes:
                    value = float(rng.integers(1, 8))
                    rows.append(
                        {
                            "scenario": scenario,
                            "context": context,
                            "form": form,
                            "attribute": attribute,
                            "row": repeat,
                            "value": math.nan if rng.random() < share_lost else value,
                        }
                    )
    return rows


def arrange(rows):
    names = ("scenario", "context", "form", "attribute")
    columns = {name: [row[name] for row in rows] for name in names}
    values = np.array([row["value"] for row in rows], dtype=float)
    return arrange_ratings(AXES, columns, row=[row["row"] for row in rows], values=values)


def of_cell(rows, **levels):
    mine = [row for row in rows if all(row[name] == level for name, level in levels.items())]
    return [row["value"] for row in mine if not math.isnan(row["value"])], len(mine)


@pytest.mark.parametrize("seed", range(5))
def test_cells_by_plain_loops(seed):
    rng = np.random.default_rng(seed)
    rows = invented(rng)
    rng.shuffle(rows)
    cells = count_cells(arrange(rows))
    pooled = pool_scenarios(cells)
    balanced = pool_scenarios(cells, "scenario_means")
    for p, (context, form) in enumerate(AXES.points):
        for a, attribute in enumerate(AXES.attributes):
            levels = {"context": context, "form": form, "attribute": attribute}
            of_scenarios = []
            for s, scenario in enumerate(AXES.scenarios):
                values, asked = of_cell(rows, scenario=scenario, **levels)
                assert (cells.n[s, p, a], cells.asked[s, p, a]) == (len(values), asked)
                assert cells.mean[s, p, a] == pytest.approx(np.mean(values))
                of_scenarios.append(np.mean(values))
                if len(values) > 1:
                    assert cells.sd[s, p, a] == pytest.approx(np.std(values, ddof=1))
            values, asked = of_cell(rows, **levels)
            assert (pooled.n[p, a], pooled.asked[p, a]) == (len(values), asked)
            assert pooled.mean[p, a] == pytest.approx(np.mean(values))
            assert pooled.sd[p, a] == pytest.approx(np.std(values, ddof=1))
            assert balanced.mean[p, a] == pytest.approx(np.mean(of_scenarios))
            assert balanced.sd[p, a] == pooled.sd[p, a]
    np.testing.assert_allclose(weighting_shift(cells), pooled.mean - balanced.mean)


def test_a_cell_with_none_is_missing_not_zero():
    rows = invented(np.random.default_rng(0), share_lost=0)
    for row in rows:
        if (row["context"], row["form"], row["attribute"]) == ("low", "precise", "pedantic"):
            row["value"] = math.nan
    pooled = pool_scenarios(count_cells(arrange(rows)))
    assert math.isnan(pooled.mean[2, 1])
    assert math.isnan(pooled.sd[2, 1])
    assert pooled.n[2, 1] == 0
    assert pooled.asked[2, 1] > 0
    assert np.isfinite(np.delete(pooled.mean.ravel(), 5)).all()


def test_a_scenario_with_none_leaves_the_others():
    cells = Cells(
        mean=np.array([np.nan, 4.0]).reshape(2, 1, 1),
        sd=np.array([np.nan, 1.0]).reshape(2, 1, 1),
        n=np.array([0, 9]).reshape(2, 1, 1),
        asked=np.array([9, 9]).reshape(2, 1, 1),
    )
    for weighting in ("pooled", "scenario_means"):
        pooled = pool_scenarios(cells, weighting)
        assert (pooled.mean.item(), pooled.n.item(), pooled.asked.item()) == (4, 9, 18)
        assert pooled.sd.item() == pytest.approx(1)


def test_errors():
    rows = invented(np.random.default_rng(0))
    with pytest.raises(FelicityError, match="got no rating"):
        arrange([])
    with pytest.raises(FelicityError, match="two ratings of row 0 in the cell train, high, precis"):
        arrange([*rows, rows[0]])
    with pytest.raises(FelicityError, match='form: got "exact"; expected one of precise, approxim'):
        arrange([rows[0] | {"form": "exact"}])
    with pytest.raises(FelicityError, match="form: got 1 levels; expected two or more"):
        Axes(scenarios=("a",), factors={"form": ("precise",)}, attributes=("b",))


def test_missingness_by_hand():
    rows = []
    for scenario, lost, level in (("train", 0, 2.0), ("shop", 8, 6.0)):
        for form, minus in (("precise", 0.0), ("approximate", 1.0)):
            for repeat in range(10):
                gone = form == "precise" and repeat < lost
                rows.append(
                    {
                        "scenario": scenario,
                        "context": "high",
                        "form": form,
                        "attribute": "helpful",
                        "row": repeat,
                        "value": math.nan if gone else level - minus,
                    }
                )
    every = compare_missingness(count_cells(arrange(rows)), AXES, "form", (1, 7))
    found = next(m for m in every if m.within == {"context": "high"} and m.attribute == "helpful")
    assert (found.usable, found.asked) == ((12, 20), (20, 20))
    # Fisher's exact p, two-sided, summed over tables no likelier than 12, 8 / 20, 0.
    likelihood = [math.comb(20, k) * math.comb(20, 8 - k) / math.comb(40, 8) for k in range(9)]
    assert found.p == pytest.approx(sum(p for p in likelihood if p <= likelihood[8] * (1 + 1e-9)))
    assert found.differs
    # The lost ones are high ratings: 32 / 12 − 60 / 20, where every rating would give 80 / 20 − 3.
    assert found.difference == pytest.approx(32 / 12 - 3)
    assert found.difference_imputed == pytest.approx(1)
    assert found.difference_low == pytest.approx((32 + 8 * 1) / 20 - 3)
    assert found.difference_high == pytest.approx((32 + 8 * 7) / 20 - 3)


def test_missingness_without_any_missing():
    rows = invented(np.random.default_rng(2), share_lost=0)
    for found in compare_missingness(count_cells(arrange(rows)), AXES, "form", (1, 7)):
        assert found.p == 1
        assert not found.differs
        values = [found.difference_imputed, found.difference_low, found.difference_high]
        assert values == pytest.approx([found.difference] * 3)


def test_missingness_of_an_empty_cell_has_bounds_only():
    cells = Cells(
        mean=np.array([np.nan, 4.0]).reshape(1, 2, 1),
        sd=np.array([np.nan, 1.0]).reshape(1, 2, 1),
        n=np.array([0, 10]).reshape(1, 2, 1),
        asked=np.array([10, 10]).reshape(1, 2, 1),
    )
    axes = Axes(scenarios=("a",), factors={"form": ("x", "y")}, attributes=("b",))
    (found,) = compare_missingness(cells, axes, "form", (1, 7))
    assert math.isnan(found.difference)
    assert math.isnan(found.difference_imputed)
    assert (found.difference_low, found.difference_high) == (-3, 3)


def test_intervals_of_means_are_students_and_the_percentiles_of_resampled_repeats():
    """The t interval as scipy has it; a bootstrap of one scenario as numpy draws it."""
    rng = np.random.default_rng(1)
    values = rng.normal(4, 1, (1, 1, 1, 40))
    ratings = Ratings(values=values, asked=np.ones(values.shape, dtype=np.bool_))
    found = mean_intervals(count_cells(ratings))
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values.ravel()))
    assert (found.low.item(), found.high.item()) == pytest.approx((low, high))
    drawn = resample_means(ratings, rng, unit="scenario", n_resamples=4000)
    means = rng.choice(values.ravel(), (4000, 40)).mean(axis=1)
    expected = np.quantile(means, (0.025, 0.975))
    assert (drawn.low.item(), drawn.high.item()) == pytest.approx(tuple(expected), abs=0.03)


def test_a_cell_with_fewer_than_two_ratings_has_no_interval():
    values = np.array([[[[3.0, np.nan]], [[5.0, 6.0]]]])
    ratings = Ratings(values=values, asked=np.ones(values.shape, dtype=np.bool_))
    for found in (
        resample_means(ratings, np.random.default_rng(0)),
        mean_intervals(pool_scenarios(count_cells(ratings))),
    ):
        assert np.isnan([found.low[0, 0], found.high[0, 0]]).all()
        assert found.low[1, 0] < found.high[1, 0]
