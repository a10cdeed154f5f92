"""Sums over graphs and sweeps over classes: native and plain alike."""

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.net_contract import NO_SCORE, HashedValues, ScoreWeights
from partita.priors.graph import block_rule


def scores(n, seed=0, spread=2.0):
    score = np.random.default_rng(seed).normal(0.0, spread, (n, 1 << n))
    for j in range(n):
        score[j, [P for P in range(1 << n) if P >> j & 1]] = NO_SCORE
    return score


@pytest.mark.parametrize("spread", [1.0, 1000.0])
def test_sums_over_all_graphs(native, spread):
    """The same edge probabilities as by listing all graphs, whatever the range of the scores."""
    score = scores(4, spread=spread)
    score[2, [P for P in range(16) if not P & 1]] = NO_SCORE  # an edge that must be
    found = []
    for kernels in (reference, native):
        edges = np.zeros((4, 4))
        found.append((kernels.net_dag_sum(score.copy(), edges), edges))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)
    assert found[1][1][0, 2] == pytest.approx(1.0)
    assert len(reference.net_sums.acyclic_graphs(4)) == 543


@pytest.mark.parametrize("spread", [1.0, 1000.0])
@pytest.mark.parametrize("z", [[0, 0, 0, 0, 0], [0, 1, 1, 0, 2], [0, 1, 2, 3, 4]])
def test_sums_over_graphs_with_classes(native, spread, z):
    score, rule, classes = scores(5, spread=spread), block_rule(5, 0.5, 0.7, 1.3), np.array(z, np.int32)
    score[2, [P for P in range(32) if not P & 1]] = NO_SCORE
    found = []
    for kernels in (reference, native):
        edges = np.zeros((5, 5))
        found.append((kernels.net_block_sum(score, rule, classes, edges), edges))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)


def test_a_chain_of_graphs_begins_where_it_is_told(native):
    score, odds = scores(4), np.zeros((4, 4))
    begin = np.array([[0, 1, 0, 6]], np.int32)
    drawn = []
    for kernels in (reference, native):
        parents = begin.copy()
        kernels.net_order_draws(score, odds, parents, 0, 1)
        np.testing.assert_array_equal(parents, begin)
        kernels.net_order_draws(score, odds, parents, 4, 1)
        drawn.append(parents)
    np.testing.assert_array_equal(*drawn)


def test_sums_into_one_class(native):
    score, rule = scores(5), block_rule(5, 0.5, 0.7, 1.3)
    for members, classes, own, within, hit in [
        (0b00001, [], -1, [0] * 5, [0] * 5),
        (0b11000, [0b00011, 0b00100], -1, [0b00111] * 5, [0] * 5),
        (0b01100, [0b00011, 0b01100, 0b10000], 1, [0b00001, 0, 0b10011, 0b10111, 0], [1, 0, 0b00010, 0b00100, 0]),
    ]:
        arrays = [np.array(a, np.int32) for a in (classes, within, hit)]
        values = [
            kernels.net_class_sum(score, rule, 0.6, members, arrays[0], own, *arrays[1:])
            for kernels in (reference, native)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-10)


def weights(score, heat, linear):
    return ScoreWeights.of(score, heat) if linear else ScoreWeights.none()


def test_weights_of_scores_are_left_out_where_doubles_do_not_hold_them():
    score = scores(4)
    linear = ScoreWeights.of(score, 0.5)
    np.testing.assert_allclose(np.log(linear.weight[0, 2]) + linear.shift[0], 0.5 * score[0, 2])
    assert linear.weight[1, 2] == 0.0 and linear.weight.max() == 1.0
    assert ScoreWeights.of(1e4 * score).weight.size == 0


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("free", [True, False])
def test_ordered_sweeps_are_the_same(native, free, linear):
    score, rule = scores(4), block_rule(4, 0.5, 1.0, 1.0)
    chains = []
    for kernels in (reference, native):
        z, parents, edges = np.array([0, 1, 1, 2], np.int32), np.zeros(4, np.int32), np.zeros((4, 4))
        cache, trace = HashedValues.room(8), []
        more = weights(score, 1.0, linear)
        for seed in range(4):
            value = kernels.net_ordered_sweep(score, rule, cache, z, free, seed, edges, parents, more)
            assert value == pytest.approx(kernels.net_ordered_target(score, rule, cache, z), abs=1e-9)
            trace.append([value, *z, *parents])
        chains.append((np.array(trace), edges))
    np.testing.assert_allclose(chains[0][0], chains[1][0], atol=1e-9)
    np.testing.assert_allclose(chains[0][1], chains[1][1], atol=1e-9)


def steep(n):
    """Every node would have all others as parents: orders are rarer than doubles hold, weights of sets are not."""
    score = np.full((n, 1 << n), NO_SCORE)
    for j in range(n):
        for P in range(1 << n):
            if not P >> j & 1:
                score[j, P] = -550.0 + P.bit_count() if P.bit_count() < n - 1 else 0.0
    return score


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("heat", [1.0, 0.4])
@pytest.mark.parametrize("table", ["four", "six", "steep"])
def test_block_sweeps_are_the_same(native, heat, linear, table):
    n = 6 if table == "six" else 4
    score, rule = steep(n) if table == "steep" else scores(n), block_rule(n, 0.5, 1.0, 2.0)
    if table == "six":
        score[4, [P for P in range(64) if P & 0b1010]] = NO_SCORE  # edges that must not be
    more = weights(score, heat, linear)
    assert (more.weight.size > 0) == linear
    chains = []
    for kernels in (reference, native):
        z, parents, edges, trace = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros((n, n)), []
        for seed in range(6 if n == 4 else 2):
            value = kernels.net_block_sweep(score, rule, heat, z, parents, True, 3, 5, seed, edges, more)
            trace.append([value, *z, *parents])
        chains.append((np.array(trace), edges))
    np.testing.assert_allclose(chains[0][0], chains[1][0], atol=1e-9)
    np.testing.assert_allclose(chains[0][1], chains[1][1], atol=1e-9)
