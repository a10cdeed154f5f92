"""The size of the experts' weights in chains: moved at once, and never without end."""

import numpy as np
from scipy import stats

from partita import IQGMEClassifier
from partita.models.gated.gibbs_variates import gamma_above


def test_bounded_gamma_variates_follow_their_law():
    rng, shape, rate, least = np.random.default_rng(0), np.array([0.01, 0.7, 4.0]), np.array([0.01, 3.0, 2.0]), 0.5
    drawn = np.array([gamma_above(rng, shape, rate, least) for _ in range(4000)])
    assert (drawn >= least).all()
    for k in range(3):
        law = stats.gamma(shape[k], scale=1.0 / rate[k])
        place = 1.0 - law.sf(drawn[:, k]) / law.sf(least)
        assert stats.kstest(place, "uniform").pvalue > 1e-3


def test_bounded_gamma_variates_where_no_mass_is_left():
    drawn = gamma_above(np.random.default_rng(1), np.array([1.0, 0.01]), np.array([1e9, 1e-9]), 0.01)
    assert np.isfinite(drawn).all() and (drawn >= 0.01).all()
    assert drawn[0] < 0.011


def test_rows_told_apart_without_a_mistake_leave_finite_answers():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(24, 6))
    y = X[:, 0] > 0
    model = IQGMEClassifier(inference="gibbs", n_restarts=2, max_iter=60, cell_folds=0, random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert model.score(X, y) > 0.9
