from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from felicity.errors import FelicityError
from felicity.stats.agreement import ccc, kendall, pearson, rmse, rmse_individuals, spearman

RNG = np.random.default_rng(3)
MEASURES = {"pearson": pearson, "spearman": spearman, "kendall": kendall, "ccc": ccc, "rmse": rmse}
SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y, variant="b").statistic,
}
# Tenths, so that ties come up.
means = st.lists(st.integers(10, 70), min_size=3, max_size=24)


@pytest.mark.parametrize("name", SCIPY)
@given(means, st.randoms())
def test_correlations_are_scipys(name, tenths, random):
    x = np.array(tenths) / 10
    y = np.array([random.randint(10, 70) for _ in tenths]) / 10
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert math.isnan(MEASURES[name](x, y))
    else:
        assert float(MEASURES[name](x, y)) == pytest.approx(float(SCIPY[name](x, y)), abs=1e-9)


@given(means, st.randoms())
def test_ccc_is_one_minus_squares_over_squares_under_independence(tenths, random):
    x = np.array(tenths) / 10
    y = np.array([random.randint(10, 70) for _ in tenths]) / 10
    if len(set(x)) < 2 and len(set(y)) < 2:
        return
    # Lin's definition: every x against every y is what independence would give.
    every = sum((a - b) ** 2 for a in x for b in y) / len(x) ** 2
    paired = sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / len(x)
    assert float(ccc(x, y)) == pytest.approx(1 - paired / every, abs=1e-9)


@given(means, st.randoms())
def test_published_ccc_by_plain_loops(tenths, random):
    x = [tenth / 10 for tenth in tenths]
    y = [random.randint(10, 70) / 10 for _ in tenths]
    if len(set(x)) < 2 and len(set(y)) < 2:
        return
    n = len(x)
    mx, my = sum(x) / n, sum(y) / n
    covariance = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / n
    var_x, var_y = (sum((a - m) ** 2 for a in z) / (n - 1) for z, m in ((x, mx), (y, my)))
    expected = 2 * covariance / (var_x + var_y + (mx - my) ** 2)
    found = ccc(np.array(x), np.array(y), "as_published")
    assert float(found) == pytest.approx(expected, abs=1e-9)
    assert abs(found) <= abs(ccc(np.array(x), np.array(y))) + 1e-12


def test_perfect_agreement():
    x = RNG.normal(4, 1, 24)
    for name in ("pearson", "spearman", "kendall", "ccc"):
        assert float(MEASURES[name](x, x)) == pytest.approx(1)
    assert float(rmse(x, x)) == 0
    # A shift keeps the order and the line, and breaks the agreement.
    assert float(pearson(x, x + 2)) == pytest.approx(1)
    assert float(ccc(x, x + 2)) < 0.5
    assert float(rmse(x, x + 2)) == pytest.approx(2)


def test_many_resamples_at_once():
    x, y = RNG.normal(size=(2, 5, 24))
    x[1, 3], y[4, 0], y[4, 7] = np.nan, np.nan, np.nan
    for measure in MEASURES.values():
        there = [np.isfinite(a) & np.isfinite(b) for a, b in zip(x, y, strict=True)]
        singly = [float(measure(a[t], b[t])) for a, b, t in zip(x, y, there, strict=True)]
        np.testing.assert_allclose(measure(x, y), singly)


def test_rmse_against_individuals_by_all_the_individuals():
    people = [RNG.integers(1, 8, n).astype(float) for n in (1, 2, 17, 20)]
    predicted = np.array([2.5, 4.0, 5.5, 1.0])
    squares = [(r - p) ** 2 for group, p in zip(people, predicted, strict=True) for r in group]
    mean = np.array([group.mean() for group in people])
    sd = np.array([np.nan, *(group.std(ddof=1) for group in people[1:])])
    n = np.array([len(group) for group in people])
    found = rmse_individuals(predicted, mean, sd, n)
    assert float(found) == pytest.approx(math.sqrt(sum(squares) / len(squares)))
    # A cell that the model lacks is left out, with its people.
    lacking = np.array([2.5, np.nan, 5.5, 1.0])
    kept = squares[:1] + squares[3:]
    expected = math.sqrt(sum(kept) / len(kept))
    assert float(rmse_individuals(lacking, mean, sd, n)) == pytest.approx(expected)


def test_no_value_is_nan_and_never_zero():
    nothing, flat, x = np.full(4, np.nan), np.full(4, 3.3), np.array([1.0, 2, 3, 4])
    for measure in MEASURES.values():
        assert math.isnan(measure(nothing, x))
    for measure in (pearson, spearman, kendall):
        assert math.isnan(measure(flat, x))
    assert float(ccc(flat, x)) == 0
    assert math.isnan(ccc(flat, flat))


def test_means_equal_but_for_rounding_tie():
    x = np.array([0.1 + 0.2, 0.3, 1.0, 2.0])
    y = np.array([4.0, 3.0, 2.0, 1.0])
    assert x[0] != x[1]
    tied = np.array([0.3, 0.3, 1.0, 2.0])
    assert float(spearman(x, y)) == pytest.approx(stats.spearmanr(tied, y).statistic)
    assert float(kendall(x, y)) == pytest.approx(stats.kendalltau(tied, y).statistic)


def test_errors():
    with pytest.raises(FelicityError, match="got 3 and 4 cells; expected equally many"):
        rmse(np.ones(3), np.ones(4))
    with pytest.raises(FelicityError, match=r'ccc: got "paper"; expected one of lin, as_published'):
        ccc(np.ones(3), np.ones(3), "paper")


def test_one_cell_has_no_concordance():
    assert np.isnan(ccc(np.array([3.0, np.nan]), np.array([4.0, 2.0])))
