"""encode: the same table in any container gives the same codes and reals; predict-time rules; the fast path."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from partita.data import DataWarning, encode, learn_schema
from partita.data.containers import Source, open_table
from partita.data.encode import _codes_and_floats, _standardise_checked

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")

ROWS = [
    [True, 0.5, "u", 3, None],
    [None, None, "v", 4, "x"],
    [False, -1.5, None, None, "y"],
    [True, 2.5, "w", 0, "x"],
]
NAMES = ["flag", "size", "word", "count", "pair"]


def containers():
    columns = dict(zip(NAMES, zip(*ROWS)))
    pandas = pd.DataFrame({name: pd.Series(list(values), dtype=object) for name, values in columns.items()})
    nullable = pandas.astype(
        {"flag": "boolean", "size": "Float64", "word": "string", "count": "Int64", "pair": "category"}
    )
    arrow = pandas.astype({"flag": "bool[pyarrow]", "size": "double[pyarrow]", "count": "int64[pyarrow]"})
    return {
        "list": ROWS,
        "object array": np.array(ROWS, dtype=object),
        "masked array": np.ma.masked_equal(np.array(ROWS, dtype=object), None),
        "pandas objects": pandas,
        "pandas nullable": nullable,
        "pandas arrow": arrow,
        "polars": pl.DataFrame({name: list(values) for name, values in columns.items()}),
        "polars categorical": pl.DataFrame(
            {name: list(values) for name, values in columns.items()},
            schema_overrides={"word": pl.Categorical, "pair": pl.Enum(["x", "y"])},
        ),
    }


@pytest.mark.parametrize("name", containers())
def test_every_container_gives_the_same_table(name):
    X = containers()[name]
    schema = learn_schema(X)
    table = encode(X, schema)
    assert schema.kinds == ("binary", "real", "categorical", "count", "binary")
    assert table.codes.tolist() == [[1, 0, -1], [-1, 1, 0], [0, -1, 1], [1, 2, 0]]
    size = np.array([0.5, np.nan, -1.5, 2.5])
    np.testing.assert_allclose(table.reals[:, 0], (size - np.nanmean(size)) / np.nanstd(size))
    np.testing.assert_array_equal(table.reals[:, 1], [3, 4, np.nan, 0])
    observed = [[cell is not None for cell in row] for row in ROWS]
    assert table.observed().tolist() == observed


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.float64, np.longdouble, object])
def test_numpy_dtypes(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype)
    schema = learn_schema(X)
    assert schema.kinds == ("binary", "binary")
    assert encode(X, schema).codes.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_masked_cells_are_missing():
    for dtype in (float, int, np.float32):
        X = np.ma.masked_equal(np.array([[3, 4], [7, 5], [6, 8]], dtype=dtype), 7)
        table = encode(X, learn_schema(X))
        assert table.observed().tolist() == [[True, True], [False, True], [True, True]]


def test_string_arrays():
    X = np.array([["a", "x"], ["b", "y"], ["c", "x"]])
    schema = learn_schema(X)
    for form in (X, X.astype("S"), X.astype(object), X.astype(np.dtypes.StringDType())):
        assert encode(form, schema).codes.tolist() == [[0, 0], [1, 1], [2, 0]]


def test_columns_in_another_order_are_matched_by_name():
    frame = pd.DataFrame({"a": [0.5, 1.5, 9.0], "b": ["x", "y", "z"], "c": [3, 4, 5]})
    schema = learn_schema(frame)
    expected = encode(frame, schema)
    for other in (frame[["c", "a", "b"]], pl.DataFrame(frame)[["b", "c", "a"]]):
        table = encode(other, schema)
        np.testing.assert_array_equal(table.codes, expected.codes)
        np.testing.assert_array_equal(table.reals, expected.reals)
    numbers = frame[["a", "c"]].astype(float)
    schema = learn_schema(numbers)
    np.testing.assert_array_equal(encode(numbers[["c", "a"]], schema).reals, encode(numbers, schema).reals)


def test_integer_names_in_another_order_are_matched_by_value():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 2)
    for columns in (frame.columns, [7, 8, 9], [2, 0, 1], [(0, "a"), (0, "b"), (1, "a")], [0.5, 1.5, 2.5]):
        named = frame.set_axis(pd.Index(columns, tupleize_cols=False), axis=1)
        schema = learn_schema(named)
        expected = encode(named, schema)
        assert not schema.named
        for order in ([2, 1, 0], [1, 2, 0], [0, 1, 2]):
            np.testing.assert_array_equal(encode(named.iloc[:, order], schema).reals, expected.reals)
        # arrays, and frames that were given no names, have positions only
        np.testing.assert_array_equal(encode(frame.to_numpy(), schema).reals, expected.reals)
        if list(columns) != [2, 0, 1]:
            np.testing.assert_array_equal(encode(pd.DataFrame(frame.to_numpy()), schema).reals, expected.reals)


def test_wrong_integer_names_are_an_error():
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 2)
    texts = frame.set_axis(["a", "b", "c"], axis=1)
    numbers = frame.set_axis([7, 8, 9], axis=1)
    for known, other in ((frame, numbers), (numbers, texts), (texts, numbers), (numbers, numbers[[8, 9]])):
        with pytest.raises(ValueError, match="The feature names should match"):
            encode(other, learn_schema(known))
    encode(numbers, learn_schema(frame.to_numpy()))
    encode(texts, learn_schema(frame))


def test_integer_names_are_positions_but_are_kept():
    frame = pd.DataFrame([[0.5, 1.5], [2.5, 3.5]], columns=[7, 9])
    schema = learn_schema(frame)
    assert not schema.named and schema.names == (7, 9)
    np.testing.assert_array_equal(encode(frame.to_numpy(), schema).reals, encode(frame, schema).reals)


def test_level_not_seen_in_training_is_missing():
    schema = learn_schema(pd.DataFrame({"a": ["x", "y", "z"], "b": [1, 0, 1], "c": [True, False, True]}))
    table = encode(pd.DataFrame({"a": ["w", "z", None], "b": [2.0, 1.0, 0.5], "c": ["no", "yes", "no"]}), schema)
    assert table.codes.tolist() == [[-1, -1, -1], [2, 1, -1], [-1, -1, -1]]


def test_levels_match_by_value_whatever_the_dtype():
    schema = learn_schema(pd.DataFrame({"a": [10, 20, 30], "b": [True, False, True]}), {"a": "categorical"})
    for a in ([30.0, np.nan, 10.0], pd.array([30, None, 10]), pd.Categorical([30, None, 10]), [30, None, 10.0]):
        frame = pd.DataFrame({"a": pd.Series(a, dtype=object if isinstance(a, list) else None), "b": [1, 0, 1]})
        assert encode(frame, schema).codes.tolist() == [[2, 1], [-1, 0], [0, 1]]


def test_large_integer_levels_stay_apart():
    ids = np.array([[2**60], [2**60 + 1], [2**60 + 2]])
    schema = learn_schema(ids, ["categorical"])
    assert encode(ids, schema).codes.ravel().tolist() == [0, 1, 2]


def test_intervals_of_pandas_cut_are_levels():
    frame = pd.DataFrame({"a": pd.cut([1.0, 5.0, 9.0, np.nan], [0, 3, 6, 10])})
    schema = learn_schema(frame)
    assert schema.columns[0].levels == ("(0, 3]", "(3, 6]", "(6, 10]")
    assert encode(frame, schema).codes.ravel().tolist() == [0, 1, 2, -1]


def test_centre_and_scale_survive_a_huge_mean_and_huge_values():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=1000)
    X = np.column_stack([1e8 + 1e-3 * noise, 1.5e308 * np.sign(noise), 1e-310 * noise, np.full(1000, 0.1)])
    schema = learn_schema(X)
    reals = encode(X, schema).reals
    assert schema.columns[0].scale == pytest.approx(1e-3 * np.std(noise), rel=1e-4)
    assert np.isfinite(reals).all()
    np.testing.assert_allclose(reals[:, :3].mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(reals[:, :3].std(axis=0), 1, rtol=1e-4)
    assert (schema.columns[3].centre, schema.columns[3].scale) == (0.1, 1.0) and (reals[:, 3] == 0).all()


def test_log_jacobian_gives_densities_in_the_callers_units():
    X = np.array([[10.0, 3, 0.5], [30.0, np.nan, np.nan], [np.nan, 4, 2.5], [50.0, 5, 1.0]])
    schema = learn_schema(X, {1: "count"})
    table = encode(X, schema)
    scaled = norm.logpdf(table.reals[:, [0, 2]])
    own = norm.logpdf(X[:, [0, 2]], schema.centres[[0, 2]], schema.scales[[0, 2]])
    np.testing.assert_allclose(np.nansum(scaled, axis=1) + schema.log_jacobian(table), np.nansum(own, axis=1))


def test_take_keeps_rows_together():
    X = np.array([[0.0, 2.5], [1.0, 3.5], [np.nan, 4.5]])
    table = encode(X, learn_schema(X))
    part = table.take(np.array([2, 0]))
    assert len(part) == 2 and part.codes.tolist() == [[-1], [0]] and part.reals[0, 0] == table.reals[2, 0]
    assert len(table.take(slice(1, None))) == 2 and len(table.take(np.array([True, False, False]))) == 1


cells = st.sampled_from([0.0, 1.0, np.nan, 2.0, -3.5, 7.0])


@settings(max_examples=60)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=cells),
    st.lists(st.sampled_from([None, "categorical", "real"]), min_size=5, max_size=5),
)
def test_fast_path_equals_column_by_column(X, kinds):
    schema = learn_schema(X, kinds[: X.shape[1]])
    table = encode(X, schema)
    source = open_table(X)
    slow = Source("numpy", source.data, source.labels, False, None)
    codes, reals = _codes_and_floats(slow.cells(range(X.shape[1])), schema, len(X), [])
    _standardise_checked(reals, schema)
    np.testing.assert_array_equal(table.codes, codes)
    np.testing.assert_array_equal(table.reals, reals)
    np.testing.assert_array_equal(encode(X.astype(object), schema).codes, codes)


def test_blocks_of_rows_change_nothing():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(5000, 40)).astype(float)
    X[X == 2] = np.nan
    table = encode(np.asfortranarray(X), learn_schema(X))
    np.testing.assert_array_equal(table.codes, np.where(np.isnan(X), -1, X))
    assert table.codes.flags.c_contiguous


def test_warnings_name_the_columns_once_for_each_sort():
    frame = pd.DataFrame({"gone": [None] * 3, "nan": [np.nan] * 3, "same": [2.5] * 3, "id": ["x", "y", "z"]})
    with pytest.warns(DataWarning) as caught:
        schema = learn_schema(frame)
    messages = [str(w.message) for w in caught]
    assert len(messages) == 3
    assert any("no observed cell" in m and "'gone', 'nan'" in m for m in messages)
    assert any("one value only" in m and "'same'" in m for m in messages)
    assert any("as many levels" in m and "'id'" in m for m in messages)
    assert schema.n_columns == 4


def test_no_warning_from_encode_nor_for_a_single_row(recwarn):
    X = np.array([[0.0, 2.5], [1.0, 3.5]])
    schema = learn_schema(X)
    encode(np.full((2, 2), np.nan), schema)
    learn_schema(X[:1])
    assert not recwarn.list


def test_column_all_missing_in_training_takes_anything_later():
    schema = learn_schema(pd.DataFrame({"a": [None, None], "b": [np.nan, np.nan], "c": [1.5, 2.5]}))
    table = encode(pd.DataFrame({"a": ["x", 3], "b": [2.0, np.nan], "c": [1.5, 2.5]}), schema)
    assert table.codes.tolist() == [[-1], [-1]] and table.reals[0, 0] == 2.0


def test_read_only_input_is_left_alone():
    X = np.array([[0.0, 2.5, 3.0], [1.0, np.nan, 4.0]])
    before = X.copy()
    X.flags.writeable = False
    schema = learn_schema(X, {2: "count"})
    encode(X, schema)
    np.testing.assert_array_equal(X, before)


def test_polars_is_not_imported_for_arrays():
    code = (
        "import sys, numpy as np; from partita.data import *; X = np.eye(3); "
        "T = encode(X, learn_schema(X)); decode(T, X); assert 'polars' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
