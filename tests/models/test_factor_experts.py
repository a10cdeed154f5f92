"""Factor experts on data made from the model: factors, components and their use are found; wide tables are fast."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from partita.models.factor.answer import answer
from partita.models.factor.experts import FactorProblem, FactorSettings, begin, step
from partita.models.factor.rotation import joint_axes


def wide(seed, n, p=200, missing=0.3):
    """Three factors, two of which decide the label."""
    rng = np.random.default_rng(seed)
    s = rng.standard_normal((n, 3))
    x = s @ rng.normal(0, 0.6, (3, p)) + rng.standard_normal((n, p))
    label = (s @ [2.0, 2.0, 0.0] + rng.standard_normal(n) > 0).astype(int)
    x[rng.random(x.shape) < missing] = np.nan
    return x, label


def test_a_wide_table_gives_its_factors_and_a_better_ranking_than_filling():
    x, label = wide(0, 650)
    train, test = slice(0, 150), slice(150, None)
    x = (x - np.nanmean(x[train], 0)) / np.nanstd(x[train], 0)
    problem = FactorProblem.of(x[train], label[train], 2)
    rng = np.random.default_rng(0)
    state = begin(rng, problem, 1)
    for _ in range(25):
        state, info = step(problem, rng, state)
    assert state.n_components == 1
    assert state.n_factors_posterior().argmax() == 3 and abs(info["n_factors"] - 3.0) < 0.2
    ours = roc_auc_score(label[test], answer(state, x[test]).probabilities()[:, 1])
    filled = np.nan_to_num(x)
    theirs = LogisticRegression(max_iter=2000).fit(filled[train], label[train]).decision_function(filled[test])
    assert ours > roc_auc_score(label[test], theirs)


def test_components_select_their_own_factors():
    """Three clusters with two of four factors each, from a start of three clusters a class."""
    rng = np.random.default_rng(0)
    use = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    cluster, s = rng.integers(0, 3, 300), rng.standard_normal((300, 4))
    x = rng.normal(0, 1.5, (3, 20))[cluster] + (s * use[cluster]) @ rng.normal(0, 0.7, (4, 20))
    x += rng.standard_normal(x.shape)
    x = (x - x.mean(0)) / x.std(0)
    x[rng.random(x.shape) < 0.2] = np.nan
    problem = FactorProblem.of(x, rng.integers(0, 2, 300), 2)
    state = begin(rng, problem, 3)
    for _ in range(60):
        state, _ = step(problem, rng, state)
    assert state.n_components == 3
    assert sorted((state.used > 0.5).sum(1)) == [2, 2, 2] and (state.used > 0.5).any(0).sum() == 4


def test_a_thousand_columns():
    x, label = wide(1, 200, 1000, 0.25)
    x = (x - np.nanmean(x, 0)) / np.nanstd(x, 0)
    problem = FactorProblem.of(x, label, 2)
    rng = np.random.default_rng(0)
    state = begin(rng, problem, 2)
    assert state.n_active == 50
    bounds = []
    for _ in range(6):
        state, info = step(problem, rng, state)
        bounds.append(info["bound"])
    assert np.isfinite(bounds).all() and np.diff(bounds).min() >= 0


@pytest.mark.parametrize("n_factors", [0, 1, "auto"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_poor_tables_give_finite_answers(n_factors, n_classes):
    """Empty and constant columns, an empty row, rows of no weight, one row of a class, more columns than rows."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 12))
    x[:, 0], x[:, 1], x[3] = np.nan, 0.0, np.nan
    label = np.array([0, 0, 0, 0, 0, -1, 0, 1])
    weight = np.array([1, 1, 0, 1, 2, 1, 1, 1.0])
    problem = FactorProblem.of(x, label, n_classes, weight, FactorSettings(n_factors=n_factors))
    state, bounds = begin(rng, problem, 3), []
    for _ in range(15):
        state, info = step(problem, rng, state)
        bounds.append(info["bound"])
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:]))
    found = answer(state, x)
    assert np.all(np.isfinite(found.log_gate)) and np.all(np.isfinite(found.probabilities()))
    np.testing.assert_allclose(found.probabilities().sum(1), 1.0)


def test_fewer_sticks_than_classes():
    x, _ = wide(4, 30, 5)
    problem = FactorProblem.of(x, np.arange(30) % 4, 4, settings=FactorSettings(n_sticks=2, n_factors=2))
    rng = np.random.default_rng(0)
    state, info = step(problem, rng, begin(rng, problem, 3))
    assert state.n_components <= 2 and np.isfinite(info["bound"])


def test_permuting_columns_changes_nothing():
    x, label = wide(2, 60, 20)
    x = (x - np.nanmean(x, 0)) / np.nanstd(x, 0)
    order = np.random.default_rng(3).permutation(20)
    values = []
    for table in (x, x[:, order]):
        problem = FactorProblem.of(table, label, 2)
        state = begin(np.random.default_rng(0), problem, 0)
        for _ in range(8):
            state, info = step(problem, np.random.default_rng(0), state)
        values.append((info["bound"], answer(state, table).probabilities()))
    np.testing.assert_allclose(values[0][0], values[1][0], rtol=1e-9)
    np.testing.assert_allclose(values[0][1], values[1][1], rtol=1e-5, atol=1e-7)


def test_joint_axes_are_found():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    matrices = np.stack([axes @ np.diag(rng.random(5)) @ axes.T for _ in range(3)])
    rotation = joint_axes(matrices)
    turned = rotation.T @ matrices @ rotation
    np.testing.assert_allclose(turned - turned * np.eye(5), 0.0, atol=1e-10)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(5), atol=1e-12)
