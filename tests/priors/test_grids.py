"""Griddy Gibbs over hyper-parameters: log posterior by hand, pooling, draws."""

import numpy as np
import pytest

from partita.families import BetaBernoulli, DirichletCategorical, NormalInverseChiSquared
from partita.priors import grids


def test_posterior_over_the_grid_is_the_sum_over_groups():
    grid = BetaBernoulli.default_grid()
    x = np.random.default_rng(0).integers(-1, 2, (30, 4))
    statistics = grid.statistics(x, np.eye(3)[np.arange(30) % 3])
    table = grids.grid_log_posterior(grid, statistics)
    assert table.shape == (4, 100)
    point = BetaBernoulli(grid.a[37], grid.b[37])
    by_hand = sum(point.log_marginal(statistics[group, 2]) for group in range(3))
    assert table[2, 37] == pytest.approx(by_hand)
    shifted = grids.grid_log_posterior(grid, statistics, np.arange(100.0))
    np.testing.assert_allclose(shifted - table, np.tile(np.arange(100.0), (4, 1)), atol=1e-9)


def test_a_grid_of_its_own_for_every_column():
    base = np.array([[0.5, 0.25, 0.25], [0.1, 0.9, 0.0]])
    grid = DirichletCategorical.default_grid(base)
    x = np.array([[0, 1], [2, 0], [1, 1], [-1, 1]])
    statistics = grid.statistics(x, np.eye(2)[[0, 0, 1, 1]])
    table = grids.grid_log_posterior(grid, statistics)
    assert table.shape == (2, 11) and np.isfinite(table).all()
    point = DirichletCategorical(2.0**3 * base[1])
    assert table[1, 5] == pytest.approx(point.log_marginal(statistics[:, 1]).sum())


def test_grid_finds_the_hyper_parameters_of_many_groups():
    rng = np.random.default_rng(0)
    truth = NormalInverseChiSquared(*(np.array(v) for v in (0.0, 0.125, 8.0, 0.25)))
    x = truth.sample_values(truth.sample_parameters(rng, 400), rng, 12)
    table = grids.grid_log_posterior(NormalInverseChiSquared.default_grid(), truth.statistics(x))
    best = NormalInverseChiSquared.default_grid()
    index = table.argmax()
    assert abs(np.log2(best.kappa[index] / 0.125)) <= 1 and abs(np.log2(best.sigma2[index] / 0.25)) <= 1
    assert abs(np.log2(best.nu[index] / 8)) <= 1


def test_pooled_prior():
    prior = grids.pooled_log_prior(np.array([0, 3, 0, 1]), 4)
    np.testing.assert_allclose(np.exp(prior), [0.25, 3.25, 0.25, 1.25])
    with pytest.raises(ValueError, match="5 grid points"):
        grids.pooled_log_prior(np.zeros(4), 5)


def test_draws_are_in_proportion_and_never_impossible():
    log_weights = np.log([0.2, 0.5, 0.3]) + 700
    log_weights = np.concatenate([[-np.inf], log_weights, [-np.inf]])
    uniforms = np.append((np.arange(1000) + 0.5) / 1000, [0.0, np.nextafter(1, 0)])
    counts = np.bincount(grids.draw_index(log_weights, uniforms), minlength=5)
    np.testing.assert_allclose(counts, [0, 201, 500, 301, 0], atol=1)
    assert grids.draw_index(np.zeros((2, 3)), np.array([0.1, 0.9])).tolist() == [0, 2]
    with pytest.raises(ValueError, match="one point at least"):
        grids.draw_index([-np.inf, -np.inf], 0.5)


def test_single_group_needs_its_axis():
    with pytest.raises(ValueError, match="first axis of length 1"):
        grids.grid_log_posterior(BetaBernoulli.default_grid(), np.array([1.0, 2.0]))
