"""What holes are filled with fits the column: its dtype stays, whole numbers stay whole, nothing overflows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.data import Table, decode, encode, learn_schema
from partita.data.scaling import centre_and_scale, restore, standardise

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")
FAR = 1e6  # in standard deviations


def filled(X, real, column_kinds=None):
    """X with its numeric holes at the scaled value `real`."""
    table = encode(X, learn_schema(X, column_kinds))
    return decode(Table(table.schema, table.codes, np.where(np.isnan(table.reals), real, table.reals)), X)


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]"])
@pytest.mark.parametrize("real", [0.1, FAR])
def test_pandas_floats_keep_their_width(dtype, real):
    frame = pd.DataFrame({"a": pd.Series([0.5, None, 3e38, -3e38], dtype=dtype)})
    done = filled(frame, real)["a"]
    assert done.dtype == frame["a"].dtype and np.isfinite(done.astype(float)).all()


@pytest.mark.parametrize("dtype", ["Int8", "UInt8", "Int16", "Int64", "UInt64", "int8[pyarrow]"])
@pytest.mark.parametrize("real", [-FAR, FAR])
@pytest.mark.parametrize("kind", ["count", "real"])
def test_pandas_integers_stay_in_their_range(dtype, real, kind):
    frame = pd.DataFrame({"a": pd.Series([3, None, 90, 100], dtype=dtype)})
    if kind == "count" and real < 0:
        real = 5.0
    done = filled(frame, real, {"a": kind})["a"]
    assert done.dtype == frame["a"].dtype and done.notna().all() and done.tolist()[2] == 90
    if real == FAR and "8" in dtype:
        assert done[1] == (255 if dtype == "UInt8" else 127)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16, pl.Int64, pl.UInt64, pl.Float32, pl.Decimal(5, 2)])
@pytest.mark.parametrize("real", [-FAR, FAR])
def test_polars_numbers_stay_in_their_range(dtype, real):
    frame = pl.DataFrame({"a": pl.Series([3, None, 90, 100]).cast(dtype)})
    done = filled(frame, real, {"a": "real"})["a"]
    assert done.dtype == frame["a"].dtype and done.null_count() == 0 and done[2] == 90


def test_polars_objects_are_filled():
    series = pl.Series("a", [1.5, None, 2.5], dtype=pl.Object)
    done = filled(pl.DataFrame([series]), 0.0)["a"]
    assert done.dtype == pl.Object and done.to_list() == [1.5, 2.0, 2.5]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_arrays_keep_their_width(dtype):
    X = np.array([[0.5], [np.nan], [1.5]], dtype=dtype)
    done = filled(X, FAR * 1e40)
    assert done.dtype == dtype and done[1, 0] == np.finfo(dtype).max


SALARIES = [41_000, None, 52_500, 38_250]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.array(SALARIES, dtype="Int64")}),
        pd.DataFrame({"a": pd.array(SALARIES, dtype="UInt16")}),
        pl.DataFrame({"a": SALARIES}),
    ],
)
def test_integers_taken_for_real_come_back_as_integers(frame):
    schema = learn_schema(frame)
    assert schema.kinds == ("real",)
    done = filled(frame, 0.123)["a"]
    assert done.dtype == frame["a"].dtype and done[1] == round(schema.centres[0] + 0.123 * schema.scales[0])
    made = decode(encode(frame.drop_nulls() if isinstance(frame, pl.DataFrame) else frame.dropna(), schema))["a"]
    assert sorted(made) == sorted(v for v in SALARIES if v) and str(made.dtype).lower() == "int64"


def test_huge_real_cells_come_back_finite():
    values = np.array([-1.7e308, 1.7e308, 1.0])
    centre, scale = centre_and_scale(values)
    scaled = values[:, None].copy()
    standardise(scaled, np.array([centre]), np.array([scale]))
    np.testing.assert_allclose(restore(scaled[:, 0], centre, scale), values, atol=1e295)
    most = np.finfo(float).max
    assert restore(np.array([50.0, -50.0, np.nan]), centre, scale)[:2].tolist() == [most, -most]
