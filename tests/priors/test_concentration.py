"""Samplers of the concentration against quadrature of its exact posterior."""

import numpy as np
import pytest
from scipy import integrate

from partita.priors import concentration, partition

GROUPS, ROWS, SHAPE, RATE = 6, 120, 1.0, 1.0
FINE = np.geomspace(1e-4, 200, 4001)


def quadrature(groups=GROUPS, rows=ROWS):
    """Mean, standard deviation and cumulative distribution of alpha given K, by Simpson's rule in log alpha."""
    log_density = concentration.log_posterior(FINE, groups, rows, SHAPE, RATE) + np.log(FINE)
    density = np.exp(log_density - log_density.max())
    step = np.log(FINE)
    total = integrate.simpson(density, x=step)
    mean = integrate.simpson(density * FINE, x=step) / total
    second = integrate.simpson(density * FINE**2, x=step) / total
    cumulative = integrate.cumulative_simpson(density, x=step, initial=0) / total
    return mean, np.sqrt(second - mean**2), cumulative


def test_log_posterior_is_prior_times_partition_law():
    sizes = np.array([5, 3, 1])
    alpha = np.array([0.4, 1.0, 6.0])
    direct = partition.log_probability(sizes, alpha) - 2.0 * alpha + 1.5 * np.log(alpha)
    ours = concentration.log_posterior(alpha, 3, 9, 2.5, 2.0)
    np.testing.assert_allclose(np.diff(ours), np.diff(direct), atol=1e-10)


def test_griddy_draws_match_quadrature():
    uniforms = (np.arange(20_000) + 0.5) / 20_000
    draws = concentration.draw_griddy(uniforms, GROUPS, ROWS)
    mean, deviation, cumulative = quadrature()
    assert set(draws) <= set(concentration.GRID)
    assert draws.mean() == pytest.approx(mean, rel=0.01)
    assert draws.std() == pytest.approx(deviation, rel=0.03)
    # The cumulative distribution at the borders of the cells around the grid points.
    borders = np.sqrt(concentration.GRID[1:] * concentration.GRID[:-1])
    exact = np.interp(borders, FINE, cumulative)
    assert abs((draws[:, None] <= borders).mean(axis=0) - exact).max() < 0.015


def test_griddy_is_vectorised_over_classes():
    groups, rows, uniforms = np.array([2, 9]), np.array([50, 400]), np.array([0.3, 0.8])
    both = concentration.draw_griddy(uniforms, groups, rows)
    for k in range(2):
        assert both[k] == concentration.draw_griddy(uniforms[k], groups[k], rows[k])


def test_escobar_west_matches_quadrature():
    rng = np.random.default_rng(0)
    alpha = np.full(20_000, 5.0)
    for _ in range(15):
        alpha = concentration.draw_escobar_west(rng, alpha, GROUPS, ROWS, SHAPE, RATE)
    mean, deviation, cumulative = quadrature()
    assert alpha.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(len(alpha)))
    assert alpha.std() == pytest.approx(deviation, rel=0.04)
    empirical = np.searchsorted(np.sort(alpha), FINE) / len(alpha)
    assert abs(empirical - cumulative).max() < 0.014


def test_escobar_west_without_rows_is_the_prior():
    draws = concentration.draw_escobar_west(np.random.default_rng(0), np.full(20_000, 3.0), 0, 0, 2.0, 4.0)
    assert draws.mean() == pytest.approx(0.5, abs=0.01)
    assert draws.var() == pytest.approx(2 / 16, rel=0.06)

