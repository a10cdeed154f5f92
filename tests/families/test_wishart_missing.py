"""Normal-inverse-Wishart with missing cells: margins and conditionals of the predictive."""

import numpy as np
import pytest
from scipy import integrate

from partita.families import NormalInverseChiSquared, NormalInverseWishart

SCALE = np.array([[3.0, 1.2, -0.6], [1.2, 2.0, 0.4], [-0.6, 0.4, 1.5]])
PRIOR = NormalInverseWishart(np.array([0.5, -1.0, 0.2]), np.array(0.7), np.array(7.0), SCALE)


def margin(prior, seen):
    """The family of the observed cells alone, written down directly."""
    gone = prior.width - len(seen)
    return NormalInverseWishart(
        prior.mean[..., seen], prior.kappa, prior.nu - gone, prior.scale[..., seen, :][..., :, seen]
    )


def holed(n, seed=0):
    rng = np.random.default_rng(seed)
    x = PRIOR.sample_predictive(rng, n)
    x[rng.random(x.shape) < 0.4] = np.nan
    return x


def test_missing_predictive_is_the_numerical_margin():
    x = np.array([0.3, np.nan, 1.1])

    def density(cell):
        return np.exp(PRIOR.log_predictive(np.array([0.3, cell, 1.1])))

    total, _ = integrate.quad(density, -np.inf, np.inf)
    assert PRIOR.log_predictive(x) == pytest.approx(np.log(total), abs=1e-8)


@pytest.mark.parametrize("function", ["log_predictive", "expected_log_likelihood"])
def test_every_pattern_equals_its_own_margin(function):
    x = holed(60)
    values = getattr(PRIOR, function)(x)
    patterns = {tuple(np.flatnonzero(~np.isnan(row))) for row in x}
    assert len(patterns) == 8
    for row, value in zip(x, values):
        seen = np.flatnonzero(~np.isnan(row))
        direct = getattr(margin(PRIOR, seen), function)(row[seen]) if len(seen) else 0.0
        assert value == pytest.approx(float(direct), abs=1e-10)


def test_rows_against_groups_and_against_their_own_law():
    x = holed(30)
    groups = PRIOR.posterior(PRIOR.statistics(PRIOR.sample_predictive(np.random.default_rng(1), 5), np.eye(5)))
    table = groups.log_predictive(x[:, None, :])
    assert table.shape == (30, 5)
    own = np.arange(30) % 5
    each = NormalInverseWishart(groups.mean[own], groups.kappa[own], groups.nu[own], groups.scale[own])
    np.testing.assert_allclose(each.log_predictive(x), table[np.arange(30), own], atol=1e-12)


def test_one_dimension_is_normal_inverse_chi_squared():
    scalar = NormalInverseChiSquared(*(np.array(v) for v in (0.4, 0.6, 3.0, 1.5)))
    vector = NormalInverseWishart(np.array([0.4]), np.array(0.6), np.array(3.0), np.array([[4.5]]))
    x = np.array([0.1, -2.0, 3.0, np.nan, 1.0])
    one, two = scalar.posterior(scalar.statistics(x)), vector.posterior(vector.statistics(x[:, None]))
    assert two.scale[0, 0] == pytest.approx(float(one.nu * one.sigma2))
    for function in ("log_predictive", "expected_log_likelihood"):
        np.testing.assert_allclose(getattr(one, function)(x), getattr(two, function)(x[:, None]), atol=1e-12)
    assert scalar.log_marginal(scalar.statistics(x)) == pytest.approx(
        vector.log_marginal(vector.statistics(x[:, None]))
    )
    assert one.divergence(scalar) == pytest.approx(float(two.divergence(vector)))


def test_partly_missing_rows_are_refused_by_statistics():
    with pytest.raises(ValueError, match="draw_missing"):
        PRIOR.statistics(np.array([[0.0, np.nan, 1.0]]))


def test_drawn_cells_have_the_conditional_mean_and_covariance():
    row = np.array([2.0, np.nan, np.nan])
    draws = PRIOR.draw_missing(np.tile(row, (40_000, 1)), np.random.default_rng(0))
    assert (draws[:, 0] == 2.0).all()
    mean, covariance = PRIOR.predictive_moments(row)
    # By hand: v = nu - P + 1 = 5, one cell observed; the scale of the t is (v + q) / (v + 1) times the complement.
    shape = PRIOR.scale * (1 + 1 / 0.7) / 5
    by_hand = PRIOR.mean[1:] + shape[1:, 0] / shape[0, 0] * (2.0 - 0.5)
    complement = shape[1:, 1:] - np.outer(shape[1:, 0], shape[0, 1:]) / shape[0, 0]
    by_hand_covariance = complement * (5 + 1.5**2 / shape[0, 0]) / 6 * 6 / 4
    np.testing.assert_allclose(mean, [2.0, *by_hand], atol=1e-12)
    np.testing.assert_allclose(covariance[1:, 1:], by_hand_covariance, atol=1e-12)
    assert (covariance[0] == 0).all() and (covariance[:, 0] == 0).all()
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T)[1:, 1:], covariance[1:, 1:], atol=0.08)


def test_conditional_mean_is_the_integral_of_the_density():
    def density(cell):
        return np.exp(PRIOR.log_predictive(np.array([0.3, cell, 1.1])))

    total, _ = integrate.quad(density, -np.inf, np.inf)
    mean, _ = integrate.quad(lambda cell: cell * density(cell), -np.inf, np.inf)
    second, _ = integrate.quad(lambda cell: cell**2 * density(cell), -np.inf, np.inf)
    centre, covariance = PRIOR.predictive_moments(np.array([0.3, np.nan, 1.1]))
    assert centre[1] == pytest.approx(mean / total, abs=1e-7)
    assert covariance[1, 1] == pytest.approx(second / total - (mean / total) ** 2, abs=1e-6)


def test_completed_rows_keep_what_was_seen_and_serve_statistics():
    x = holed(40)
    completed = PRIOR.draw_missing(x, np.random.default_rng(2))
    seen = ~np.isnan(x)
    assert not np.isnan(completed).any() and (completed[seen] == x[seen]).all()
    assert PRIOR.statistics(completed)[0] == 40
    again = PRIOR.draw_missing(x, np.random.default_rng(2))
    assert (completed == again).all()


def test_infinite_variance_is_said():
    wide = NormalInverseWishart(np.zeros(2), np.array(1.0), np.array(2.5), np.eye(2))
    _, covariance = wide.predictive_moments(np.full(2, np.nan))
    assert np.isposinf(np.diag(covariance)).all() and np.isnan(covariance[0, 1])
