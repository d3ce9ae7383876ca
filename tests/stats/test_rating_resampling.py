from __future__ import annotations

import numpy as np
import pytest

from felicity.errors import FelicityError
from felicity.stats.alignment import MEASURES, Comparison, align
from felicity.stats.cells import Axes, Cells, Ratings, count_cells, pool_scenarios
from felicity.stats.effects import define_effect, effect_intervals
from felicity.stats.noise_ceiling import noise_ceiling
from felicity.stats.rating_resampling import resample_alignment, summarise_alignment

AXES = Axes(
    scenarios=("train", "shop", "park", "bank"),
    factors={"context": ("high", "low"), "form": ("precise", "approximate")},
    attributes=("helpful", "pedantic", "likeable"),
)
EFFECTS = (
    define_effect(AXES, "main", ("form",), "helpful"),
    define_effect(AXES, "main", ("form",), "pedantic"),
    define_effect(AXES, "interaction", ("form", "context"), "helpful"),
)
COMPARISON = Comparison(effects=EFFECTS)
# Means by point (high precise, high approximate, low precise, low approximate) and attribute:
# helpful has both effects, pedantic has no main effect of form, whatever the draw.
TRUE = np.array([[6.0, 3.0, 5.0], [4.0, 3.0, 5.5], [5.0, 3.0, 4.0], [4.5, 3.0, 4.5]])


def invented(seed: int, rows: int, spread: float = 1.0, scenario_spread: float = 0.0) -> Ratings:
    rng = np.random.default_rng(seed)
    s, p, a = AXES.shape
    scenarios = rng.normal(0, scenario_spread, (s, 1, 1, 1))
    values = TRUE[None, :, :, None] + scenarios + rng.normal(0, spread, (s, p, a, rows))
    asked = np.ones(values.shape, dtype=np.bool_)
    # Scenarios of different n: the last rows of the first scenario were never asked.
    values[0, ..., rows - 2 :], asked[0, ..., rows - 2 :] = np.nan, False
    return Ratings(values=values, asked=asked)


def test_the_same_seed_gives_the_same_draws():
    model, human = invented(0, 10), invented(1, 20)
    first, second = (
        resample_alignment(model, human, COMPARISON, np.random.default_rng(7), n_resamples=30)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.ccc, second.ccc)
    assert first.ccc.shape == (30,)
    assert first.esr.shape == (30, 3)
    assert len(np.unique(first.ccc)) == 30


def test_nothing_drawn_is_the_point_estimate():
    model, human = invented(0, 10), invented(1, 20)
    point = align(count_cells(model), count_cells(human), COMPARISON)
    draws = resample_alignment(
        model, human, COMPARISON, np.random.default_rng(0), over=(), n_resamples=3
    )
    for name in (*MEASURES, "esr"):
        np.testing.assert_allclose(getattr(draws, name), [getattr(point, name)] * 3)


def test_participants_draws_spread_as_the_theory_says():
    human = invented(1, 30)
    draws = resample_alignment(
        invented(0, 10),
        human,
        COMPARISON,
        np.random.default_rng(0),
        over=("participants",),
        n_resamples=1000,
    )
    welch = effect_intervals(pool_scenarios(count_cells(human)), EFFECTS)
    errors = (welch.high - welch.low) / 2 / 1.96
    np.testing.assert_allclose(draws.human_effects.std(axis=0), errors, rtol=0.12)
    np.testing.assert_allclose(draws.human_effects.mean(axis=0), welch.value, atol=0.02)
    # The model is fixed.
    assert np.ptp(draws.model_effects, axis=0).max() < 1e-9


def test_scenarios_are_drawn_together():
    """Scenarios that shift everything alike: model and people shift by the same draw."""
    human = invented(1, 20, spread=0.01, scenario_spread=2.0)
    draws = resample_alignment(
        human, human, COMPARISON, np.random.default_rng(0), over=("scenarios",), n_resamples=50
    )
    np.testing.assert_allclose(draws.rmse, 0, atol=1e-9)
    assert np.ptp(draws.human_effects[:, 0]) > 0


def test_a_row_is_drawn_whole():
    """Two attributes with the same values in each row stay the same in every draw."""
    model = invented(0, 10)
    model.values[:, :, 1] = model.values[:, :, 0]
    twin = (
        define_effect(AXES, "main", ("form",), "helpful"),
        define_effect(AXES, "main", ("form",), "pedantic"),
    )
    draws = resample_alignment(
        model, model, Comparison(effects=twin), np.random.default_rng(0), n_resamples=20
    )
    np.testing.assert_allclose(draws.model_effects[:, 0], draws.model_effects[:, 1])
    np.testing.assert_allclose(draws.human_effects[:, 0], draws.human_effects[:, 1])
    assert np.ptp(draws.model_effects[:, 0]) > 0


