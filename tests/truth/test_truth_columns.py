"""Concentrations, hyper-parameters and views against the exact conditional on the grid, enumeration and quadrature."""

from itertools import product

import numpy as np
import pytest
from enumeration import polya_log_probability, tolerance, total_variation
from scipy.integrate import quad
from scipy.special import logsumexp, softmax
from small_tables import (
    MEAN,
    TABLES,
    cells_of,
    chain_of,
    clustered_table,
    family_of,
    fixed_hyper,
    layout_of,
    one_class,
    small_grids,
)

from partita.kernels import kernel
from partita.kernels.contract import BACKGROUND, BINARY, CATEGORICAL, COUNT, FIRST_RESTAURANT, REAL, Grids, Rows
from partita.models.mixtures.problem import CONCENTRATIONS, RESTAURANTS, Problem, Settings, make_grids
from partita.priors.concentration import log_posterior

KIND_OF = {"binary": BINARY, "categorical": CATEGORICAL, "count": COUNT, "real": REAL}
GROUPS = np.array([0, 0, 1, 1, 1, 2, 0, 1])
STEPS = 4000  # evenly spaced uniforms: the frequencies of what they draw are the probabilities to within 1 / STEPS


def points_of(kind: int, grids: Grids) -> tuple[np.ndarray, np.ndarray]:
    """All positions (points, 4) on the grids of a kind, and their hyper-parameters (points, 4)."""
    axes = {
        BINARY: (grids.beta, grids.beta), CATEGORICAL: (grids.strength,), COUNT: (grids.shape, grids.scale),
        REAL: (grids.kappa, grids.nu, grids.sigma),
    }[kind]  # fmt: skip
    at = np.zeros((int(np.prod([len(a) for a in axes])), 4), np.int32)
    at[:, : len(axes)] = list(product(*(range(len(a)) for a in axes)))
    hyper = np.zeros(at.shape)
    for j, axis in enumerate(axes):
        hyper[:, j] = axis[at[:, j]]
    if kind == COUNT:  # the second axis is the mean, in units of the column's
        hyper[:, 1] = hyper[:, 0] / (MEAN * hyper[:, 1])
    return at, hyper


def seated(name: str, n_columns: int, grids: Grids):
    """A chain at GROUPS over the first columns of a table, all hyper-parameters at the first point of the grids."""
    layout, rows = clustered_table(name, 3, tuple(GROUPS))
    layout = layout_of(TABLES[name][:n_columns])
    rows = Rows(np.ascontiguousarray(rows.codes[:, :n_columns]), np.ascontiguousarray(rows.reals[:, :n_columns]))
    problem = one_class(layout, rows, alpha=1.0, grids=grids)
    chain = chain_of(problem)
    chain.z[0], chain.used[0, 0] = GROUPS, 3
    chain.size[:] = 0
    chain.size[0, 0, :3] = np.bincount(GROUPS)
    at, hyper = points_of(KIND_OF[name], grids)
    chain.at[:], chain.hyper[:] = at[0], hyper[0]
    kernel.rebuild(layout, rows, chain)
    return problem, chain


def log_fit(problem: Problem, d: int, hyper: np.ndarray, group: np.ndarray) -> np.ndarray:
    """log p(column d | groups) at every hyper-parameter (points, 4)."""
    family = family_of(problem.layout, d, hyper)
    member = (group[:, None] == np.unique(group)).astype(float)
    stats = family.statistics(cells_of(problem.layout, problem.rows, d), member)
    return family.log_marginal(stats[:, None, :]).sum(axis=0)


@pytest.mark.parametrize(("n_groups", "n_rows"), [(1, 1), (3, 8), (40, 200), (0, 0)])
def test_concentration_against_quadrature(n_groups, n_rows):
    _, chain = seated("binary", 1, small_grids())
    chain.used[0, 0], chain.size[:] = n_groups, 0
    if n_groups:
        chain.size = np.zeros((1, 1, 48))
        chain.stats, chain.table = np.zeros((1, 48, 2)), np.zeros((1, 2, 48))
        chain.size[0, 0, :n_groups] = n_rows / n_groups
    drawn = np.empty(STEPS)
    for k in range(STEPS):
        kernel.move_concentration(chain, RESTAURANTS, np.array([[(k + 0.5) / STEPS]]))
        drawn[k] = chain.alpha[0, 0]
    logp = log_posterior(CONCENTRATIONS, n_groups, n_rows) + np.log(CONCENTRATIONS)
    shares = (drawn[:, None] == CONCENTRATIONS).mean(axis=0)
    assert np.abs(shares - softmax(logp)).max() < 2 / STEPS
    # the grid stands for the Gamma(1, 1) prior between its ends
    half_step = np.sqrt(CONCENTRATIONS[1] / CONCENTRATIONS[0])
    low, high = CONCENTRATIONS[0] / half_step, CONCENTRATIONS[-1] * half_step
    top = log_posterior(CONCENTRATIONS, n_groups, n_rows).max()
    mass, mean = (
        quad(lambda a, p=p: a**p * np.exp(log_posterior(a, n_groups, n_rows) - top), low, high, limit=200)[0]
        for p in (0, 1)
    )
    assert drawn.mean() == pytest.approx(mean / mass, rel=0.02)


