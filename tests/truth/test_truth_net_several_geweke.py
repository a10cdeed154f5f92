"""Geweke's test of the chains over several tables: classes, graphs, hyper-parameters and rows drawn together from the
prior, against rows drawn given the rest and the rest by a sweep, in turn."""

import numpy as np
import pytest

from partita.kernels.net_contract import CLASSES
from partita.models.structure.hyper import HyperGrid
from partita.models.structure.knowledge import Knowledge
from partita.models.structure.large import GraphSampler
from partita.models.structure.listed import ListedSampler
from partita.models.structure.rows import Rows, Sheets
from partita.models.structure.state import Schedule
from partita.priors import franchise

SIZES, ROWS, FIRST = (3, 2), (4, 3), np.array([0, 3, 5])
GRID = HyperGrid(np.array([0.4, 2.0]), np.array([[1.0, 1.0], [0.5, 2.0]]), np.array([0.5]))
ROOMS = np.array([0.5, 4.0])
HOME = np.repeat([0, 1], SIZES)
ALLOWED = (HOME[:, None] == HOME) & ~np.eye(5, dtype=bool)


def acyclic(graph):
    return not np.trace(sum(np.linalg.matrix_power(graph.astype(int), k) for k in range(1, 6)))


def from_prior(rng, ordered):
    """Everything but the rows; classes numbered in order where they have one."""
    while True:
        alpha, room, at = rng.integers(2), rng.integers(2), rng.integers(2)
        z = franchise.sample_groups(rng, SIZES, ROOMS[room], GRID.alpha[alpha])
        K = z.max() + 1
        eta = rng.beta(*GRID.beta[at], (K, K))
        if ordered:
            z, eta = rng.permutation(K)[z], np.triu(eta, 1)
        graph = (rng.random((5, 5)) < eta[np.ix_(z, z)]) & ALLOWED
        if acyclic(graph):
            return np.array([alpha, at, 0]), ROOMS[room], z, graph.astype(np.uint8)


def draw_rows(rng, graph):
    """Rows of both tables, the probabilities of levels integrated out."""
    tables = []
    for t, n_rows in enumerate(ROWS):
        part = graph[FIRST[t] : FIRST[t + 1], FIRST[t] : FIRST[t + 1]].astype(bool)
        X, left = np.zeros((n_rows, SIZES[t]), np.int32), list(range(SIZES[t]))
        while left:
            j = next(j for j in left if not part[left, j].any())
            left.remove(j)
            seen = {}
            for row in range(n_rows):
                counts = seen.setdefault(X[row, part[:, j]].tobytes(), np.full(2, 0.5))
                X[row, j] = rng.random() < counts[1] / counts.sum()
                counts[X[row, j]] += 1
        tables.append(X)
    return Sheets([Rows(X, np.full(X.shape[1], 2, np.int32), False, 0.5) for X in tables])


def statistics(hyper, room, z, graph, rows):
    across = (z[:3, None] == z[None, 3:]).mean()
    X = rows.parts[0].codes
    both = graph.sum() * (len(np.unique(z)) == 1)
    return [
        *hyper[:2], room, len(np.unique(z)), across, (z[:3, None] == z[:3]).sum(), graph[:3, :3].sum(),
        graph[3:, 3:].sum(), graph[0, 1], both, (X[:, 0] == X[:, 1]).mean(), graph[0, 1] * (X[:, 0] == X[:, 1]).mean(),
    ]  # fmt: skip


def sweeps(rng, ordered, n):
    schedule = Schedule(n, 0)
    hyper, room, z, graph = from_prior(rng, ordered)
    known, state, found = Knowledge(ALLOWED, np.zeros((5, 5), bool), 2), None, []
    for _ in range(n):
        rows = draw_rows(rng, graph)
        if ordered:
            chain = ListedSampler(rows, known, 1.0, 1.0, 1.0, schedule, 0, 2, grid=GRID, rooms=ROOMS)
        else:
            chain = GraphSampler(rows, known, CLASSES, 1.0, 1.0, 1.0, schedule, 0, grid=GRID, rooms=ROOMS)
        if state is None:
            state = chain.init(rng)
            state.hyper[0], state.room, state.z[0], state.graph[0] = hyper, room, z, graph
            graphs = chain.graphs if ordered else chain
            graphs.use(hyper)
            shares = np.full(z.max() + 1, 0.5 / (z.max() + 1))
            for _ in range(200):  # shares given the classes, tables in turn
                tables = franchise.sample_tables(rng, franchise.count(z, FIRST), room, shares)
                shares, left = franchise.sample_shares(rng, tables, graphs.alpha)
            state.share[:] = 0.0
            state.share[: len(shares)], state.share[-1] = shares, left
            if ordered:
                eta = np.triu(rng.beta(1, 1, (z.max() + 1,) * 2), 1)
                state.template = eta + eta.T + np.eye(z.max() + 1) / 2
        state, _ = chain.step(rng, state)
        graph = state.graph[0].copy()
        found.append(statistics(state.hyper[0], state.room, state.z[0], graph, rows))
    return np.array(found)


def compare(ordered, n, seed):
    rng = np.random.default_rng(seed)
    forward = []
    for _ in range(n):
        hyper, room, z, graph = from_prior(rng, ordered)
        forward.append(statistics(hyper, room, z, graph, draw_rows(rng, graph)))
    forward, chain = np.array(forward), sweeps(rng, ordered, n)
    batches = chain[: n // 40 * 40].reshape(40, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 40 + forward.var(axis=0) / n)
    return (chain.mean(axis=0) - forward.mean(axis=0)) / np.maximum(error, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [False, True])
def test_geweke(ordered):
    assert np.abs(compare(ordered, 20_000, 1)).max() < 4.0
