"""Widths of the laws of missing cells, learnt from rows set aside."""

import numpy as np
import pytest
from scipy.stats import kstest
from scipy.stats import t as student

from partita import IQGMEClassifier, QGMEClassifier, load, save
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.models.gated.answer import Laws, Widths
from partita.models.gated.aside import predicted_cells
from partita.models.gated.fill import Stretch, _quantile
from partita.models.gated.held import PROMISED, RowWidths, shares_held
from partita.models.gated.widths import Cells, choose, choose_seen


def cells_of(value, scale=1.0, degrees=50.0):
    m = len(value)
    one = np.ones((m, 1))
    return Cells(value, np.ones(m), one, np.zeros((m, 1)), scale * one, degrees * one)


@pytest.mark.parametrize(("scale", "degrees"), [(0.5, 3.0), (1.6, 50.0), (1.0, 8.0)])
def test_the_scale_and_the_degrees_of_a_law_are_found(scale, degrees):
    value = scale * student.rvs(degrees, size=4000, random_state=0)
    _, widths = choose([cells_of(value)])
    np.testing.assert_allclose(np.log(widths.scale), np.log(scale), atol=0.12)
    assert abs(np.log(widths.degrees / degrees)) < 1.0


def test_the_model_that_predicts_cells_better_has_the_greater_weight():
    value = np.random.default_rng(0).normal(size=2000)
    far = cells_of(value)
    far.location = far.location + 2.0
    share, _ = choose([cells_of(value), far])
    assert share[0] > 0.9


