"""Labels: codes and classes from any type; missing labels; every error."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from partita.data import DataWarning, encode_labels
from partita.data.labels import check_same_classes

STRINGS = ["b", None, "a", "b"]


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([3, 1, 3], [1, 0, 1], [1, 3]),
        (np.array([3, 1, 3], dtype=np.int8), [1, 0, 1], [1, 3]),
        (np.array([0.0, np.nan, 2.0]), [0, -1, 1], [0.0, 2.0]),
        ([True, False, None], [1, 0, -1], [False, True]),
        (np.array([True, True]), [0, 0], [True]),
        ([1, 1, 1], [0, 0, 0], [1]),
        (STRINGS, [1, -1, 0, 1], ["a", "b"]),
        (np.array(["b", "a"]), [1, 0], ["a", "b"]),
        (np.array(STRINGS, dtype=object), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series(STRINGS), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series(STRINGS, dtype="string"), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series(pd.Categorical(STRINGS, categories=["b", "a"])), [1, -1, 0, 1], ["a", "b"]),
        (pd.Categorical(STRINGS), [1, -1, 0, 1], ["a", "b"]),
        (pl.Series(STRINGS), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series([3, None, 1], dtype="Int64"), [1, -1, 0], [1, 3]),
        (pl.Series([3, None, 1]), [1, -1, 0], [1, 3]),
        (pd.Series([3, 1], index=[9, 9]), [1, 0], [1, 3]),
        (np.array([2, 0], dtype=object), [1, 0], [0, 2]),
    ],
)
def test_codes_and_classes(y, codes, classes):
    got, found = encode_labels(y)
    assert got.tolist() == codes and got.dtype == np.int32
    assert found.tolist() == classes and isinstance(found, np.ndarray)
    seen = got >= 0
    assert [found[c] for c in got[seen]] == [v for v, s in zip(list(y), seen) if s]


def test_classes_keep_the_dtype_of_the_labels():
    assert encode_labels(np.array([3, 1], dtype=np.int16))[1].dtype == np.int16
    assert encode_labels(np.array(["b", "a"], dtype=object))[1].dtype == object
    assert encode_labels(["b", "a"])[1].dtype.kind == "U"
    assert encode_labels(np.array([1, 2], dtype=object))[1].dtype.kind == "i"


@pytest.mark.parametrize(
    ("y", "mark"),
    [
        ([0, -1, 1], -1),
        (["a", "?", "b"], "?"),
        ([0, "?", 1], "?"),
        (pd.Series(pd.Categorical(["a", "?", "b"])), "?"),
        (pl.Series([0, -1, 1]), -1),
        (np.array([0.0, 9.0, 1.0]), 9),
        ([0, None, 1], -1),
        ([0, None, 1], "?"),
        ([0, None, 1], np.nan),
    ],
)
def test_missing_label_is_one_more_mark(y, mark):
    codes, classes = encode_labels(y, missing_label=mark)
    assert codes.tolist() == [0, -1, 1] and len(classes) == 2


@pytest.mark.parametrize(
    ("y", "mark", "n_classes"),
    [
        ([0, 1, 0], False, 2),
        (np.array([0, 1, 2]), True, 3),
        ([True, False, True], 0, 2),
        (np.array([1.0, 0.0]), False, 2),
        (["a", "b"], -1, 2),
        ([0, 1], "?", 2),
        (pd.Categorical([0, 1]), "?", 2),
    ],
)
def test_a_mark_that_cannot_occur_is_warned_of(y, mark, n_classes):
    with pytest.warns(DataWarning, match="missing_label=.* Pass a mark of their type"):
        codes, classes = encode_labels(y, missing_label=mark)
    assert len(classes) == n_classes and (codes >= 0).all()


@pytest.mark.parametrize(
    ("y", "mark"),
    [([True, False, True], False), (np.array([True, False]), np.False_), (["a", False, "a"], False),
     (pd.Categorical([True, False, True]), False), ([0, pd.NA, 0], pd.NA), (["a", 7, "a"], np.int8(7))],
)  # fmt: skip
def test_marks_of_the_type_of_the_labels(y, mark):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes, classes = encode_labels(y, missing_label=mark)
    assert codes[:2].tolist() == [0, -1] and len(classes) == 1


def test_classes_of_later_rows():
    known = np.array([1, 2, 3])
    check_same_classes([3, 1, 2], known, "AClass")
    check_same_classes(np.array([1.0, 2.0, 3.0]), known, "AClass")
    for other in ([1, 2], [1, 2, 4], ["1", "2", "3"], [1, 2, 3, None]):
        with pytest.raises(ValueError, match=r"AClass: classes=.* not the same as on the first call.*\[1, 2, 3\]"):
            check_same_classes(other, known, "AClass")


def test_minus_one_is_a_class_unless_said_otherwise():
    assert encode_labels([-1, 1])[1].tolist() == [-1, 1]


def test_classes_given():
    codes, classes = encode_labels([2, None, 2], classes=[3, 2, 1])
    assert codes.tolist() == [1, -1, 1] and classes.tolist() == [1, 2, 3]
    codes, classes = encode_labels([None, None], classes=np.array(["x", "y"], dtype=object))
    assert codes.tolist() == [-1, -1] and classes.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("y", "arguments", "message"),
    [
        (None, {"owner": "AClass"}, "AClass requires y to be passed, but the target y is None"),
        ([0.5, 1.5], {}, "Unknown label type: continuous"),
        ([np.inf, 1.0], {}, "Input y contains infinity"),
        ([None, np.nan], {}, "no observed label"),
        ([], {}, "no observed label"),
        ([-1, -1], {"missing_label": -1}, "no observed label"),
        ([0, 1], {"n_rows": 3}, r"Found input variables with inconsistent numbers of samples: \[3, 2\]"),
        ([0, 5], {"classes": [0, 1]}, "not in classes: 5 in row 1"),
        (["a", "c"], {"classes": ["a", "b"]}, "not in classes: 'c' in row 1"),
        ([0, 1], {"classes": [0, None]}, "classes holds a missing mark"),
        ([0, "a"], {}, "Unknown label type: y mixes text and numbers"),
        (pd.Categorical(["a", 1, "a"]), {}, "Unknown label type: y mixes text and numbers"),
        (pd.Series(["a", 1, "a"], dtype="category"), {}, "Unknown label type: y mixes text and numbers"),
        (["a"], {"classes": ["a", 1]}, "Unknown label type: classes mixes text and numbers"),
        (["a", "?"], {"missing_label": ["?"]}, r"missing_label must be text, .* got \['\?'\] \(list\)"),
        (["a", "?"], {"missing_label": {"?"}}, r"missing_label must be text, .* \(set\)"),
        ([0, -1], {"missing_label": np.array([-1])}, r"missing_label must be text, .* \(ndarray\)"),
        ([0, -1, 1], {"missing_label": "-1"}, r"missing_label='-1' is text, but the labels are numbers, among them -1"),
        (np.array([0.0, -1.0]), {"missing_label": "-1"}, r"Pass missing_label=-1\.0"),
        (["0", "-1"], {"missing_label": -1}, r"missing_label=-1 is a number, but the labels are text, among them '-1'"),
        (["True", "x"], {"missing_label": True}, r"is a truth value, but the labels are text"),
        ([[0, 1], [1, 0]], {}, r"y should be a 1d array, got an array of shape \(2, 2\)"),
        ([["a", "b"], ["a", "b"]], {}, r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (pd.DataFrame({"a": [0, 1], "b": [0, 1]}), {}, r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (3, {}, r"y should be a 1d array, got an array of shape \(\)"),
        (np.array([0, 1]) + 1j, {}, "Complex data not supported"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), {}, "y holds dates"),
    ],
)
def test_errors(y, arguments, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, **arguments)


@pytest.mark.parametrize("y", [np.array([[1], [0]]), [["b"], ["a"]], pd.DataFrame({"y": [1, 0]})])
def test_column_vector_is_ravelled_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        assert encode_labels(y)[0].tolist() == [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_labels([1, 0])


def test_a_label_beyond_the_classes_says_where_to_name_it():
    with pytest.raises(ValueError, match=r"2 in row 1; the classes are 0, 1\. Name all .* first call of partial_fit"):
        encode_labels([0, 2], None, [0, 1], n_rows=2, owner="AClass")
