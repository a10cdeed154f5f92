"""A fit that fails leaves the estimator as it was; what it cannot do is told before it begins."""

import warnings

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from partita import AClass, CRPMixture, HybridClassifier, save
from partita.data import DataWarning

X, Y = holed_binary()
FRAME, WORDS = mixed_frame()
CLASSIFIERS = {
    "chains": lambda: AClass(**QUICK),
    "filter": lambda: AClass(inference="smc", n_filters=2, random_state=0),
    "hybrid": lambda: HybridClassifier(AClass(**QUICK), random_state=0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_failed_first_fit_leaves_nothing_fitted(name):
    model = CLASSIFIERS[name]()
    for labels in (Y[:-1], np.full(len(Y), np.nan), np.linspace(0, 1, len(Y))):
        before = set(vars(model))
        with pytest.raises(ValueError):
            model.fit(X, labels)
        assert set(vars(model)) == before
        with pytest.raises(NotFittedError):
            model.predict(X)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_failed_second_fit_leaves_the_first_model(name):
    model = CLASSIFIERS[name]().fit(X, Y)
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(FRAME, WORDS[:-1])
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert model.n_features_in_ == X.shape[1] and not hasattr(model, "feature_names_in_")


def test_a_failed_first_part_of_a_stream_leaves_what_was_there():
    model = AClass(**QUICK)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.partial_fit(X, Y[:-1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X, Y)
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X, Y + 1)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_a_fit_that_fails_late_is_undone_too(tmp_path):
    """A checkpoint of other data is met when the chains begin; a classifier fails behind a fitted generative model."""
    path = tmp_path / "fit.checkpoint"
    for make in (lambda **more: CRPMixture(**QUICK, **more), lambda **more: CRPMixture(inference="smc", **more)):
        path.unlink(missing_ok=True)
        make(checkpoint=path).fit(X)
        model = make(checkpoint=path)
        with pytest.raises(ValueError, match="other data or other parameters"):
            model.fit(X[:50])
        with pytest.raises(NotFittedError):
            model.score_samples(X)
    hybrid = HybridClassifier(AClass(**QUICK), LogisticRegression(C=-1.0), random_state=0)
    with pytest.raises(ValueError, match="'C'"):
        hybrid.fit(X, Y)
    with pytest.raises(NotFittedError):
        hybrid.predict(X)


@pytest.mark.parametrize("make", [AClass, CRPMixture, HybridClassifier])
def test_a_checkpoint_path_is_checked_first(make, tmp_path):
    save(CRPMixture(**QUICK).fit(X), tmp_path / "model.partita")
    (tmp_path / "notes.txt").write_text("keep me")
    for path, message in (
        (tmp_path, "it is a folder"),
        (tmp_path / "nowhere" / "fit.checkpoint", "there is no folder .*nowhere"),
        (tmp_path / "model.partita", "holds a model, not a checkpoint"),
        (tmp_path / "notes.txt", "not a partita file"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            make(checkpoint=path).fit("no table: the path is looked at first", Y)
        assert f"checkpoint={str(path)!r}" in str(caught.value)
    assert (tmp_path / "notes.txt").read_text() == "keep me"


@pytest.mark.parametrize("make", [AClass, CRPMixture])
def test_a_stream_says_once_that_it_writes_no_checkpoint(make, tmp_path):
    model = make(**QUICK, checkpoint=tmp_path / "stream.checkpoint")
    with pytest.warns(UserWarning, match=r"partial_fit writes no checkpoint.*partita\.save"):
        model.partial_fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, Y)
    assert not (tmp_path / "stream.checkpoint").exists()


@pytest.mark.parametrize("make", [AClass, CRPMixture])
def test_a_stream_says_once_which_column_brings_values_it_cannot_hold(make):
    model = make(**QUICK).partial_fit(X, Y)
    later = X.copy()
    later[5, 2] = 3.0
    with pytest.warns(DataWarning, match=r"column 2 \(binary; 1 of .* for example 3\.0\)"):
        model.partial_fit(later, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(later, Y)


def test_classes_of_a_later_part_must_be_the_first_ones():
    model = AClass(**QUICK).partial_fit(X, Y, classes=[0, 1])
    model.partial_fit(X, Y, classes=[1, 0])
    for classes in ([0, 1, 2], [0], ["0", "1"]):
        with pytest.raises(ValueError, match="not the same as on the first call to partial_fit"):
            model.partial_fit(X, Y, classes=classes)


def test_draws_and_standard_deviations_exclude_each_other():
    for model in (CRPMixture(**QUICK).fit(X), HybridClassifier(AClass(**QUICK), random_state=0).fit(X, Y)):
        with pytest.raises(ValueError, match="n_draws=2 and return_std=True"):
            model.impute(X, n_draws=2, return_std=True)


def test_false_may_mark_a_missing_label():
    labels = np.where(np.arange(len(Y)) % 5 == 0, "?", np.array(["no", "yes"])[Y]).astype(object)
    labels[labels == "?"] = False
    for model in (AClass(**QUICK, missing_label=False), HybridClassifier(AClass(**QUICK), missing_label=False)):
        assert model.fit(X, labels).classes_.tolist() == ["no", "yes"]
