"""What is particular to a family: predictives that normalise, draws that follow them, ranges, grids, numerics."""

import numpy as np
import pytest
from scipy import integrate, stats

from partita.families import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseChiSquared,
    NormalInverseWishart,
)

DRAWS = 40_000

BETA = BetaBernoulli(np.array(0.7), np.array(2.0))
DIRICHLET = DirichletCategorical(np.array([0.02, 1.0, 0.0, 3.0]))
GAMMA = GammaPoisson(np.array(2.5), np.array(0.4))
NORMAL = NormalInverseChiSquared(*(np.array(v) for v in (0.5, 0.8, 3.0, 1.7)))
WISHART = NormalInverseWishart(np.array([0.5, -1]), np.array(0.8), np.array(4.0), np.array([[2.0, 0.7], [0.7, 1.0]]))


def two_stage(family, seed=0):
    rng = np.random.default_rng(seed)
    return family.sample_values(family.sample_parameters(rng, DRAWS), rng)


@pytest.mark.parametrize("family, top", [(BETA, 2), (DIRICHLET, 4), (GAMMA, 400)], ids=["beta", "dirichlet", "gamma"])
def test_discrete_predictive_normalises_and_draws_follow_it(family, top):
    support = np.arange(top)
    probabilities = np.exp(family.log_predictive(support))
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    for draws in (two_stage(family), family.sample_predictive(np.random.default_rng(1), DRAWS)):
        frequencies = np.bincount(draws.astype(int), minlength=top)[:top] / DRAWS
        error = np.sqrt(probabilities * (1 - probabilities) / DRAWS)
        assert (np.abs(frequencies - probabilities) <= 4.5 * error + 1e-4).all()


def test_discrete_means():
    assert BETA.predictive_mean() == pytest.approx(np.exp(BETA.log_predictive(1)))
    np.testing.assert_allclose(DIRICHLET.predictive_mean(), np.exp(DIRICHLET.log_predictive(np.arange(4))))
    counts = np.arange(400)
    assert GAMMA.predictive_mean() == pytest.approx((counts * np.exp(GAMMA.log_predictive(counts))).sum())


def test_normal_predictive_is_the_t_density_and_draws_follow_it():
    total, _ = integrate.quad(lambda x: np.exp(NORMAL.log_predictive(x)), -np.inf, np.inf)
    assert total == pytest.approx(1, abs=1e-7)
    law = stats.t(3.0, 0.5, np.sqrt(1.7 * (1 + 1 / 0.8)))
    x = np.linspace(-9, 9, 7)
    np.testing.assert_allclose(NORMAL.log_predictive(x), law.logpdf(x), atol=1e-12)
    for draws in (two_stage(NORMAL), NORMAL.sample_predictive(np.random.default_rng(1), DRAWS)):
        assert stats.kstest(draws, law.cdf).pvalue > 1e-4


def test_wishart_predictive_normalises_and_draws_follow_it():
    def density(a, b):
        return np.exp(WISHART.log_predictive(np.stack(np.broadcast_arrays(a, b), axis=-1)))

    # Tangent substitution maps the plane to a square; the predictive has heavy tails.
    angle = (np.arange(600) + 0.5) / 600 * np.pi - np.pi / 2
    value, jacobian = np.tan(angle), 1 / np.cos(angle) ** 2 * np.pi / 600
    total = (density(value[:, None], value[None, :]) * jacobian[:, None] * jacobian[None, :]).sum()
    assert total == pytest.approx(1, abs=2e-3)
    degrees = 4.0 - 2 + 1
    shape = (0.8 + 1) / (0.8 * degrees) * WISHART.scale
    for draws in (two_stage(WISHART), WISHART.sample_predictive(np.random.default_rng(1), DRAWS)):
        residual = draws - WISHART.mean
        distance = np.einsum("ni,ij,nj->n", residual, np.linalg.inv(shape), residual)
        assert stats.kstest(distance / 2, stats.f(2, degrees).cdf).pvalue > 1e-4
        for cell in range(2):
            law = stats.t(degrees, WISHART.mean[cell], np.sqrt(shape[cell, cell]))
            assert stats.kstest(draws[:, cell], law.cdf).pvalue > 1e-4


