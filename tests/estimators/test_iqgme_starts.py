"""Fits that begin where another fit has ended."""

import numpy as np
import pytest

from partita import IQGMEClassifier, QGMEClassifier

VB = {"average": False, "n_restarts": 1, "max_iter": 30, "random_state": 0}
GIBBS = {"inference": "gibbs", "n_restarts": 2, "max_iter": 6, "random_state": 0}


def two_groups(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 5.0 * rng.integers(2, size=(n, 1))
    y = (X[:, 0] * X[:, 1] > 6).astype(int)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("first", [VB, GIBBS])
@pytest.mark.parametrize("second", [VB, GIBBS])
def test_a_fit_begins_in_the_components_of_another(first, second):
    X, y = two_groups()
    before = IQGMEClassifier(**first).fit(X, y)
    after = IQGMEClassifier(**{**second, "max_iter": 1}).fit(X, y, start_from=before)
    if second is VB:  # from clusters of k-means it begins far lower
        assert after.lower_bounds_[0] > IQGMEClassifier(**VB).fit(X, y).lower_bounds_[0]
    assert max(after.n_experts_posterior_) <= max(before.n_experts_posterior_) + 3
    again = IQGMEClassifier(**{**second, "max_iter": 1}, n_jobs=2).fit(X, y, start_from=before)
    np.testing.assert_array_equal(after.predict_proba(X), again.predict_proba(X))


def test_other_rows_weights_and_the_finite_model():
    X, y = two_groups()
    before = QGMEClassifier(2, random_state=0).fit(X, y)
    weight = np.arange(60) % 3
    after = IQGMEClassifier(**VB).fit(X[:60], y[:60], sample_weight=weight, start_from=before)
    assert np.diff(after.lower_bounds_).min() > -1e-8
    chain = IQGMEClassifier(**GIBBS).fit(X[:60], y[:60], sample_weight=weight, start_from=after)
    assert np.isfinite(chain.predict_proba(X)).all()


def test_what_cannot_be_begun_from_is_refused():
    X, y = two_groups(40)
    fitted = IQGMEClassifier(**VB).fit(X, y)
    one = IQGMEClassifier(**VB)
    with pytest.raises(ValueError, match="start_from must be a fitted"):
        one.fit(X, y, start_from=IQGMEClassifier())
    with pytest.raises(ValueError, match="start_from must be a fitted"):
        one.fit(X, y, start_from="model")
    with pytest.raises(ValueError, match="other columns"):
        one.fit(X[:, :2], y, start_from=fitted)
    with pytest.raises(ValueError, match="has classes"):
        one.fit(X, y + 1, start_from=fitted)
    for settings in ({}, {"n_factors": 2}, {"average": False, "batch_size": 10}):
        with pytest.raises(ValueError, match="start_from is for one model"):
            IQGMEClassifier(**settings).fit(X, y, start_from=fitted)
