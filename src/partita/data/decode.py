"""From a Table back to the caller's type and units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.data.containers import open_table
from partita.data.fill import Holes, fill_array, fill_pandas, fill_polars
from partita.data.kinds import DISCRETE
from partita.data.levels import as_given
from partita.data.matching import match_columns
from partita.data.scaling import restore
from partita.data.schema import Column, Schema
from partita.data.table import Table


def decode(table: Table, like: Any = None) -> Any:
    """The table in the caller's type and units.

    like        the table that was encoded: every cell it holds is given back as it is, and only the cells it misses
                are taken from `table`. Without it every cell comes from `table`, in the container of the schema.
    """
    if like is None:
        return _build(table)
    source = open_table(like)
    order = match_columns(source, table.schema, "decode")
    assert len(source) == len(table), "`like` is not the table that was encoded"
    holes: Holes = {}
    for position, (there, cells) in enumerate(zip(order, source.cells(order))):
        rows = np.flatnonzero(cells.missing)
        values = as_given(column_values(table, position, rows), cells)
        known = ~_unknown(values)
        if known.any():
            holes[there] = rows[known], values[known]
    if source.container == "pandas":
        return fill_pandas(source.data, holes)
    if source.container == "polars":
        return fill_polars(source.data, holes)
    return fill_array(source, holes)


def holes_of(like: Any, schema: Schema) -> np.ndarray:
    """Which cells the caller's table misses, columns as in the schema. A level that training did not see is not missing
    here: it is treated so, but stays what it is."""
    source = open_table(like)
    return np.column_stack([cells.missing for cells in source.cells(match_columns(source, schema, "decode"))])


def of_holes(values: np.ndarray, like: Any, schema: Schema) -> np.ndarray:
    """Numbers (rows, columns of the schema) of the holes of the caller's table, in the order of its columns; 0 where a
    cell is given."""
    out = np.empty_like(values)
    out[:, match_columns(open_table(like), schema, "decode")] = np.where(holes_of(like, schema), values, 0.0)
    return out


def without_strangers(table: Table, like: Any) -> Any:
    """The caller's table, its levels that training did not see made missing; as it is where it has none."""
    strange = ~table.observed() & ~holes_of(like, table.schema)
    return _build(table) if strange.any() else like


def column_values(table: Table, position: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """The cells of the column at `position`, in the caller's units.

    A float64 array with NaN where missing, or an object array of levels or whole numbers with None where missing.
    """
    column = table.schema.columns[position]
    if column.kind in DISCRETE:
        j = int(np.searchsorted(table.schema.discrete, position))
        # a binary column may have fewer than two levels: a code without a level says nothing
        levels = [*column.levels, *[None] * (2 - len(column.levels)), None]
        return np.array(levels, dtype=object)[table.codes[rows, j]]
    scaled = table.reals[rows, int(np.searchsorted(table.schema.numeric, position))]
    values = restore(scaled, column.centre, column.scale)
    return _whole(values, column.kind) if column.origin == "int" else values


def _whole(floats: np.ndarray, kind: str) -> np.ndarray:
    """Cells of a column that held integers only, as integers: the nearest, if it was taken for a real one.

    Counts are whole already where a model made them. Beyond 64 bits the floats are left.
    """
    values = np.rint(floats) if kind == "real" else floats
    if np.nanmax(np.abs(values), initial=0.0) >= 2.0**63 or (values % 1 > 0).any():
        return values
    gone = np.isnan(values)
    whole = np.where(gone, 0.0, values).astype(np.int64).astype(object)
    whole[gone] = None
    return whole


def _unknown(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.array(values == None, dtype=bool)  # noqa: E711


def _build(table: Table) -> Any:
    """Every cell from the table, in the container of the schema."""
    schema = table.schema
    columns = [column_values(table, position) for position in range(schema.n_columns)]
    if schema.container == "pandas":
        import pandas as pd

        built = [pd.Series(values, dtype=_pandas_dtype(c, values)) for c, values in zip(schema.columns, columns)]
        frame = pd.concat(built, axis=1)
        frame.columns = pd.Index(schema.names)
        return frame
    if schema.container == "polars":
        import polars as pl

        words = {"category": pl.Categorical, "text": pl.String, "bool": pl.Boolean}
        series = []
        for column, values in zip(schema.columns, columns):
            dtype = words.get(column.origin) if column.kind in DISCRETE else None
            floats = values.dtype.kind == "f"
            listed = pl.Series(str(column.name), values if floats else values.tolist(), dtype=dtype, strict=False)
            series.append(listed.fill_nan(None) if floats else listed)
        return pl.DataFrame({one.name: one for one in series})  # a list of them would name a column ""
    return _build_array(schema, columns)


def _pandas_dtype(column: Column, values: np.ndarray) -> Any:
    if values.dtype.kind == "f":
        return "float64"
    holed = bool(_unknown(values).any())
    if column.origin == "category":
        import pandas as pd

        return pd.CategoricalDtype(list(column.levels))
    if column.origin == "bool":
        return "boolean" if holed else "bool"
    if column.origin == "int":
        return "Int64" if holed else "int64"
    return {"float": "float64", "text": "str"}.get(column.origin, object)


def _build_array(schema: Schema, columns: Sequence[np.ndarray]) -> np.ndarray:
    """float64 where all columns are numbers, bool where all are truth values and none is missing, else object."""
    origins = {column.origin for column in schema.columns}
    if origins <= {"int", "float"}:
        dtype: Any = np.float64
    elif origins == {"bool"} and not any(_unknown(values).any() for values in columns):
        dtype = bool
    else:
        dtype = object
    built = np.empty((len(columns[0]), len(columns)), dtype=dtype)
    for j, values in enumerate(columns):
        built[:, j] = values
        if dtype is object and values.dtype.kind == "f":
            built[np.isnan(values), j] = None
    return built
