"""The logistic mixed model beside adaptive integration, plain logistic regression, known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit
from statsmodels.discrete.discrete_model import Logit

from felicity.errors import FelicityError
from felicity.stats.mixed_logit import compare_fits, fit_mixed_logit


def made(sd, units=60, per_unit=6, seed=4):
    draw = np.random.default_rng(seed)
    place = np.repeat(np.arange(units), per_unit)
    x = draw.integers(0, 2, len(place)).astype(float)
    eta = 0.3 + 1.1 * x + draw.normal(0, sd, units)[place]
    won = draw.random(len(place)) < expit(eta)
    return won, np.column_stack([np.ones(len(x)), x]), np.array([f"u{i:03}" for i in place])


def test_the_likelihood_is_that_of_adaptive_integration():
    won, design, units = made(1.3)
    fit = fit_mixed_logit(won, design, units)
    total = 0.0
    for unit in np.unique(units):
        rows = units == unit
        eta = design[rows] @ fit.coefficients
        signs = np.where(won[rows], 1, -1)

        def density(u, eta=eta, signs=signs):
            return float(np.prod(expit(signs * (eta + fit.unit_sd * u)))) * stats.norm.pdf(u)

        total += np.log(integrate.quad(density, -10, 10, epsabs=1e-13)[0])
    assert fit.log_likelihood == pytest.approx(total, abs=1e-5)
    assert fit.converged


def test_units_that_do_not_differ_give_plain_logistic_regression():
    won, design, _ = made(0.0)
    # Each row a unit of its own with one answer: there is no repeat to show any spread in units.
    units = np.tile(np.array(["a", "b"]), len(won) // 2)
    fit = fit_mixed_logit(won, design, units)
    plain = Logit(won.astype(float), design).fit(disp=False)
    assert fit.unit_sd < 0.2
    assert fit.coefficients == pytest.approx(plain.params, abs=0.02)
    assert fit.standard_errors == pytest.approx(plain.bse, rel=0.05)
    assert fit.log_likelihood == pytest.approx(plain.llf, abs=1e-3)


def test_the_truth_is_found():
    fit = fit_mixed_logit(*made(1.5, units=400))
    assert fit.coefficients == pytest.approx([0.3, 1.1], abs=0.35)
    assert np.all(np.abs(fit.coefficients - [0.3, 1.1]) < 3 * fit.standard_errors)
    assert fit.unit_sd == pytest.approx(1.5, abs=0.3)


def test_the_maximum_is_one():
    won, design, units = made(1.3)
    order = np.random.default_rng(0).permutation(len(won))
    fit, shuffled = (
        fit_mixed_logit(won, design, units),
        fit_mixed_logit(won[order], design[order], units[order]),
    )
    assert fit.coefficients == pytest.approx(shuffled.coefficients, abs=1e-4)
    mirrored = fit_mixed_logit(~won, design, units)
    assert mirrored.coefficients == pytest.approx(-fit.coefficients, abs=1e-4)


def test_an_effect_is_told_from_none():
    won, design, units = made(1.0)
    noise = np.random.default_rng(9).normal(size=(len(won), 1))
    base = fit_mixed_logit(won, design[:, :1], units)
    real = compare_fits(base, fit_mixed_logit(won, design, units))
    none = compare_fits(base, fit_mixed_logit(won, np.hstack([design[:, :1], noise]), units))
    assert (real.df, none.df) == (1, 1)
    assert real.p < 0.001 < none.p
    assert real.p == pytest.approx(stats.chi2.sf(real.chi2, 1))


def test_dependent_columns_are_refused():
    won, design, units = made(1.0)
    with pytest.raises(FelicityError, match="got 3 columns of rank 2"):
        fit_mixed_logit(won, np.column_stack([design, design[:, 0]]), units)


def test_separation_does_not_pass_for_a_fit():
    won, design, units = made(1.0)
    assert not fit_mixed_logit(won | (design[:, 1] == 1), design, units).converged


def test_units_whose_rows_never_differ_have_no_finite_spread():
    units = np.repeat(np.arange(40).astype(str), 2)
    won = np.repeat(np.arange(40) % 3 > 0, 2)
    assert not fit_mixed_logit(won, np.ones((80, 1)), units).converged
    won[:20:2] ^= True
    assert fit_mixed_logit(won, np.ones((80, 1)), units).converged
