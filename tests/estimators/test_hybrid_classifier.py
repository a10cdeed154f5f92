"""The hybrid: what its classifier sees, how draws are averaged, and scikit-learn's conventions for its parts."""

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from partita import AClass, CRPMixture, HybridClassifier
from partita.estimators.hybrid_classifier import _design

FRAME, Y = mixed_frame()
GENERATIVE = {
    "AClass": AClass(**QUICK),
    "CRPMixture": CRPMixture(**QUICK),
    "AClass smc": AClass(**QUICK, inference="smc"),
}


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that remembers what it was given and answers with the share of each class."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        self.classes_, counts = np.unique(y, return_counts=True)
        self.share_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        self.seen_ = X
        return np.tile(self.share_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("wrong", [StandardScaler(), LinearRegression(), RandomForestClassifier, "forest"], ids=repr)
def test_what_decides_must_be_a_classifier(wrong):
    with pytest.raises(ValueError, match=r"HybridClassifier: discriminative must be a scikit-learn classifier, got"):
        HybridClassifier(AClass(**QUICK), wrong).fit(FRAME, Y)


@pytest.mark.parametrize("generative", GENERATIVE)
@pytest.mark.parametrize("n_draws", [None, 3])
def test_fit_and_predict_with_holes(generative, n_draws):
    model = HybridClassifier(GENERATIVE[generative], n_draws=n_draws, random_state=0).fit(FRAME, Y)
    p = model.predict_proba(FRAME)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(FRAME), model.classes_[p.argmax(axis=1)])
    assert (model.predict(FRAME) == Y).mean() > 0.7
    again = HybridClassifier(GENERATIVE[generative], n_draws=n_draws, random_state=0).fit(FRAME, Y)
    np.testing.assert_array_equal(again.predict_proba(FRAME), p)


def test_the_parts_are_cloned():
    generative, discriminative = AClass(**QUICK), LogisticRegression()
    model = HybridClassifier(generative, discriminative, random_state=3).fit(FRAME, Y)
    assert not hasattr(generative, "schema_") and not hasattr(discriminative, "coef_")
    assert isinstance(model.generative_, AClass) and hasattr(model.discriminative_, "coef_")
    assert generative.random_state == 0 and model.generative_.random_state != 0
    assert isinstance(HybridClassifier(random_state=0).fit(FRAME, Y).generative_, AClass)


def test_the_classifier_sees_a_matrix_without_holes():
    model = HybridClassifier(AClass(**QUICK), Recorder()).fit(FRAME, Y)
    seen = model.discriminative_.X_
    assert seen.shape == (len(FRAME), 1 + 1 + 3 + 3 + 3)  # flag, zero_one, colour, grade, three numbers
    assert np.isfinite(seen).all()
    colours = seen[:, 2:5]  # blue, green, red
    np.testing.assert_allclose(colours.sum(axis=1), 1.0)
    given = FRAME["colour"].notna().to_numpy()
    np.testing.assert_array_equal(
        colours[given], FRAME["colour"][given].to_numpy()[:, None] == ["blue", "green", "red"]
    )
    inside = colours[~given]
    assert ((inside > 0) & (inside < 1)).all()
    best = np.array(["blue", "green", "red"])[inside.argmax(axis=1)]
    np.testing.assert_array_equal(best, model.impute(FRAME)["colour"][~given])


def test_numeric_holes_hold_the_imputed_mean():
    model = HybridClassifier(CRPMixture(**QUICK), Recorder()).fit(FRAME, Y)
    column = model.schema_.columns[5]
    height = model.discriminative_.X_[:, -2] * column.scale + column.centre
    np.testing.assert_allclose(height, model.impute(FRAME)["height"], rtol=1e-9)


def test_draws_differ_and_each_trains_a_classifier():
    model = HybridClassifier(AClass(**QUICK), Recorder(), n_draws=4, random_state=0).fit(FRAME, Y)
    seen = [one.X_ for one in model.discriminative_]
    assert len(seen) == 4 and (seen[0] != seen[1]).any()
    full = FRAME.notna().all(axis=1).to_numpy()
    np.testing.assert_array_equal(seen[0][full], seen[1][full])
    assert set(np.unique(seen[0][:, :8])) == {0.0, 1.0}  # levels, not probabilities
    p = model.predict_proba(FRAME)
    np.testing.assert_allclose(p, np.mean([one.predict_proba(FRAME) for one in model.discriminative_], axis=0))


def test_rows_without_a_label_train_the_generative_model_only():
    y = np.where(np.arange(len(Y)) % 3 == 0, None, Y)
    for generative in GENERATIVE.values():
        model = HybridClassifier(generative, Recorder()).fit(FRAME, y)
        assert len(model.discriminative_.X_) == (np.arange(len(Y)) % 3 != 0).sum()
        assert model.generative_.n_rows_seen_ == len(FRAME)


@pytest.mark.parametrize("n_draws", [None, 3])
def test_a_classifier_without_probabilities(n_draws):
    model = HybridClassifier(AClass(**QUICK), LinearSVC(), n_draws=n_draws, random_state=0)
    assert not hasattr(model, "predict_proba") and not hasattr(model.fit(FRAME, Y), "predict_proba")
    assert (model.predict(FRAME) == Y).mean() > 0.7


def test_any_classifier_will_do_and_is_seeded():
    make = lambda: HybridClassifier(AClass(**QUICK), RandomForestClassifier(5), random_state=1).fit(FRAME, Y)  # noqa: E731
    np.testing.assert_array_equal(make().predict_proba(FRAME), make().predict_proba(FRAME))


def test_setting_draws_after_fit_does_not_break_it():
    X, y = holed_binary()
    model = HybridClassifier(AClass(**QUICK), n_draws=2, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(n_draws=None).predict_proba(X), before)


def test_column_kinds_reach_the_generative_model():
    X, y = holed_binary()
    model = HybridClassifier(AClass(**QUICK), column_kinds={0: "categorical"}).fit(X, y)
    assert model.generative_.schema_.kinds[0] == "categorical" and model.schema_.kinds[0] == "categorical"


def test_a_column_without_cells_is_zero():
    X, y = holed_binary()
    X[:, 2] = np.nan
    with pytest.warns(UserWarning, match="no observed cell"):
        model = HybridClassifier(AClass(**QUICK), Recorder()).fit(X, y)
    assert np.isfinite(model.discriminative_.X_).all()
    assert np.isfinite(_design(model._encode(X))).all()
