"""The Chinese restaurant process against the enumeration of all partitions."""

import numpy as np
import pytest

from partita.priors import partition

N = 8
ALL = partition.enumerate_partitions(N)
SIZES = (ALL[:, :, None] == np.arange(N)).sum(axis=1)
NUMBER = (SIZES > 0).sum(axis=1)


def test_enumeration_is_complete():
    assert ALL.shape == (4140, 8) and len(np.unique(ALL, axis=0)) == 4140
    highest = np.maximum.accumulate(ALL, axis=1)
    assert (ALL[:, 0] == 0).all() and (ALL[:, 1:] <= highest[:, :-1] + 1).all()
    assert [len(partition.enumerate_partitions(n)) for n in range(6)] == [1, 1, 2, 5, 15, 52]


@pytest.mark.parametrize("cap", [None, 1, 3, 8, 20])
@pytest.mark.parametrize("alpha", [0.05, 1.0, 7.5])
def test_probabilities_sum_to_one(alpha, cap):
    log_probability = partition.log_probability(SIZES, alpha, cap)
    assert np.exp(log_probability).sum() == pytest.approx(1, abs=1e-10)
    pmf = np.bincount(NUMBER, weights=np.exp(log_probability), minlength=N + 1)
    short = partition.number_pmf(N, alpha, cap)
    np.testing.assert_allclose(short, pmf[: len(short)], atol=1e-12)
    assert pmf[len(short) :].sum() == 0


def test_expected_number():
    alpha = np.array([0.3, 2.0])
    by_pmf = (partition.number_pmf(300, alpha) * np.arange(301)).sum(axis=-1)
    np.testing.assert_allclose(partition.expected_number(300, alpha), by_pmf, rtol=1e-9)


def test_weights_multiply_to_the_probability():
    total, sizes = 0.0, np.zeros(4)
    for group in [0, 1, 0, 2, 1, 0]:
        weights = partition.log_weights(sizes, 1.7)
        assert np.exp(weights).sum() == pytest.approx(1)
        total += weights[group] if sizes[group] else weights[-1]
        sizes[group] += 1
    assert total == pytest.approx(float(partition.log_probability(sizes, 1.7)))


@pytest.mark.parametrize("cap", [None, 3])
def test_weights_are_the_full_conditionals(cap):
    """Of the last row given the others, by enumeration: under the cap as well."""
    log_joint = partition.log_probability(SIZES, 1.3, cap)
    for head in ([0, 0, 1, 0, 1, 0, 0], [0, 1, 2, 0, 1, 2, 1]):
        match = (ALL[:, :-1] == head).all(axis=1)
        exact = np.exp(log_joint[match] - np.logaddexp.reduce(log_joint[match]))
        sizes = np.bincount(head)
        np.testing.assert_allclose(np.exp(partition.log_weights(sizes, 1.3, cap)), exact, atol=1e-12)


@pytest.mark.parametrize("cap", [None, 2])
def test_sampled_partitions_follow_the_law(cap):
    rng = np.random.default_rng(0)
    n, draws = 4, 6000
    strings = partition.enumerate_partitions(n)
    sizes = (strings[:, :, None] == np.arange(n)).sum(axis=1)
    exact = np.exp(partition.log_probability(sizes, 1.5, cap))
    place = {tuple(string): i for i, string in enumerate(strings)}
    counts = np.bincount(
        [place[tuple(partition.sample_partition(rng, n, 1.5, cap))] for _ in range(draws)], minlength=len(strings)
    )
    assert (np.abs(counts / draws - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / draws)).all()


def test_capped_law_is_exchangeable():
    """Every order of the sizes, and every row order, has the same probability; the number of groups stays low."""
    one = partition.log_probability([5, 2, 1], 2.0, 3)
    assert one == pytest.approx(float(partition.log_probability([1, 0, 5, 2], 2.0, 3)))
    assert partition.log_probability([1, 1, 1, 5], 2.0, 3) == -np.inf
    rng = np.random.default_rng(1)
    assert max(partition.sample_partition(rng, 200, 20.0, 5).max() for _ in range(20)) == 4
    with pytest.raises(ValueError, match="one number of rows"):
        partition.log_probability([[1, 2], [2, 2]], 1.0, 2)


def test_large_n_stays_finite():
    pmf = partition.number_pmf(2000, 5.0, 40)
    assert np.isfinite(pmf).all() and pmf.sum() == pytest.approx(1)
    assert partition.log_probability_of_room(2000, np.array([50.0]), 3)[0] < -100
    assert partition.log_probability_of_room(5, 1.0, 5) == 0