@pytest.mark.parametrize("grids", [make_grids(8), small_grids()], ids=["full", "small"])
@pytest.mark.parametrize("name", KIND_OF)
def test_hyper_parameters_of_one_column(name, grids):
    """Every conditional draw, with evenly spaced uniforms, has the exact conditional on the grid."""
    problem, chain = seated(name, 1, grids)
    at, hyper = points_of(KIND_OF[name], grids)
    for move in range(3 if name == "real" else 1):
        drawn = np.empty((STEPS, 4), int)
        for k in range(STEPS):
            u = np.full((1, 3), 0.37)
            u[0, move] = (k + 0.5) / STEPS
            chain.at[:], chain.hyper[:] = at[-1], hyper[-1]
            kernel.move_hyper(problem.layout, chain, grids, u)
            drawn[k] = chain.at[0]
        # the moves before are the same every time, those after have not been made: keep what they start from
        axes = [move] if name == "real" else [0, 1]
        fixed = [j for j in range(3) if name == "real" and j != move]
        start = np.where(np.arange(4) < move, drawn[0], at[-1])
        same = (at[:, fixed] == start[fixed]).all(axis=1)
        expected = softmax(log_fit(problem, 0, hyper[same], GROUPS))
        shares = (drawn[:, None, axes] == at[same][None][:, :, axes]).all(axis=2).mean(axis=0)
        assert np.abs(shares - expected).max() < 2 / STEPS


@pytest.mark.parametrize("name", KIND_OF)
def test_hyper_parameters_of_two_columns(name):
    """Two columns and their pooled prior: the chain visits all pairs of grid points as often as enumeration says."""
    grids, draws = small_grids(), 20_000
    problem, chain = seated(name, 2, grids)
    at, hyper = points_of(KIND_OF[name], grids)
    pairs = at[np.array(list(product(range(len(at)), repeat=2)))]  # (pairs, columns, 4)
    urns = [[j] for j in range(3)] if name == "real" else [[0, 1]]  # coordinates drawn together share an urn
    log_p = (log_fit(problem, 0, hyper, GROUPS)[:, None] + log_fit(problem, 1, hyper, GROUPS)).reshape(-1)
    for urn in urns:
        size = len(np.unique(at[:, urn], axis=0))
        together = (pairs[:, 0, urn] == pairs[:, 1, urn]).all(axis=1)
        log_p += np.log(np.where(together, 1.0 + 1.0 / size, 1.0 / size))
    expected = softmax(log_p)
    rng, index = np.random.default_rng(0), np.empty(draws, int)
    number = {tuple(p): k for k, p in enumerate(at)}
    for k, u in enumerate(rng.random((draws, 2, 3))):
        kernel.move_hyper(problem.layout, chain, grids, u)
        index[k] = number[tuple(chain.at[0])] * len(at) + number[tuple(chain.at[1])]
    shares = np.bincount(index, minlength=len(expected)) / draws
    assert total_variation(shares, expected) < tolerance(expected, draws)
    alone = softmax((log_fit(problem, 0, hyper, GROUPS)[:, None] + log_fit(problem, 1, hyper, GROUPS)).reshape(-1))
    assert total_variation(shares, alone) > tolerance(expected, draws)  # the control: pooling matters


@pytest.mark.parametrize("names", [("binary", "binary", "real"), ("count", "categorical"), ("real", "binary")])
def test_views_of_columns(names):
    """Two classes, two restaurants with fixed partitions: every arrangement of the columns is enumerated."""
    draws, R = 20_000, 2
    layout = layout_of(tuple(KIND_OF[name] for name in names))
    _, rows = clustered_table("mixed", 0)
    rng, hyper = np.random.default_rng(1), fixed_hyper(layout)
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1], np.int32)
    codes = np.full((8, np.isin(layout.kind, (BINARY, CATEGORICAL)).sum()), -1, np.int32)
    reals = np.full((8, layout.n_columns - codes.shape[1]), np.nan)
    codes[:] = np.where(rng.random(codes.shape) < 0.2, -1, (label[:, None] + (rng.random(codes.shape) < 0.3)) % 2)
    reals[:] = np.where(rng.random(reals.shape) < 0.2, np.nan, rng.poisson(1 + 2 * GROUPS[:, None], reals.shape))
    rows = Rows(codes, reals)
    problem = Problem(layout, rows, label, Settings(n_classes=2, n_restaurants=R, alpha=1.0))
    chain = chain_of(problem, hyper=hyper)
    for r, z in enumerate(([0, 0, 1, 1, 2, 0, 0, 1], [0, 1, 0, 1, 0, 0, 0, 0])):
        chain.z[r] = z
        for c in range(2):
            count = np.bincount(chain.z[r, label == c])
            chain.used[r, c], chain.size[r, c] = len(count), 0
            chain.size[r, c, : len(count)] = count
    kernel.rebuild(layout, rows, chain)
    groups = [np.zeros(8, int), label, *(label * 10 + chain.z[r] for r in range(R))]
    fit = np.array([[log_fit(problem, d, hyper[d][None], g)[0] for g in groups] for d in range(len(names))])
    states = np.array(list(product(range(FIRST_RESTAURANT + R), repeat=len(names))))
    mass = np.array([1.0, 1.0, *[1.0 / R] * R])
    counts = (states[:, :, None] == np.arange(len(mass))).sum(axis=1)
    log_p = polya_log_probability(counts, mass) + fit[np.arange(len(names)), states].sum(axis=1)
    expected = np.exp(log_p - logsumexp(log_p))
    index = np.empty(draws, int)
    for k, u in enumerate(rng.random((draws, len(names)))):
        kernel.move_views(layout, rows, chain, u)
        index[k] = chain.view @ (len(mass) ** np.arange(len(names))[::-1])
    shares = np.bincount(index, minlength=len(expected)) / draws
    assert total_variation(shares, expected) < tolerance(expected, draws)
    assert shares[states[:, 0] == BACKGROUND].sum() > 0.01
