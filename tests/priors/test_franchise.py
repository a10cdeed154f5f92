"""The franchise: its three forms are one law, and it is a law."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from partita.priors import franchise
from partita.priors.partition import enumerate_partitions
from partita.priors.partition import log_probability as log_restaurant

ALPHA, TOP = 0.7, 1.3
FIRST = np.array([0, 3, 5])


def laws():
    """All partitions of five rows in two data sets with their log probabilities."""
    partitions = enumerate_partitions(5)
    return partitions, np.array([franchise.log_probability(franchise.count(z, FIRST), ALPHA, TOP) for z in partitions])


def test_probabilities_sum_to_one():
    _, logs = laws()
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-12)
    three = enumerate_partitions(6)
    logs = [franchise.log_probability(franchise.count(z, [0, 2, 4, 6]), 2.0, 0.3) for z in three]
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-12)


def test_one_data_set_is_two_restaurants_in_a_row():
    """Rows at tables, tables at dishes: summed over all partitions into tables."""
    z, total = np.array([0, 0, 1, 0]), []
    for seats in enumerate_partitions(4):
        dish = {}
        if all(dish.setdefault(s, d) == d for s, d in zip(seats, z)):
            tables = np.bincount([dish[s] for s in sorted(dish)])
            crp = [(np.bincount(seats), ALPHA), (tables, TOP)]
            total.append(sum(
                len(sizes) * np.log(a) + gammaln(sizes).sum() + gammaln(a) - gammaln(a + sizes.sum())
                for sizes, a in crp
            ))  # fmt: skip
    assert franchise.log_probability(franchise.count(z, [0, 4]), ALPHA, TOP) == pytest.approx(logsumexp(total))


@pytest.mark.parametrize("top", [TOP, np.inf])
def test_drawn_groups_have_these_probabilities(top):
    n, partitions = 60_000, enumerate_partitions(5)
    if np.isfinite(top):
        logs = laws()[1]
    else:  # no two tables have the same dish: two restaurants apart
        parted = [np.isin(z[:3], z[3:]).any() for z in partitions]
        logs = np.array([
            -np.inf if shared else sum(log_restaurant(np.bincount(part), ALPHA) for part in (z[:3], z[3:] - z[3:].min()))
            for z, shared in zip(partitions, parted)
        ])  # fmt: skip
    drawn = franchise.sample_groups(np.random.default_rng(0), [3, 2], np.full(n, ALPHA), top)
    same = {(z[:, None] == z).tobytes(): k for k, z in enumerate(partitions)}
    visits = np.bincount([same[(z[:, None] == z).tobytes()] for z in drawn], minlength=len(partitions))
    error = np.sqrt(np.exp(logs) * (1 - np.exp(logs)) / n)
    assert np.abs((visits / n - np.exp(logs)) / np.maximum(error, 1e-9)).max() < 4.0
    assert franchise.sample_groups(np.random.default_rng(0), [3, 2], ALPHA, TOP).shape == (5,)


def test_shares_integrate_to_the_same_law():
    """One group in two data sets: the density over its share, integrated."""
    counts = np.array([[2], [1]])
    b = (np.arange(200_000) + 0.5) / 200_000
    logs = [franchise.log_density_of_shares(counts, ALPHA, TOP, [x], 1 - x) for x in b[::10]]
    assert np.log(np.mean(np.exp(logs))) == pytest.approx(franchise.log_probability(counts, ALPHA, TOP), abs=2e-3)


def test_tables_and_shares_drawn_in_turn_keep_the_law():
    """Gibbs over tables and shares given the rows: the mean share of a group as by summing over tables."""
    rng, counts = np.random.default_rng(1), np.array([[3, 1], [0, 2]])
    weights, means = [], []
    for tables in np.ndindex(3, 1, 2):  # of (data set 0, group 0), (0, 1), (1, 1)
        a, b, c = np.array(tables) + 1
        stirling = {1: 2, 2: 3, 3: 1}[a] * {1: 1, 2: 1}[c]
        m = np.array([a, b + c])
        log = np.log(stirling) + (a + b + c) * np.log(ALPHA) + gammaln(m).sum() - gammaln(TOP + m.sum())
        weights.append(np.exp(log))
        means.append(m[0] / (m.sum() + TOP))
    exact = np.average(means, weights=weights)
    shares, drawn = np.array([0.4, 0.4]), []
    for _ in range(12_000):
        tables = franchise.sample_tables(rng, counts, ALPHA, shares)
        assert (tables <= counts).all() and ((tables > 0) == (counts > 0)).all()
        shares, left = franchise.sample_shares(rng, tables, TOP)
        assert shares.sum() + left == pytest.approx(1.0)
        drawn.append(shares[0])
    assert np.mean(drawn) == pytest.approx(exact, abs=0.01)


def test_concentrations_given_tables():
    """Ratios of the probability of tables for two concentrations, against the product over rows and tables."""
    tables, counts = np.array([[2, 1], [0, 1]]), np.array([[4, 1], [0, 3]])

    def slow(alpha, top):
        seats = sum(-np.log(alpha + np.arange(n)).sum() for n in (5, 3)) + 4 * np.log(alpha)
        return seats + 2 * np.log(top) - np.log(top + np.arange(4)).sum()

    found = franchise.log_probability_of_tables(tables, counts, np.array([0.5, 2.0]), np.array([0.5, 1.5]))
    assert found[1] - found[0] == pytest.approx(slow(2.0, 1.5) - slow(0.5, 0.5))
