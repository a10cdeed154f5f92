"""decode: observed cells come back as they were given, holes from the table, in the caller's type."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from partita.data import Table, decode, encode, learn_schema

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")


def filled(table, code=0, real=0.0):
    """The table with every hole filled: level `code`, or the scaled value `real`."""
    codes = np.where(table.codes < 0, np.int32(code), table.codes)
    return Table(table.schema, codes, np.where(np.isnan(table.reals), real, table.reals))


def complete(X, column_kinds=None, **fill):
    return decode(filled(encode(X, learn_schema(X, column_kinds)), **fill), X)


reals = st.floats(allow_nan=False, allow_infinity=False, width=64)
COLUMNS = {
    "real": (st.one_of(st.none(), reals), [pd.Float64Dtype(), object, "double[pyarrow]", "float64"]),
    "count": (st.one_of(st.none(), st.integers(0, 2**62)), [pd.Int64Dtype(), object, "int64[pyarrow]"]),
    "flag": (st.one_of(st.none(), st.booleans()), [pd.BooleanDtype(), object, "bool[pyarrow]"]),
    "word": (st.one_of(st.none(), st.sampled_from("abcd")), ["str", object, "category", "string"]),
}


@st.composite
def frames(draw):
    n = draw(st.integers(1, 12))
    columns = {}
    for name, (cells, dtypes) in COLUMNS.items():
        values = draw(st.lists(cells, min_size=n, max_size=n))
        columns[name] = pd.Series(values, dtype=draw(st.sampled_from(dtypes)))
    return pd.DataFrame(columns, index=draw(st.permutations(range(n))))


@settings(max_examples=60)
@given(frames())
def test_observed_cells_come_back_exactly_from_pandas(frame):
    done = complete(frame)
    assert list(done.columns) == list(frame.columns) and done.index.equals(frame.index)
    for name in frame:
        seen = frame[name].notna().to_numpy()
        assert done[name][seen].tolist() == frame[name][seen].tolist()
        if seen.any():
            assert done[name].notna().all()


@settings(max_examples=30)
@given(frames())
def test_observed_cells_come_back_exactly_from_polars_and_arrays(frame):
    rows = [[None if pd.isna(v) else v for v in row] for row in frame.astype(object).to_numpy()]
    polars = pl.DataFrame(rows, schema={"r": pl.Float64, "c": pl.Int64, "f": pl.Boolean, "w": pl.String}, orient="row")
    done = complete(polars)
    array = complete(np.array(rows, dtype=object))
    assert done.columns == polars.columns
    for i, row in enumerate(polars.rows()):
        for j, cell in enumerate(row):
            if cell is not None:
                assert done.row(i)[j] == cell and type(done.row(i)[j]) is type(cell)
                assert array[i, j] == rows[i][j]
                assert array.dtype == np.float64 or type(array[i, j]) is type(rows[i][j])


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([True, None, False], "boolean", [True, False, False]),
        ([True, None, False], "bool[pyarrow]", [True, False, False]),
        ([1, None, 0], "Int64", [1, 0, 0]),
        ([1.0, np.nan, 0.0], "float64", [1.0, 0.0, 0.0]),
        ([1.0, np.nan, 0.0], "float32", [1.0, 0.0, 0.0]),
        ([4, None, 5], "Int64", [4, 0, 5]),
        ([4, None, 5], "int64[pyarrow]", [4, 0, 5]),
        (["a", None, "b"], "str", ["a", "a", "b"]),
        (["a", None, "b"], "string", ["a", "a", "b"]),
        (["a", None, "b"], object, ["a", "a", "b"]),
        (["b", None, "a"], pd.CategoricalDtype(["b", "a", "c"], ordered=True), ["b", "b", "a"]),
        ([7, None, 5], pd.CategoricalDtype([7, 5]), [7, 7, 5]),
    ],
)
def test_pandas_dtypes_stay(values, dtype, expected):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype, index=[5, 3, 4])})
    assert_frame_equal(complete(frame), pd.DataFrame({"a": pd.Series(expected, dtype=dtype, index=[5, 3, 4])}))


def test_plain_integer_columns_stay_integers_beside_holed_ones():
    frame = pd.DataFrame({"n": [3, 4, 5], "x": [1.5, np.nan, 2.5]})
    assert complete(frame).dtypes.tolist() == [np.dtype("int64"), np.dtype("float64")]


def test_fraction_in_an_integer_column_makes_it_float():
    frame = pd.DataFrame({"n": pd.array([3, None, 5], dtype="Int64")})
    done = complete(frame, real=3.5)
    assert done["n"].dtype == "Float64" and done["n"].tolist() == [3, 3.5, 5]
    done = complete(pl.DataFrame({"n": [3, None, 5]}), real=3.5)
    assert done["n"].dtype == pl.Float64 and done["n"].to_list() == [3, 3.5, 5]


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("a", ["x", None, "y"]),
        pl.Series("a", ["x", None, "y"], dtype=pl.Categorical),
        pl.Series("a", ["x", None, "y"], dtype=pl.Enum(["x", "y", "z"])),
        pl.Series("a", [True, None, False]),
        pl.Series("a", [3, None, 5], dtype=pl.UInt16),
        pl.Series("a", [0.1, None, 0.7], dtype=pl.Float32),
        pl.Series("a", [Decimal("0.50"), None, Decimal("1.50")]),
    ],
)
def test_polars_dtypes_stay(series):
    done = complete(pl.DataFrame([series]))["a"]
    assert done.dtype == series.dtype and done.null_count() == 0
    assert done[0] == series[0] and done[2] == series[2]


def test_holes_take_the_callers_units():
    X = np.array([[10.0, 0.0], [np.nan, 1.0], [30.0, np.nan]])
    np.testing.assert_allclose(complete(X, code=1, real=1.0), [[10, 0], [30, 1], [30, 1]])
    for dtype in (np.float32, np.float16):
        assert complete(X.astype(dtype)).dtype == dtype


def test_arrays_without_holes_keep_their_dtype():
    for X in (np.array([[3, 4], [5, 6]], dtype=np.int16), np.array([["a", "b"]]), np.array([[True, False]])):
        done = complete(X)
        assert done.dtype == X.dtype and done is not X and (done == X).all()


def test_object_array_of_numbers_becomes_float_and_others_stay_objects():
    numbers = complete(np.array([[1, 2.5], [None, 3.5], [7, None]], dtype=object))
    assert numbers.dtype == np.float64 and numbers[:, 0].tolist() == [1, 0, 7]
    mixed = complete([[1, "a"], [None, "b"], [7, None]])
    assert mixed.tolist() == [[1, "a"], [0, "b"], [7, "a"]]
    huge = complete(np.array([[2**60 + 1], [None], [3]], dtype=object), ["categorical"])
    assert huge.tolist() == [[2**60 + 1], [3], [3]]


def test_what_stays_missing_comes_back_missing():
    X = np.array([[0.5, 0.0], [np.nan, np.nan], [1.5, 1.0]])
    np.testing.assert_array_equal(decode(encode(X, learn_schema(X)), X), X)
    frame = pd.DataFrame({"a": ["x", None, "y"], "n": pd.array([2, None, 3], dtype="Int64")})
    assert_frame_equal(decode(encode(frame, learn_schema(frame)), frame), frame)


def test_unseen_level_stays_as_given_and_order_is_the_callers():
    schema = learn_schema(pd.DataFrame({"a": ["x", "y", "z"], "b": [0.5, 1.5, 2.5]}))
    later = pd.DataFrame({"b": [np.nan, 9.0], "a": ["new", None]})
    done = decode(filled(encode(later, schema), code=2), later)
    assert list(done.columns) == ["b", "a"]
    assert done["a"].tolist() == ["new", "z"] and done["b"].tolist() == [1.5, 9.0]


def test_level_missing_from_the_categories_of_a_later_frame_is_added():
    schema = learn_schema(pd.DataFrame({"a": pd.Categorical(["x", "y", "z"])}))
    later = pd.DataFrame({"a": pd.Categorical(["x", None])})
    done = decode(filled(encode(later, schema), code=2), later)
    assert done["a"].tolist() == ["x", "z"] and list(done["a"].cat.categories) == ["x", "z"]
    enum = pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Enum(["x"]))})
    assert decode(filled(encode(enum, schema), code=2), enum)["a"].to_list() == ["x", "z"]


def test_intervals_are_filled_with_intervals():
    frame = pd.DataFrame({"a": pd.cut([1.0, 5.0, 9.0, np.nan], [0, 3, 6, 10])})
    done = complete(frame, code=1)
    assert done["a"].dtype == frame["a"].dtype and done["a"][3] == frame["a"][1]


def test_string_column_given_as_nan_array_is_filled_with_strings():
    schema = learn_schema(np.array([["a"], ["b"]]))
    X = np.full((2, 1), np.nan)
    assert decode(filled(encode(X, schema), code=1), X).tolist() == [["b"], ["b"]]


@pytest.mark.parametrize("container", ["numpy", "pandas", "polars"])
def test_without_like_every_cell_comes_from_the_table(container):
    columns = {"f": [True, False, True], "w": ["u", "v", "w"], "n": [3, 4, 9], "x": [0.25, 0.5, -1.0]}
    X = {
        "numpy": np.array(list(zip(*columns.values())), dtype=object),
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
    }[container]
    table = encode(X, learn_schema(X))
    done = decode(table)
    assert type(done) is type(X)
    if container == "numpy":
        assert done[:, :3].tolist() == X[:, :3].tolist()
        np.testing.assert_allclose(done[:, 3].astype(float), columns["x"])
    else:
        assert list(done.dtypes) == list(X.dtypes) and list(done.columns) == list(X.columns)
        pd.testing.assert_frame_equal(pd.DataFrame(done), pd.DataFrame(X))
    holed = decode(Table(table.schema, np.full_like(table.codes, -1), np.full_like(table.reals, np.nan)))
    assert pd.isna(pd.DataFrame(np.array(holed, dtype=object))).all(axis=None)


def test_without_like_numeric_arrays_are_float_and_bool_arrays_bool():
    X = np.array([[0, 5], [1, 6]])
    done = decode(encode(X, learn_schema(X)))
    assert done.dtype == np.float64 and done.tolist() == X.tolist()
    X = np.array([[True], [False]])
    assert decode(encode(X, learn_schema(X))).dtype == bool


def test_code_without_a_level_is_missing():
    X = np.array([["a"], ["a"], [None]], dtype=object)
    assert complete(X, code=1).tolist() == [["a"], ["a"], [None]]


def test_a_polars_column_without_a_name_keeps_having_none():
    frame = pl.DataFrame({"a": ["x", None, "y"], "": ["u", "v", None]})
    assert complete(frame).columns == ["a", ""]  # filled
    table = encode(frame, learn_schema(frame))
    assert decode(filled(table)).columns == ["a", ""]  # built anew