def test_quantiles():
    q = np.array([0.01, 0.25, 0.5, 0.9, 0.999])
    np.testing.assert_allclose(GAMMA.predictive_quantile(q), stats.nbinom.ppf(q, 2.5, 0.4 / 1.4))
    rare = GammaPoisson(np.array(0.1), np.array(3.0))
    np.testing.assert_array_equal(rare.predictive_quantile(q), stats.nbinom.ppf(q, 0.1, 3 / 4))
    assert GAMMA.predictive_quantile([0.0, 1.0]).tolist() == [0.0, np.inf]
    law = stats.t(3.0, 0.5, np.sqrt(1.7 * (1 + 1 / 0.8)))
    np.testing.assert_allclose(NORMAL.predictive_quantile(q), law.ppf(q), rtol=1e-7)


def test_parameters_of_tiny_concentration_are_probabilities():
    theta = DirichletCategorical(np.full(5, 1e-4)).sample_parameters(np.random.default_rng(0), 1000)
    np.testing.assert_allclose(theta.sum(axis=-1), 1)
    assert abs(theta.mean(axis=0) - 0.2).max() < 0.06


def test_padded_level_equals_a_shorter_family():
    padded, short = DirichletCategorical(np.array([1.0, 2.0, 0.0])), DirichletCategorical(np.array([1.0, 2.0]))
    x = np.array([0, 1, 1, -1])
    evidence = padded.statistics(x)
    assert padded.log_marginal(evidence) == pytest.approx(short.log_marginal(short.statistics(x)))
    assert padded.posterior(evidence).divergence(padded) == pytest.approx(
        short.posterior(short.statistics(x)).divergence(short)
    )
    assert padded.log_predictive(2) == -np.inf and padded.log_marginal(padded.statistics([2])) == -np.inf


def test_variance_never_falls_below_the_prior_scale():
    prior = NormalInverseChiSquared(*(np.array(v) for v in (0.0, 1e-3, 1.0, 1e-6)))
    x = np.full(1000, 1e8) + 1e-9
    posterior = prior.posterior(prior.statistics(x))
    assert posterior.nu * posterior.sigma2 >= prior.nu * prior.sigma2
    # What is left of a group after its rows are taken out again: rounding errors, no rows.
    rest = prior.posterior(np.array([0.0, 1e-12, -1e-9]))
    np.testing.assert_allclose(rest.sigma2, prior.sigma2)


@pytest.mark.parametrize(
    "build, name",
    [
        (lambda: BetaBernoulli(np.array([1.0, 0.0]), np.array(1.0)), "a must be"),
        (lambda: GammaPoisson(np.array(1.0), np.array(np.nan)), "rate must be"),
        (lambda: NormalInverseChiSquared(*np.array([0.0, 1.0, -2.0, 1.0])), "nu must be"),
        (lambda: NormalInverseWishart(np.zeros(3), np.array(1.0), np.array(2.0), np.eye(3)), "nu must be above"),
        (lambda: NormalInverseWishart(np.zeros(3), np.array(1.0), np.array(4.0), np.eye(2)), "pass mean"),
        (lambda: DirichletCategorical(np.array([[0.0, 0.0]])), "row of zeros"),
        (lambda: BETA.statistics(np.array([0, 2])), "code 2"),
        (lambda: DIRICHLET.log_predictive(np.array([4])), "code 4"),
        (lambda: GammaPoisson.default_grid(0.0), "mean must be"),
    ],
)
def test_mistakes_are_named(build, name):
    with pytest.raises(ValueError, match=name):
        build()


def test_default_grids():
    beta = BetaBernoulli.default_grid()
    assert beta.batch_shape == (100,) and {*beta.a} == {*beta.b} == {2.0**k for k in range(-4, 6)}
    base = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    dirichlet = DirichletCategorical.default_grid(base)
    np.testing.assert_allclose(dirichlet.concentration.sum(axis=-1), np.exp2(np.arange(-2, 9)) * np.ones((2, 1)))
    np.testing.assert_allclose(dirichlet.predictive_mean()[:, 3], base)
    gamma = GammaPoisson.default_grid([2.0, 10.0])
    assert gamma.batch_shape == (2, 70)
    np.testing.assert_allclose(np.unique(gamma.predictive_mean()[1].round(9)), 10 * np.exp2(np.arange(-3, 4)))
    normal = NormalInverseChiSquared.default_grid()
    assert normal.batch_shape == (540,) and normal.sigma2.min() == 2.0**-8 and normal.kappa.max() == 4.0
    wishart = NormalInverseWishart.default_grid(1)
    np.testing.assert_allclose(wishart.scale[:, 0, 0], normal.nu * normal.sigma2)
