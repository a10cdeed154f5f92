"""EM for gated experts: the likelihood is that of brute force, it rises, and one expert is a textbook fit."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import multivariate_normal, norm, poisson

from partita.data.encode import encode, learn_schema
from partita.data.validate import DataWarning
from partita.inference.runner import Runner
from partita.models.gated.predict import answer
from partita.models.lens import plain_lens
from partita.models.qgme import em as qgme_em
from partita.models.qgme.em import QGMEProblem, n_parameters
from partita.models.qgme.fits import Strength, learn, make_problem
from partita.models.qgme.model import NormalGates, QGMEModel
from partita.models.qgme.start import parted

REAL3 = ["real", "real", "real"]


def holed(seed, n, n_classes, kinds, missing=0.25, unlabelled=0.2):
    """A table of two real columns, a third or a category, a flag and a count beside, with holes; codes of labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.stack([rng.normal(y, 1.0), rng.normal(0.0, 1.0 + y), rng.normal(size=n)], axis=1)
    if kinds != REAL3:
        level = (rng.integers(0, 2, n) + y) % 3
        X = np.concatenate([X[:, :2], np.stack([level, rng.random(n) < 0.3, rng.poisson(1 + y)], axis=1)], axis=1)
    X = np.where(rng.random(X.shape) < missing, np.nan, X)
    label = np.where(rng.random(n) < unlabelled, -1, y)
    label[:n_classes] = np.arange(n_classes)
    return X, label


def problem_of(X, label, k, kinds=REAL3, weight=None, strength=(3.0, 0.1, 1.0)) -> QGMEProblem:
    schema = learn_schema(X, kinds, scaled=False)
    table = encode(X, schema, "test")
    lens = plain_lens(table)
    weight = np.ones(len(X)) if weight is None else weight
    n_classes = int(label.max()) + 1
    return make_problem(lens, lens.rows(table), label, weight, n_classes, k, Strength(*strength))


def run(problem, n_steps, seed=0, within=False):
    state, trace = problem.init(np.random.default_rng(seed), within), []
    for _ in range(n_steps):
        state, info = problem.step(state)
        trace.append(info)
    return state, {name: np.array([info[name] for info in trace]) for name in trace[0]}


MIXED = ["real", "real", "categorical", "binary", "count"]


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("kinds", [REAL3, MIXED], ids=["real", "mixed"])
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_likelihood_and_prior_together_never_fall(n_classes, kinds, within):
    for seed in range(3):
        X, label = holed(seed, 50, n_classes, kinds)
        weight = np.random.default_rng(seed).gamma(1.0, size=len(X)) + 0.01
        problem = problem_of(X, label, 4, kinds, weight)
        trace = run(problem, 40, seed, within)[1]["objective"]
        assert np.diff(trace).min() > -1e-7 * abs(trace).max()


def test_the_likelihood_itself_never_falls_where_the_prior_weighs_nothing():
    for seed in range(5):
        X, label = holed(seed, 120, 2, REAL3)
        trace = run(problem_of(X, label, 2, strength=(1e-9, 1e-9, 1e-9)), 60, seed)[1]["log_likelihood"]
        assert np.diff(trace).min() > -1e-7


def test_the_likelihood_is_that_of_integrating_missing_cells_numerically():
    X = np.array([[0.3, -1.0], [np.nan, 0.5], [1.2, np.nan], [np.nan, np.nan], [-0.7, 0.9], [2.0, 0.1], [np.nan, 1.5]])
    label = np.array([0, 1, 1, 0, 1, -1, -1])
    weight = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 1.0, 3.0])
    problem = problem_of(X, label, 2, ["real", "real"], weight)
    state, trace = run(problem, 6)
    total = 0.0
    for x, y, times in zip(X, label, weight, strict=True):
        each = []
        for h in range(state.n_components):
            w, m, precision = state.w[h, 0], state.mean[h], np.linalg.inv(state.covariance[h])
            height = np.sqrt(np.linalg.det(precision)) / (2 * np.pi)

            def joint(cells, w=w, m=m, precision=precision, height=height, y=y):
                chance = 1.0 if y < 0 else ndtr((2 * y - 1) * (cells @ w[:2] + w[2]))
                return chance * height * np.exp(-0.5 * (cells - m) @ precision @ (cells - m))

            hole = np.flatnonzero(np.isnan(x))
            each.append(state.weight[h] * integrated(joint, x.copy(), hole))
        total += times * np.log(sum(each))
    assert total == pytest.approx(trace["log_likelihood"][-1], abs=1e-6)


