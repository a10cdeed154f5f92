"""Kikuchi-Bayes against brute force: products by Algorithm 1, the greedy path, summed-out cells, invariances."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from partita.models.kikuchi.learnt import Kikuchi
from partita.models.kikuchi.problem import Choices, Problem
from partita.models.kikuchi.regions import algorithm_one, closure, freedom, log_prior
from partita.models.kikuchi.search import Search, regions_in
from partita.models.kikuchi.tables import interaction_information, log_potential, submodel
from partita.models.kikuchi.work import Work


def table(n=150, levels=(2, 3, 2, 2, 3), n_classes=2, seed=0):
    """Codes whose class depends on attributes 0 and 1 together, on 2, and on nothing else."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, k, n) for k in levels]).astype(np.int32)
    score = 1.7 * (codes[:, 0] == (codes[:, 1] > 0)) + 1.2 * codes[:, 2] - 1.3 + rng.logistic(size=n) * 0.7
    label = np.clip((score > 0) + (n_classes > 2) * (score > 1), 0, n_classes - 1).astype(np.int32)
    return codes, np.array(levels, np.int32), label


def problem_of(codes, levels, label, n_classes=2, weight=None):
    return Problem.of(codes, levels, label, np.ones(len(label)) if weight is None else weight, n_classes)


def search(problem, **choices):
    found = Search(problem, Choices(**choices), Work())
    for kind, order in found.phases():
        while (found.climb if kind == "climb" else found.descend)(order):
            pass
    return found


def log_proba_by_algorithm_one(problem, regions, theta, codes):
    """log P(y | x) of eq. 1: submodels to the power of their counting numbers."""
    out = np.zeros((len(codes), problem.n_classes))
    for region, c in algorithm_one(regions).items():
        out += c * np.log(submodel(problem.counts(region), theta))[tuple(codes[:, j] for j in region)]
    return out - logsumexp(out, axis=1, keepdims=True)


def brute_path(problem, codes, theta, max_order):
    """The path by scoring every candidate from its region graph, eqs. 1, 6, 7 and 8."""

    def score(regions):
        log_p = log_proba_by_algorithm_one(problem, regions, theta, codes)
        likelihood = problem.weight @ log_p[np.arange(len(codes)), problem.label]
        df = freedom(regions, problem.rows.levels.tolist(), problem.n_classes)
        return likelihood, df, likelihood + log_prior(df, problem.total)

    path = [((), *score([()]))]

    def walk(order, good):
        while True:
            chosen = [p[0] for p in path]
            inside = closure(chosen)
            options = [s for s in itertools.combinations(range(codes.shape[1]), order) if s not in inside]
            scored = [(s, *score([*chosen, s])) for s in options]
            scored = [s for s in scored if np.isfinite(s[3])]
            if not scored:
                return
            best = max(scored, key=lambda s: s[3])
            if not good(best):
                return
            path.append(best)

    for order in range(1, max_order):
        walk(order, lambda best: best[3] > path[-1][3] + 1e-9)
    walk(max_order - 1, lambda best: best[1] > path[-1][1] + 1e-9)
    return path


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("max_order", "n_classes", "theta"), [(4, 2, 1.0), (3, 3, 1e-4), (5, 2, 0.3)])
def test_greedy_path_is_the_brute_force_path(seed, max_order, n_classes, theta):
    codes, levels, label = table(seed=seed, n_classes=n_classes)
    problem = problem_of(codes, levels, label, n_classes)
    found = search(problem, max_order=max_order, theta=theta, weight_cut=None)
    expected = brute_path(problem, codes, theta, max_order)
    assert [s.region for s in found.path] == [e[0] for e in expected]
    np.testing.assert_allclose([s.log_likelihood for s in found.path], [e[1] for e in expected], atol=1e-8)
    np.testing.assert_allclose([s.df for s in found.path], [e[2] for e in expected], atol=1e-9)
    np.testing.assert_allclose([s.log_posterior for s in found.path], [e[3] for e in expected], atol=1e-8)


