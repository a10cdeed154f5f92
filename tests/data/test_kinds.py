"""Column kinds: what is inferred, what the caller may say, and what contradicts it."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.data import learn_schema

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")


def kind_and_levels(values, dtype=None):
    column = learn_schema(pd.DataFrame({"a": pd.Series(values, dtype=dtype)})).columns[0]
    return column.kind, column.levels


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "levels"),
    [
        ([True, False, True], "bool", "binary", (False, True)),
        ([True, None, True], "boolean", "binary", (False, True)),
        ([True, None, False], object, "binary", (False, True)),
        ([True, None, False], "bool[pyarrow]", "binary", (False, True)),
        ([0, 1, 1], "int64", "binary", (0, 1)),
        ([0.0, np.nan, 0.0], "float64", "binary", (0.0, 1.0)),
        ([1, None, 1], "Int64", "binary", (0, 1)),
        ([3, 0, 2], "int32", "count", ()),
        ([3, None, 2], "Int64", "count", ()),
        ([3, None, 2], "int64[pyarrow]", "count", ()),
        ([3, None, 2], object, "count", ()),
        ([3, 0, 2], "uint8", "count", ()),
        ([-1, 0, 2], "int64", "real", ()),
        ([0, 3, 999], "int64", "real", ()),
        ([*range(40), 999], "int64", "count", ()),
        ([*range(40), 1000], "int64", "real", ()),
        ([2019, 2020, 2024], "Int64", "real", ()),
        ([41_000, 52_500, 38_250], "uint32", "real", ()),
        ([2**63, 2**63 + 1, 5], "uint64", "real", ()),
        ([1.0, 2.0, 3.0], "float64", "real", ()),
        ([1.5, None, 3.0], "Float64", "real", ()),
        ([1.5, None, 3.0], "double[pyarrow]", "real", ()),
        ([1.5, None, 3], object, "real", ()),
        ([Decimal("1.5"), None, Decimal("2")], object, "real", ()),
        (["x", "y", "x"], "str", "binary", ("x", "y")),
        (["x", None, "x"], object, "binary", ("x",)),
        (["z", "y", "x"], "string", "categorical", ("x", "y", "z")),
        (["z", "y", "x"], pd.CategoricalDtype(["z", "x", "y", "w"]), "categorical", ("z", "x", "y")),
        ([5, 7, 5], "category", "binary", (5, 7)),
        ([None, None, None], object, "binary", ()),
        ([np.nan, np.nan, np.nan], "float64", "real", ()),
        ([None, None, None], "Int64", "real", ()),
    ],
)
def test_kind_is_inferred_from_dtype_and_values(values, dtype, kind, levels):
    got_kind, got_levels = kind_and_levels(values, dtype)
    assert got_kind == kind
    assert got_levels == levels and list(map(type, got_levels)) == list(map(type, levels))


@pytest.mark.parametrize(
    ("series", "kind", "levels"),
    [
        (pl.Series([True, None]), "binary", (False, True)),
        (pl.Series([0, 1, None], dtype=pl.UInt8), "binary", (0, 1)),
        (pl.Series([4, None, 2]), "count", ()),
        (pl.Series([4, None, -2]), "real", ()),
        (pl.Series([4.0, None, float("nan")]), "real", ()),
        (pl.Series([Decimal("1.50"), None]), "real", ()),
        (pl.Series(["b", None, "a"]), "binary", ("a", "b")),
        (pl.Series(["c", "b", None, "a"], dtype=pl.Categorical), "categorical", ("a", "b", "c")),
        (pl.Series(["c", "b", None, "a"], dtype=pl.Enum(["b", "a", "d", "c"])), "categorical", ("b", "a", "c")),
        (pl.Series([None, None]), "binary", ()),
    ],
)
def test_kind_of_polars_dtypes(series, kind, levels):
    column = learn_schema(pl.DataFrame({"a": series})).columns[0]
    assert (column.kind, column.levels) == (kind, levels)


def test_binary_counts_two_levels_even_where_constant():
    schema = learn_schema(pd.DataFrame({"a": ["x", "x"], "b": [0, 0], "c": list("uv"), "d": [1.5, 2.5]}))
    assert schema.n_levels.tolist() == [2, 2, 2] and schema.n_levels.dtype == np.int32
    assert schema.discrete.tolist() == [0, 1, 2] and schema.numeric.tolist() == [3]


X = np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [0.0, 3.0, 4.0]])


@pytest.mark.parametrize(
    "column_kinds",
    [["categorical", "count", None], {0: "categorical", 1: "count"}, {np.int64(1): "count", 0: "categorical"}],
)
def test_caller_overrides(column_kinds):
    schema = learn_schema(X, column_kinds)
    assert schema.kinds == ("categorical", "count", "real")
    assert schema.columns[0].levels == (0.0, 1.0)


def test_override_by_name_or_position_in_a_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert learn_schema(frame, {"b": "categorical", 2: "count"}).kinds == ("binary", "categorical", "count")
    assert learn_schema(frame, {"b": "categorical"}).columns[1].levels == (1.0, 2.0, 3.0)


def test_large_integers_are_counts_where_the_caller_says_so():
    assert learn_schema(np.array([[1200], [3400], [5600]]), ["count"]).kinds == ("count",)


def test_override_by_integer_name_before_position():
    frame = pd.DataFrame(X, columns=[2, 1, 0])
    assert learn_schema(frame, {2: "count"}).kinds == ("count", "real", "real")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([1.0, -2.0, 3.0], "count", r"column 'a' is of kind \"count\" but holds -2.0 in row 1"),
        ([1.0, 2.0, 3.5], "count", r"column 'a' .* holds 3.5 in row 2.*say \"real\""),
        ([1, 2, 3], "binary", r"column 'a' .* 3 distinct values \(1, 2, 3"),
        (["x", "y", "z"], "real", r"column 'a' is of kind \"real\" but holds text or categories: 'x' in row 0"),
        ([None, 2, "z"], "count", r"column 'a' .* 'z' in row 2"),
        (["x", "y", "z"], "sorts", r"column_kinds\['a'\] must be one of 'binary', 'categorical', 'count', 'real'"),
    ],
)
def test_contradicted_kind_is_an_error_that_names_the_column(values, kind, message):
    with pytest.raises(ValueError, match=message):
        learn_schema(pd.DataFrame({"a": values}), {"a": kind})


@pytest.mark.parametrize(
    ("column_kinds", "message"),
    [
        (["real"], "has 1 entries but the table has 3 columns"),
        ("real", "must be a dict or a list"),
        ({"b": "real"}, "speaks of 'b', which is no column"),
        ({7: "real"}, "speaks of 7, which is no column"),
        ({True: "real"}, "speaks of True"),
    ],
)
def test_column_kinds_that_fit_no_column(column_kinds, message):
    with pytest.raises(ValueError, match=message):
        learn_schema(X, column_kinds)


def test_text_mixed_with_numbers_needs_a_word_from_the_caller():
    table = np.array([[1, "a"], ["?", "b"], [2, "c"]], dtype=object)
    with pytest.raises(ValueError, match=r"column 0 mixes text \('\?'\) with numbers"):
        learn_schema(table)
    assert learn_schema(table, {0: "categorical"}).columns[0].levels == (1, 2, "?")