def test_a_cell_given_the_others_is_what_laws_say_of_a_missing_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + 3.0 * rng.integers(2, size=(60, 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = IQGMEClassifier(random_state=0, cell_folds=0, max_iter=5).fit(X, X[:, 0] > np.nanmean(X[:, 0]))
    gated = model._pool.whole[1]
    table = model._encode(X[:6])
    rows = gated.view.lens.rows(table)
    cells = predicted_cells(gated, rows, np.ones(6))
    row, column = np.nonzero(~np.isnan(rows.reals))
    for number, (i, j) in enumerate(zip(row, column, strict=True)):
        reals = rows.reals[i : i + 1].copy()
        reals[0, j] = np.nan
        law = gated.laws(type(rows)(rows.codes[i : i + 1], reals))
        best = np.argsort(-law.share[0], kind="stable")[:4]
        shares = law.share[0, best] / law.share[0, best].sum()
        shown = shares > 1e-6
        np.testing.assert_allclose(cells.share[number][: len(best)], shares, atol=1e-8)
        np.testing.assert_allclose(cells.location[number][: len(best)][shown], law.location[0, best, j][shown])
        np.testing.assert_allclose(cells.scale[number][: len(best)][shown], law.scale[0, best, j][shown])
        np.testing.assert_allclose(cells.degrees[number][: len(best)][shown], law.degrees[0, best][shown])


def test_stretched_draws_have_the_widths():
    gate = NormalInverseWishart(np.zeros(1), np.array(5.0), np.array(6.0), np.eye(1))
    x = np.full((4000, 1), np.nan)
    drawn = gate.draw_missing(x, np.random.default_rng(0))
    scale = np.sqrt((1.0 + 1.0 / 5.0) / 6.0)
    laws = Laws(np.ones((4000, 1)), np.zeros((4000, 1, 1)), np.full((4000, 1, 1), scale), np.full((4000, 1), 6.0))
    wide = Stretch(laws, RowWidths.same(Widths(2.0, 500.0), 4000))(drawn, np.arange(4000), 0, np.isnan(x))
    assert kstest(wide[:, 0] / (2.0 * scale), student(500.0).cdf).pvalue > 0.01
    assert (np.argsort(wide[:, 0]) == np.argsort(drawn[:, 0])).all()


def test_intervals_hold_what_they_say_where_cells_have_long_tails():
    """Without widths 50 % intervals of cells with long tails hold far more than half of them."""
    rng = np.random.default_rng(3)
    X = student.rvs(1.5, size=(400, 4), random_state=1)
    X = np.sign(X) * np.abs(X) ** 0.8
    y = rng.integers(2, size=400)
    holed = np.where(rng.random(X.shape) < 0.25, np.nan, X)
    held = {}
    for folds in (0, 3):
        model = IQGMEClassifier(random_state=0, cell_folds=folds, column_kinds=["real"] * 4).fit(holed[:200], y[:200])
        low, high = model.impute(holed[200:], quantiles=[0.25, 0.75])
        hole = np.isnan(holed[200:])
        held[folds] = ((low <= X[200:]) & (X[200:] <= high))[hole].mean()
    assert abs(held[3] - 0.5) < 0.08
    assert abs(held[3] - 0.5) <= abs(held[0] - 0.5) + 0.02


ONE_MODEL = {
    "one": (IQGMEClassifier, {"average": False, "n_restarts": 2}),
    "chains": (IQGMEClassifier, {"inference": "gibbs", "n_restarts": 2, "max_iter": 40}),
    "points": (QGMEClassifier, {"n_experts": 2}),
    "factors": (IQGMEClassifier, {"n_factors": 2, "n_restarts": 2, "max_iter": 40}),
    "batches": (IQGMEClassifier, {"batch_size": 50}),
}


@pytest.mark.parametrize("form", ONE_MODEL)
def test_one_model_learns_widths_too(form, tmp_path):
    """Of columns with long tails; the answers about labels do not depend on it."""
    make, settings = ONE_MODEL[form]
    rng = np.random.default_rng(3)
    X = student.rvs(2.0, size=(300, 4), random_state=1)
    y = rng.integers(2, size=300)
    holed = np.where(rng.random(X.shape) < 0.25, np.nan, X)
    held, voted = {}, {}
    for folds in (0, 3):
        model = make(random_state=0, cell_folds=folds, column_kinds=["real"] * 4, **settings).fit(holed[:150], y[:150])
        low, high = model.impute(holed[150:], quantiles=[0.25, 0.75])
        held[folds] = ((low <= X[150:]) & (X[150:] <= high))[np.isnan(holed[150:])].mean()
        voted[folds] = model.predict_proba(holed[150:])
    assert abs(held[3] - 0.5) < 0.12
    assert abs(held[3] - 0.5) <= abs(held[0] - 0.5) + 0.02
    np.testing.assert_array_equal(voted[0], voted[3])
    assert model._pool.widths is not None
    save(model, tmp_path / "model")
    same = load(tmp_path / "model")
    for a, b in zip(*(one.impute(holed, quantiles=[0.1, 0.9]) for one in (model, same)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_cells_under_normal_gates_are_what_laws_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = QGMEClassifier(n_experts=2, random_state=0).fit(X, X[:, 0] > np.nanmean(X[:, 0]))
    gated = model._pool.whole[0]
    rows = gated.view.lens.rows(model._encode(X[:5]))
    cells = predicted_cells(gated, rows, np.ones(5))
    for number, (i, j) in enumerate(zip(*np.nonzero(~np.isnan(rows.reals)), strict=True)):
        reals = rows.reals[i : i + 1].copy()
        reals[0, j] = np.nan
        law = gated.laws(type(rows)(rows.codes[i : i + 1], reals))
        order = np.argsort(-law.share[0], kind="stable")
        np.testing.assert_allclose(cells.share[number][:2], law.share[0, order], atol=1e-5)
        np.testing.assert_allclose(cells.location[number][:2], law.location[0, order, j])
        np.testing.assert_allclose(cells.scale[number][:2], law.scale[0, order, j], rtol=1e-4)


def test_cells_under_factor_analysers_are_what_laws_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(60, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    fit = IQGMEClassifier(n_factors=2, random_state=0, cell_folds=0, max_iter=10).fit(X, X[:, 0] > np.nanmean(X[:, 0]))
    model = fit._pool.whole[0]
    rows = model.view.lens.rows(fit._encode(X[:5]))
    cells = predicted_cells(model, rows, np.ones(5))
    for number, (i, j) in enumerate(zip(*np.nonzero(~np.isnan(rows.reals)), strict=True)):
        reals = rows.reals[i : i + 1].copy()
        reals[0, j] = np.nan
        law = model.laws(type(rows)(rows.codes[i : i + 1], reals))
        order = np.argsort(-law.share[0], kind="stable")[:4]
        k = len(order)
        np.testing.assert_allclose(cells.share[number][:k], law.share[0, order], atol=1e-5)
        np.testing.assert_allclose(cells.location[number][:k], law.location[0, order, j])
        np.testing.assert_allclose(cells.scale[number][:k], law.scale[0, order, j], rtol=1e-4)


def test_levels_are_those_whose_intervals_held_them():
    """Truths twice as peaked as the laws say: half of them lie in an interval that promises far less."""
    below = 0.5 + 0.5 * np.random.default_rng(0).uniform(-1, 1, 20_000) ** 3
    widths = RowWidths.same(Widths(1.0, 5.0, shares_held(below, np.ones(20_000))), 1)
    for level in (0.05, 0.25, 0.5, 0.75, 0.9):
        np.testing.assert_allclose(np.mean(below < widths.levels(level, np.zeros(1, int))[0]), level, atol=0.01)


def test_without_cells_intervals_promise_what_is_believed():
    np.testing.assert_allclose(shares_held(np.zeros(0), np.zeros(0)), PROMISED)


def test_hidden_cells_make_the_holes_of_training_rows_wider():
    value = np.random.default_rng(0).normal(size=3000)
    share, new = choose([cells_of(value)])
    seen = choose_seen([cells_of(1.3 * value)], share, new)
    np.testing.assert_allclose(seen.scale / new.scale, 1.3, atol=0.08)


def narrow_table(seed):
    """Many columns and few rows: a model is too sure of rows that it has seen."""
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 15)) + 0.7 * rng.standard_t(3, size=(80, 15))
    X = np.where(rng.random(whole.shape) < 0.3, np.nan, whole)
    model = IQGMEClassifier(average=False, n_restarts=2, random_state=0).fit(X, whole[:, 0] > 0)
    return X, whole, model


def test_intervals_of_holes_of_training_rows_hold_what_they_say():
    """Over five tables, since single ones of 80 rows are off by up to ten points."""
    held = {"own": [], "as new": []}
    for seed in range(20, 25):
        X, whole, model = narrow_table(seed)
        for name in held:
            if name == "as new":
                model._pool.seen_widths = None
            low, high = model.impute(X, quantiles=[0.1, 0.9])
            held[name].append(((low <= whole) & (whole <= high))[np.isnan(X)].mean())
    assert abs(np.mean(held["own"]) - 0.8) < 0.05
    assert abs(np.mean(held["own"]) - 0.8) < abs(np.mean(held["as new"]) - 0.8)


def test_a_training_row_is_known_wherever_it_stands_and_not_when_a_cell_is_another(tmp_path):
    X, _, model = narrow_table(20)
    ends = [0.1, 0.9]
    low, high = model.impute(X, quantiles=ends)
    np.testing.assert_array_equal(low[::-1], model.impute(X[::-1], quantiles=ends)[0])
    assert model._pool.row_widths(model._encode(X)).which.all()
    other = X.copy()
    other[np.arange(80), (~np.isnan(X)).argmax(axis=1)] += 1e-6
    assert not model._pool.row_widths(model._encode(other)).which.any()
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").impute(X, quantiles=ends)[1], high)


@pytest.mark.parametrize("level", [1e-9, 1e-4, 0.02, 0.5, 0.999, 1.0 - 1e-7])
def test_quantiles_far_out_are_those_of_the_mixture(level):
    """With two degrees of freedom one in 10,000 cells lies more than 70 scales away."""
    law = [np.array([one]) for one in ([0.6, 0.3, 0.1], [0.0, 5.0, -40.0], [1.0, 2.0, 0.1], [2.0, np.inf, 7.0])]
    at = _quantile(*law, np.array([level]))[0]
    share, location, scale, degrees = (one[0] for one in law)
    below = share @ student.cdf((at - location) / scale, degrees)
    assert min(below, 1.0 - below) == pytest.approx(min(level, 1.0 - level), rel=1e-6)
