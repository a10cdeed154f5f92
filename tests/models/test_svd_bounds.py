"""Scales of components under their bound: the law of theta cut off, and its share below the bound."""

import numpy as np
import pytest
from scipy import integrate, stats

from partita.models.matrices import bounds
from partita.models.matrices.entries import Entries
from partita.models.matrices.problem import Hyper, Problem

COUNT = 9


def problem(link="binomial", **hyper):
    entries = Entries.of(np.zeros(1, int), np.zeros(1, int), np.ones(1), 5, 4, np.ones(1))
    kinds = {"theta_shape": 1.5, "theta_rate": 0.7, "theta_most": 0.5, **hyper}
    return Problem(entries, link, unequal_noise=False, hyper=Hyper(**kinds))


@pytest.mark.parametrize("squares", [0.0, 2.0, 8.0])
def test_theta_has_its_law_cut_off(squares):
    given = problem()
    drawn = bounds.draw_theta(given, np.random.default_rng(1), np.full(20_000, squares), COUNT)
    shape, rate = bounds.law_of_theta(given, COUNT)
    law = stats.invgamma(shape, scale=rate + 0.5 * squares)
    assert drawn.max() <= 0.5
    assert stats.kstest(drawn, lambda x: law.cdf(x) / law.cdf(0.5)).pvalue > 1e-3


def test_the_share_is_what_integration_over_theta_gives():
    """p(factors) under the bound over p(factors) without, as integrals of the prior times the normal density."""
    given, squares = problem(), np.array([0.3, 2.0, 8.0])
    prior = stats.invgamma(1.5, scale=0.7)

    def integral(q, most):
        return integrate.quad(lambda t: prior.pdf(t) * t ** (-COUNT / 2) * np.exp(-0.5 * q / t), 0, most)[0]

    expected = [np.log(integral(q, 0.5) / integral(q, np.inf)) for q in squares]
    np.testing.assert_allclose(bounds.log_share(given, squares, COUNT), expected, atol=1e-6)


def test_far_beyond_the_bound():
    given = problem()
    squares = np.geomspace(100, 1e6, 400)
    found = bounds.log_share(given, squares, COUNT)
    assert np.isfinite(found).all() and (np.diff(found) < 0).all()
    slope = np.diff(found) / np.diff(squares)  # no step where the formula changes
    assert (np.abs(np.diff(slope)) < 0.2).all()
    assert np.isfinite(bounds.draw_theta(given, np.random.default_rng(0), squares, COUNT)).all()


def test_measurements_have_no_bound():
    given = problem("gaussian")
    assert given.most_theta == np.inf
    assert not bounds.log_share(given, np.array([1.0, 1e9]), COUNT).any()
    plain, drawn = np.random.default_rng(2), bounds.draw_theta(given, np.random.default_rng(2), np.full(3, 8.0), COUNT)
    shape, rate = bounds.law_of_theta(given, COUNT)
    np.testing.assert_array_equal(drawn, (rate + 4.0) / plain.standard_gamma(shape, 3))
