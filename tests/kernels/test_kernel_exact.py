"""Moves of rows leave the exact posterior over partitions alone: all 52 partitions of five rows are enumerated."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from partita.kernels import reference
from partita.kernels.contract import BINARY, CATEGORICAL, COUNT, REAL

ROWS = 5


def canonical(z):
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(g), len(names)) for g in z)


def exact_posterior(problem, cap):
    """p(partition) up to cap groups: Chinese restaurant process times the marginal likelihood of every group."""
    layout, chain = problem.layout, problem.chain
    each = [
        reference.columns.statistics_of_cells(layout, d, reference.columns.cells_of(layout, problem.rows, d))
        for d in range(layout.n_columns)
    ]
    log_p = {}
    for z in {canonical(z) for z in product(range(ROWS), repeat=ROWS)}:
        groups = [np.flatnonzero(np.array(z) == g) for g in range(max(z) + 1)]
        if len(groups) > cap:
            continue
        total = len(groups) * np.log(chain.alpha[0, 0]) + sum(gammaln(len(g)) for g in groups)
        for d, x in enumerate(each):
            for g in groups:
                total += reference.columns.log_marginal(layout, d, chain.hyper[d], x[g].sum(axis=0))
        log_p[z] = total
    top = max(log_p.values())
    mass = sum(np.exp(v - top) for v in log_p.values())
    return {z: np.exp(v - top) / mass for z, v in log_p.items()}


@pytest.mark.parametrize("move", ["gibbs", "split_merge"])
@pytest.mark.parametrize("kind", [BINARY, CATEGORICAL, COUNT, REAL])
@pytest.mark.parametrize("cap", [50, 2])
def test_posterior_over_partitions(move, kind, cap, native, make):
    problem = make.chain(4, n=ROWS, classes=1, restaurants=1, kinds=(kind,) * 2, missing=0.2, groups=2, cap=cap)
    problem.chain.view[:] = 2
    reference.rebuild(problem.layout, problem.rows, problem.chain)
    posterior = exact_posterior(problem, cap)
    draws, seen, order = 12_000, dict.fromkeys(posterior, 0), np.arange(ROWS)
    uniforms = np.random.default_rng(0).random((draws, ROWS))
    for t in range(draws):
        if move == "gibbs":
            native.gibbs_sweep(problem.layout, problem.rows, problem.chain, 0, 0, order, uniforms[t])
        else:
            native.split_merge(problem.layout, problem.rows, problem.chain, 0, 0, order, 5, t)
        seen[canonical(problem.chain.z[0])] += 1
    distance = 0.5 * sum(abs(seen[z] / draws - p) for z, p in posterior.items())
    assert distance < 0.035
