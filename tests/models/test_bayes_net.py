"""Exact answers of Bayesian networks against the whole joint table; EM rises; complete data in closed form."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln

from partita.models.networks import em as em
from partita.models.networks.graph import ancestors, find_cycle, topological_order
from partita.models.networks.network import Net, family_counts, family_shapes, log_marginal
from partita.models.networks.rows import (
    draw_missing,
    draw_rows,
    expected_counts,
    joint_of,
    log_probability,
    most_probable,
    posterior_of,
)

PARENTS = ((), (0,), (0,), (1, 2), (3,), (2, 3))
ARITIES = (2, 3, 2, 3, 2, 4)


def random_net(seed, parents=PARENTS, arities=ARITIES, zeros=False):
    rng = np.random.default_rng(seed)
    tables = []
    for shape in family_shapes(parents, arities):
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        if zeros:
            table = np.where(rng.random(table.shape) < 0.2, 0.0, table) + 1e-300
            table /= table.sum(axis=-1, keepdims=True)
            table[table < 1e-200] = 0.0
        tables.append(table)
    return Net(parents, arities, tuple(tables))


def joint_table(net):
    """Probability of every combination of levels, by multiplying the tables."""
    joint = np.empty(net.arities)
    for cell in np.ndindex(*net.arities):
        joint[cell] = np.prod([net.tables[j][(*(cell[p] for p in net.parents[j]), cell[j])] for j in range(len(net))])
    return joint


def holed_rows(seed, n, arities=ARITIES, share=0.5):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, r, n) for r in arities]).astype(np.int32)
    codes[rng.random(codes.shape) < share] = -1
    codes[0] = -1
    return codes


def matching(net, joint, row):
    """The joint table with the cells that contradict the row at zero."""
    kept = joint.copy()
    for axis, seen in enumerate(row):
        if seen >= 0:
            drop = [slice(None)] * kept.ndim
            drop[axis] = [k for k in range(net.arities[axis]) if k != seen]
            kept[tuple(drop)] = 0.0
    return kept


@pytest.mark.parametrize("zeros", [False, True])
def test_log_probability_sums_the_joint_table(zeros):
    net = random_net(1, zeros=zeros)
    joint = joint_table(net)
    codes = holed_rows(2, 60)
    with np.errstate(divide="ignore"):
        expected = np.log([matching(net, joint, row).sum() for row in codes])
    np.testing.assert_allclose(log_probability(net, codes), expected, atol=1e-12)


def test_posteriors_modes_and_joints_are_those_of_the_joint_table():
    net = random_net(3)
    joint = joint_table(net)
    codes = holed_rows(4, 40)
    best = most_probable(net, codes)
    for i, row in enumerate(codes):
        kept = matching(net, joint, row)
        for node in range(len(net)):
            law = kept.sum(axis=tuple(a for a in range(len(net)) if a != node))
            if row[node] < 0:
                assert best[i, node] == law.argmax()
    for node in range(len(net)):
        hidden = codes.copy()
        hidden[:, node] = -1
        laws = np.array([matching(net, joint, row).sum(axis=tuple(a for a in range(6) if a != node)) for row in hidden])
        np.testing.assert_allclose(posterior_of(net, codes, node), laws / laws.sum(axis=1, keepdims=True), atol=1e-12)
    row = np.array([-1, -1, 1, -1, 0, -1], dtype=np.int32)
    kept = matching(net, joint, row).sum(axis=(0, 2, 4))  # over nodes 1, 3, 5
    np.testing.assert_allclose(joint_of(net, [5, 1], row), (kept.sum(axis=1) / kept.sum()).T, atol=1e-12)


def test_expected_counts_are_sums_of_posteriors():
    net = random_net(5)
    joint = joint_table(net)
    codes, weight = holed_rows(6, 30), np.random.default_rng(7).random(30)
    counts, total = expected_counts(net, codes, weight)
    assert total == pytest.approx(float(weight @ log_probability(net, codes)), abs=1e-12)
    for node, count in enumerate(counts):
        family = (*net.parents[node], node)
        expected = np.zeros(count.shape)
        for row, w in zip(codes, weight):
            kept = matching(net, joint, row)
            law = kept.sum(axis=tuple(a for a in range(6) if a not in family)) / kept.sum()
            order = sorted(family)
            expected += w * law.transpose([order.index(v) for v in family])
        np.testing.assert_allclose(count, expected, atol=1e-12)


def test_interventions_cut_the_parents():
    net = random_net(8)
    cut = net.cut({3: 1})
    joint = joint_table(net)
    by_hand = joint / np.moveaxis(joint.sum(axis=(0, 4, 5)), 2, 2)[None, :, :, :, None, None]  # / P(1, 2, 3)
    by_hand = by_hand * joint.sum(axis=(0, 3, 4, 5))[None, :, :, None, None, None]  # * P(1, 2)
    law = by_hand[:, :, :, 1].sum(axis=(1, 2, 3, 4))
    np.testing.assert_allclose(joint_of(cut, [0], np.full(6, -1, np.int32)), law / law.sum(), atol=1e-12)
    np.testing.assert_allclose(joint_of(cut, [0], np.full(6, -1, np.int32)), net.tables[0], atol=1e-12)


def test_draws_follow_the_posterior():
    net = random_net(9)
    row = np.array([-1, 2, -1, -1, 1, -1], dtype=np.int32)
    n = 40_000
    drawn = draw_missing(net, np.repeat(row[None], n, axis=0), np.random.default_rng(10))
    kept = matching(net, joint_table(net), row)
    kept /= kept.sum()
    assert (drawn[:, [1, 4]] == [2, 1]).all()
    frequency = np.zeros(net.arities)
    np.add.at(frequency, tuple(drawn.T), 1 / n)
    error = np.sqrt(kept * (1 - kept) / n)
    assert (np.abs(frequency - kept) < 5 * error + 1e-12).all()


def test_whole_rows_follow_the_joint_table():
    net, n = random_net(16), 40_000
    joint = joint_table(net)
    frequency = np.zeros(net.arities)
    np.add.at(frequency, tuple(draw_rows(net, n, np.random.default_rng(17)).T), 1 / n)
    assert (np.abs(frequency - joint) < 5 * np.sqrt(joint * (1 - joint) / n) + 1e-12).all()


@pytest.mark.parametrize("estimate", ["ml", "map", "bayes"])
def test_objective_never_falls(estimate):
    net = random_net(11)
    rng = np.random.default_rng(12)
    codes = draw_missing(net, np.full((200, 6), -1, np.int32), rng)
    codes[rng.random(codes.shape) < 0.4] = -1
    amount = {"ml": 1.0, "map": 1.5, "bayes": 0.5}[estimate]
    learner = em.Learner.of(codes, np.ones(200), PARENTS, ARITIES, "dirichlet", amount, estimate)
    for jitter in (0.0, 0.5):
        state = em.init(learner, rng, jitter)
        trace = []
        for _ in range(60):
            state, info = em.step(learner, rng, state)
            trace.append(info["objective"])
        assert np.diff(trace).min() > -1e-9 * abs(trace[-1])
        assert trace[-1] > trace[0] + 1


def test_complete_rows_give_the_evidence_and_the_bound_is_below_it():
    net = random_net(13)
    rng = np.random.default_rng(14)
    codes = draw_missing(net, np.full((50, 6), -1, np.int32), rng)
    learner = em.Learner.of(codes, np.ones(50), PARENTS, ARITIES, "dirichlet", 0.5, "bayes")
    counts = learner.observed_counts()
    evidence = log_marginal(counts, learner.prior)
    assert learner.objective_of_complete(counts) == evidence
    _, info = em.step(learner, rng, {"counts": counts})  # at the exact posterior the bound is the evidence
    assert info["objective"] == pytest.approx(evidence, abs=1e-9)
    by_rows = 0.0  # one row after the other: the chain rule through posterior means
    for i in range(50):
        before = family_counts(codes[:i], PARENTS, ARITIES, np.ones(i))
        by_rows += log_probability(learner.net(learner.tables(before)), codes[i : i + 1])[0]
    assert evidence == pytest.approx(by_rows, abs=1e-9)


def test_bdeu_gives_equal_evidence_to_equivalent_graphs():
    rng = np.random.default_rng(15)
    codes = rng.integers(0, 3, (40, 2)).astype(np.int32)
    values = [
        em.Learner.of(codes, np.ones(40), parents, (3, 3), "bdeu", 2.0, "bayes").objective_of_complete(
            family_counts(codes, parents, (3, 3), np.ones(40))
        )
        for parents in (((), (0,)), ((1,), ()))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-10)


def test_map_prior_has_its_constant():
    learner = em.Learner.of(np.zeros((1, 1), np.int32), np.ones(1), ((),), (3,), "dirichlet", 2.0, "map")
    table = np.array([0.2, 0.3, 0.5])
    assert learner.log_prior([table]) == pytest.approx(gammaln(6) - 3 * gammaln(2) + np.log(table).sum())


def test_bound_is_below_the_evidence_of_rows_with_holes():
    codes = np.array([[0, 1], [1, -1], [-1, 0], [1, 1], [-1, -1]], dtype=np.int32)
    parents, arities = ((), (0,)), (2, 2)
    logs = []  # the evidence: sum over all fillings of the holes
    for filling in itertools.product((0, 1), repeat=int((codes < 0).sum())):
        filled = codes.copy()
        filled[codes < 0] = filling
        logs.append(log_marginal(family_counts(filled, parents, arities, np.ones(5)), [0.5, 0.5]))
    evidence = np.logaddexp.reduce(logs)
    learner = em.Learner.of(codes, np.ones(5), parents, arities, "dirichlet", 0.5, "bayes")
    state = em.init(learner, np.random.default_rng(0), 0.0)
    for _ in range(200):
        state, info = em.step(learner, np.random.default_rng(0), state)
        assert info["objective"] < evidence


def test_graphs():
    assert topological_order([(2,), (), (1,)]) == [1, 2, 0]
    assert find_cycle([(2,), (), (1,)]) == []
    cycle = find_cycle([(1,), (2,), (0,), (0,)])
    assert cycle[0] == cycle[-1] and set(cycle) == {0, 1, 2}
    for parent, child in itertools.pairwise(cycle):
        assert parent in [(1,), (2,), (0,), (0,)][child]
    assert ancestors(PARENTS, [4]) == {0, 1, 2, 3, 4}
    with pytest.raises(ValueError, match="->"):
        topological_order([(1,), (0,)])
