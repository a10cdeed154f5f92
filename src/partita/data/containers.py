"""What a table comes in: NumPy arrays, lists, pandas and polars frames, seen as one thing.

pandas and polars are never imported here: a frame can only come from a caller who has imported them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.data.cells import Cells, read_array, read_pandas, read_polars

_COLUMNS_AT_ONCE = 16  # two cache lines of doubles: copying this many columns reads each line of the array once


@dataclass(frozen=True, eq=False)
class Source:
    """A table as given, before anything is learnt of it.

    container   "numpy", "pandas" or "polars".
    data        the array (2-D) or the frame.
    labels      the columns' names as given, or 0, 1, ...
    named       whether the labels are all strings of the caller's.
    array       the whole table as one numeric 2-D array, where it is one; else None.
    held        columns of a frame that were read before and are still wanted, by their position; see `hold`.
    """

    container: str
    data: Any
    labels: tuple[Any, ...]
    named: bool
    array: np.ndarray | None
    held: dict[int, Cells] | None = None

    def hold(self) -> Source:
        """The same table, whose columns are read from the frame once for both looks of a fit: what `learn_schema` has
        read, `encode` takes."""
        return replace(self, held={})

    def __len__(self) -> int:
        return len(self.data)

    @property
    def n_columns(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str | int, ...]:
        """The labels as a schema keeps them."""
        return tuple(name_of(label) for label in self.labels)

    def label(self, position: int) -> str:
        """The column as a message names it."""
        return f"column {self.labels[position]!r}"

    def cells(self, positions: Sequence[int]) -> Iterator[Cells]:
        """The columns at these positions, one after the other."""
        if self.array is not None:
            for start in range(0, len(positions), _COLUMNS_AT_ONCE):
                block = list(positions[start : start + _COLUMNS_AT_ONCE])
                for position, column in zip(block, np.ascontiguousarray(self.array[:, block].T)):
                    yield read_array(column, self.label(position))
            return
        if self.held:
            for position in positions:
                yield self.held.pop(position) if position in self.held else self._read(position)
            return
        whole = self.container == "pandas" and list(positions) == list(range(self.n_columns))
        columns = (column for _, column in self.data.items()) if whole else None  # faster than one by one
        for position in positions:
            cells = self._read(position, None if columns is None else next(columns))
            if self.held is not None:
                self.held[position] = cells
            yield cells

    def _read(self, position: int, column: Any = None) -> Cells:
        label = self.label(position)
        if self.container == "pandas":
            return read_pandas(self.data.iloc[:, position] if column is None else column, label)
        if self.container == "polars":
            return read_polars(self.data.to_series(position), label)
        return read_array(self.data[:, position], label)


def name_of(label: Any) -> str | int:
    """A column's label as text or a plain integer, so that it survives a file."""
    return label if isinstance(label, str) else int(label) if isinstance(label, int | np.integer) else str(label)


def open_table(X: Any) -> Source:
    """Recognise the container and check its shape and names; the cells are not looked at yet."""
    if isinstance(X, Source):
        return X
    pandas, polars, sparse = (sys.modules.get(name) for name in ("pandas", "polars", "scipy.sparse"))
    if sparse is not None and sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed, but a dense table is required: in a sparse matrix a cell that is not stored means "
            "zero, not missing. Use X.toarray() to convert to a dense NumPy array."
        )
    if pandas is not None and isinstance(X, pandas.DataFrame):
        source = _from_frame("pandas", X, tuple(X.columns), _one_array(X))
    elif polars is not None and isinstance(X, polars.DataFrame):
        source = _from_frame("polars", X, tuple(X.columns), None)
    elif polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("X is a polars LazyFrame, which holds no data yet. Pass X.collect().")
    else:
        data = as_array(X)
        labels = tuple(range(data.shape[1]))
        source = Source("numpy", data, labels, False, data if data.dtype.kind in "biuf" else None)
    _check_size(source)
    return source


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """The rows at these positions, in the container of X."""
    if isinstance(X, Source):
        X = X.data
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    polars = sys.modules.get("polars")
    return X[rows] if polars is not None and isinstance(X, polars.DataFrame) else as_array(X)[rows]


