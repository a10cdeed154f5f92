"""Columns of very many levels: those that an expert cannot tell apart are guessed as one."""

import numpy as np
import pandas as pd
import pytest

from partita import IQGMEClassifier, QGMEClassifier
from partita.models.gated.cells import CellColumn

QUICK = {"random_state": 0, "cell_folds": 0, "n_restarts": 1, "max_iter": 8}
FORMS = {
    "one": lambda: IQGMEClassifier(average=False, **QUICK),
    "factors": lambda: IQGMEClassifier(n_factors=2, **QUICK),
    "batches": lambda: IQGMEClassifier(batch_size=60, **QUICK),
    "em": lambda: QGMEClassifier(3, **QUICK),
}


def names(n, n_levels, seed=0):
    """Two numbers and a name that decide the class, with holes in all of them."""
    rng = np.random.default_rng(seed)
    level = np.r_[np.arange(n_levels), rng.zipf(1.3, n) % n_levels][:n]
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "name": [f"n{k}" for k in level]})
    y = np.where(X["b"] > 0.7, 2, X["a"] + level % 3 > 1).astype(int)
    X.loc[rng.random(n) < 0.3, "name"] = None
    X.loc[rng.random(n) < 0.2, "a"] = np.nan
    return X, y


@pytest.mark.parametrize("form", FORMS)
def test_levels_guessed_as_one_change_nothing(form, monkeypatch):
    X, y = names(160, 80)
    model = FORMS[form]().fit(X, y)
    assert model._pool.whole[0].view.cells[0].shown is not None
    proba, density = model.predict_proba(X), model.score_samples(X)
    monkeypatch.setattr(CellColumn, "shown", None)
    one_by_one = FORMS[form]().fit(X, y)
    np.testing.assert_allclose(one_by_one.predict_proba(X), proba, atol=1e-10)
    np.testing.assert_allclose(one_by_one.score_samples(X), density, atol=1e-9)


def test_weights_of_groups_are_spread_over_their_levels():
    rng = np.random.default_rng(1)
    features = np.zeros((9, 2))
    features[[3, 7], [0, 1]] = 1.0
    column = CellColumn(False, 0, np.ones(9), features - 0.1)
    logs = rng.normal(size=(4, 9))
    groups = column.grouped(np.exp(logs))
    np.testing.assert_allclose(np.exp(column.log_grouped(logs)), groups)
    np.testing.assert_allclose(groups[:, 0], np.exp(logs[:, 3]))
    np.testing.assert_allclose(groups.sum(axis=1), np.exp(logs).sum(axis=1))
    np.testing.assert_allclose(column.of_groups(groups, logs), np.exp(logs))
    np.testing.assert_allclose(column.group_features, [[0.9, -0.1], [-0.1, 0.9], [-0.1, -0.1]])
