"""A product of families is the sum of its columns."""

import numpy as np
import pytest

from partita.families import BetaBernoulli, GammaPoisson, NormalInverseWishart, Product

PARTS = {
    "binary": BetaBernoulli(np.array([0.5, 2.0]), np.array([1.0, 0.7])),
    "count": GammaPoisson(np.array([1.5]), np.array([0.5])),
    "block": NormalInverseWishart(np.zeros(2), np.array(0.5), np.array(3.0), np.eye(2)),
}
PRIOR = Product(PARTS)


def rows(n=9):
    x = PRIOR.sample_predictive(np.random.default_rng(0), n)
    x["binary"][0, 1], x["count"][2, 0], x["block"][3] = -1, np.nan, np.nan
    return x


def test_logs_add_up_over_columns():
    x = rows()
    by_hand = PARTS["binary"].log_predictive(x["binary"])[:, 0] + PARTS["binary"].log_predictive(x["binary"])[:, 1]
    by_hand = by_hand + PARTS["count"].log_predictive(x["count"])[:, 0] + PARTS["block"].log_predictive(x["block"])
    np.testing.assert_allclose(PRIOR.log_predictive(x), by_hand)


def test_rows_against_groups():
    x = rows()
    weights = np.random.default_rng(1).random((9, 4))
    groups = PRIOR.posterior(PRIOR.statistics(x, weights))
    assert groups.batch_shape == (4,) and PRIOR.batch_shape == ()
    table = groups.log_predictive({name: cells[:, None] for name, cells in x.items()})
    assert table.shape == (9, 4)
    one = PRIOR.posterior(PRIOR.statistics(x, weights[:, 2]))
    np.testing.assert_allclose(table[:, 2], one.log_predictive(x), atol=1e-12)


def test_identities_hold_for_the_whole():
    x = rows()
    evidence = PRIOR.statistics(x)
    posterior = PRIOR.posterior(evidence)
    bound = posterior.expected_log_likelihood(x).sum() - posterior.divergence(PRIOR)
    assert bound == pytest.approx(float(PRIOR.log_marginal(evidence)), abs=1e-9)
    before = PRIOR.statistics({name: cells[:8] for name, cells in x.items()})
    last = {name: cells[8] for name, cells in x.items()}
    ratio = PRIOR.log_marginal(evidence) - PRIOR.log_marginal(before)
    assert PRIOR.posterior(before).log_predictive(last) == pytest.approx(float(ratio), abs=1e-10)


def test_draws_and_means_are_by_name():
    rng = np.random.default_rng(0)
    values = PRIOR.sample_values(PRIOR.sample_parameters(rng, 3), rng, 5)
    assert {name: cells.shape for name, cells in values.items()} == {
        "binary": (5, 3, 2),
        "count": (5, 3, 1),
        "block": (5, 3, 2),
    }
    np.testing.assert_allclose(PRIOR.predictive_mean()["count"], [3.0])


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="x has column groups"):
        PRIOR.log_predictive({"binary": [0, 1]})
    with pytest.raises(ValueError, match="'a' has batch shape"):
        Product({"a": BetaBernoulli(np.array(1.0), np.array(1.0))})
    with pytest.raises(ValueError, match="groups is empty"):
        Product({})