def integrated(density, x, hole):
    if not len(hole):
        return density(x)

    def inner(value):
        x[hole[0]] = value
        return integrated(density, x, hole[1:])

    return quad(inner, -20.0, 20.0, points=[-2, 0, 2], epsabs=1e-9)[0]


def test_a_complete_row_with_levels_and_counts_has_the_product_of_their_probabilities():
    X, label = holed(3, 40, 2, MIXED, missing=0.0)
    problem = problem_of(X, label, 2, MIXED)
    state, trace = run(problem, 5)
    logs = np.empty((len(X), state.n_components))
    view = problem.view
    sides = np.concatenate([*(c.look(X[:, 2 + j].astype(int)) for j, c in enumerate(view.cells)), np.ones((40, 1))], 1)
    features = np.concatenate([X[:, :2], sides], axis=1)
    for h in range(state.n_components):
        level, flag, rate = (theta[h] for theta in state.cells)
        logs[:, h] = np.log(state.weight[h]) + multivariate_normal.logpdf(X[:, :2], state.mean[h], state.covariance[h])
        logs[:, h] += np.log(level[X[:, 2].astype(int)]) + np.log(flag[X[:, 3].astype(int)])
        logs[:, h] += poisson.logpmf(X[:, 4], rate[0])
        sign = np.where(label == 1, 1.0, -1.0)
        logs[:, h] += np.where(label < 0, 0.0, log_ndtr(sign * (features @ state.w[h, 0])))
    assert logsumexp(logs, axis=1).sum() == pytest.approx(trace["log_likelihood"][-1], rel=1e-10)


