"""IQGMEClassifier with factor analysers: wide tables."""

import numpy as np
import pytest
from estimator_tables import mixed_frame

from partita import IQGMEClassifier, load, save
from partita.inference.loop import FitInterrupted

QUICK = {"n_factors": "auto", "random_state": 0, "max_iter": 12}


def wide(n=120, p=60, seed=0):
    """Three factors behind all columns, the first of which decides the class; a quarter of the cells missing."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, 3))
    X = 5.0 + factor @ rng.normal(size=(3, p)) + 0.7 * rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.25] = np.nan
    return X, (factor[:, 0] + 0.2 * rng.normal(size=n) > 0).astype(int)


def test_the_factors_of_a_wide_table_are_found_and_its_class_learnt():
    X, y = wide(200)
    model = IQGMEClassifier(n_factors="auto", random_state=0).fit(X[:120], y[:120])
    assert max(model.n_factors_posterior_, key=model.n_factors_posterior_.get) == 3
    assert (model.predict(X[120:]) == y[120:]).mean() > 0.85
    told = model.explain(X[:3])
    assert told.weights.shape == (3, 1, 61) and told.feature_names[-1] == "intercept"
    assert np.diff(model.lower_bounds_).min() >= -1e-9 * abs(model.lower_bounds_[-1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_answer_of_the_factor_form(n_classes, tmp_path):
    X, y = wide(60, 20)
    y = np.arange(60) % 3 if n_classes == 3 else y
    model = IQGMEClassifier(**QUICK).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(X)).all()
    low, high = model.impute(X, quantiles=[0.1, 0.9])
    hole = np.isnan(X)
    assert (low[hole] < high[hole]).all() and (low[~hole] == X[~hole]).all()
    assert not np.isnan(model.impute(X, n_draws=2)).any()
    rows, label = model.sample(5, random_state=1)
    assert rows.shape == (5, 20) and len(label) == 5
    save(model, tmp_path / "model.partita")
    np.testing.assert_array_equal(load(tmp_path / "model.partita").predict_proba(X), proba)


def test_a_stopped_fit_resumes_to_the_same_bytes(tmp_path):
    X, y = wide(60, 20)
    whole = IQGMEClassifier(**QUICK).fit(X, y)
    path = tmp_path / "fit.checkpoint"
    with pytest.warns(FitInterrupted):
        IQGMEClassifier(**QUICK, checkpoint=path, time_budget=1e-6).fit(X, y)
    resumed = IQGMEClassifier(**QUICK, checkpoint=path, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), resumed.predict_proba(X))


def test_columns_of_all_kinds(tmp_path):
    X, y = mixed_frame()
    model = IQGMEClassifier(**QUICK).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all() and np.isfinite(model.score_samples(X)).all()
    assert not model.impute(X).isna().any().any()
    told = model.explain(X)
    assert told.weights.shape[2] == len(told.feature_names)
    rows, _ = model.sample(4, random_state=0)
    assert list(rows.columns) == list(X.columns)
    save(model, tmp_path / "model.partita")
    np.testing.assert_array_equal(load(tmp_path / "model.partita").predict_proba(X), proba)
    path = tmp_path / "fit.checkpoint"
    with pytest.warns(FitInterrupted):
        IQGMEClassifier(**QUICK, checkpoint=path, time_budget=1e-6).fit(X, y)
    resumed = IQGMEClassifier(**QUICK, checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(resumed.predict_proba(X), proba)


def test_a_column_beside_the_real_ones_is_learnt_from():
    rng = np.random.default_rng(0)
    level = rng.integers(3, size=150)
    X = np.column_stack([rng.normal(size=(150, 8)), level]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    kinds = ["real"] * 8 + ["categorical"]
    model = IQGMEClassifier(**QUICK, column_kinds=kinds).fit(X[:100], level[:100] == 1)
    seen = ~np.isnan(X[100:, 8])
    assert (model.predict(X[100:]) == (level[100:] == 1))[seen].all()


def test_a_table_without_real_columns_is_refused():
    X = np.random.default_rng(0).integers(2, size=(30, 4)).astype(float)
    with pytest.raises(ValueError, match="is for tables with real columns"):
        IQGMEClassifier(**QUICK).fit(X, X[:, 0])
