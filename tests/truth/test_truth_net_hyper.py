"""Hyper-parameters of networks drawn in a chain, against exact sums for every point of their grids."""

from itertools import product

import numpy as np
import pytest
from networks import rows_of_four
from scipy.special import softmax

from partita.models.structure import exact as net_exact
from partita.models.structure.chains import BlockSampler, OrderedSampler
from partita.models.structure.hyper import HyperGrid, SmallModel
from partita.models.structure.knowledge import Knowledge, score_tables
from partita.models.structure.state import Schedule, take_batch

GRID = HyperGrid(np.array([0.3, 3.0]), np.array([[1.0, 1.0], [0.5, 4.0]]), np.array([0.2, 1.0]))


@pytest.mark.parametrize("prior", ["ordered-block", "block"])
def test_chains_find_the_law_of_hyper_parameters(prior):
    X, known = rows_of_four(), Knowledge(~np.eye(4, dtype=bool), np.zeros((4, 4), bool), 3)
    levels, schedule = np.full(4, 2, np.int32), Schedule(8100, 100)
    model = SmallModel(GRID, 4, lambda gamma: score_tables(X, levels, False, gamma, known))
    points = [np.array(at) for at in product(range(2), repeat=3)]
    exact = net_exact.ordered if prior == "ordered-block" else net_exact.block
    found = [exact(model.tables(at), model.rule(at)) for at in points]
    share = softmax([one.log_sum for one in found])
    edges = np.tensordot(share, [one.edges for one in found], 1)

    tables, rule = model.tables(points[0]), model.rule(points[0])
    if prior == "ordered-block":
        sampler = OrderedSampler(tables, rule, known, schedule, 0, model=model)
    else:
        sampler = BlockSampler(tables, rule, known, schedule, 0, temperatures=np.array([1.0, 1.7]), model=model)
    rng = np.random.default_rng(0)
    state, kept, visits = sampler.init(rng), [], np.zeros(8)
    for step in range(schedule.n_sweeps):
        state, _ = sampler.step(rng, state)
        batch = take_batch(step, state, schedule)
        if step >= schedule.burn_in:
            visits[int(state.hyper[0] @ [4, 2, 1])] += 1
            kept += [] if batch is None else [batch.edges]
    assert np.abs(visits / visits.sum() - share).max() < 0.04
    assert np.abs(np.mean(kept, axis=0) - edges).max() < 0.04
