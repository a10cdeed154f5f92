"""Evidence of priors over networks by ladders between them, against sums over everything."""

import numpy as np
import pytest
from networks import acyclic, local_score, rows_of_four
from scipy.special import gammaln, logsumexp

from partita.kernels import kernel
from partita.kernels.net_contract import GIVEN_ODDS, NodeSeats
from partita.models.structure.bridge import Ladder, bennett, to_one_class, to_order
from partita.models.structure.knowledge import Knowledge
from partita.models.structure.large import GraphSampler
from partita.models.structure.learn_large import graph_moves
from partita.models.structure.posterior import NetPosterior
from partita.models.structure.rows import Rows, Sheets
from partita.models.structure.seats import Seats
from partita.models.structure.state import Schedule
from partita.priors.graph import log_joint, ordered_partitions, pair_counts
from partita.priors.ladder import Pairs, Rung, log_rung
from partita.priors.partition import enumerate_partitions, log_probability

LEVELS = np.full(4, 2, np.int32)
ALPHA, B1, B2 = 0.7, 0.8, 1.5


def posterior_of(graphs, z, cells=None):
    """Networks drawn, of all that a ladder looks at."""
    m, n = z.shape
    zero = np.zeros((n, n))
    cells = np.zeros((m, 0), np.int32) if cells is None else cells
    return NetPosterior(
        zero, zero, np.zeros((0, n, n)), z[:1], np.ones(1), graphs.astype(np.uint8), z, np.full(m, 1 / m), cells,
        np.zeros((m, 3), np.int64), np.zeros(0), z[:0], graphs[:0],
    )  # fmt: skip


def all_states(X, kind):
    """Every graph with every partition (with every order of its classes), and the log of its joint with the data."""
    n = X.shape[1]
    graphs = acyclic(n)
    scores = [sum(local_score(X, LEVELS, j, np.flatnonzero(A[:, j]).tolist(), False, 0.5) for j in range(n))
              for A in graphs]  # fmt: skip
    classes = {
        "block": enumerate_partitions(n), "ordered-block": list(ordered_partitions(n)), "sparse": [np.zeros(n, int)]
    }[kind]  # fmt: skip
    found = [
        (A, np.asarray(z), score + log_joint(np.asarray(z), A, ALPHA, B1, B2, kind == "ordered-block"))
        for A, score in zip(graphs, scores) for z in classes
    ]  # fmt: skip
    A, z, value = zip(*[state for state in found if state[2] > -np.inf])
    return np.array(A), np.array(z), np.array(value)


def drawn(X, kind, rng, m=2000):
    """Draws from the posterior, and the log of its normaliser."""
    A, z, value = all_states(X, kind)
    total = logsumexp(value)
    chosen = rng.choice(len(value), m, p=np.exp(value - total))
    return posterior_of(A[chosen], z[chosen].astype(np.int32)), total


def ladder(rows, low, high, rung, rooms=None, known=None):
    n = int(rows.first[-1])
    free = Knowledge(~np.eye(n, dtype=bool), np.zeros((n, n), bool), n - 1) if known is None else known
    sampler = GraphSampler(rows, free, GIVEN_ODDS, ALPHA, B1, B2, Schedule(2, 1), 0)
    seats = Seats(rows.first) if rooms is None else Seats(rows.first, rooms)
    return Ladder(low, high, rung, lambda at: (ALPHA, B1, B2), graph_moves(sampler), seats, n, True)


@pytest.mark.parametrize(("kind", "rung"), [("ordered-block", to_order), ("sparse", to_one_class)])
def test_evidence_on_four_nodes(kind, rung):
    X, rng = rows_of_four(60), np.random.default_rng(0)
    (low, below), (high, above) = drawn(X, "block", rng), drawn(X, kind, rng)
    rows = Sheets([Rows(X, LEVELS, False, 0.5)])
    assert ladder(rows, low, high, rung).log_ratio(rng, 300) == pytest.approx(above - below, abs=0.2)


GRAPH = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], np.uint8)


def log_of(z, law, rung):
    edges, pairs = pair_counts(z, GRAPH)
    return log_rung(edges.astype(int), pairs.astype(int), law, rung) + float(log_probability(np.bincount(z), ALPHA))


def test_states_of_a_rung():
    """Classes in order by Gibbs sampling on a rung in the middle, against all 75 ordered partitions."""
    rung = Rung(0.6, 0.4, 0.5)
    law = Pairs.of(16, B1, B2, rung.fade, rung.price)
    states = [np.asarray(z, np.int32) for z in ordered_partitions(4)]
    logs = np.array([log_of(z, law, rung) - gammaln(z.max() + 2) for z in states])
    seats, z, visits = NodeSeats.plain(4, ALPHA), np.zeros(4, np.int32), dict.fromkeys(map(bytes, states), 0)
    for seed in range(40_000):
        kernel.net_bridge_sweep(law.rise, law.rest, law.whole, np.log(rung.room), seats, GRAPH, True, z, seed)
        visits[bytes(z)] += 1
    assert np.abs(np.array(list(visits.values())) / 40_000 - np.exp(logs - logsumexp(logs))).max() < 0.008


def test_the_ends_of_the_ladder_are_the_priors():
    for z in (np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2]), np.array([1, 0, 2, 3])):
        for rung, ordered in ((to_order(0.0), False), (to_order(1.0), True), (to_one_class(0.0), False)):
            law = Pairs.of(16, B1, B2, rung.fade, rung.price)
            value = log_of(z, law, rung) - (gammaln(z.max() + 2) if ordered else 0.0)
            assert value == pytest.approx(log_joint(z, GRAPH, ALPHA, B1, B2, ordered), abs=1e-9)


def test_bennett_on_two_normal_laws():
    """exp(-x^2 / 2) and exp(-(x - 1)^2 / 2 + 3)."""
    rng = np.random.default_rng(0)
    low, high = rng.normal(size=20_000), rng.normal(1.0, size=20_000)
    assert bennett(low - 0.5 + 3.0, high - 0.5 + 3.0) == pytest.approx(3.0, abs=0.02)
    assert bennett(np.full(5, -np.inf), np.zeros(5)) < -40
