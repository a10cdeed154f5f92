"""Chains over the networks of four nodes against brute force."""

import numpy as np
import pytest
from networks import brute_force, rows_of_four

from partita.models.structure import chains as net_chains
from partita.models.structure.knowledge import Knowledge, score_tables
from partita.models.structure.state import Schedule, take_batch
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


def farthest(prior, sampler_class, schedule, bdeu, pseudo, **more):
    """The largest errors of edge and co-assignment probabilities."""
    X = rows_of_four()
    tables = score_tables(X, LEVELS, bdeu, pseudo, free(4))
    sampler = sampler_class(tables, block_rule(4, 0.5, 1.0, 1.0), free(4), schedule, 0, **more)
    found, true = averages(sampler, schedule, 1), brute_force(X, LEVELS, prior, bdeu, pseudo)
    return [np.abs(mine - theirs).max() for mine, theirs in zip(found, true)]


SCORES = pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 4.0)])
COPIES = np.array([1.0, 1.0, 2.0])


@SCORES
def test_the_ordered_chain(bdeu, pseudo):
    assert max(farthest("ordered-block", net_chains.OrderedSampler, Schedule(6100, 100), bdeu, pseudo)) < 0.03


@SCORES
def test_the_block_chain(bdeu, pseudo):
    schedule = Schedule(3100, 100)
    assert max(farthest("block", net_chains.BlockSampler, schedule, bdeu, pseudo, temperatures=COPIES)) < 0.05


@pytest.mark.slow
@SCORES
def test_long_ordered_chains(bdeu, pseudo):
    assert max(farthest("ordered-block", net_chains.OrderedSampler, Schedule(500100, 100), bdeu, pseudo)) < 0.002


@pytest.mark.slow
@SCORES
def test_long_block_chains(bdeu, pseudo):
    schedule = Schedule(500100, 100)
    assert max(farthest("block", net_chains.BlockSampler, schedule, bdeu, pseudo, temperatures=COPIES)) < 0.002


def test_copies_at_one_temperature_take_turns():
    tables = score_tables(rows_of_four(), LEVELS, False, 0.5, free(4))
    sampler = net_chains.BlockSampler(
        tables, block_rule(4, 0.5, 1.0, 1.0), free(4), Schedule(10, 0), 0, temperatures=np.array([1.0, 1.0, 1.0, 4.0])
    )
    scores = np.array([-90.0, -80.0, -70.0, -1e6])
    assert sampler._exchange(np.random.default_rng(0), scores) == [1, 2, 0, 3]
    assert sampler._exchange(np.random.default_rng(0), -scores) == [1, 2, 3, 0]
