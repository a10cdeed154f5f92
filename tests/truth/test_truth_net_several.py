"""Several tables that share classes: two of three columns each, against all pairs of graphs with all partitions of the
six columns (and all orders of their classes)."""

from functools import lru_cache
from itertools import permutations

import numpy as np
import pytest
from networks import acyclic, local_score, tables_of_three
from scipy.special import betaln, logsumexp

from partita.kernels.net_contract import CLASSES
from partita.models.structure.knowledge import Knowledge, score_tables
from partita.models.structure.large import GraphSampler
from partita.models.structure.listed import ListedSampler
from partita.models.structure.rows import Rows, Sheets
from partita.models.structure.several import one_density
from partita.models.structure.state import Schedule, take_batch
from partita.priors import franchise
from partita.priors.partition import enumerate_partitions

LEVELS = np.full(3, 2, np.int32)
FIRST = np.array([0, 3, 6])
ALPHA, B1, B2 = 0.8, 0.7, 1.2
ROOMS = np.array([0.4, 3.0])


@lru_cache(maxsize=4)
def by_hand(prior):
    """Edges (6, 6) and co-assignments (6, 6) by summing over everything."""
    graphs = np.array(acyclic(3))
    score = [
        np.array([sum(local_score(X, LEVELS, j, np.flatnonzero(A[:, j]).tolist(), False, 0.5) for j in range(3))
                  for A in graphs])
        for X in tables_of_three(40, 12)
    ]  # fmt: skip
    likelihood = score[0][:, None] + score[1][None, :]
    total, edges, together, top = 0.0, np.zeros((6, 6)), np.zeros((6, 6)), likelihood.max()
    for z in np.zeros((1, 6), int) if prior == "sparse" else enumerate_partitions(6):
        K = z.max() + 1
        counts = franchise.count(z, FIRST)
        seats = logsumexp([franchise.log_probability(counts, room, ALPHA) for room in ROOMS]) - np.log(len(ROOMS))
        for order in permutations(range(K)) if prior == "ordered-block" else [tuple(range(K))]:
            place = np.array(order)[z]
            member = [np.eye(K)[place[:3]], np.eye(K)[place[3:]]]
            counts = [np.einsum("ia,gij,jb->gab", m, graphs, m) for m in member]
            present = counts[0][:, None] + counts[1][None, :]
            pairs = sum(np.outer(m.sum(0), m.sum(0)) - np.diag(m.sum(0)) for m in member)
            ratio = betaln(B1 + present, B2 + pairs - present) - betaln(B1, B2)
            if prior == "ordered-block":
                late = np.tri(K, dtype=bool)
                value = np.where(present[..., late].any(axis=-1), -np.inf, ratio[..., ~late].sum(axis=-1))
                value = value - np.log(np.arange(1, K + 1)).sum()
            else:
                value = ratio.sum(axis=(-2, -1))
            weight = np.exp(value + likelihood - top + seats)
            total += weight.sum()
            together += weight.sum() * (z[:, None] == z)
            edges[:3, :3] += np.tensordot(weight.sum(axis=1), graphs, 1)
            edges[3:, 3:] += np.tensordot(weight.sum(axis=0), graphs, 1)
    return edges / total, together / total


def known():
    allowed = np.kron(np.eye(2, dtype=bool), ~np.eye(3, dtype=bool))
    return Knowledge(allowed, np.zeros((6, 6), bool), 2)


def sampler(kind, schedule, orders=True):
    tables = tables_of_three(40, 12)
    rows = Sheets([Rows(X, LEVELS, False, 0.5) for X in tables])
    if kind == "listed":
        return ListedSampler(rows, known(), ALPHA, B1, B2, schedule, 1, 2, rooms=ROOMS)
    free = Knowledge(~np.eye(3, dtype=bool), np.zeros((3, 3), bool), 2)
    scores = [score_tables(X, LEVELS, False, 0.5, free) for X in tables] if orders else []
    return GraphSampler(rows, known(), CLASSES, ALPHA, B1, B2, schedule, 1, tables=scores, rooms=ROOMS)


def averages(chain, schedule, seed):
    rng = np.random.default_rng(seed)
    state, edges = chain.init(rng), []
    for step in range(schedule.n_sweeps):
        state, _ = chain.step(rng, state)
        batch = take_batch(step, state, schedule)
        if batch is not None and step >= schedule.burn_in:
            edges.append(batch.edges)
    return np.mean(edges, axis=0), (state.classes[:, :, None] == state.classes[:, None, :]).mean(axis=0)


@pytest.mark.parametrize("kind", ["block", "single", "listed"])
def test_chains_over_two_tables(kind):
    schedule = Schedule(3100, 100)
    chain = sampler("block" if kind == "single" else kind, schedule, orders=kind == "block")
    edges, together = averages(chain, schedule, 2)
    true_edges, true_together = by_hand("ordered-block" if kind == "listed" else "block")
    assert np.abs(edges - true_edges).max() < 0.04
    assert np.abs(together - true_together).max() < 0.04


def test_the_density_that_two_tables_share():
    free = Knowledge(~np.eye(3, dtype=bool), np.zeros((3, 3), bool), 2)
    scores = [score_tables(X, LEVELS, False, 0.5, free) for X in tables_of_three(40, 12)]
    found = one_density(scores, np.random.default_rng(0), B1, B2, 4000)
    np.testing.assert_allclose(found.edges, by_hand("sparse")[0], atol=1e-9)
    assert np.abs(found.graphs.mean(axis=0) - found.edges).max() < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["block", "listed"])
def test_long_chains_over_two_tables(kind):
    schedule = Schedule(100_100, 100)
    edges, together = averages(sampler(kind, schedule), schedule, 3)
    true_edges, true_together = by_hand("block" if kind == "block" else "ordered-block")
    assert np.abs(edges - true_edges).max() < 0.006
    assert np.abs(together - true_together).max() < 0.006
