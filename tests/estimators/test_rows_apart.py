"""What is said of a row depends on that row alone, and of a row with a hole on its observed cells alone."""

import numpy as np
import pandas as pd
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame
from scipy.special import logsumexp

from partita import AClass, CRPMixture, HybridClassifier

SETTINGS = [{}, {"inference": "smc"}, {"inference": "smc", "n_sweeps": 0, "n_particles": 3}]


def answers(model, X):
    proba = model.predict_proba(X)
    return proba, model.predict(X), model.score_samples(X)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_row_is_answered_alike_in_any_company(cls, settings):
    X, y = mixed_frame()
    model = cls(**{**QUICK, **settings}).fit(X, y)
    whole = answers(model, X)
    order = np.random.default_rng(0).permutation(len(X))
    many = pd.concat([X] * 30, ignore_index=True)  # more rows than are answered at a time
    for rows in (order, order[:7], order[:1], [3, 3, 3], np.arange(len(many)) % len(X)):
        table = many if len(rows) == len(many) else X.iloc[rows]
        for one, all_ in zip(answers(model, table), whole, strict=True):
            np.testing.assert_array_equal(one, all_[rows])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_row_is_filled_alike_in_any_company(cls, settings):
    X, y = mixed_frame()
    model = cls(**{**QUICK, **settings}).fit(X, y)
    filled, spread = model.impute(X, return_std=True)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (order, order[:7], [3, 3, 3], *order[:20, None]):
        one, doubt = model.impute(X.iloc[rows], return_std=True)
        pd.testing.assert_frame_equal(one, filled.iloc[rows], check_exact=True)
        np.testing.assert_array_equal(doubt, spread[rows])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(cls, settings):
    X, y = mixed_frame()
    y = np.where(np.arange(len(y)) % 5 == 0, None, y)
    many = pd.concat([X] * 30, ignore_index=True)
    first, *others = [cls(**{**QUICK, **settings}, n_jobs=n).fit(X, y) for n in (1, 2, 3, -1)]
    for other in others:
        for a, b in zip(answers(first, many), answers(other, many), strict=True):
            np.testing.assert_array_equal(a, b)
        pd.testing.assert_frame_equal(first.impute(X), other.impute(X))
        assert first.n_components_posterior_ == other.n_components_posterior_


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_seeds_of_any_type_decide_the_result(cls):
    X, y = holed_binary()

    def score(seed):
        return cls(**{**QUICK, "random_state": seed}).fit(X, y).score_samples(X)

    np.testing.assert_array_equal(score(np.random.SeedSequence(5)), score(np.random.SeedSequence(5)))
    np.testing.assert_array_equal(score(np.random.default_rng(5)), score(np.random.default_rng(5)))
    np.testing.assert_array_equal(score(5), score(np.random.SeedSequence(5)))
    assert (score(5) != score(6)).any()
    first, second = np.random.SeedSequence(5).spawn(2)
    assert (score(first) != score(second)).any()


@pytest.mark.parametrize("cls", [AClass, CRPMixture, HybridClassifier])
def test_columns_are_matched_by_name(cls):
    X, y = mixed_frame()
    model = cls(random_state=0).set_params(**({} if cls is HybridClassifier else QUICK)).fit(X, y)
    turned = X[X.columns[::-1]]
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(X))
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match=r"yet now missing:\n- height"):
        model.predict(X.drop(columns="height"))
    with pytest.raises(ValueError, match=f"X has 2 features, but {cls.__name__} is expecting 7"):
        model.predict(np.zeros((3, 2)))


def levels_of(frame, name):
    return [True, False] if name == "flag" else sorted(frame[name].dropna().unique())


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_hole_is_the_sum_over_what_could_stand_there(cls, settings):
    X, y = mixed_frame()
    model = cls(**{**QUICK, **settings}).fit(X, y)
    for names in (["flag"], ["colour"], ["zero_one", "colour"]):
        tables = [X]
        for name in names:
            tables = [
                t.assign(**{name: pd.array([v] * len(X), X[name].dtype)}) for t in tables for v in levels_of(X, name)
            ]
        each = [model.score_samples(table) for table in tables]
        holes = X.assign(**{name: pd.array([None] * len(X), X[name].dtype) for name in names})
        np.testing.assert_allclose(model.score_samples(holes), logsumexp(each, axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_row_without_cells_has_the_prior(cls):
    X, y = mixed_frame()
    model = cls(**QUICK).fit(X, y)
    blank = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(model.score_samples(blank), 0.0, atol=1e-9)
    if cls is AClass:
        share = (np.bincount(y == "yes") + 1) / (len(y) + 2)
        np.testing.assert_allclose(model.predict_proba(blank)[0], share, rtol=1e-9)


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_column_that_says_nothing_changes_no_answer_of_its_absence(cls):
    """An all-missing column in training is never having had it: no random number and no density depends on it."""
    X, y = holed_binary()
    settings = {**QUICK, "alpha": 1.0, "column_prior": 0.5, **({"n_views": 1} if cls is AClass else {})}
    without = cls(**settings).fit(X, y)
    with pytest.warns(UserWarning, match="no observed cell"):
        more = cls(**settings, column_kinds={6: "binary"}).fit(np.column_stack([X, np.full(len(X), np.nan)]), y)
    blank = np.column_stack([X, np.full(len(X), np.nan)])
    np.testing.assert_allclose(more.score_samples(blank), without.score_samples(X), rtol=1e-12)


def test_a_level_not_met_in_training_is_a_hole():
    X, y = mixed_frame()
    model = AClass(**QUICK).fit(X, y)
    strange = X.assign(colour="violet")
    hole = X.assign(colour=pd.array([None] * len(X), X["colour"].dtype))
    np.testing.assert_array_equal(model.predict_proba(strange), model.predict_proba(hole))
