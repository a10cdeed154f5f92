"""Exact posteriors of four nodes against brute force, and of more nodes against each other."""

import numpy as np
import pytest
from networks import brute_force, rows_of_four
from scipy.special import logsumexp

from partita import StructureLearner
from partita.kernels import kernel, reference
from partita.kernels.reference.net_sums import acyclic_graphs
from partita.models.structure import exact as net_exact
from partita.models.structure.knowledge import Knowledge, score_tables, to_graph, to_masks
from partita.priors.graph import block_rule, log_joint, ordered_partitions
from partita.priors.partition import enumerate_partitions, log_probability

LEVELS = np.array([2, 2, 2, 2], np.int32)


def free(n, max_parents=None):
    return Knowledge(~np.eye(n, dtype=bool), np.zeros((n, n), bool), n - 1 if max_parents is None else max_parents)


def exact(prior, tables, rule):
    if prior == "uniform":
        return net_exact.modular(tables, np.zeros((len(tables),) * 2), np.zeros(len(tables), np.int32))
    return {"sparse": net_exact.one_class, "ordered-block": net_exact.ordered, "block": net_exact.block}[prior](
        tables, rule
    )


@pytest.mark.parametrize("prior", ["uniform", "sparse", "ordered-block", "block"])
@pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 4.0)])
def test_posteriors_of_four_nodes(prior, bdeu, pseudo):
    X = rows_of_four()
    rule = block_rule(4, 0.7, 0.8, 1.5)
    found = exact(prior, score_tables(X, LEVELS, bdeu, pseudo, free(4)), rule)
    edges, together, log_sum = brute_force(X, LEVELS, prior, bdeu, pseudo, 0.7, 0.8, 1.5)
    np.testing.assert_allclose(found.edges, edges, atol=1e-9)
    np.testing.assert_allclose(found.together(), together, atol=1e-9)
    assert found.log_sum == pytest.approx(log_sum, abs=1e-8)


@pytest.mark.parametrize("prior", ["uniform", "sparse", "ordered-block", "block"])
def test_what_is_known_beforehand(prior):
    """A required edge, a forbidden one, at most two parents."""
    X = rows_of_four()
    known = free(4, 2)
    known.required[3, 2] = True
    known.allowed[0, 1] = False
    found = exact(prior, score_tables(X, LEVELS, False, 0.5, known), block_rule(4, 0.5, 1.0, 1.0))
    edges, together, _ = brute_force(
        X, LEVELS, prior, allowed=lambda A: A[3, 2] and not A[0, 1] and A.sum(axis=0).max() <= 2
    )
    np.testing.assert_allclose(found.edges, edges, atol=1e-9)
    np.testing.assert_allclose(found.together(), together, atol=1e-9)


def test_classes_that_are_given():
    X, classes = rows_of_four(), np.array([0, 0, 1, 1])
    tables, rule = score_tables(X, LEVELS, False, 0.5, free(4)), block_rule(4, 0.5, 1.0, 1.0)
    for prior, of in (("ordered-block", net_exact.ordered), ("block", net_exact.block)):
        edges, _, _ = brute_force(X, LEVELS, prior, partitions=classes[None])
        np.testing.assert_allclose(of(tables, rule, classes).edges, edges, atol=1e-9)


def test_five_columns_with_classes():
    """All 29,281 graphs of five columns with all 52 partitions."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rows_of_four(), rng.integers(0, 3, 30)]).astype(np.int32)
    levels = np.array([2, 2, 2, 2, 3], np.int32)
    tables, rule = score_tables(X, levels, False, 0.5, free(5)), block_rule(5, 0.7, 0.8, 1.6)
    edges, logs = np.zeros((52, 5, 5)), []
    for k, z in enumerate(enumerate_partitions(5)):
        seats = float(log_probability(np.bincount(z), 0.7))
        logs.append(seats + reference.net_block_sum(tables, rule, z.astype(np.int32), edges[k]))
    share = np.exp(np.array(logs) - logsumexp(logs))
    found = net_exact.block(tables, rule)
    assert found.log_sum == pytest.approx(logsumexp(logs), abs=1e-9)
    np.testing.assert_allclose(found.shares, share, atol=1e-9)
    np.testing.assert_allclose(found.edges, np.tensordot(share, edges, 1), atol=1e-9)


@pytest.mark.slow
def test_six_columns_with_classes():
    """All partitions of six columns, the graphs of some of them one by one: 3,781,503 graphs."""
    rng = np.random.default_rng(3)
    tables, rule = rng.normal(size=(6, 64)) * 3, block_rule(6, 0.5, 1.0, 1.0)
    edges, plain = np.zeros((6, 6)), np.zeros((6, 6))
    for j in range(6):
        tables[j, np.arange(64) >> j & 1 == 1] = -1e300
    for z in ([0, 1, 2, 2, 3, 3], [0, 0, 1, 1, 1, 2]):
        classes = np.array(z, np.int32)
        found = kernel.net_block_sum(tables, rule, classes, edges)
        assert found == pytest.approx(reference.net_block_sum(tables, rule, classes, plain), abs=1e-9)
        np.testing.assert_allclose(edges, plain, atol=1e-9)


def test_the_best_graph_and_the_number_of_graphs():
    tables = score_tables(rows_of_four(), LEVELS, False, 0.5, free(4))
    listed = np.array(acyclic_graphs(4), np.int32)
    assert len(listed) == len(np.unique(listed, axis=0)) == 543
    assert sum(1 for _ in ordered_partitions(5)) == 541
    values = tables[np.arange(4), listed].sum(axis=1)
    np.testing.assert_array_equal(net_exact.best_graph(tables), listed[np.argmax(values)])
    np.testing.assert_array_equal(to_masks(to_graph(listed)), listed)


def test_thousands_of_rows_do_not_underflow():
    """Scores that differ by thousands of nats: the sum over graphs stays finite, the edges are probabilities."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 2, (20000, 1)), 6, axis=1).astype(np.int32)
    X[rng.random(X.shape) < 0.02] ^= 1
    tables = score_tables(X, np.full(6, 2, np.int32), False, 0.5, free(6))
    rule = block_rule(6, 0.5, 1.0, 1.0)
    some = net_exact.block(tables, rule, np.array([0, 0, 1, 1, 2, 2], np.int32))
    for found in (some, *(exact(prior, tables, rule) for prior in ("uniform", "sparse", "ordered-block"))):
        assert np.isfinite(found.log_sum)
        skeleton = found.edges + found.edges.T
        assert -1e-9 < skeleton.min() and skeleton.max() < 1 + 1e-9 and found.edges.sum() > 4.9


@pytest.mark.parametrize("prior", ["block", "ordered-block", "sparse"])
def test_annealing_finds_the_best_of_all_states(prior):
    """Four columns: no graph with any partition (and any order of its classes) has a greater joint probability."""
    X, best = rows_of_four(), -np.inf
    settings = {"n_sweeps": 5, "n_chains": 1, "random_state": 0, "exact": False}
    model = StructureLearner(prior, map_search="anneal", **settings).fit(X)
    scores = score_tables(X, LEVELS, False, 0.5, free(4))
    for masks in np.array(acyclic_graphs(4), np.int32):
        score = scores[np.arange(4), masks].sum()
        partitions = [np.zeros(4, int)] if prior == "sparse" else enumerate_partitions(4)
        for z in ordered_partitions(4) if prior == "ordered-block" else partitions:
            best = max(best, score + log_joint(z, to_graph(masks), 0.5, 1.0, 1.0, prior == "ordered-block"))
    assert model.top_models_[0]["log_joint"] == pytest.approx(best, abs=1e-9)
