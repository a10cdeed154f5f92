"""Every mistake in a table is answered by an error that names the column and says what to do."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from partita.data import encode, learn_schema

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")


@pytest.mark.parametrize("kinds", [None, ["categorical", "real"], ["count", "real"]])
@pytest.mark.parametrize("make", [np.array, lambda x: np.array(x, dtype=object)])
def test_infinity(make, kinds):
    good, bad = make([[0.0, 1.5], [1.0, 2.5]]), make([[0.0, 1.5], [np.inf, 2.5]])
    with pytest.raises(ValueError, match=r"infinity.*column 0, row 1"):
        learn_schema(bad, kinds)
    with pytest.raises(ValueError, match=r"infinity.*column 0, row 1"):
        encode(bad, learn_schema(good, kinds))
    with pytest.raises(ValueError, match=r"infinity.*column 1, row 0"):
        encode(make([[0.0, -np.inf], [1.0, 2.5]]), learn_schema(good, kinds))


def test_value_too_far_from_training_to_be_represented():
    schema = learn_schema(np.array([[1e-300], [2e-300], [3e-300]]))
    with pytest.raises(ValueError, match="too large: column 0, row 0"):
        encode(np.array([[1e300]]), schema)


def test_wrong_number_of_columns():
    schema = learn_schema(np.ones((3, 4)) * [[1], [2], [3]])
    with pytest.raises(ValueError, match=r"X has 3 features, but AClass is expecting 4 features as input"):
        encode(np.ones((3, 3)), schema, owner="AClass")
    with pytest.raises(ValueError, match=r"X has 5 features, but \w+ is expecting 4 features as input"):
        encode(pd.DataFrame(np.ones((3, 5))), schema)


def test_wrong_names():
    schema = learn_schema(pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}))
    message = r"(?s)unseen at fit time:\n- c\n.*yet now missing:\n- b\n"
    for frame in (pd.DataFrame({"a": [1.0], "c": [2.0]}), pl.DataFrame({"c": [2.0], "a": [1.0]})):
        with pytest.raises(ValueError, match=message):
            encode(frame, schema)
    with pytest.raises(ValueError, match="missing:\n- b\n"):
        encode(pd.DataFrame({"a": [1.0]}), schema)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c\n"):
        encode(pd.DataFrame({"a": [1.0], "b": [1.0], "c": [1.0]}), schema)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.empty((0, 3)), ValueError, r"Found array with 0 sample\(s\)"),
        (pd.DataFrame({"a": []}), ValueError, r"Found array with 0 sample\(s\)"),
        (np.empty((12, 0)), ValueError, r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\."),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pl.DataFrame(), ValueError, r"0 feature\(s\)"),
        ([], ValueError, "Expected 2D array, got 1D array instead"),
        (np.arange(3.0), ValueError, r"(?s)Expected 2D array, got 1D array instead.*Reshape your data"),
        (pd.Series([1.0, 2.0]), ValueError, "Expected 2D array, got 1D array instead"),
        (pl.Series([1.0, 2.0]), ValueError, "Expected 2D array, got 1D array instead"),
        (3.0, ValueError, "got scalar array instead"),
        (np.ones((2, 2, 2)), ValueError, "Found array with dim 3"),
        ([[1.0, 2.0], [1.0]], ValueError, "rows of different lengths"),
        (np.ones((3, 1)) + 1j, ValueError, "Complex data not supported"),
        (np.array([[1j], [2.0]], dtype=object), ValueError, "Complex data not supported: column 0"),
        (np.array([[1.0, {"foo": "bar"}]], dtype=object), TypeError, "column 1: .*argument must be .* string.* number"),
        (pd.DataFrame({"a": [[1], [2]]}), TypeError, r"column 'a': .* got \[1\] \(list\) in row 0"),
        (pl.DataFrame({"a": [[1], [2]]}), TypeError, r"column 'a': .* got \[1\] \(list\) in row 0"),
        (scipy.sparse.eye(3).tocsr(), TypeError, r"Sparse data.*X.toarray\(\)"),
        (pl.LazyFrame({"a": [1]}), TypeError, "LazyFrame.*collect"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ValueError, "Duplicate column names: 'a'"),
        (
            pd.DataFrame([[1.0, 2.0]], columns=["a", 1]),
            TypeError,
            r"Feature names are only .*\['int', 'str'\]",
        ),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None])}), ValueError, "column 't' holds dates or times"),
        (
            pd.DataFrame({"t": [datetime.date(2020, 1, 1), None]}),
            ValueError,
            "column 't' holds dates.*Convert it",
        ),
        (pd.DataFrame({"t": pd.period_range("2020", periods=2, freq="D")}), ValueError, "column 't' holds dates"),
        (pd.DataFrame({"t": pd.to_timedelta([1, 2])}), ValueError, "column 't' holds dates"),
        (pl.DataFrame({"t": [datetime.date(2020, 1, 1)]}), ValueError, "column 't' holds dates"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ValueError, "column 0 holds dates"),
    ],
)
def test_bad_tables(X, error, message):
    with pytest.raises(error, match=message):
        learn_schema(X)


def test_values_that_contradict_the_learnt_kind():
    schema = learn_schema(pd.DataFrame({"n": [3, 4, 5], "x": [1.5, 2.5, 3.5]}))
    with pytest.raises(ValueError, match=r"column 'n' is of kind \"count\" but holds -1.0 in row 1"):
        encode(pd.DataFrame({"n": [3, -1], "x": [1.0, 2.0]}), schema)
    with pytest.raises(ValueError, match=r"column 'x' is of kind \"real\" but holds text or categories: '\?' in row 1"):
        encode(pd.DataFrame({"n": [3, 4], "x": pd.Series([1.0, "?"], dtype=object)}), schema)
    many = np.full((40000, 2), 3.0)
    many[39990, 0] = 0.5
    with pytest.raises(ValueError, match=r"column 'n' .* holds 0.5 in row 39990"):
        encode(many, schema)
