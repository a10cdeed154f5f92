"""Weights of priors where they are found by ladders, against sums over everything: missing cells, hyper-parameters that
are learnt, two tables."""

from itertools import permutations, product

import numpy as np
import pytest
from networks import acyclic, brute_force, local_score, rows_of_four, tables_of_three
from scipy.special import betaln, logsumexp, softmax

from partita import StructureLearner
from partita.kernels.net_contract import NO_SCORE
from partita.models.structure import exact as net_exact
from partita.models.structure.hyper import HyperGrid
from partita.models.structure.knowledge import Knowledge, score_tables
from partita.models.structure.normaliser import ClassPrior, by_drawing, log_acyclic
from partita.priors import franchise
from partita.priors.graph import block_rule
from partita.priors.partition import enumerate_partitions

PRIORS = ("ordered-block", "block", "sparse")
LEVELS = np.full(4, 2, np.int32)


def odds(evidence):
    return {prior: evidence[prior] - evidence["block"] for prior in PRIORS}


def found(X, **settings):
    settings = {"n_chains": 4, "n_sweeps": 2000} | settings
    model = StructureLearner("auto", random_state=0, **settings).fit(X)
    return odds({prior: np.log(model.prior_weights_[prior]) for prior in PRIORS})


def agree(mine, true, most):
    assert max(abs(mine[prior] - true[prior]) for prior in PRIORS) < most, (mine, true)


@pytest.mark.slow
def test_with_missing_cells():
    X = rows_of_four(60).astype(float)
    X[[0, 3], [1, 2]] = np.nan
    evidence = {}
    for prior in PRIORS:
        logs = []
        for cells in product((0, 1), repeat=2):
            full = X.copy()
            full[np.isnan(full)] = cells
            logs.append(brute_force(full.astype(np.int32), LEVELS, prior)[2])
        evidence[prior] = logsumexp(logs) - (0.0 if prior == "ordered-block" else np.log(acyclic_share(prior)))
    agree(found(X), odds(evidence), 0.3)


def acyclic_share(prior):
    """Of the graphs of a prior before cyclic ones are ruled out; alpha 0.5 and even edge probabilities."""
    sums = {"block": net_exact.block, "sparse": net_exact.one_class}[prior]
    return float(np.exp(sums(nothing(), block_rule(4, 0.5, 1.0, 1.0)).log_sum))


def nothing():
    """Scores that no data give."""
    scores = np.zeros((4, 16))
    for j in range(4):
        scores[j, np.arange(16) >> j & 1 == 1] = NO_SCORE
    return scores


@pytest.mark.slow
def test_with_hyper_parameters_that_are_learnt():
    X, grid = rows_of_four(60), HyperGrid.of("infer", "infer", 0.5, False)
    known = Knowledge(~np.eye(4, dtype=bool), np.zeros((4, 4), bool), 3)
    sums = {"ordered-block": net_exact.ordered, "block": net_exact.block, "sparse": net_exact.one_class}
    data = score_tables(X, LEVELS, False, 0.5, known)
    rules = [block_rule(4, alpha, *beta) for alpha, beta in product(grid.alpha, grid.beta)]
    evidence = {
        prior: logsumexp([of(data, rule).log_sum for rule in rules])
        - logsumexp([of(nothing(), rule).log_sum for rule in rules])
        for prior, of in sums.items()
    }
    agree(found(X, alpha="infer", beta="infer"), odds(evidence), 0.3)


FIRST = np.array([0, 3, 6])


def log_sum(prior, tables, room, alpha=0.5):
    """Over both graphs, classes and orders; with no tables of the prior alone."""
    graphs = np.array(acyclic(3))
    likelihood = np.zeros((len(graphs), len(graphs)))
    for t, X in enumerate(tables):
        of = [sum(local_score(X, LEVELS[:3], j, np.flatnonzero(A[:, j]).tolist(), False, 0.5) for j in range(3))
              for A in graphs]  # fmt: skip
        likelihood += np.array(of)[:, None] if t == 0 else np.array(of)
    logs = []
    for z in np.zeros((1, 6), int) if prior == "sparse" else enumerate_partitions(6):
        K = z.max() + 1
        seats = franchise.log_probability(franchise.count(z, FIRST), room, alpha) if prior != "sparse" else 0.0
        for order in permutations(range(K)) if prior == "ordered-block" else [tuple(range(K))]:
            place = np.array(order)[z]
            member = [np.eye(K)[place[:3]], np.eye(K)[place[3:]]]
            counts = [np.einsum("ia,gij,jb->gab", m, graphs, m) for m in member]
            present = counts[0][:, None] + counts[1][None, :]
            pairs = sum(np.outer(m.sum(0), m.sum(0)) - np.diag(m.sum(0)) for m in member)
            ratio, late = betaln(1 + present, 1 + pairs - present), np.tri(K, dtype=bool)
            if prior == "ordered-block":
                none = present[..., late].any(axis=-1)
                value = np.where(none, -np.inf, ratio[..., ~late].sum(axis=-1)) - np.log(np.arange(1, K + 1)).sum()
            else:
                value = ratio.sum(axis=(-2, -1))
            logs.append(logsumexp(value + likelihood) + seats)
    return float(logsumexp(logs))


@pytest.mark.slow
def test_with_two_tables():
    evidence = {prior: log_sum(prior, tables_of_three(60, 25), 2.0) - log_sum(prior, [], 2.0) for prior in PRIORS}
    agree(found(tables_of_three(60, 25), sharing=2.0), odds(evidence), 0.3)



@pytest.mark.parametrize("prior", ["block", "sparse"])
def test_the_normaliser_is_the_share_of_acyclic_graphs(prior):
    drawn, true = ClassPrior((0, 4), (0.5,), ((1.0, 1.0),)), np.log(acyclic_share(prior))
    assert by_drawing(drawn, prior == "sparse") == pytest.approx(true, abs=0.02)
    assert log_acyclic(drawn, prior == "sparse") == pytest.approx(true, abs=1e-12)


def test_exact_weights_of_priors():
    """Nothing is drawn where everything is listed: all graphs and classes of four columns."""
    X, evidence = rows_of_four(), {}
    for prior in PRIORS:
        evidence[prior] = brute_force(X, LEVELS, prior)[2] - brute_force(X[:0], LEVELS, prior)[2]
    model = StructureLearner("auto", exact=True, random_state=0).fit(X)
    weight = np.array([model.prior_weights_[prior] for prior in PRIORS])
    np.testing.assert_allclose(weight, softmax([evidence[prior] for prior in PRIORS]), atol=1e-12)
    edges = sum(w * brute_force(X, LEVELS, prior)[0] for w, prior in zip(weight, PRIORS))
    np.testing.assert_allclose(model.edge_probabilities_, edges, atol=1e-12)


def test_the_normaliser_of_two_tables():
    drawn = ClassPrior((0, 3, 6), (0.5,), ((1.0, 1.0),), (2.0,))
    for prior in ("block", "sparse"):
        assert log_acyclic(drawn, prior == "sparse") == pytest.approx(log_sum(prior, [], 2.0), abs=0.03)
