"""Calibration of margins: made data whose calibration is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit

from felicity.stats.calibration import calibrate


def units(n):
    return np.array([f"d{i}" for i in range(n)])


def test_a_calibrated_model_has_a_small_error_and_a_sure_one_a_large():
    draw = np.random.default_rng(2)
    sizes = draw.gamma(2.0, 1.0, 4000)
    right = draw.random(4000) < expit(sizes)
    margins = np.where(right, sizes, -sizes)
    good = calibrate(margins, units(4000), np.random.default_rng(0))
    assert good.error < 0.02
    sure = calibrate(margins * 10, units(4000), np.random.default_rng(0))
    assert sure.error > 0.15
    assert [b.accuracy for b in sure.bins] == [b.accuracy for b in good.bins]


def test_every_item_is_in_one_bin_and_ties_in_none():
    margins = np.array([0.0, 1e-6, np.nan, 0.5, -0.5, 1.0, 2.0, 3.0, -4.0, 0.2])
    found = calibrate(margins, units(10), np.random.default_rng(0), bins=3)
    assert sum(b.n for b in found.bins) == found.n == 7
    assert found.ties == 2
    edges = [(b.low, b.high) for b in found.bins]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(edges))
    expected = sum(b.n * abs(b.accuracy - b.confidence) for b in found.bins) / 7
    assert found.error == pytest.approx(expected)


def test_equal_margins_make_one_bin_and_nothing_makes_none():
    found = calibrate(np.full(6, 2.0), units(6), np.random.default_rng(0))
    assert [(b.n, b.accuracy) for b in found.bins] == [(6, 1.0)]
    assert found.error == pytest.approx(1 - expit(2.0))
    empty = calibrate(np.array([np.nan, 0.0]), units(2), np.random.default_rng(0))
    assert (empty.bins, empty.error, empty.ties) == ((), None, 1)
