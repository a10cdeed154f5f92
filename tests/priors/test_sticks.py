"""Stick-breaking weights: expectations and divergence against draws, the best arrangement against all of them."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta, gamma

from partita.priors.sticks import Sticks, best_arrangement, best_order


@pytest.mark.parametrize("end", [False, True])
def test_expectations_and_divergence_are_those_of_draws(end):
    sticks = Sticks.begin(5, 2.0, 1.5).posterior([6.0, 3.0, 1.5], end).posterior([6.0, 3.0, 1.5], end)
    rng = np.random.default_rng(0)
    weights = sticks.sample_weights(rng, 200_000)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights.mean(axis=0), sticks.expected_weights(), atol=2e-3)
    np.testing.assert_allclose(np.log(weights).mean(axis=0), sticks.expected_log_weights(), atol=0.05)
    n = 300_000
    alpha = rng.gamma(sticks.shape, 1 / sticks.rate, n)
    log_ratio = gamma.logpdf(alpha, sticks.shape, scale=1 / sticks.rate) - gamma.logpdf(alpha, 2.0, scale=1 / 1.5)
    for h in range(4):
        v = np.clip(rng.beta(sticks.first[h], sticks.second[h], n), 1e-300, 1 - 1e-16)
        log_ratio += beta.logpdf(v, sticks.first[h], sticks.second[h]) - beta.logpdf(v, 1.0, alpha)
    assert abs(log_ratio.mean() - sticks.divergence()) < 5 * log_ratio.std() / np.sqrt(n)


def test_counts_go_to_the_sticks_of_their_components():
    sticks = Sticks.begin(4, 1.0, 1.0)
    np.testing.assert_array_equal(sticks.posterior([5.0, 2.0], True).places(2), [0, 3])
    np.testing.assert_array_equal(sticks.posterior([5.0, 2.0], True).first, [6.0, 1.0, 1.0, 3.0])
    np.testing.assert_array_equal(sticks.posterior([5.0, 2.0]).first, [6.0, 3.0, 1.0, 1.0])


@pytest.mark.parametrize("concentration", [0.2, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("n_sticks", [4, 5, 7])
def test_no_arrangement_is_better(concentration, n_sticks):
    counts = np.array([0.5, 7.0, 2.0, 2.5])

    def bound(order, end):
        """The part of the bound that an arrangement decides, at this concentration: the evidence of the sticks."""
        n = np.zeros(n_sticks)
        places = np.arange(4)
        if end:
            places[-1] = n_sticks - 1
        n[places] = counts[list(order)]
        return sum(betaln(1 + n[h], concentration + n[h + 1 :].sum()) for h in range(n_sticks - 1))

    order, end = best_arrangement(counts, concentration, n_sticks)
    best = max(bound(o, e) for o in permutations(range(4)) for e in (False, True))
    assert bound(order, end) == pytest.approx(best, abs=1e-9)
    plain = best_order(counts, concentration, n_sticks)
    assert bound(plain, False) == pytest.approx(max(bound(o, False) for o in permutations(range(4))), abs=1e-9)
