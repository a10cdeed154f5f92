"""A level is known by its value or its spelling; values that are no level count as missing, and a warning says so."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.data import DataWarning, decode, encode, learn_schema

TEXT = learn_schema(pd.DataFrame({"a": ["1", "2", "3", "x"]}))


@pytest.mark.parametrize(
    "later",
    [
        pd.DataFrame({"a": [3, 1, 2]}),
        pd.DataFrame({"a": [3.0, 1.0, 2.0]}),
        pd.DataFrame({"a": pd.Categorical([3, 1, 2])}),
        pd.DataFrame({"a": pd.array([3, 1, 2], dtype="Int64")}),
        pl.DataFrame({"a": [3, 1, 2]}),
        np.array([[3], [1], [2]]),
        np.array([[3], ["1"], [2.0]], dtype=object),
    ],
)
def test_numbers_are_the_levels_that_their_text_spells(later):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode(later, TEXT).codes.ravel().tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("levels", "cells", "codes"),
    [
        (["True", "False", "maybe"], [True, False, None], [1, 0, -1]),
        (["true", "false", "maybe"], [True, False, None], [2, 0, -1]),
        (["007", "K1", "12.50"], [7.0, 12.5, None], [0, 1, -1]),
        ([1.0, 2.0, 2.5], ["1", "2", "2.5"], [0, 1, 2]),
        ([True, False, True], ["TRUE", "false", "True"], [1, 0, 1]),
        (["1", "01", "x"], [1, 1, 1], [-1, -1, -1]),  # two levels are spelled so: neither is meant
        (["1", "1.0", "x"], ["1", "1.0", "01"], [0, 1, -1]),  # text is text
    ],
)
@pytest.mark.filterwarnings("ignore::partita.data.DataWarning")
def test_spelling(levels, cells, codes):
    schema = learn_schema(pd.DataFrame({"a": levels}), {"a": "categorical"})
    assert encode(pd.DataFrame({"a": cells}), schema).codes.ravel().tolist() == codes


def test_large_numbers_and_their_text():
    schema = learn_schema(pd.DataFrame({"a": [str(2**60), str(2**60 + 1), "x"]}))
    assert encode(np.array([[2**60 + 1], [2**60]]), schema).codes.ravel().tolist() == [1, 0]


def test_holes_are_filled_in_the_type_of_the_later_table():
    later = pd.DataFrame({"a": pd.array([3, None, 2], dtype="Int64")})
    table = encode(later, TEXT)
    table.codes[table.codes < 0] = 0
    assert decode(table, later)["a"].dtype == "Int64" and decode(table, later)["a"].tolist() == [3, 1, 2]
    holes = pd.DataFrame({"a": [np.nan, np.nan]})
    table = encode(holes, TEXT)
    table.codes[:] = 0
    assert decode(table, holes)["a"].tolist() == ["1", "1"]
    numbers = learn_schema(np.array([[1.0], [2.0], [3.5]]), ["categorical"])
    words = pl.DataFrame({"a": ["1", None]})
    table = encode(words, numbers)
    table.codes[table.codes < 0] = 2
    assert decode(table, words)["a"].to_list() == ["1", "3.5"]


def test_a_column_of_unseen_levels_is_named():
    with pytest.warns(DataWarning, match=r"column 'a' \(categorical; 2 of 2 observed cells, for example 'w'\)"):
        table = encode(pd.DataFrame({"a": ["w", None, "v"]}), TEXT)
    assert table.codes.ravel().tolist() == [-1, -1, -1]


@pytest.mark.parametrize("missing", [False, True])
def test_many_unseen_values_of_an_array_are_counted_and_few_are_not(missing):
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (20, 1))
    schema = learn_schema(X)
    X[0, 1] = 7.0
    if missing:
        X[1, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode(X, schema).codes[0].tolist() == [0, -1]
    X[10:20, 1] = 7.0
    with pytest.warns(DataWarning, match=rf"column 1 \(binary; 11 of {40 - missing} observed cells, for example 7.0\)"):
        encode(X, schema)


def test_a_stream_tells_of_each_column_once():
    schema = learn_schema(np.array([[0.0, 1.0], [1.0, 0.0]]))
    told = []
    later = np.tile([[0.0, 1.0]], (100, 1))
    later[3, 0] = 2.5
    with pytest.warns(DataWarning, match=r"stream.*column 0 \(binary; 1 of 100.*2\.5\).*column_kinds"):
        encode(later, schema, told=told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(later, schema, told=told)
    later[4, 1] = 2.5
    with pytest.warns(DataWarning, match=r"column 1") as caught:
        encode(later, schema, told=told)
    assert "column 0" not in str(caught[0].message)
