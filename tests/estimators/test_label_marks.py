"""Labels missing in part, in every spelling, and labels of every type."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_tables import QUICK, holed_binary

from partita import AClass, HybridClassifier

X, TRUTH = holed_binary(160)
GONE = np.arange(160) % 3 == 2
NUMBERS = np.where(GONE, np.nan, TRUTH)


def spelled():
    words = np.array(["n", "p"])[TRUTH]
    return {
        "None": ([None if g else w for g, w in zip(GONE, words)], None),
        "NaN": (NUMBERS, None),
        "pd.NA": (pd.array([pd.NA if g else int(v) for g, v in zip(GONE, TRUTH)], dtype="Int64"), None),
        "text NA": (pd.Series(words, dtype="str").mask(GONE), None),
        "category": (pd.Series(words, dtype="category").mask(GONE), None),
        "polars null": (pl.Series([None if g else str(w) for g, w in zip(GONE, words)]), None),
        "-1": (np.where(GONE, -1, TRUTH), -1),
        "?": (np.where(GONE, "?", words), "?"),
    }


def make(cls, **changes):
    return AClass(**QUICK, **changes) if cls is AClass else HybridClassifier(AClass(**QUICK), random_state=0, **changes)


@pytest.mark.parametrize("cls", [AClass, HybridClassifier])
@pytest.mark.parametrize("spelling", spelled())
def test_every_spelling_of_a_missing_label_means_the_same(cls, spelling):
    y, mark = spelled()[spelling]
    plain = make(cls).fit(X, NUMBERS)
    model = make(cls, missing_label=mark).fit(X, y)
    assert len(model.classes_) == 2
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("cls", [AClass, HybridClassifier])
def test_minus_one_is_a_class_unless_said_otherwise(cls):
    model = make(cls).fit(X, np.where(GONE, -1, TRUTH))
    assert model.classes_.tolist() == [-1, 0, 1]


def test_a_tenth_of_the_labels_is_enough_for_clear_groups():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    cells = (rng.random((200, 20)) < np.where(truth[:, None], 0.85, 0.15)).astype(float)
    y = np.where(np.arange(200) < 20, truth, np.nan)
    model = AClass(random_state=0).fit(cells, y)
    assert (model.predict(cells) == truth).mean() > 0.95


@pytest.mark.parametrize("cls", [AClass, HybridClassifier])
@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array([False, True]), bool),
        (np.array([3, 7]), np.int64),
        (np.array([2.0, 5.0]), np.float64),
        (np.array(["a", "b"]), "<U1"),
    ],
)
def test_predictions_have_the_type_of_the_labels(cls, labels, dtype):
    model = make(cls).fit(X, labels[TRUTH])
    assert model.classes_.dtype == dtype
    assert model.predict(X).dtype == dtype
    assert (model.predict(X) == labels[TRUTH]).mean() > 0.8


def test_no_label_at_all_is_an_error():
    with pytest.raises(ValueError, match="y holds no observed label"):
        AClass(**QUICK).fit(X, np.full(160, np.nan))


def test_a_stream_may_begin_without_labels():
    model = AClass(**QUICK).partial_fit(X[:40], [None] * 40, classes=[0, 1])
    model.partial_fit(X[40:], TRUTH[40:])
    assert (model.predict(X) == TRUTH).mean() > 0.8


@pytest.mark.parametrize("spelling", spelled())
def test_a_missing_label_cannot_be_scored(spelling):
    y, mark = spelled()[spelling]
    model = make(AClass, missing_label=mark).fit(X, y)
    with pytest.raises(ValueError, match=r"AClass\.score: 53 of 160 labels in y are missing, the first in row 2\."):
        model.score(X, y)


def test_rows_with_a_label_can_be_scored():
    hybrid = make(HybridClassifier, missing_label=-1)
    hybrid.fit(X, np.where(GONE, -1, TRUTH))
    right = hybrid.predict(X) == TRUTH
    assert hybrid.score(X[~GONE], TRUTH[~GONE]) == right[~GONE].mean()
    assert hybrid.score(X, TRUTH, sample_weight=~GONE) == right[~GONE].mean()
    with pytest.raises(ValueError, match=r"HybridClassifier\.score: 53 of 160 labels"):
        hybrid.score(X, np.where(GONE, -1, TRUTH))
