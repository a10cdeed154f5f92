"""One column as it was given: its values, and which cells are missing.

The only file that knows how a missing cell is spelled: NaN, None, pandas' NA and NaT, polars' null.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

Level = str | int | float | bool

_INTEGERS = (int, np.integer)
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction, np.bool_)
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


@dataclass(frozen=True, eq=False)
class Cells:
    """The n cells of one column.

    origin      "bool", "int", "float": `values` is a numeric array (NaN at a missing float, anything at other missing);
                "text", "mixed", "empty": `values` is an object array of strings, of strings and numbers, of nothing;
                "category": `values` are integers that index `categories`, -1 where missing.
    missing     (n,) bool.
    """

    values: np.ndarray
    missing: np.ndarray
    origin: str
    categories: tuple[Level, ...] = ()

    @property
    def numeric(self) -> bool:
        return self.origin in ("bool", "int", "float")

    def floats(self) -> np.ndarray:
        """(n,) float64, NaN where missing; for numeric and empty columns."""
        if self.origin == "empty":
            return np.full(len(self.values), np.nan)
        if self.origin == "float":
            return self.values
        floats = self.values.astype(np.float64)
        floats[self.missing] = np.nan
        return floats


def absent_types() -> set[type]:
    """Types whose every value means "missing". pandas is asked only if the caller has imported it."""
    absent: set[type] = {type(None)}
    pandas = sys.modules.get("pandas")
    if pandas is not None and hasattr(pandas, "NaT"):
        absent |= {type(pandas.NA), type(pandas.NaT)}
    return absent


def object_array(values: Iterable[Any]) -> np.ndarray:
    """A 1-D object array of the values, even where they are sequences themselves."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def plain(value: Any) -> Level:
    """The level as a plain str, bool, int or float, so that it survives a file; anything else by its text."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, _INTEGERS):
        return int(value)
    if isinstance(value, _NUMBERS):
        return float(value)
    return str(value)


def read_array(column: np.ndarray, label: str) -> Cells:
    """Read a 1-D NumPy array of any dtype."""
    kind = column.dtype.kind
    if kind == "f":
        floats = column.astype(np.float64, copy=False)
        return Cells(floats, np.isnan(floats), "float")
    if kind in "biu":
        return Cells(column, np.zeros(len(column), dtype=bool), "bool" if kind == "b" else "int")
    if kind == "c":
        raise ValueError(f"Complex data not supported: {label} holds complex numbers. Split it into two real columns.")
    if kind in "Mm":
        raise date_error(label, str(column.dtype))
    if kind == "S":
        column = np.char.decode(column, "utf-8", "replace")
    if kind == "V":
        raise TypeError(f"{label}: a cell argument must be a string or a number, not a record of {column.dtype}.")
    return read_objects(column.astype(object), label)


def read_objects(values: np.ndarray, label: str) -> Cells:
    """Read a 1-D object array: strings, numbers (also Decimal and Fraction) and missing marks."""
    absent = absent_types()
    for kind in set(map(type, values)) - absent:
        if not issubclass(kind, (str, *_NUMBERS)):
            raise _foreign_type_error(kind, values, label)
    missing = np.fromiter((type(v) in absent or v != v for v in values), bool, len(values))
    present = values[~missing]
    origin = _origin_of(set(map(type, present)))
    if origin in ("text", "mixed", "empty"):
        return Cells(values, missing, origin)
    try:
        numbers = np.array(present.tolist(), dtype={"bool": bool, "int": np.int64, "float": np.float64}[origin])
    except OverflowError:  # integers beyond 64 bits
        origin, numbers = "float", np.array([float(v) for v in present])
    filled = np.full(len(values), np.nan) if origin == "float" else np.zeros(len(values), dtype=numbers.dtype)
    filled[~missing] = numbers
    return Cells(filled, missing, origin)


def _origin_of(types: set[type]) -> str:
    if not types:
        return "empty"
    if all(issubclass(t, str) for t in types):
        return "text"
    if any(issubclass(t, str) for t in types):
        return "mixed"
    if all(issubclass(t, bool | np.bool_) for t in types):
        return "bool"
    return "int" if all(issubclass(t, (*_INTEGERS, np.bool_)) for t in types) else "float"


def _foreign_type_error(kind: type, values: np.ndarray, label: str) -> Exception:
    row = next(i for i, v in enumerate(values) if type(v) is kind)
    if issubclass(kind, _DATES):
        return date_error(label, kind.__name__)
    if issubclass(kind, complex | np.complexfloating):
        return ValueError(f"Complex data not supported: {label} holds {values[row]!r} in row {row}.")
    return TypeError(
        f"{label}: every cell argument must be a string, a number or missing, "
        f"got {values[row]!r} ({kind.__name__}) in row {row}. Turn such cells into text or numbers first."
    )


def date_error(label: str, got: str) -> ValueError:
    return ValueError(
        f"{label} holds dates or times ({got}), which have no column kind. Convert it first, "
        "for example to a number (days since a fixed day) or to text (the weekday)."
    )


def read_pandas(series: Any, label: str) -> Cells:
    """Read a pandas Series of any dtype, nullable and Arrow-backed ones included."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.asarray(series.array.codes)
        return Cells(codes, codes < 0, "category", tuple(plain(c) for c in dtype.categories.tolist()))
    if isinstance(dtype, np.dtype | pd.SparseDtype):
        return read_array(np.asarray(series), label)
    types = pd.api.types
    if types.is_bool_dtype(dtype):
        return Cells(series.to_numpy(dtype=bool, na_value=False), series.isna().to_numpy(), "bool")
    if types.is_integer_dtype(dtype):
        width = np.uint64 if types.is_unsigned_integer_dtype(dtype) else np.int64
        return Cells(series.to_numpy(dtype=width, na_value=0), series.isna().to_numpy(), "int")
    if types.is_float_dtype(dtype):
        return read_array(series.to_numpy(dtype=np.float64, na_value=np.nan), label)
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        raise date_error(label, str(dtype))
    return read_objects(series.to_numpy(dtype=object), label)


def read_polars(series: Any, label: str) -> Cells:
    """Read a polars Series of any dtype."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Boolean:
        return Cells(series.fill_null(False).to_numpy(), series.is_null().to_numpy(), "bool")
    if dtype.is_integer() and str(dtype) not in ("Int128", "UInt128"):
        return Cells(series.fill_null(0).to_numpy(), series.is_null().to_numpy(), "int")
    if dtype.is_float() or dtype.is_decimal():
        return read_array(series.cast(pl.Float64).to_numpy(), label)
    if dtype.is_temporal():
        raise date_error(label, str(dtype))
    if dtype == pl.Enum:
        codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return Cells(codes, codes < 0, "category", tuple(dtype.categories.to_list()))
    if dtype == pl.Categorical:
        # Physical codes of a Categorical depend on what else the process has read; polars orders it by text.
        text = series.cast(pl.String)
        categories = tuple(text.drop_nulls().unique().sort().to_list())
        index = {category: code for code, category in enumerate(categories)}
        codes = np.fromiter((index.get(v, -1) for v in text.to_list()), np.int64, len(text))
        return Cells(codes, codes < 0, "category", categories)
    return read_objects(object_array(series.to_list()), label)