@pytest.mark.parametrize("prior_cells", ["all", "observed"])
@pytest.mark.parametrize("beyond", ["end", "each", "never"])
def test_pruning_does_not_change_the_path(prior_cells, beyond):
    codes, levels, label = table(200, (2, 3, 2, 2, 3, 2, 4), seed=5)
    problem = problem_of(codes, levels, label)
    choices = {"prior_cells": prior_cells, "beyond": beyond}
    a, b = search(problem, **choices), search(problem, prune=False, **choices)
    assert a.path == b.path and a.scored < sum(len(c) for c in b.candidates.values()) * len(b.path)


def test_the_bounds_are_bounds():
    codes, levels, label = table(120, seed=7, n_classes=3)
    problem = problem_of(codes, levels, label, 3, np.random.default_rng(0).random(120) * 2)
    found = Search(problem, Choices(theta=1e-4), Work())
    for order in (1, 2, 3):
        candidates = found.prepare(order)
        index = np.arange(len(candidates))
        candidates.build(index, found.work)
        gain = candidates.gains(index, found.proba, found.work)
        assert (candidates.bounds(index, found.proba, found.work) >= gain).all()
        assert (found.path[-1].log_likelihood + gain <= 0).all()
        found.climb(order)


def test_products_and_passes_over_the_rows_agree(monkeypatch):
    codes, levels, label = table(200, (2, 2, 2, 3, 2, 2), seed=3)
    problem = problem_of(codes, levels, label)
    paths = []
    for cost in (0.0, 1e9):
        monkeypatch.setattr("partita.models.kikuchi.moments.PRODUCT_COST", cost)
        paths.append(search(problem).path)
    assert paths[0] == paths[1]


def test_potentials_not_kept_in_memory_change_nothing(monkeypatch):
    problem = problem_of(*table(seed=2))
    kept = search(problem).path
    monkeypatch.setattr("partita.models.kikuchi.candidates.KEPT_NUMBERS", 0)
    assert search(problem).path == kept


def test_submodels_are_predictively_consistent():
    problem = problem_of(*table(seed=1))
    for theta in (1e-4, 1.0, 20.0):
        whole = submodel(problem.counts((0, 1, 3)), theta)
        assert whole.sum() == pytest.approx(1)
        for part in ((), (0,), (1,), (3,), (0, 1), (0, 3), (1, 3)):
            away = tuple(k for k, j in enumerate((0, 1, 3)) if j not in part)
            np.testing.assert_allclose(whole.sum(axis=away), submodel(problem.counts(part), theta), rtol=1e-12)


def test_product_of_potentials_is_algorithm_one():
    codes, levels, label = table(seed=4)
    problem, rng = problem_of(codes, levels, label), np.random.default_rng(0)
    for _ in range(40):
        regions = [tuple(sorted(rng.choice(5, rng.integers(1, 5), replace=False).tolist())) for _ in range(4)]
        product = sum(
            log_potential(problem.counts(s), 0.7)[tuple(codes[:, j] for j in s)] for s in closure(regions)
        )  # fmt: skip
        product = product - logsumexp(product, axis=1, keepdims=True)
        np.testing.assert_allclose(product, log_proba_by_algorithm_one(problem, regions, 0.7, codes), atol=1e-12)


def test_all_singles_are_naive_bayes():
    codes, levels, label = table(seed=6)
    problem = problem_of(codes, levels, label)
    found = search(problem, max_order=2, singles="all", theta=1.0)
    assert len(found.path) == 1
    prior = (np.bincount(label) + 0.5) / (len(label) + 1)
    expected = np.tile(np.log(prior), (len(codes), 1))
    for j, k in enumerate(levels):
        for c in (0, 1):
            inside = label == c
            count = np.bincount(codes[inside, j], minlength=k) + 1 / (2 * k)
            expected[:, c] += np.log(count / count.sum())[codes[:, j]]
    expected -= logsumexp(expected, axis=1, keepdims=True)
    model = Kikuchi.of(problem, found.path, 1.0, True)
    np.testing.assert_allclose(np.log(model.proba(codes)), expected, atol=1e-10)


