"""Gains between two models: laws, and an exact p."""

from __future__ import annotations

import numpy as np
import pytest

from felicity.stats.gains import paired_gain


def gain(first, second, units, seed=0):
    sides = (np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    return paired_gain(*sides, np.asarray(units), np.random.default_rng(seed))


def test_a_gain_is_the_difference_of_accuracies_and_turns_with_its_sides():
    draw = np.random.default_rng(5)
    first, second = draw.normal(0, 1, 90), draw.normal(0.8, 1, 90)
    units = [f"d{i % 30}" for i in range(90)]
    there, back = gain(first, second, units), gain(second, first, units)
    assert there.value == pytest.approx((second > 0).mean() - (first > 0).mean())
    assert back.value == pytest.approx(-there.value)
    assert there.interval.low < there.value < there.interval.high
    assert there.p == pytest.approx(back.p, abs=0.01)


def test_eight_dialogues_that_all_gain_have_the_exact_p():
    found = gain([-1] * 8, [1] * 8, list("abcdefgh"))
    assert (found.value, found.interval, found.p) == (1.0, None, 2 / 2**8)


def test_copies_of_a_dialogue_add_nothing():
    first, second = [-1, 1, 1, -1, -1], [1, 1, 1, 1, -1]
    once = gain(first, second, list("abcde"))
    often = gain(first * 9, second * 9, list("abcde") * 9)
    assert often.value == pytest.approx(once.value)
    assert often.p == pytest.approx(once.p)
    assert (once.interval.low, once.interval.high) == (often.interval.low, often.interval.high)


def test_only_items_usable_on_both_sides_count():
    found = gain([1, np.nan, -1], [np.nan, 1, 1], list("abc"))
    assert (found.value, found.items, found.units) == (1.0, 1, 1)
    nothing = gain([np.nan], [1], ["a"])
    assert (nothing.value, nothing.p, nothing.units) == (None, None, 0)
    assert gain([1, -1], [1, -1], ["a", "b"]).p == 1.0
