"""Laws between the Chinese restaurant and a finite mixture: proper, exchangeable, and each of the two at its end."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from partita.priors.partition import enumerate_partitions, log_probability, sample_partition_with_discount
from partita.priors.seating import all_laws, restaurant_laws


def sizes_of(partitions: np.ndarray) -> np.ndarray:
    n = partitions.shape[1]
    return np.stack([(partitions == g).sum(axis=1) for g in range(n)], axis=1)


@pytest.mark.parametrize("laws", [restaurant_laws(), all_laws()], ids=["restaurants", "all"])
def test_the_prior_over_laws_is_normalised(laws):
    assert logsumexp(laws.log_prior) == pytest.approx(0.0, abs=1e-12)
    assert (laws.discount <= 0).all() and (laws.alpha > 0).all()
    changes = np.count_nonzero(np.diff(laws.discount)) + 1
    assert changes == len(np.unique(laws.discount))  # points of one discount lie together


def test_every_law_is_a_law_of_partitions():
    sizes, laws = sizes_of(enumerate_partitions(6)), all_laws()
    total = logsumexp(log_probability(sizes[None], laws.alpha[:, None], discount=laws.discount[:, None]), axis=1)
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize(("places", "gamma"), [(1, 2.0), (3, 0.5), (4, 1.0)])
def test_a_negative_discount_is_a_finite_mixture(places, gamma):
    """Against the Dirichlet-multinomial probability of all labelled assignments that give the partition."""
    partitions = enumerate_partitions(5)
    sizes = sizes_of(partitions)
    K, n = partitions.max(axis=1) + 1, 5
    ways = np.array([np.prod(np.arange(places, places - k, -1.0)) if k <= places else 0.0 for k in K])
    seated = np.where(sizes > 0, gammaln(gamma + sizes) - gammaln(gamma), 0.0).sum(axis=1)
    with np.errstate(divide="ignore"):
        expected = np.log(ways) + seated + gammaln(places * gamma) - gammaln(places * gamma + n)
    np.testing.assert_allclose(log_probability(sizes, places * gamma, discount=-gamma), expected, atol=1e-9)


def test_many_small_places_are_a_restaurant():
    sizes = sizes_of(enumerate_partitions(5))
    finite = log_probability(sizes, 1.5, discount=-1.5 / 2.0**30)
    np.testing.assert_allclose(finite, log_probability(sizes, 1.5), atol=1e-6)


@pytest.mark.parametrize(("alpha", "discount"), [(1.3, 0.0), (1.5, -0.5), (8.0, -2.0)])
def test_draws_have_the_law(alpha, discount):
    rng, partitions = np.random.default_rng(0), enumerate_partitions(4)
    probability = np.exp(log_probability(sizes_of(partitions), alpha, discount=discount))
    index = {tuple(p): k for k, p in enumerate(partitions.tolist())}
    draws = [index[tuple(sample_partition_with_discount(rng, 4, alpha, discount).tolist())] for _ in range(20_000)]
    share = np.bincount(draws, minlength=len(partitions)) / len(draws)
    assert 0.5 * np.abs(share - probability).sum() < 0.015


def test_a_cap_and_a_discount_exclude_each_other():
    with pytest.raises(ValueError, match="discount must be 0"):
        log_probability([2.0, 1.0], 1.0, max_components=2, discount=-1.0)
