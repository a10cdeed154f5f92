"""The same identities for every family, on a batch of three columns with different hyper-parameters."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest

from partita.families import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseChiSquared,
    NormalInverseWishart,
)


def wishart_scale(width: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    root = rng.standard_normal((3, width, width))
    return root @ np.swapaxes(root, -1, -2) + np.eye(width)


@dataclass(frozen=True)
class Case:
    prior: Any
    missing: float

    def data(self, n: int, seed: int = 0, holes: bool = True) -> np.ndarray:
        """n rows of the three columns, a third of the cells missing (for vectors, all cells of a row or none)."""
        rng = np.random.default_rng(seed)
        x = self.prior.sample_predictive(rng, n)
        if holes:
            x[rng.random((n, 3)) < 1 / 3] = self.missing
        return x


CASES = {
    "beta-bernoulli": Case(BetaBernoulli(np.array([0.3, 1.0, 7.0]), np.array([2.0, 0.5, 4.0])), -1),
    "dirichlet-categorical": Case(
        DirichletCategorical(np.array([[0.1, 1.0, 2.0, 3.0], [1, 1, 1, 1], [5, 0.5, 2.0, 0.0]])), -1
    ),
    "gamma-poisson": Case(GammaPoisson(np.array([0.5, 2.0, 9.0]), np.array([0.2, 1.0, 3.0])), np.nan),
    "normal-inverse-chi-squared": Case(
        NormalInverseChiSquared(
            np.array([-1.0, 0.0, 0.4]), np.array([0.1, 1.0, 3.0]), np.array([2.5, 4.0, 9.0]), np.array([0.3, 1.0, 2.0])
        ),
        np.nan,
    ),
    "normal-inverse-wishart": Case(
        NormalInverseWishart(
            np.array([[0.0, 0.3], [-1, 1], [2, 0]]), np.array([0.1, 1, 3]), np.array([2.5, 4, 9]), wishart_scale(2)
        ),
        np.nan,
    ),
}


@pytest.fixture(params=CASES, ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def assert_same(one: Any, two: Any) -> None:
    for field in fields(one):
        np.testing.assert_allclose(getattr(one, field.name), getattr(two, field.name), rtol=1e-10, atol=1e-12)


def test_predictive_is_a_ratio_of_marginals(case: Case) -> None:
    prior, x = case.prior, case.data(12)
    for k in range(12):
        before, after = prior.statistics(x[:k]), prior.statistics(x[: k + 1])
        ratio = prior.log_marginal(after) - prior.log_marginal(before)
        np.testing.assert_allclose(prior.posterior(before).log_predictive(x[k]), ratio, atol=1e-10)


def test_posterior_composes(case: Case) -> None:
    prior = case.prior
    one, two = prior.statistics(case.data(7, 1)), prior.statistics(case.data(5, 2))
    assert_same(prior.posterior(one).posterior(two), prior.posterior(one + two))
    assert_same(prior.posterior(np.zeros_like(one)), prior)


def test_missing_cells_contribute_nothing(case: Case) -> None:
    prior, x = case.prior, case.data(9)
    event = tuple(range(2, x.ndim))
    gone = (x < 0) if case.missing == -1 else np.isnan(x).all(axis=event)
    assert gone.any() and not gone.all()
    assert (prior.log_predictive(x)[gone] == 0).all() and (prior.expected_log_likelihood(x)[gone] == 0).all()
    assert (prior.log_predictive(x)[~gone] != 0).all()
    for column in range(3):
        kept = prior.statistics(x[~gone[:, column]])
        np.testing.assert_allclose(prior.statistics(x)[column], kept[column], atol=1e-12)


def test_weight_two_is_the_row_twice(case: Case) -> None:
    prior, x = case.prior, case.data(6)
    weights = np.array([2, 1, 0, 2, 1, 2])
    np.testing.assert_allclose(
        prior.statistics(x, weights), prior.statistics(np.repeat(x, weights, axis=0)), atol=1e-12
    )


def test_weights_with_groups_give_statistics_per_group(case: Case) -> None:
    prior, x = case.prior, case.data(8)
    weights = np.random.default_rng(3).random((8, 2, 4))
    stacked = prior.statistics(x, weights)
    assert stacked.shape == (2, 4, 3, prior.statistics(x).shape[-1])
    np.testing.assert_allclose(stacked[1, 2], prior.statistics(x, weights[:, 1, 2]), atol=1e-12)
    # Statistics of groups and columns broadcast against a prior over columns.
    assert prior.posterior(stacked).batch_shape == (2, 4, 3)
    np.testing.assert_allclose(prior.log_marginal(stacked)[0, 1], prior.log_marginal(stacked[0, 1]), atol=1e-12)
    with pytest.raises(ValueError, match="weights has shape"):
        prior.statistics(x, np.ones(7))


def test_rows_broadcast_against_groups(case: Case) -> None:
    prior, x = case.prior, case.data(8)
    groups = prior.posterior(prior.statistics(x, np.eye(8)[:, :4]))
    for function in ("log_predictive", "expected_log_likelihood"):
        table = getattr(groups, function)(x[:, None])
        assert table.shape == (8, 4, 3)
        one = prior.posterior(prior.statistics(x[2:3]))
        np.testing.assert_allclose(table[:, 2], getattr(one, function)(x), atol=1e-12)


def test_divergence_is_a_divergence(case: Case) -> None:
    prior = case.prior
    others = [prior.posterior(prior.statistics(case.data(n, n))) for n in (1, 4, 30)]
    for other in others:
        np.testing.assert_allclose(other.divergence(other), 0, atol=1e-9)
        assert (prior.divergence(other) >= 0).all() and (other.divergence(prior) >= 0).all()
    assert (others[2].divergence(prior) > 1e-3).all()


def test_bound_equals_evidence_at_the_exact_posterior(case: Case) -> None:
    prior, x = case.prior, case.data(20)
    evidence = prior.statistics(x)
    posterior = prior.posterior(evidence)
    bound = posterior.expected_log_likelihood(x).sum(axis=0) - posterior.divergence(prior)
    np.testing.assert_allclose(bound, prior.log_marginal(evidence), atol=1e-9)
    # Anywhere else the bound is below the evidence.
    elsewhere = posterior.posterior(prior.statistics(case.data(3, 9, holes=False)))
    lower = elsewhere.expected_log_likelihood(x).sum(axis=0) - elsewhere.divergence(prior)
    assert (lower < prior.log_marginal(evidence)).all()


def test_draws_have_the_promised_shapes(case: Case) -> None:
    prior, rng = case.prior, np.random.default_rng(0)
    event = prior.sample_predictive(rng).shape[1:]
    assert prior.sample_values(prior.sample_parameters(rng, 5), rng, (2, 4)).shape == (2, 4, 5, 3, *event)
    assert prior.sample_predictive(rng, (4, 2)).shape == (4, 2, 3, *event)


def test_scalar_batch_and_no_rows(case: Case) -> None:
    prior = case.prior
    single = type(prior)(*(getattr(prior, field.name)[1] for field in fields(prior)))
    x = case.data(6)
    assert single.batch_shape == ()
    np.testing.assert_allclose(
        single.log_marginal(single.statistics(x[:, 1])), prior.log_marginal(prior.statistics(x))[1]
    )
    np.testing.assert_allclose(prior.log_marginal(prior.statistics(x[:0])), 0, atol=1e-12)
