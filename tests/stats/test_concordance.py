"""Kendall's W and correlations beside scipy, worked examples and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from felicity.stats.concordance import (
    correlate_levels,
    difficulty_ranks,
    fisher_interval,
    kendall_w,
)


def rng():
    return np.random.default_rng(1)


@pytest.mark.parametrize("seed", range(5))
def test_chi_squared_is_friedmans(seed):
    """Friedman's statistic corrects for ties; coarse values make many."""
    table = np.random.default_rng(seed).integers(0, 4, (6, 5)) / 4
    found = kendall_w(table, rng())
    chi2, p = stats.friedmanchisquare(*table.T)
    assert found.chi2 == pytest.approx(chi2, rel=1e-12)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert found.w == pytest.approx(chi2 / (6 * 4))
    assert found.w_uncorrected < found.w


def test_three_judges_of_six_as_in_the_textbook():
    """Siegel (1956, ch. 9): three executives rank six applicants; W = .16."""
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]], dtype=float)
    found = kendall_w(ranks, rng())
    assert round(found.w, 2) == 0.16
    assert found.w == found.w_uncorrected


def test_the_papers_chi_squared_and_p_follow_from_its_w():
    """Askari et al. 2025: four models, five maxims, W = .80, χ² = 12.80, p = .012."""
    ranks = np.array(
        [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 3, 2, 5, 4], [3, 1, 2, 4, 5]], dtype=float
    )
    squares = float(((ranks.sum(axis=0) - 12) ** 2).sum())
    found = kendall_w(ranks, rng())
    assert found.w == pytest.approx(12 * squares / (16 * 120))
    assert found.chi2 == pytest.approx(4 * 4 * found.w)
    assert round(float(stats.chi2.sf(16 * 0.80, found.df)), 3) == 0.012
    assert found.p == pytest.approx(stats.chi2.sf(found.chi2, 4))


def test_agreement_is_one_and_its_permutation_p_is_rare():
    table = np.tile(np.arange(5.0), (4, 1))
    found = kendall_w(table, rng())
    assert found.w == pytest.approx(1.0)
    # One order in 120 for each of three models to match the first.
    assert found.p_permutation < 0.001


def test_permutation_p_is_the_exact_share_for_few_orders():
    """Two models, three levels: six equally likely orders, two of them with S at least 2."""
    table = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])
    # Sums of squared deviations over the six orders: 8, 6, 6, 2, 2, 0; observed 6.
    assert kendall_w(table, rng()).p_permutation == pytest.approx(3 / 6, abs=0.02)


@pytest.mark.parametrize("table", [np.array([[0.1, 0.5, 0.2]]), np.full((3, 4), 0.5)])
def test_one_model_or_all_ties_have_no_w(table):
    found = kendall_w(table, rng())
    assert (found.w, found.chi2, found.p, found.p_permutation) == (None, None, None, None)


def test_ranks_ignore_noise_of_floats():
    assert difficulty_ranks(np.array([[0.1 + 0.2, 0.3, 0.9]])).tolist() == [[1.5, 1.5, 3.0]]


def test_correlations_and_intervals_are_scipys():
    table = np.random.default_rng(3).random((7, 4))
    found = correlate_levels(table)
    for i in range(4):
        for j in range(i):
            theirs = stats.pearsonr(table[:, i], table[:, j])
            low, high = theirs.confidence_interval(0.95)
            assert found[i][j].r == pytest.approx(theirs.statistic)
            assert found[i][j].interval.low == pytest.approx(low)
            assert found[i][j].interval.high == pytest.approx(high)
            assert found[i][j] == found[j][i]


def test_what_few_models_cannot_say_is_not_said():
    table = np.random.default_rng(3).random((4, 3))
    assert correlate_levels(table[:2])[0][1].r is None
    assert correlate_levels(table[:3])[0][1].r is not None
    assert correlate_levels(table[:3])[0][1].interval is None
    assert correlate_levels(table)[0][1].interval is not None
    assert correlate_levels(table)[0][0].interval is None
    assert fisher_interval(float("nan"), 9) is None
    wide = fisher_interval(0.943, 4)
    assert (round(wide.low, 2), round(wide.high, 2)) == (-0.19, 1.0)


def test_a_level_that_never_varies_has_no_correlation():
    table = np.random.default_rng(3).random((5, 2))
    table[:, 1] = 0.5
    assert correlate_levels(table)[0][1].r is None
