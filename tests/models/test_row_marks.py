"""Rows known again by their marks."""

import numpy as np
import pandas as pd

from partita.data.encode import encode, learn_schema
from partita.models.gated.row_marks import has_holes, row_marks


def test_marks_tell_rows_apart_and_know_them_again():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=3000), "b": rng.choice(list("xyz"), 3000), "c": rng.integers(5, size=3000)})
    X.loc[::3, "a"] = np.nan
    X.loc[1::4, "b"] = None
    schema = learn_schema(X)
    marks = row_marks(encode(X, schema))
    different = len(X.drop_duplicates())
    assert len(np.unique(marks)) == different
    order = rng.permutation(3000)
    np.testing.assert_array_equal(row_marks(encode(X.iloc[order], schema)), marks[order])
    holes = has_holes(encode(X, schema))
    np.testing.assert_array_equal(holes, X.isna().any(axis=1))


def test_a_hole_is_no_zero_and_columns_have_places():
    X = np.array([[0.0, np.nan], [np.nan, 0.0], [0.0, 0.0], [-0.0, 0.0], [1.0, 2.0], [2.0, 1.0]])
    marks = row_marks(encode(X, learn_schema(X, ["real", "real"])))
    assert marks[2] == marks[3]
    assert len(set(marks.tolist())) == 5
