"""Draws, means and spreads of missing cells tell one law, with a finite variance, in groups of a row or none too."""

import numpy as np
import pytest

from partita import AClass, CRPMixture
from partita.families import NormalInverseWishart

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(20, 4, (9, 2)), [[60.0, 3.0]], rng.normal(20, 4, (2, 2))])
Y = np.arange(12) % 2
HOLES = np.array([[np.nan, np.nan], [60.0, np.nan], [20.0, np.nan], [np.nan, -400.0]])
N = 6000


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_draws_have_the_means_and_spreads_that_are_told(cls, correlated):
    settings = {"column_prior": 0.5} if cls is AClass else {}  # the lens as it is: normal scores have bounds
    model = cls(n_filters=2, n_sweeps=6, random_state=0, alpha=2.0, correlated=correlated, **settings).fit(X, Y)
    mean, spread = model.impute(HOLES, return_std=True)
    draws = model.impute(HOLES, n_draws=N, random_state=1)
    hole = np.isnan(HOLES)
    assert np.isfinite(spread).all() and (spread[hole] > 0).all()
    z = (draws - mean)[:, hole] / spread[hole]
    assert (np.abs(z.mean(axis=0)) < 4 / np.sqrt(N)).all()
    # of a t with three degrees of freedom the fourth moment is infinite, so the sample's spread converges slowly
    np.testing.assert_allclose(z.std(axis=0), 1.0, atol=0.15)
    assert np.abs(z).max() < 80


def test_least_degrees_of_freedom_of_a_block():
    wide = NormalInverseWishart(np.zeros(2), np.array(1.0), np.array(2.0), np.eye(2))
    blank = np.full((20_000, 2), np.nan)
    mean, covariance = wide.predictive_moments(blank[0], 5.0)
    np.testing.assert_allclose(covariance, 2 * np.eye(2) * 5 / 3, atol=1e-12)  # scale (1 + 1 / kappa) / (nu - P + 1)
    draws = wide.draw_missing(blank, np.random.default_rng(0), 5.0)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.25)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.06)
