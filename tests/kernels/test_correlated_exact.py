"""The correlated block against enumeration of all partitions, missing cells integrated out by quadrature."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from correlated_chain import HYPER, block_chain, family, sweep
from scipy.special import gammaln, logsumexp

from partita.kernels import kernel
from partita.kernels.contract import Filter

REALS = np.array(
    [[0.1, 0.2], [np.nan, 1.2], [2.0, 1.8], [1.6, np.nan], [-0.6, 0.4], [2.3, 1.4], [0.4, -0.5], [5.0, -4.0]]
)
N = len(REALS)


def partitions(n):
    """All partitions of n rows, as labels in order of appearance."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*one, k] for one in labels for k in range(max(one) + 2)]
    return labels


def log_evidence(reals, nodes=60):
    """log p(observed cells of rows that share a group), missing ones by quadrature after x = tan(angle)."""
    angle, weight = np.polynomial.legendre.leggauss(nodes)
    x, w = np.tan(angle * np.pi / 2), weight * np.pi / 2 / np.cos(angle * np.pi / 2) ** 2
    missing = np.argwhere(np.isnan(reals))
    grids, log_w = np.meshgrid(*[x] * len(missing)), np.zeros(())
    for part in np.meshgrid(*[w] * len(missing)):
        log_w = log_w + np.log(part)
    full = np.broadcast_to(reals, (*log_w.shape, *reals.shape)).copy()
    for (i, j), grid in zip(missing, grids, strict=True):
        full[..., i, j] = grid
    prior = family(HYPER, reals.shape[1])
    return logsumexp(prior.log_marginal(prior.statistics(np.moveaxis(full, -2, 0))) + log_w)


@pytest.fixture(scope="module")
def exact():
    """Posterior probabilities of the partitions of REALS under alpha = 1, and the log evidence."""
    n, labels, parts = len(REALS), partitions(len(REALS)), {}
    logs = []
    for one in labels:
        total = -gammaln(n + 1)
        for g in range(max(one) + 1):
            members = tuple(i for i in range(n) if one[i] == g)
            if members not in parts:
                parts[members] = log_evidence(REALS[list(members)])
            total += gammaln(len(members)) + parts[members]
        logs.append(total)
    assert parts[(1,)] == pytest.approx(float(family(HYPER, 2).log_predictive(REALS[1])), abs=1e-8)
    return SimpleNamespace(
        probability={tuple(one): np.exp(v - logsumexp(logs)) for one, v in zip(labels, logs, strict=True)},
        log_evidence=logsumexp(logs),
    )


def by_appearance(z):
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(g), len(names)) for g in z)


def distance(counts, exact):
    """Total variation between shares (partition to weight) and the posterior."""
    total = sum(counts.values())
    return 0.5 * sum(abs(counts.get(z, 0) / total - p) for z, p in exact.probability.items())


def allowed(exact, n_draws):
    """0.02, or three times the mean distance of as many independent draws."""
    p = np.array(list(exact.probability.values()))
    draws = np.random.default_rng(0).multinomial(n_draws, p / p.sum(), size=20) / n_draws
    return max(0.02, 3 * 0.5 * np.abs(draws - p).sum(axis=1).mean())


def total_variation(step, exact, n_steps):
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(n_steps):
        z = by_appearance(step())
        counts[z] = counts.get(z, 0) + 1
    return distance(counts, exact)


def test_gibbs_visits_partitions_as_often_as_enumeration_says(exact):
    rng, p = np.random.default_rng(2), block_chain(REALS)

    def step():
        sweep(p, rng)
        return p.chain.z[0]

    assert total_variation(step, exact, 40_000) < allowed(exact, 40_000)


def test_split_merge_with_redrawn_cells_does_so_too(exact):
    """Split-merge takes missing cells as they are; Gibbs on the two rows that have some draws them anew."""
    rng, p = np.random.default_rng(3), block_chain(REALS)

    def step():
        kernel.split_merge(p.layout, p.rows, p.chain, 0, 0, np.arange(N), 3, int(rng.integers(2**62)))
        sweep(p, rng, order=np.array([1, 3]))
        return p.chain.z[0]

    assert total_variation(step, exact, 40_000) < allowed(exact, 40_000)


@pytest.mark.parametrize("scheme", [0, 3])
def test_filter_finds_the_evidence_and_the_posterior(exact, scheme):
    rng, p = np.random.default_rng(4), block_chain(REALS)
    particles, capacity = 50, 256
    ratio, counts = [], {}
    for _ in range(400):
        f = Filter(
            np.zeros((capacity, p.layout.n_stats)), np.zeros((0, capacity)), np.zeros(capacity),
            np.zeros(capacity, np.int32), np.zeros((particles, 8), np.int32), np.zeros(particles, np.int32),
            np.zeros(particles), np.ones(particles), np.full((particles, N), -1, np.int32), np.zeros(3), 50,
            np.full((particles, N, 2), np.nan),
        )  # fmt: skip
        done = kernel.filter_rows(
            p.layout, p.chain.hyper, p.rows, f, np.arange(N), np.arange(N), rng.random((N, particles + 1)), 0.7, scheme
        )
        assert done == N
        ratio.append(np.exp(f.totals[1] - exact.log_evidence))
        for seats, w in zip(f.history, np.exp(f.log_weight) / np.exp(f.log_weight).sum(), strict=True):
            z = by_appearance(seats)
            counts[z] = counts.get(z, 0.0) + ratio[-1] * w
    assert abs(np.mean(ratio) - 1) < 3 * np.std(ratio) / np.sqrt(len(ratio)) < 0.1
    assert distance(counts, exact) < allowed(exact, 400 * particles // 8)  # particles of a filter share histories
    width = f.filled.shape[2]
    for k in range(particles):  # what the window holds of a particle is what its groups were made of
        for seat in range(f.used[k]):
            mine = f.filled[k, f.history[k] == seat]
            expected = np.concatenate([[len(mine)], mine.sum(axis=0), (mine.T @ mine).ravel()])
            np.testing.assert_allclose(f.stats[f.seats[k, seat], : 1 + width + width**2], expected, atol=1e-9)
