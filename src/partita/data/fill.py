"""Fill the holes of a table as given; every other cell, the index, the names and, where possible, the dtypes stay."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.data.containers import Source

Holes = dict[int, tuple[np.ndarray, np.ndarray]]
"""Position of a column -> (rows, values): what to write where."""


def fill_array(source: Source, holes: Holes) -> np.ndarray:
    """The array's own dtype where it is numeric; an object array becomes float64 if all its cells are numbers then."""
    text = any(isinstance(value, str) for _, values in holes.values() if values.dtype == object for value in values)
    if source.array is not None and not text:
        filled = source.array.copy()
    elif source.array is None and not holes and source.data.dtype != object:
        return source.data.copy()
    else:
        filled = source.data.astype(object)
    for there, (rows, values) in holes.items():
        filled[rows, there] = values if filled.dtype == object else _within(values, *_range(filled.dtype))
    return _narrow(filled) if filled.dtype == object else filled


def _narrow(cells: np.ndarray) -> np.ndarray:
    """An object array as float64, where every cell is missing or a number that a double holds exactly."""
    types = set(map(type, cells.ravel()))
    numbers = {t for t in types if issubclass(t, int | float | np.integer | np.floating) and not issubclass(t, bool)}
    if not numbers or types - numbers - {type(None)}:
        return cells
    try:
        floats = cells.astype(np.float64)
    except OverflowError:
        return cells
    exact = all(v is None or v != v or v == f for v, f in zip(cells.ravel(), floats.ravel().tolist()))
    return floats if exact else cells


def fill_pandas(frame: Any, holes: Holes) -> Any:
    import pandas as pd

    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    for there, (rows, values) in holes.items():
        columns[there] = _fill_series(columns[there].copy(), rows, values)
    filled = pd.concat(columns, axis=1)
    filled.columns = frame.columns
    return filled


def _fill_series(series: Any, rows: np.ndarray, values: np.ndarray) -> Any:
    """The pandas series with values at rows; its dtype is kept unless it cannot hold them."""
    import pandas as pd

    dtype, types = series.dtype, pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        by_text = {str(category): category for category in dtype.categories}
        own = [by_text.get(str(value), value) for value in values.tolist()]
        new = [value for value in dict.fromkeys(own) if value not in dtype.categories]
        series = series.cat.add_categories(new) if new else series
        series.iloc[rows] = own
        return series
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    elif types.is_integer_dtype(dtype) and _fractional(values):
        series = series.astype("double[pyarrow]" if isinstance(dtype, pd.ArrowDtype) else "Float64")
    try:
        series.iloc[rows] = _suited(values, series.dtype)
    except (TypeError, ValueError):
        series = series.astype(object)
        series.iloc[rows] = values
    return series


def _suited(values: np.ndarray, dtype: Any) -> Any:
    """The values as a pandas column of this dtype takes them: truth values, whole numbers or floats it can hold."""
    import pandas as pd

    types = pd.api.types
    if types.is_object_dtype(dtype) or any(isinstance(value, str) for value in values):
        return values.tolist()
    if types.is_bool_dtype(dtype):
        return [bool(value) if value in (0, 1) else value for value in values.tolist()]
    own = getattr(dtype, "numpy_dtype", dtype)  # of a nullable or Arrow dtype the width that it stands for
    if types.is_integer_dtype(dtype):
        return [int(value) for value in _within(values, *_range(own)).tolist()]
    if isinstance(own, np.dtype) and own.kind == "f":
        return _within(values.astype(np.float64), *_range(own)).astype(own)
    return values.astype(np.float64)


def fill_polars(frame: Any, holes: Holes) -> Any:
    import polars as pl

    columns = frame.get_columns()
    for there, (rows, values) in holes.items():
        columns[there] = _fill_polars_series(columns[there], rows, values)
    return pl.DataFrame({one.name: one for one in columns})  # a list of them would name a column ""


def _fill_polars_series(series: Any, rows: np.ndarray, values: np.ndarray) -> Any:
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Object:  # Python objects: nothing can be cast to them
        cells = series.to_list()
        for row, value in zip(rows.tolist(), values.tolist()):
            cells[row] = value
        return pl.Series(series.name, cells, dtype=pl.Object)
    if dtype == pl.Null:
        dtype = pl.Series(values.tolist()).dtype
    elif dtype.is_integer() and _fractional(values):
        dtype = pl.Float64
    elif dtype == pl.Enum and not set(values.tolist()) <= set(dtype.categories):
        dtype = pl.String
    spread: list[Any] = [None] * len(series)
    for row, value in zip(rows.tolist(), _within(values, *_polars_range(dtype)).tolist()):
        spread[row] = value
    given = np.ones(len(series), dtype=bool)
    given[rows] = False
    return series.cast(dtype).zip_with(pl.Series(given), pl.Series(spread, strict=False).cast(dtype))


def _fractional(values: np.ndarray) -> bool:
    return any(isinstance(value, float) and value % 1 != 0 for value in values.tolist())


def _within(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """The values, those outside moved to the nearest end: a draw may be larger than the column's dtype can hold."""
    if values.dtype.kind == "f":
        return np.clip(values, low, high)
    kept = values.copy()
    for i, value in enumerate(values.tolist()):
        if isinstance(value, int | float) and not low <= value <= high:
            kept[i] = low if value < low else high
    return kept


def _range(dtype: np.dtype) -> tuple[float, float]:
    """Lowest and highest number of a NumPy dtype; none for what holds no numbers."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if dtype.kind == "f":
        return float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    return -np.inf, np.inf


def _polars_range(dtype: Any) -> tuple[float, float]:
    import polars as pl

    if dtype.is_decimal():
        high = (10**dtype.precision - 1) / 10**dtype.scale
        return -high, high
    if dtype.is_numeric() and str(dtype) not in ("Int128", "UInt128"):
        return _range(pl.Series([], dtype=dtype).to_numpy().dtype)
    return -np.inf, np.inf
