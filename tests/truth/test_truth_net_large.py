"""Chains that work for any number of nodes, on four nodes against brute force; holes against summing over what they
hide."""

from itertools import product

import numpy as np
import pytest
from networks import brute_force, rows_of_four

from partita.kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES
from partita.models.structure import large as net_large
from partita.models.structure.candidates import candidate_sets
from partita.models.structure.knowledge import Knowledge
from partita.models.structure.large import GraphSampler
from partita.models.structure.listed import ListedSampler
from partita.models.structure.rows import Rows, Sheets
from partita.models.structure.state import Schedule, take_batch
from partita.models.structure.tempered import Ladder
from partita.models.structure.walk import Walk, Walks

HEATS = np.array([1.0, 0.6, 0.3])
LEVELS = np.full(4, 2, np.int32)
SCORES = pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 4.0)])
PRIORS = {"uniform": GIVEN_ODDS, "sparse": CLASSES, "block": CLASSES, "ordered-block": ORDERED_CLASSES}


def free(n, classes=None):
    return Knowledge(~np.eye(n, dtype=bool), np.zeros((n, n), bool), n - 1, classes)


def averages(sampler, schedule, seed):
    rng = np.random.default_rng(seed)
    state, edges = sampler.init(rng), []
    for step in range(schedule.n_sweeps):
        state, _ = sampler.step(rng, state)
        batch = take_batch(step, state, schedule)
        if batch is not None and step >= schedule.burn_in:
            edges.append(batch.edges)
    return np.mean(edges, axis=0), (state.classes[:, :, None] == state.classes[:, None, :]).mean(axis=0)


def graph_sampler(X, prior, schedule, bdeu, pseudo):
    known = free(4, np.zeros(4, np.int32) if prior == "sparse" else None)
    return GraphSampler(Sheets([Rows(X, LEVELS, bdeu, pseudo)]), known, PRIORS[prior], 0.5, 1.0, 1.0, schedule, 1)


def with_holes():
    X = rows_of_four(20)
    X[[0, 3, 7, 7, 11], [1, 0, 2, 3, 3]] = -1
    return X


def summed_over_holes(X, prior, bdeu, pseudo):
    """Brute force for every filling of the holes, weighed by its evidence."""
    holes, parts = np.argwhere(X < 0), []
    for cells in product((0, 1), repeat=len(holes)):
        full = X.copy()
        full[holes[:, 0], holes[:, 1]] = cells
        parts.append(brute_force(full, LEVELS, prior, bdeu, pseudo))
    logs = np.array([part[2] for part in parts])
    share = np.exp(logs - logs.max())
    share /= share.sum()
    return [np.tensordot(share, [part[k] for part in parts], 1) for k in range(2)]


@pytest.mark.parametrize("prior", ["uniform", "sparse", "block"])
@SCORES
def test_graph_sweeps(prior, bdeu, pseudo):
    X, schedule = rows_of_four(), Schedule(6100, 100)
    edges, together = averages(graph_sampler(X, prior, schedule, bdeu, pseudo), schedule, 1)
    true_edges, true_together, _ = brute_force(X, LEVELS, prior, bdeu, pseudo)
    assert np.abs(edges - true_edges).max() < 0.05
    assert np.abs(together - true_together).max() < 0.06


def test_listed_sweeps():
    X, schedule = rows_of_four(), Schedule(3100, 100)
    sampler = ListedSampler(Sheets([Rows(X, LEVELS, False, 0.5)]), free(4), 0.5, 1.0, 1.0, schedule, 1, 3)
    edges, together = averages(sampler, schedule, 1)
    true_edges, true_together, _ = brute_force(X, LEVELS, "ordered-block")
    assert np.abs(edges - true_edges).max() < 0.05
    assert np.abs(together - true_together).max() < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "sweeps"), [("uniform", 200_000), ("sparse", 200_000), ("block", 800_000), ("ordered-block", 800_000)]
)
@SCORES
def test_holes_are_summed_over(prior, sweeps, bdeu, pseudo):
    X, schedule = with_holes(), Schedule(sweeps + 100, 100)
    if prior == "ordered-block":
        sampler = ListedSampler(Sheets([Rows(X, LEVELS, bdeu, pseudo)]), free(4), 0.5, 1.0, 1.0, schedule, 1, 3)
    else:
        sampler = graph_sampler(X, prior, schedule, bdeu, pseudo)
    edges, together = averages(sampler, schedule, 1)
    true_edges, true_together = summed_over_holes(X, prior, bdeu, pseudo)
    assert np.abs(edges - true_edges).max() < 0.002
    assert np.abs(together - true_together).max() < 0.002


def walks_of(X, known, prior, bdeu, pseudo, width, most):
    """Some candidates of every node, not chosen but given, and a ladder of three rungs over sets of them."""
    data = Rows(X, LEVELS, bdeu, pseudo).data(X)
    nodes = np.array([[(j + k) % 4 for k in range(1, width + 1)] for j in range(4)], np.int32)
    sets = candidate_sets(data, known, nodes, most)
    odds = np.full((4, 4), 0.0 if prior == "uniform" else -0.8)
    return Walks(np.array([0, 4], np.int32), [Walk(known, nodes, sets, Ladder(known.required, sets, odds, HEATS))])


@pytest.mark.parametrize("prior", ["uniform", "sparse", "block"])
@pytest.mark.parametrize(("width", "most"), [(3, 3), (2, 2), (3, 1)])
def test_graphs_by_orders(prior, width, most, monkeypatch):
    """Whatever the candidates, and the sweeps themselves rarer than the walks."""
    monkeypatch.setattr(net_large, "EVERY", 1)
    X, schedule = rows_of_four(), Schedule(8100, 100)
    sampler = graph_sampler(X, prior, schedule, False, 0.5)
    sampler.walks = walks_of(X, sampler.known, prior, False, 0.5, width, most)
    edges, together = averages(sampler, schedule, 1)
    true_edges, true_together, _ = brute_force(X, LEVELS, prior)
    assert np.abs(edges - true_edges).max() < 0.025
    assert np.abs(together - true_together).max() < 0.04