def test_one_region_of_all_attributes_is_the_saturated_table():
    codes, levels, label = table(400, (2, 3, 2), seed=8)
    problem = problem_of(codes, levels, label)
    found = Search(problem, Choices(), Work())
    found.add((0, 1, 2), "by hand")
    model = Kikuchi.of(problem, found.path, 1.0, False)
    model.weights[:] = [0, 1] if len(model.weights) == 2 else 1
    table_of_all = submodel(problem.counts((0, 1, 2)), 1.0)
    expected = (table_of_all / table_of_all.sum(axis=-1, keepdims=True))[tuple(codes.T)]
    np.testing.assert_allclose(model.proba(codes), expected, atol=1e-12)


@pytest.mark.parametrize("averaging", [True, False])
def test_summed_out_cells_are_an_enumeration(averaging):
    codes, levels, label = table(300, (2, 3, 2, 2, 3), seed=9)
    problem = problem_of(codes, levels, label)
    found = search(problem, max_order=4, theta=0.5)
    model = Kikuchi.of(problem, found.path, 0.5, averaging)
    rng = np.random.default_rng(1)
    holed = np.where(rng.random((25, 5)) < 0.5, -1, codes[:25]).astype(np.int32)
    got = model.log_proba_by_stage(holed)
    for stage in range(len(model.regions)):
        for i, row in enumerate(holed):
            ways = [range(levels[j]) if row[j] < 0 else [row[j]] for j in range(5)]
            total = np.full(2, -np.inf)
            for x in itertools.product(*ways):
                terms = [f.table[tuple(x[j] for j in f.region)] for f in model.factors if f.stage <= stage]
                total = np.logaddexp(total, np.sum(terms, axis=0))
            np.testing.assert_allclose(got[stage, i], total - logsumexp(total), atol=1e-9)


def test_contributions_sum_to_the_prediction():
    codes, levels, label = table(300, seed=10, n_classes=3)
    problem = problem_of(codes, levels, label, 3)
    found = search(problem)
    for averaging in (True, False):
        model = Kikuchi.of(problem, found.path, 1.0, averaging)
        log_odds = model.contributions(codes).sum(axis=1)
        proba = np.exp(log_odds - logsumexp(log_odds, axis=1, keepdims=True))
        np.testing.assert_allclose(proba, model.proba(codes), atol=1e-12)


def test_interaction_information_of_known_tables():
    counts = np.array([[[25.0, 0], [0, 25]], [[0, 25], [25, 0]]])  # the class is the exclusive or
    assert interaction_information(counts, 1e-9) == pytest.approx(np.log(2))
    assert interaction_information(counts.sum(axis=0), 1e-9) == pytest.approx(0, abs=1e-9)
    copy = np.zeros((2, 2, 2))
    copy[0, 0, 0] = copy[1, 1, 1] = 10  # both attributes are the class: redundant
    assert interaction_information(copy, 1e-9) == pytest.approx(-np.log(2))


def test_invariances():
    codes, levels, label = table(seed=11)
    base = search(problem_of(codes, levels, label))
    turn = np.array([3, 0, 4, 2, 1])
    turned = search(problem_of(np.ascontiguousarray(codes[:, turn]), levels[turn], label))
    back = [tuple(sorted(turn[list(r)].tolist())) for r in regions_in(turned.path)]
    assert back == regions_in(base.path)
    renamed = search(problem_of(levels - 1 - codes, levels, label))
    assert regions_in(renamed.path) == regions_in(base.path)
    np.testing.assert_allclose([s.log_posterior for s in renamed.path], [s.log_posterior for s in base.path], atol=1e-9)
    times = np.random.default_rng(0).integers(0, 3, len(label))
    weighted = search(problem_of(codes, levels, label, weight=times.astype(float)))
    again = np.repeat(np.arange(len(label)), times)
    repeated = search(problem_of(codes[again], levels, label[again]))
    assert regions_in(weighted.path) == regions_in(repeated.path)
    np.testing.assert_allclose(
        [s.log_posterior for s in weighted.path], [s.log_posterior for s in repeated.path], atol=1e-9
    )
