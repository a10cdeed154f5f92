"""Chains over the networks of four nodes against brute force."""

import numpy as np
import pytest
from networks import brute_force, rows_of_four

from partita.models import net_chains
from partita.models.net_knowledge import Knowledge, score_tables
from partita.models.net_state import Schedule, take_batch
from partita.priors.graph import block_rule

LEVELS = np.full(4, 2, np.int32)


def free(n):
    return Knowledge(~np.eye(n, dtype=bool), np.zeros((n, n), bool), n - 1)


def averages(sampler, schedule, seed):
    """Edge and co-assignment probabilities of one chain."""
    rng = np.random.default_rng(seed)
    state, edges = sampler.init(rng), []
    for step in range(schedule.n_sweeps):
        state, _ = sampler.step(rng, state)
        batch = take_batch(step, state, schedule)
        if batch is not None and step >= schedule.burn_in:
            edges.append(batch.edges)
    together = (state.classes[:, :, None] == state.classes[:, None, :]).mean(axis=0)
    return np.mean(edges, axis=0), together


@pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 4.0)])
def test_the_ordered_chain(bdeu, pseudo):
    X, schedule = rows_of_four(), Schedule(40100, 100)
    tables = score_tables(X, LEVELS, bdeu, pseudo, free(4))
    sampler = net_chains.OrderedSampler(tables, block_rule(4, 0.5, 1.0, 1.0), free(4), schedule, 0)
    edges, together = averages(sampler, schedule, 1)
    true_edges, true_together, _ = brute_force(X, LEVELS, "ordered-block", bdeu, pseudo)
    assert np.abs(edges - true_edges).max() < 0.002
    assert np.abs(together - true_together).max() < 0.005


@pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 4.0)])
def test_the_block_chain(bdeu, pseudo):
    X, schedule = rows_of_four(), Schedule(12050, 50)
    tables = score_tables(X, LEVELS, bdeu, pseudo, free(4))
    sampler = net_chains.BlockSampler(
        tables, block_rule(4, 0.5, 1.0, 1.0), free(4), schedule, 0, temperatures=np.array([1.0, 2.0])
    )
    edges, together = averages(sampler, schedule, 1)
    true_edges, true_together, _ = brute_force(X, LEVELS, "block", bdeu, pseudo)
    assert np.abs(edges - true_edges).max() < 0.004
    assert np.abs(together - true_together).max() < 0.01
