"""Onsets and their order, beside hand-made cases and other routes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from felicity.stats.curves import agree_on_order, find_onset


@pytest.mark.parametrize(
    ("accuracies", "p_values", "above", "first", "lasting"),
    [
        ([0.9, 0.9, 0.9], [0.001, 0.001, 0.001], (True, True, True), 0, 0),
        ([0.5, 0.6, 0.9], [1.0, 0.5, 0.001], (False, False, True), 2, 2),
        ([0.9, 0.6, 0.9], [0.001, 0.5, 0.001], (True, False, True), 0, 2),
        ([0.9, 0.9, 0.6], [0.001, 0.001, 0.5], (True, True, False), 0, None),
        # Below chance is no onset, however sure.
        ([0.1, 0.1], [0.001, 0.001], (False, False), None, None),
        # .02 alone would do; of three it does not.
        ([0.7, 0.5, 0.5], [0.02, 0.9, 0.9], (False, False, False), None, None),
        # What is missing is not tested, and does not count in the correction.
        ([0.7, None, 0.5], [0.02, None, 0.9], (True, False, False), 0, None),
        ([None], [None], (False,), None, None),
    ],
)
def test_onset_by_hand(accuracies, p_values, above, first, lasting):
    found = find_onset(accuracies, p_values)
    assert (found.above, found.first, found.lasting) == (above, first, lasting)


def test_the_correction_is_holms():
    assert find_onset([0.9] * 3, [0.01, 0.04, 0.03]).p_holm == pytest.approx((0.03, 0.06, 0.06))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_whatever_lasts_has_begun_and_is_never_interrupted(points):
    found = find_onset([a for a, _ in points], [p for _, p in points])
    if found.lasting is not None:
        assert all(found.above[found.lasting :])
        assert found.first <= found.lasting
        assert found.lasting == 0 or not found.above[found.lasting - 1]
    else:
        assert not found.above[-1]


def test_order_is_scipys_tau_b_with_an_exact_p():
    onsets, people = [3e5, None, 1e4, 1e6, None], [0.9, 0.5, 1.0, 1.0, 0.8]
    found = agree_on_order(onsets, people)
    ranks = [2, 4.5, 1, 3, 4.5]
    expected = stats.kendalltau(ranks, [-p for p in people]).statistic
    assert found.tau == pytest.approx(expected)
    taus = [stats.kendalltau(order, people).statistic for order in permutations(ranks)]
    assert found.p == pytest.approx(np.mean(np.abs(taus) >= abs(expected) - 1e-9))
    assert found.levels == 5


def test_same_order_is_one_and_reverse_is_minus_one():
    words = [1e3, 1e4, 1e5, 1e6, 1e7]
    easy_first = [1.0, 0.9, 0.8, 0.7, 0.6]
    same = agree_on_order(words, easy_first)
    assert (same.tau, same.p) == (pytest.approx(1), pytest.approx(2 / 120))
    assert agree_on_order(words, easy_first[::-1]).tau == pytest.approx(-1)


def test_many_levels_use_scipys_p():
    words = [float(n) for n in range(1, 10)]
    people = [0.9, 0.8, 0.85, 0.7, 0.6, 0.65, 0.5, 0.4, 0.3]
    found = agree_on_order(words, people)
    assert found.p == pytest.approx(stats.kendalltau(words, [-p for p in people]).pvalue)


@pytest.mark.parametrize(
    ("onsets", "people"),
    [([None, None], [1.0, 0.5]), ([1e3, 1e4], [0.5, 0.5]), ([1e3], [0.5]), ([], [])],
)
def test_without_an_order_there_is_none_to_compare(onsets, people):
    assert agree_on_order(onsets, people) is None
