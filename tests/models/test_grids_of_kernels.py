"""One statement of each grid: what the kernels are given is what the families and priors say."""

import numpy as np

from partita.families import BetaBernoulli, DirichletCategorical, GammaPoisson, NormalInverseChiSquared
from partita.models.mixtures.problem import CONCENTRATIONS, make_grids
from partita.priors.concentration import GRID


def test_the_kernels_grids_are_those_of_the_families():
    grids = make_grids(10)
    beta = BetaBernoulli.default_grid()
    np.testing.assert_array_equal(np.unique(beta.a), grids.beta)
    np.testing.assert_array_equal(np.unique(beta.b), grids.beta)
    strength = DirichletCategorical.default_grid(np.full(4, 0.25)).concentration.sum(axis=-1)
    np.testing.assert_allclose(np.unique(strength), grids.strength)
    count = GammaPoisson.default_grid(2.0)
    np.testing.assert_array_equal(np.unique(count.shape), grids.shape)
    np.testing.assert_allclose(np.unique((count.shape / count.rate / 2.0).round(9)), grids.scale)
    real = NormalInverseChiSquared.default_grid()
    for name, grid in (("kappa", grids.kappa), ("nu", grids.nu), ("sigma2", grids.sigma)):
        np.testing.assert_array_equal(np.unique(getattr(real, name)), grid)


def test_the_concentrations_are_those_of_the_prior():
    np.testing.assert_allclose(CONCENTRATIONS, GRID, rtol=1e-14)