def test_one_expert_on_complete_rows_is_probit_regression_beside_a_gaussian():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.7]])
    label = (X @ [0.8, -0.5, 0.3] + 0.2 + rng.normal(size=150) > 0).astype(int)
    state, trace = run(problem_of(X, label, 1, strength=(1e-9, 1e-9, 1e-9)), 400)
    with_one = np.concatenate([X, np.ones((150, 1))], axis=1)
    sign = 2.0 * label - 1.0
    best = minimize(
        lambda w: -log_ndtr(sign * (with_one @ w)).sum(), np.zeros(4), method="BFGS", options={"gtol": 1e-8}
    )
    np.testing.assert_allclose(state.w[0, 0], best.x, atol=1e-5)
    np.testing.assert_allclose(state.mean[0], X.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(state.covariance[0], np.cov(X.T, bias=True), atol=1e-8)
    gaussian = multivariate_normal.logpdf(X, X.mean(axis=0), np.cov(X.T, bias=True)).sum()
    assert trace["log_likelihood"][-1] == pytest.approx(gaussian - best.fun, abs=1e-6)


def test_the_regularised_optimum_of_one_expert_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    label = (X[:, 0] > 0).astype(int)  # no finite maximum without the prior
    state, _ = run(problem_of(X, label, 1, ["real", "real"], strength=(5.0, 0.3, 1.0)), 500)
    with_one = np.concatenate([X, np.ones((40, 1))], axis=1)
    sign = 2.0 * label - 1.0
    best = minimize(lambda w: 0.15 * w @ w - log_ndtr(sign * (with_one @ w)).sum(), np.zeros(3), options={"gtol": 1e-8})
    np.testing.assert_allclose(state.w[0, 0], best.x, atol=1e-4)


def test_parameter_expansion_ends_where_plain_em_does_and_sooner(monkeypatch):
    X, label = holed(6, 150, 2, REAL3)
    problem = problem_of(X, label, 1)
    fast = run(problem, 30)[1]["objective"]

    def plain(w, products, targets, ridge):
        system = products + ridge * np.eye(products.shape[1])
        return np.swapaxes(np.linalg.solve(system, np.swapaxes(targets, 1, 2)), 1, 2), np.ones(len(w))

    monkeypatch.setattr(qgme_em, "maximised_experts", plain)
    slow = run(problem, 600)[1]["objective"]
    assert fast[-1] == pytest.approx(slow[-1], abs=1e-4)
    assert (slow[-1] - fast[:30] < 0.01).argmax() <= (slow[-1] - slow < 0.01).argmax()


def test_answers_are_bayes_rule_on_the_likelihood():
    X, label = holed(7, 60, 2, REAL3)
    problem = problem_of(X, label, 3)
    state, _ = run(problem, 15)
    model = QGMEModel.at(problem.view, 2, state)
    table = encode(X, learn_schema(X, REAL3, scaled=False), "test")
    rows = problem.view.lens.rows(table)
    given = answer(model, rows)
    logs = np.empty((len(X), 2))
    for i in range(len(X)):
        for c in range(2):
            one = QGMEProblem.make(
                problem.view, rows.take(np.array([i])), np.array([c]), np.ones(1), 2, 3, problem.regulariser
            )
            logs[i, c] = one.expect(state.taking(np.arange(state.n_components))).sums.log_evidence
    np.testing.assert_allclose(given.log_density(), logsumexp(logs, axis=1), rtol=1e-9, atol=1e-12)
    expected = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(given.probabilities(), expected, rtol=1e-8, atol=1e-12)


def test_normal_gates_draw_missing_cells_given_the_observed_ones():
    gate = NormalGates(np.array([1.0, -1.0]), np.array([[1.0, 0.6], [0.6, 2.0]]))
    x = np.full((20_000, 2), np.nan)
    x[::2, 0] = 2.0
    drawn = gate.draw_missing(x, np.random.default_rng(0))
    assert (drawn[::2, 0] == 2.0).all() and not np.isnan(drawn).any()
    given = drawn[::2, 1]
    assert given.mean() == pytest.approx(-0.4, abs=0.05) and given.var() == pytest.approx(1.64, abs=0.08)
    np.testing.assert_allclose(np.cov(drawn[1::2].T), gate.covariance, atol=0.1)


def test_an_emptied_component_is_dropped_and_changes_nothing():
    X, label = holed(8, 60, 2, REAL3)
    problem = problem_of(X, label, 3)
    state, _ = run(problem, 10)
    state.sums.count[2] = 1e-9
    smaller, info = problem.step(state)
    assert smaller.n_components == 2 and np.isfinite(info["objective"])


def test_free_parameters_are_counted_as_stated():
    X, label = holed(9, 60, 2, MIXED)
    problem = problem_of(X, label, 3, MIXED)
    state, _ = run(problem, 1)
    features = 2 + 3 + 1 + 1 + 1  # two reals, three levels, a flag, a count, the intercept
    assert n_parameters(state, problem) == 3 * (2 + 3 + (2 + 1 + 1) + features) + 2
    X[:, 1] = np.nan  # nothing can be learnt of it
    with pytest.warns(DataWarning, match="no observed cell"):
        problem = problem_of(X, label, 3, MIXED)
    assert n_parameters(run(problem, 1)[0], problem) == 3 * (1 + 1 + 4 + features - 1) + 2


def test_a_start_of_k_experts_is_the_same_whatever_else_is_tried():
    X, label = holed(10, 60, 2, REAL3)
    table = encode(X, learn_schema(X, REAL3), "test")

    def fit(candidates):
        rest = (3, Strength(3.0, 0.1, 1.0), 20, 1e-5, 0, Runner(), "")
        return learn(table, label, np.ones(60), 2, candidates, *rest)

    np.testing.assert_array_equal(fit([1, 2, 3])[3].log_likelihoods, fit([3])[3].log_likelihoods)


def test_places_are_parted_by_mass():
    np.testing.assert_array_equal(parted(np.array([3.0, 1.0]), 4), [3, 1])
    np.testing.assert_array_equal(parted(np.array([1.0, 1.0, 1.0]), 3), [1, 1, 1])
    for k in range(3, 30):
        parts = parted(np.array([0.2, 5.0, 1.3]), k)
        assert parts.sum() == k and parts.min() >= 1


def test_the_second_moment_of_latents_follows_from_their_sums():
    """<t^2> = 1 + <t w'x>: what the scale of the latents is estimated from, here by integration over t."""
    w, x, y = np.array([0.7, -0.3]), np.array([1.4, 1.0]), 1
    m = w @ x
    chance = norm.cdf(m)
    first = quad(lambda t: t * norm.pdf(t - m), 0, 20)[0] / chance
    second = quad(lambda t: t * t * norm.pdf(t - m), 0, 20)[0] / chance
    assert y == 1 and second == pytest.approx(1.0 + first * m, rel=1e-8)
