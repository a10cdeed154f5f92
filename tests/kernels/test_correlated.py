"""The correlated block against its family, and by Geweke's joint test."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from correlated_chain import HYPER, block_chain, family, sweep
from scipy.special import logsumexp

from partita.kernels import kernel
from partita.kernels.contract import Predictive, Rows


def group_statistics(chain, g):
    """Number, sums and products of a group: what the family takes."""
    width = chain.filled.shape[1]
    return chain.stats[0, g, : 1 + width + width * width]


@pytest.mark.parametrize("width", [1, 3, 9])
def test_density_is_the_marginal_t_of_the_observed_cells(width):
    rng = np.random.default_rng(width)
    hyper = (0.5, width + 3.5, 0.7, 0.3)
    p = block_chain(rng.normal(1.0, 2.0, (12, width)), hyper, z=rng.permutation([0] * 7 + [1] * 5))
    fresh = rng.normal(0.0, 2.0, (40, width))
    fresh[rng.random(fresh.shape) < 0.4] = np.nan
    fresh[0] = np.nan
    weight = np.full((1, 1, p.chain.capacity), -np.inf)
    weight[0, 0, :3] = np.log([0.5, 0.3, 0.2])
    state = Predictive(p.chain.view, p.chain.hyper, p.chain.stats, p.chain.table, weight, np.full((1, 1), 3, np.int32))
    rows, out, density = Rows(np.zeros((40, 0), np.int32), fresh), np.empty((40, 3)), np.empty((40, 1))
    kernel.group_scores(p.layout, rows, state, 0, 0, out)
    kernel.log_density(p.layout, rows, state, density)
    prior = family(hyper, width)
    laws = [prior.posterior(group_statistics(p.chain, 0)), prior.posterior(group_statistics(p.chain, 1)), prior]
    exact = np.stack([law.log_predictive(fresh) for law in laws], axis=1) + np.log([0.5, 0.3, 0.2])
    np.testing.assert_allclose(out, exact, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(density[:, 0], logsumexp(exact, axis=1), rtol=1e-9, atol=1e-9)
    for g, law in enumerate(laws):
        upper = p.chain.stats[0, g, 1 + width + width * width :].reshape(width, width)
        np.testing.assert_allclose(upper.T @ upper, law.scale, rtol=1e-9, atol=1e-9)


def test_leave_one_out_leaves_the_row_out():
    rng = np.random.default_rng(0)
    reals = rng.normal(0.0, 1.0, (9, 3))
    reals[0] += 1e4  # it makes up nearly all of its group's scale matrix
    reals[2, 1] = reals[5, [0, 2]] = np.nan
    reals[7] = np.nan
    p = block_chain(reals, z=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    sweep(p, rng)
    p.chain.z[0], p.chain.used[:], p.chain.size[:] = [0, 0, 0, 1, 1, 1, 2, 2, 2], 3, 0
    p.chain.size[0, 0, :3] = 3
    kernel.rebuild(p.layout, p.rows, p.chain)
    out = np.empty((9, 1))
    kernel.leave_one_out(p.layout, p.rows, p.chain, out)
    prior = family(HYPER, 3)
    for i in range(9):
        logs = [prior.log_predictive(reals[i])]
        sizes = [1.0]
        for g in range(3):
            others = [j for j in range(9) if j != i and p.chain.z[0, j] == g and j != 7]
            law = prior.posterior(prior.statistics(p.chain.filled[others]))
            logs.append(law.log_predictive(reals[i]))
            sizes.append(3.0 - (p.chain.z[0, i] == g))
        np.testing.assert_allclose(out[i, 0], logsumexp(logs, b=sizes) - np.log(9.0), rtol=1e-7, atol=1e-12)


def test_drawn_cells_have_the_moments_of_the_conditional():
    rng = np.random.default_rng(1)
    reals = rng.multivariate_normal([1.0, -1.0, 0.0], [[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 1.0]], 10)
    reals[0] = [2.0, np.nan, np.nan]
    p = block_chain(reals, cap=1)  # the row stays: its cells are drawn anew all the same
    draws = np.empty((40_000, 3))
    for t in range(len(draws)):
        sweep(p, rng, order=np.array([0]))
        draws[t] = p.chain.filled[0]
    law = family(HYPER, 3).posterior(family(HYPER, 3).statistics(reals[1:]))
    mean, covariance = law.predictive_moments(reals[0])
    np.testing.assert_array_equal(draws[:, 0], 2.0)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.03)
    before = deepcopy(p.chain.stats)
    kernel.rebuild(p.layout, p.rows, p.chain)
    np.testing.assert_allclose(p.chain.stats, before, rtol=1e-9, atol=1e-9)


# ---- Geweke (2004): moves between redrawn data leave the joint prior as it is ----

MASK = np.array([[False, False], [True, False], [False, True], [False, False]])
KAPPA, NU, SIGMA = np.array([0.3, 1.0]), np.array([2.0, 8.0]), np.array([0.5, 2.0])


def draw_data(rng, h, z):
    """All cells given groups and hyper-parameters, mean and covariance of each group drawn from the prior."""
    x, width = np.empty(MASK.shape), MASK.shape[1]
    for g in np.unique(z):
        bartlett = np.tril(rng.standard_normal((width, width)), -1)
        bartlett += np.diag(np.sqrt(rng.chisquare(h[1] - np.arange(width))))
        root = np.sqrt(h[2] * (h[1] - width - 1)) * np.linalg.inv(bartlett).T
        mean = h[3] + root @ rng.standard_normal(width) / np.sqrt(h[0])
        mine = z == g
        x[mine] = mean + rng.standard_normal((mine.sum(), width)) @ root.T
    return x


def draw_prior(rng):
    at = rng.integers(2, size=3)
    h = np.array([KAPPA[at[0]], 3.0 + NU[at[1]], SIGMA[at[2]], 0.3])
    z = np.zeros(len(MASK), int)
    for i in range(1, len(z)):
        sizes = np.append(np.bincount(z[:i]), 1.0)
        z[i] = rng.choice(len(sizes), p=sizes / sizes.sum())
    return at, h, z, draw_data(rng, h, z)


def functionals(at, z, x):
    """Bounded, since the tails are heavy: of missing cells, of pairs of cells, of groups together with cells."""
    a, b = x[1, 0] - 0.3, x[2, 1] - 0.3
    r = np.tanh(x - 0.3)
    return [
        *at, len(np.unique(z)), z[1] == z[2], np.tanh(a), np.tanh(b), abs(a) < 0.5, abs(b) < 1.5, r[1, 0] * r[1, 1],
        r[2, 0] * r[2, 1], r[1, 0] * r[2, 1], (z[1] == z[2]) * r[1, 0] * r[2, 0], (z[0] == z[2]) * r[0, 1] * r[2, 1],
        at[2] * (abs(a) < 1.0),
    ]  # fmt: skip


def test_geweke(make):
    rng = np.random.default_rng(5)
    grids = replace(make.chain(0).grids, kappa=KAPPA, nu=NU, sigma=SIGMA)
    prior = np.array([functionals(at, z, x) for at, _, z, x in (draw_prior(rng) for _ in range(6_000))], float)
    at, h, z, x = draw_prior(rng)
    p = block_chain(np.where(MASK, np.nan, x), h, z)
    p.chain.at[0, :3] = at
    seen = []
    for _ in range(6_000):
        x = draw_data(rng, p.chain.hyper[0], p.chain.z[0])
        p.rows.reals[:] = np.where(MASK, np.nan, x)
        p.chain.filled[:] = x
        kernel.rebuild(p.layout, p.rows, p.chain)
        sweep(p, rng)
        kernel.split_merge(p.layout, p.rows, p.chain, 0, 0, np.arange(len(MASK)), 1, int(rng.integers(2**62)))
        kernel.move_hyper(p.layout, p.chain, grids, rng.random((1, 3)))
        kappa, nu, sigma = at = p.chain.at[0, :3]
        assert p.chain.hyper[0].tolist() == [KAPPA[kappa], 3.0 + NU[nu], SIGMA[sigma], 0.3]
        seen.append(functionals(at, p.chain.z[0], p.chain.filled))
    batches = np.array(seen, float).reshape(50, -1, prior.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / len(batches) + prior.var(axis=0) / len(prior))
    score = (batches.mean(axis=0) - prior.mean(axis=0)) / error
    assert np.abs(score).max() < 4.0, score
