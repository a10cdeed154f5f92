"""Walks over orders: native and plain alike, draw by draw."""

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.net_contract import NetData
from partita.models.structure.candidates import candidate_sets
from partita.models.structure.knowledge import Knowledge

N, LEVELS = 5, np.array([2, 3, 2, 2, 2], np.int32)
NODES = np.array([[1, 2, 3], [0, 2, 4], [4, 0, -1], [1, 2, 0], [3, 1, 2]], np.int32)


def sets_of(n_rows=40, most=2, required=(), bdeu=False):
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, k, n_rows) for k in LEVELS], 1).astype(np.int32)
    codes[:, 2] = codes[:, 0] ^ (rng.random(n_rows) < 0.2)
    codes[:, 4] = codes[:, 2] ^ (rng.random(n_rows) < 0.2)
    must = np.zeros((N, N), bool)
    for edge in required:
        must[edge] = True
    known = Knowledge(~np.eye(N, dtype=bool), must, N - 1)
    return candidate_sets(NetData.of(codes, LEVELS, bdeu, 0.5), known, NODES, most)


@pytest.mark.parametrize("heat", [1.0, 0.6])
@pytest.mark.parametrize("required", [(), ((0, 1),)])
def test_walks_are_the_same(native, heat, required):
    """Node 3 begins with a parent that is no candidate, and keeps it."""
    known, odds, chains = sets_of(required=required), np.random.default_rng(1).normal(size=(N, N)), []
    for kernels in (reference, native):
        edge, trace = np.zeros((N, N), np.uint8), []
        edge[0, 1] = edge[4, 3] = 1
        for seed in range(25):
            moved = kernels.net_order_walk(known, odds, heat, edge, 2, seed)
            trace.append([moved, *edge.ravel()])
        chains.append(np.array(trace))
        assert edge[4, 3] == 1 and edge[:, 3].sum() == 1
    np.testing.assert_array_equal(chains[0], chains[1])
    assert len(np.unique(chains[0], axis=0)) > 5


def test_ladders_are_the_same(native):
    known, odds, heats = sets_of(), np.random.default_rng(1).normal(size=(N, N)), np.array([1.0, 0.5, 0.2])
    made, chains = [], []
    for kernels in (reference, native):
        prior, sums = np.zeros(len(known.sets)), np.zeros((3, N, 8))
        kernels.net_set_sums(known, odds, heats, prior, sums)
        made.append((prior, sums))
        graphs, trace = np.zeros((3, N, N), np.uint8), []
        for seed in range(12):
            kernels.net_graph_ladder(known, prior, sums, heats, graphs, 2, seed)
            trace.append(graphs.copy())
        chains.append(np.array(trace))
    np.testing.assert_allclose(made[0][0], made[1][0], atol=1e-12)
    np.testing.assert_allclose(made[0][1], made[1][1], rtol=1e-12)
    np.testing.assert_array_equal(chains[0], chains[1])
    assert len(np.unique(chains[0][:, 0], axis=0)) > 5


def test_sums_have_any_range(native):
    """Scores far beyond what doubles hold."""
    known = sets_of()
    known.scores -= 1e5 * np.arange(len(known.scores))
    tables = []
    for kernels in (reference, native):
        prior, sums = np.zeros(len(known.sets)), np.zeros((1, N, 8))
        kernels.net_set_sums(known, np.zeros((N, N)), np.ones(1), prior, sums)
        tables.append(sums)
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-13)
