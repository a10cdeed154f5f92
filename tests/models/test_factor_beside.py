"""Factor experts with columns of levels and counts beside the real ones."""

import numpy as np
import pytest

from partita.data.encode import encode, learn_schema
from partita.models.factor.answer import Predictive as FactorAnalyser
from partita.models.factor.answer import answer, expert_law, scores
from partita.models.factor.beside import Beside
from partita.models.factor.experts import FactorProblem, FactorSettings, begin, step
from partita.models.gated.rows import make_view
from partita.models.lens import plain_lens

KINDS = ["real"] * 6 + ["categorical", "count", "binary"]


def made(n=60, holes=0.2, seed=0):
    """Rows of six real columns with two factors, three levels, a count and a mark; and what decides a class."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, 2))
    level, mark = rng.integers(3, size=n), rng.integers(2, size=n)
    real = factor @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(n, 6))
    X = np.column_stack([real, level, rng.poisson(2 + 3 * level), mark]).astype(float)
    X[rng.random(X.shape) < holes] = np.nan
    return X, factor[:, 0] + 1.5 * (level == 1) - mark


def problem_of(X, label, n_classes, kinds=KINDS, **settings):
    table = encode(X, learn_schema(X, kinds, warn=False))
    lens = plain_lens(table)
    rows = lens.rows(table)
    view = make_view(lens, rows, np.ones(len(X)), 2.0)
    beside = Beside.of(view.cells, rows, label)
    settings = FactorSettings(**{"n_factors": 3, "n_sticks": 6, **settings})
    return FactorProblem.of(rows.reals[:, view.reals], label, n_classes, None, settings, beside), view, rows


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [0, 2])
def test_the_bound_never_falls(n_classes, k):
    X, score = made()
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    label = np.searchsorted(cuts, score)
    label[::7] = -1
    problem, _, _ = problem_of(X, label, n_classes)
    assert any(len(places) for _, places in problem.beside.holes)
    rng = np.random.default_rng(1)
    state, bounds = begin(rng, problem, k), []
    for _ in range(25):
        state, info = step(problem, rng, state)
        bounds.append(info["bound"])
    assert np.diff(bounds).min() > -1e-8 * abs(bounds[-1])


def test_one_component_without_labels_adds_the_exact_evidence_of_the_other_columns():
    X, _ = made()
    label = np.full(len(X), -1)
    both, view, rows = problem_of(X, label, 2, n_sticks=1)
    alone = FactorProblem.of(rows.reals[:, view.reals], label, 2, None, both.settings)
    last = []
    for problem in (both, alone):
        state = begin(np.random.default_rng(0), problem, 0)
        for _ in range(5):
            state, info = step(problem, np.random.default_rng(0), state)
        last.append(info["bound"])
    exact = 0.0
    for column, cells in zip(view.cells, both.beside.levels, strict=True):
        shown = np.where(cells < 0, np.nan, cells) if column.count else cells
        prior = column.family(column.prior)
        exact += float(prior.log_marginal(prior.statistics(shown)))
    np.testing.assert_allclose(last[0] - last[1], exact, rtol=1e-9)


def test_latents_of_rows_with_missing_levels_have_the_moments_of_all_fillings():
    X, score = made(holes=0.0)
    label = (score > 0).astype(int)
    problem, view, rows = problem_of(X, label, 2)
    rng = np.random.default_rng(0)
    state = begin(rng, problem, 1)
    for _ in range(5):
        state, _ = step(problem, rng, state)
    level = view.cells[0].source
    codes = np.repeat(rows.codes[:1], 4, axis=0)
    codes[:, level] = [-1, 0, 1, 2]
    four = type(rows)(codes, np.repeat(rows.reals[:1], 4, axis=0))
    beside = Beside.of(view.cells, four)
    reals = four.reals[:, view.reals]
    h = 0
    found = scores(FactorAnalyser.of(state), h, np.nan_to_num(reals), (~np.isnan(reals)).astype(float))
    mean, covariance = expert_law(state, h, found, *beside.expected_features(state.cells, h, slice(0, 4)))
    share = view.cells[0].probabilities(state.cells[0])[h]
    np.testing.assert_allclose(mean[0], share @ mean[1:])
    own = share @ covariance[1:, 0, 0] + share @ (mean[1:, 0] - mean[0, 0]) ** 2
    np.testing.assert_allclose(covariance[0, 0, 0], own)
    gates = answer(state, reals, beside).log_gate
    np.testing.assert_allclose(np.exp(gates[0]), np.exp(gates[1:]).sum(axis=0))