def frame_like(X: Any, array: np.ndarray, names: Sequence[str]) -> Any:
    """The array as a frame of the library of X, with its index and these names; as it is where X is no frame."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return pandas.DataFrame(array, columns=list(names), index=X.index)
    if polars is not None and isinstance(X, polars.DataFrame):
        return polars.DataFrame({name: array[:, j] for j, name in enumerate(names)})
    return array


def as_array(X: Any) -> np.ndarray:
    """A 2-D array of X; rows given as lists become an object array where they hold more than numbers."""
    if isinstance(X, dict) or (isinstance(X, list | tuple) and any(isinstance(row, dict) for row in X)):
        what = "a dict" if isinstance(X, dict) else "a list of dicts"
        raise ValueError(f"X is {what}. Give a table: pandas.DataFrame(X), for example.")
    if hasattr(X, "__dataframe__") or getattr(getattr(X, "dtype", None), "names", None):  # an array has no names
        what = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
        raise ValueError(
            f"X is a {what} with named columns, neither a frame of pandas or polars nor a plain array. Convert it, so "
            "that no name is lost: X.to_pandas(), pandas.DataFrame(X) or polars.from_arrow(X), for example."
        )
    if isinstance(X, np.ma.MaskedArray):
        array = np.array(X.data, dtype=None if X.dtype.kind == "f" else object)
        array[np.ma.getmaskarray(X)] = None  # NaN in an array of floats
    elif isinstance(X, list | tuple):
        array = _rows_to_array(X)
    else:
        array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers. Split each into two real columns.")
    if array.ndim == 2:
        return array
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}. A table has 2: rows and columns.")
    got = "1D array" if array.ndim == 1 else "scalar array"
    raise ValueError(
        f"Expected 2D array, got {got} instead:\narray={array!r}.\nReshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
    )


def _rows_to_array(rows: Sequence[Any]) -> np.ndarray:
    lengths = {len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)}
    if len(lengths) > 1:
        raise ValueError(f"X is a list of rows of different lengths: {sorted(lengths)}. Give every row every column.")
    array = np.asarray(rows)
    # NumPy turns [1.5, "a"] into two strings; the cells themselves are wanted.
    return array if array.dtype.kind in "biufc" else np.array(rows, dtype=object)


def _one_array(frame: Any) -> np.ndarray | None:
    """The frame as one numeric array, where all its columns have the same plain NumPy dtype."""
    dtypes = list(frame.dtypes)
    if not dtypes or not all(isinstance(dtype, np.dtype) and dtype == dtypes[0] for dtype in dtypes):
        return None
    return frame.to_numpy() if dtypes[0].kind in "biuf" else None


def _from_frame(container: str, frame: Any, labels: tuple[Any, ...], array: np.ndarray | None) -> Source:
    types = sorted({type(label).__qualname__ for label in labels})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Convert them all to strings, for example by "
            "X.columns = X.columns.astype(str), or none of them."
        )
    if len(set(labels)) < len(labels):
        twice = sorted({repr(label) for label in labels if labels.count(label) > 1})
        raise ValueError(f"Duplicate column names: {', '.join(twice)}. Rename them so that every column has its own.")
    return Source(container, frame, labels, types == ["str"], array)


def _check_size(source: Source) -> None:
    n_rows, n_columns = source.data.shape
    if n_columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required. "
            "Pass a table with at least one column."
        )
    if n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required. "
            "Pass a table with at least one row."
        )


def wide_frame(container: str, matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Any:
    """A matrix as what the caller works with: "pandas" with ids as index and columns, "polars" with the names of its
    columns, else the array itself.
    """
    if container == "pandas":
        import pandas

        return pandas.DataFrame(matrix, index=pandas.Index(rows), columns=pandas.Index(columns))
    if container == "polars":
        import polars

        return polars.DataFrame({str(name): matrix[:, k] for k, name in enumerate(columns)})
    return matrix
