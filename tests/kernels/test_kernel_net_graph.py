"""Sweeps over graphs of any size, lists of small sets, missing cells: native and plain alike."""

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.net_contract import (
    CLASSES,
    GIVEN_ODDS,
    ORDERED_CLASSES,
    GraphTask,
    HashedValues,
    NetData,
    NodeSeats,
    list_sets,
)


def table(n_rows=25, levels=(2, 3, 2, 2, 2), seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n_rows) for k in levels], 1).astype(np.int32)
    codes[:, 2] = codes[:, 0] ^ (rng.random(n_rows) < 0.2)
    codes[:, 4] = codes[:, 2] ^ (rng.random(n_rows) < 0.2)
    return codes, np.array(levels, np.int32)


def seats(n, franchise, z, first):
    """A plain restaurant, or classes that data sets share."""
    if not franchise:
        return NodeSeats.plain(n, 0.5)
    rng = np.random.default_rng(4)
    drawn = rng.dirichlet(np.ones(z.max() + 2))
    share = np.concatenate([drawn[:-1], np.zeros(n - len(drawn) + 1), drawn[-1:]])
    return NodeSeats(0.8, 0.6, share, rng.beta(1, 0.6, n), np.array(first, np.int32))


def two_tables():
    """Five nodes as one data set, or as one of three and one of two with other rows."""
    codes, levels = table()
    one = [NetData.of(codes, levels, False, 0.5)]
    return one, [
        NetData.of(codes[:, :3], levels[:3], False, 0.5), NetData.of(codes[:17, 3:], levels[3:], False, 0.5)
    ]  # fmt: skip


@pytest.mark.parametrize("prior", [GIVEN_ODDS, CLASSES, ORDERED_CLASSES])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_graph_sweeps_are_the_same(native, prior, single, shared, given):
    n, data = 5, two_tables()[shared]
    allowed, required = 1 - np.eye(n, dtype=np.uint8), np.zeros((n, n), np.uint8)
    allowed[0, 1], required[0, 2] = 0, 1
    if shared:
        allowed[:3, 3:] = allowed[3:, :3] = 0
    odds = np.random.default_rng(1).normal(size=(n, n))
    chains = []
    for kernels in (reference, native):
        z, edge = np.array([0, 0, 1, 1, 2], np.int32), required.copy()
        if prior == GIVEN_ODDS:
            z[:] = 0
        # the joint to the power 0.7
        task = GraphTask(
            allowed, required, 2, prior, prior != GIVEN_ODDS and not given, seats(n, shared, z, [0, 3, 5]), 0.8, 1.4,
            odds, single, 0.7, *((0, 0) if single else (6, 3)),
        )  # fmt: skip
        cache, trace, chances = HashedValues.room(8), [], np.zeros((n, n))
        for seed in range(12):
            value = kernels.net_graph_sweep(data, task, cache, z, edge, seed, chances)
            share = np.where(np.arange(n + 1) <= z.max(), task.seating.share, 0.0)
            trace.append([value, *z, *edge.ravel(), *share, task.seating.share[-1], *chances.ravel()])
        chains.append(np.array(trace))
    np.testing.assert_allclose(chains[0], chains[1], atol=1e-9)
    if prior != GIVEN_ODDS and not given:
        assert len(np.unique(chains[0][:, 1:6], axis=0)) > 2


@pytest.mark.parametrize("bdeu", [False, True])
def test_cells_are_filled_alike(native, bdeu):
    codes, levels = table()
    rng = np.random.default_rng(2)
    edge = np.triu(np.ones((5, 5), np.uint8), 1)
    cells = np.argwhere(rng.random(codes.shape) < 0.2).astype(np.int32)
    uniforms = rng.random(len(cells))
    mine, theirs = codes.copy(), codes.copy()
    reference.net_fill(mine, levels, edge, bdeu, 0.7, cells, uniforms)
    native.net_fill(theirs, levels, edge, bdeu, 0.7, cells, uniforms)
    np.testing.assert_array_equal(mine, theirs)
    assert (mine != codes).any()


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("shared", [False, True])
def test_listed_sweeps_are_the_same(native, most, shared):
    n, rng, weight = 5, np.random.default_rng(3), []
    for data in two_tables()[shared]:
        m = len(data.levels)
        size = len(list_sets(m, most))
        score = np.zeros((m, size))
        for j in range(m):
            native.net_score_lists(data, j, most, score[j])
            plain = np.zeros(size)
            reference.net_score_lists(data, j, most, plain)
            np.testing.assert_allclose(score[j], plain, atol=1e-9)
        weight.append(np.exp(score - score.max(axis=1, keepdims=True)))
    chains = []
    fresh = rng.beta(1, 1, (8, n, n))
    start = rng.beta(1, 1, (n, n))
    for kernels in (reference, native):
        z, eta = np.array([0, 1, 1, 2, 0], np.int32), (start + start.T) / 2
        seating = seats(n, shared, z, [0, 3, 5])
        edges, graph, trace = np.zeros((n, n)), np.zeros((n, n), np.uint8), []
        for seed in range(8):
            value = kernels.net_listed_sweep(weight, most, seating, z, eta, fresh[seed], True, 4, seed, edges, graph)
            K = z.max() + 1
            between = eta[:K, :K][~np.eye(K, dtype=bool)]
            share = np.where(np.arange(n + 1) < K, seating.share, 0.0)
            known = [[value], z, graph.ravel(), share, seating.share[-1:], between, np.zeros(n * n - len(between))]
            trace.append(np.concatenate(known))
        chains.append((np.array(trace), edges))
    np.testing.assert_allclose(chains[0][0], chains[1][0], atol=1e-9)
    np.testing.assert_allclose(chains[0][1], chains[1][1], atol=1e-9)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("move_nodes", [False, True])
def test_ladder_sweeps_are_the_same(native, shared, move_nodes):
    n, chains = 5, []
    graph = np.triu(np.ones((n, n), np.uint8), 1)
    graph[0, 4] = graph[1, 2] = 0
    if shared:
        graph[:3, 3:] = 0
    rng = np.random.default_rng(0)
    law = rng.normal(size=(2, n * n + 1)), rng.normal(size=n * n + 1), rng.normal(size=(2, n * n + 1))
    law[2][:, 0] = law[0][:, 0] + law[1][0]  # where there is no pair, nothing is weighed
    for kernels in (reference, native):
        z, trace = np.array([0, 2, 1, 1, 0], np.int32), []
        seating = seats(n, shared, z, [0, 3, 5])
        for seed in range(20):
            kernels.net_bridge_sweep(*law, -0.3, seating, graph, move_nodes, z, seed)
            trace.append([*z, *np.where(np.arange(n + 1) <= z.max(), seating.share, 0.0), seating.share[-1]])
        chains.append(np.array(trace))
    np.testing.assert_allclose(chains[0], chains[1], atol=1e-9)
    assert len(np.unique(chains[0][:, :5], axis=0)) > 2
