"""Accuracy, its intervals and tests, each against a second route."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from felicity.stats.accuracy import (
    accuracy_interval,
    count_wins,
    resample_accuracy,
    wilson_interval,
)
from felicity.stats.compare import compare_with_people, holm, p_against_chance
from felicity.stats.cues import RULES, cue_score

margins = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.floats(-2, 2) | st.just(float("nan"))), min_size=1
)


def counts_of(rows):
    return count_wins(np.array([m for _, m in rows]), np.array([u for u, _ in rows]))


@given(margins)
def test_counts_are_those_of_a_plain_loop(rows):
    counts = counts_of(rows)
    usable = [m for _, m in rows if not math.isnan(m)]
    assert counts.asked == len(rows)
    assert counts.usable.sum() == len(usable)
    assert counts.wins.sum() == sum(m > 1e-5 for m in usable)
    assert counts.ties.sum() == sum(abs(m) <= 1e-5 for m in usable)


@given(margins)
def test_swapping_the_pair_flips_the_choice(rows):
    counts, swapped = counts_of(rows), counts_of([(u, -m) for u, m in rows])
    assert counts.wins.sum() + swapped.wins.sum() + counts.ties.sum() == counts.usable.sum()
    assert counts.ties.sum() == swapped.ties.sum()


def test_a_model_that_ties_everywhere_is_right_nowhere():
    counts = count_wins(np.full(40, 1e-8), np.repeat(np.arange(10), 4).astype(str))
    assert counts.accuracy == 0.0
    assert counts.ties.sum() == 40


def test_nothing_usable_is_no_number_not_zero():
    counts = count_wins(np.array([np.nan, np.nan]), np.array(["a", "b"]))
    assert math.isnan(counts.accuracy)
    assert accuracy_interval(counts, resample_accuracy(counts, np.random.default_rng(0))) is None


def test_the_interval_resamples_dialogues_not_copies():
    """Ten copies of each dialogue must not narrow the interval; scipy gives the same one."""
    from scipy.stats import bootstrap

    rng = np.random.default_rng(1)
    wins = rng.random(25) < 0.6
    single = count_wins(np.where(wins, 1.0, -1.0), np.arange(25).astype(str))
    copied = count_wins(
        np.repeat(np.where(wins, 1.0, -1.0), 10), np.repeat(np.arange(25), 10).astype(str)
    )
    intervals = [
        accuracy_interval(c, resample_accuracy(c, np.random.default_rng(0)))
        for c in (single, copied)
    ]
    assert intervals[0] == intervals[1]
    scipys = bootstrap(
        (wins.astype(float),), np.mean, method="percentile", n_resamples=10_000, rng=2
    ).confidence_interval
    assert intervals[0].low == pytest.approx(scipys.low, abs=0.041)
    assert intervals[0].high == pytest.approx(scipys.high, abs=0.041)


def test_units_of_unequal_size_weigh_by_their_items():
    counts = count_wins(np.array([1.0, 1.0, 1.0, -1.0]), np.array(["a", "a", "a", "b"]))
    draws = resample_accuracy(counts, np.random.default_rng(0), 20_000)
    assert counts.accuracy == 0.75
    assert set(np.round(np.unique(draws), 6)) == {0.0, 0.75, 1.0}
    assert (draws == 0.75).mean() == pytest.approx(0.5, abs=0.02)


def test_wilson_against_its_formula():
    k, n, z = 31, 40, 1.959963984540054
    p = k / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    interval = wilson_interval(k, n)
    assert (interval.low, interval.high) == pytest.approx((centre - half, centre + half))


def test_sign_flip_p_by_counting_all_flips():
    from itertools import product

    accuracies = [1.0, 1.0, 0.75, 0.5, 1.0, 0.25]
    rows = [
        (f"d{i}", 1.0 if j < a * 4 else -1.0) for i, a in enumerate(accuracies) for j in range(4)
    ]
    differences = np.array(accuracies) - 0.5
    observed = differences.mean()
    flips = [np.mean(differences * signs) for signs in product((1, -1), repeat=6)]
    greater = np.mean([f >= observed - 1e-12 for f in flips])
    expected = min(1.0, 2 * greater)
    assert p_against_chance(counts_of(rows), np.random.default_rng(0)) == pytest.approx(expected)


def test_chance_itself_is_not_above_chance():
    rows = [(f"d{i}", sign) for i in range(25) for sign in (1.0, -1.0)]
    assert p_against_chance(counts_of(rows), np.random.default_rng(0)) == 1.0


def test_comparison_with_people_sees_a_clear_difference_and_no_difference():
    rng = np.random.default_rng(0)
    low = counts_of([(f"d{i}", -1.0 if i % 3 else 1.0) for i in range(25)])
    draws = resample_accuracy(low, rng)
    clear = compare_with_people(low.accuracy, draws, 37, 40, rng)
    assert clear.value == pytest.approx(low.accuracy - 37 / 40)
    assert clear.interval.high < 0
    assert clear.p < 0.001
    same = compare_with_people(low.accuracy, draws, 14, 40, rng)
    assert same.interval.low < 0 < same.interval.high
    assert same.p > 0.5


def test_holm_against_its_definition():
    p = [0.001, 0.02, 0.04, 0.03, 0.9]
    expected = [0.005, 0.08, 0.09, 0.09, 0.9]
    assert holm(p) == pytest.approx(expected)
    assert holm([]) == []


def test_a_rule_and_its_opposite_add_up_to_one():
    texts = [("Who?", "me", "you all"), ("Why?", "so", "no"), ("Who?", "he did", "me")]
    longer = cue_score(texts, RULES["longer (characters)"])
    shorter = cue_score(texts, lambda _q, a: -len(a))
    assert longer.share + shorter.share == 1
    assert longer.ties == shorter.ties == 1
