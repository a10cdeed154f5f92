"""A column without an observed cell in training has no influence, and no cell of it is ever made up."""

import numpy as np
import pytest
from estimator_tables import QUICK

from partita import AClass, CRPMixture

pytestmark = pytest.mark.filterwarnings("ignore:.*no observed cell")
rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(80, 2)), np.full(80, np.nan)])
Y = (X[:, 0] > 0).astype(int)
ROWS = np.array([[0.0, 0.0, np.nan], [0.0, 0.0, 1e3], [0.3, np.nan, 5.0], [0.3, np.nan, np.nan]])
SETTINGS = [{}, {"correlated": True}, {"inference": "smc"}, {"inference": "smc", "correlated": True}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_it_has_no_influence_and_stays_empty(cls, settings):
    model = cls(**QUICK, **settings).fit(X, Y)
    for answer in (model.predict_proba(ROWS), model.score_samples(ROWS)):
        np.testing.assert_array_equal(answer[::2], answer[[1, 3]])
    filled, spread = model.impute(ROWS, return_std=True)
    np.testing.assert_array_equal(np.isnan(filled[:, 2]), np.isnan(ROWS[:, 2]))
    np.testing.assert_array_equal(np.isnan(spread[:, 2]), np.isnan(ROWS[:, 2]))
    for draw in model.impute(ROWS, n_draws=3, random_state=0):
        np.testing.assert_array_equal(draw[:, 2], ROWS[:, 2])
        assert not np.isnan(draw[:, :2]).any()
    made = model.sample(5, random_state=0)
    made = made[0] if cls is AClass else made
    assert np.isnan(made[:, 2]).all() and not np.isnan(made[:, :2]).any()


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_block_without_it_is_the_block_of_the_others(cls):
    with_it = cls(**QUICK, correlated=True).fit(X, Y)
    without = cls(**QUICK, correlated=True).fit(X[:, :2], Y)
    np.testing.assert_array_equal(with_it.score_samples(ROWS), without.score_samples(ROWS[:, :2]))


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_stream_may_meet_it_yet(cls, correlated):
    model = cls(**QUICK, correlated=correlated).partial_fit(X, Y)
    np.testing.assert_array_equal(*model.score_samples(ROWS[:2])[:, None])
    later = np.column_stack([X[:, :2], 5 + X[:, 0]])
    model.partial_fit(later, Y)
    assert model.score_samples([[0.0, 0.0, 5.0]]) > model.score_samples([[0.0, 0.0, 50.0]]) + 1
    assert not np.isnan(model.impute(ROWS, n_draws=1, random_state=0)).any()


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_block_of_nothing_else(cls):
    nothing = np.column_stack([np.arange(80) % 2, np.full((80, 2), np.nan)])
    model = cls(**QUICK, correlated=True).fit(nothing, Y)
    assert np.isfinite(model.score_samples(nothing)).all()
    assert np.isnan(model.impute(nothing)[:, 1:]).all()