def test_missing_replies_are_drawn_and_stay_missing():
    model = invented(0, 10)
    model.values[2, 1, 0, 3:] = np.nan
    draws = resample_alignment(
        model, invented(1, 20), COMPARISON, np.random.default_rng(0), n_resamples=50
    )
    assert np.isfinite(draws.ccc).all()


def test_a_model_of_no_usable_reply_has_no_interval():
    model = invented(0, 10)
    model.values[:] = np.nan
    found = summarise_alignment(
        model, invented(1, 20), COMPARISON, np.random.default_rng(0), n_resamples=20
    )
    assert set(found.intervals.values()) == {None}
    assert np.isnan(found.point.ccc)
    assert [effect.interval for effect in found.esr] == [None] * 3


def test_summary():
    model, human = invented(0, 10), invented(1, 20)
    found = summarise_alignment(model, human, COMPARISON, np.random.default_rng(0), n_resamples=400)
    assert set(found.intervals) == set(MEASURES)
    interval = found.intervals["rmse_individuals"]
    assert interval.low < float(found.point.rmse_individuals) < interval.high
    assert interval.method == "bootstrap over repeats, scenarios, participants"
    # Resampled means are noisier than the means: agreement comes out lower, never higher by much.
    assert found.intervals["pearson"].low < float(found.point.pearson)
    helpful, pedantic, crossed = found.esr
    assert (helpful.unstable, pedantic.unstable, crossed.unstable) == (False, True, False)
    assert helpful.esr == pytest.approx(helpful.model_effect / helpful.human_effect)
    assert helpful.interval.low < 1 < helpful.interval.high


def test_summary_from_cells_takes_people_as_fixed():
    model, human = invented(0, 10), count_cells(invented(1, 20))
    found = summarise_alignment(model, human, COMPARISON, np.random.default_rng(0), n_resamples=50)
    assert found.over == ("repeats", "scenarios")
    assert [effect.unstable for effect in found.esr] == [False, True, False]
    assert found.esr[0].human_interval.method == "Welch"


def test_intervals_cover():
    """About 95 % of intervals over participants and repeats hold the true effects' ratio of 1."""
    hits = 0
    for seed in range(60):
        found = summarise_alignment(
            invented(2 * seed, 10),
            invented(2 * seed + 1, 20),
            COMPARISON,
            np.random.default_rng(seed),
            over=("repeats", "participants"),
            n_resamples=200,
        )
        interval = found.esr[0].interval
        hits += interval.low <= 1 <= interval.high
    assert 51 <= hits <= 60


def test_noise_ceiling():
    human = invented(1, 20)
    found = noise_ceiling(human, COMPARISON, np.random.default_rng(0), n_splits=150)
    assert set(found.mean) == set(MEASURES)
    assert 0.9 < found.mean["pearson"] < 1
    # Two halves, each with the sampling error of its mean: rmse² = 2 · sd² / (n / 2) per cell.
    n = pool_scenarios(count_cells(human)).n.mean()
    assert found.mean["rmse"] == pytest.approx(np.sqrt(4 / n), rel=0.15)
    noisier = noise_ceiling(
        invented(1, 20, spread=4.0), COMPARISON, np.random.default_rng(0), n_splits=150
    )
    assert noisier.mean["pearson"] < found.mean["pearson"]
    assert found.range["ccc"].low < found.mean["ccc"] < found.range["ccc"].high


def test_halves_are_disjoint_and_whole():
    """People who all agree with themselves only: each half's mean must come from its own rows."""
    s, p, a = AXES.shape
    values = np.broadcast_to(np.array([1.0, 7.0]), (s, p, a, 2)).copy()
    human = Ratings(values=values, asked=np.ones(values.shape, dtype=np.bool_))
    found = noise_ceiling(
        human, Comparison(effects=EFFECTS, unit="scenario"), np.random.default_rng(0), n_splits=20
    )
    # One half of each cell has the 1, the other the 7: always 6 apart.
    assert found.mean["rmse"] == pytest.approx(6)


def test_errors():
    model, human = invented(0, 10), invented(1, 20)
    rng = np.random.default_rng(0)
    with pytest.raises(FelicityError, match='over: got "items"; expected one of repeats, scenar'):
        resample_alignment(model, human, COMPARISON, rng, over=("items",))
    with pytest.raises(FelicityError, match="over: got people's cell means"):
        resample_alignment(model, count_cells(human), COMPARISON, rng)
    pooled = pool_scenarios(count_cells(human))
    whole = Cells(**{name: getattr(pooled, name)[None] for name in Cells.__slots__})
    with pytest.raises(FelicityError, match="got 1 scenarios of people and 4 of the model"):
        resample_alignment(model, whole, COMPARISON, rng, over=("scenarios",))
    fixed = resample_alignment(model, whole, COMPARISON, rng, over=("repeats",), n_resamples=5)
    assert np.isfinite(fixed.ccc).all()
