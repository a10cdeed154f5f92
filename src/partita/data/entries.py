"""Observed cells of a matrix, however they are given: dense with holes, sparse, triplets, frames of three columns."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.data.cells import read_array, read_pandas, read_polars
from partita.data.containers import open_table
from partita.data.ids import Ids, as_labels, given_ids, learn_ids, shown
from partita.data.matrix_trials import is_sparse, trials_at, tried_cells
from partita.data.telling import tell
from partita.data.validate import DataWarning


@dataclass(frozen=True, eq=False)
class Observed:
    """Cells that are known.

    rows, columns   ids of the two sides.
    row, column     (m,) int64 place of every cell among them.
    values          (m,) float64, finite.
    trials          (m,) float64 numbers of trials, where values count successes; else None.
    """

    rows: Ids
    columns: Ids
    row: np.ndarray
    column: np.ndarray
    values: np.ndarray
    trials: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, k: int) -> str:
        """The k-th cell as a message names it."""
        return f"row {shown(self.rows.labels[self.row[k]])}, column {shown(self.columns.labels[self.column[k]])}"

    def take(self, which: np.ndarray) -> Observed:
        """Some of the cells; both sides keep all their ids."""
        trials = None if self.trials is None else self.trials[which]
        return replace(self, row=self.row[which], column=self.column[which], values=self.values[which], trials=trials)


# ---- frames ----


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    return (pandas is not None and isinstance(X, pandas.DataFrame)) or (
        polars is not None and isinstance(X, polars.DataFrame)
    )


def is_long(X: Any, link: str, entries: bool | None = None) -> bool:
    """Whether a frame lists entries: row ids, column ids, values (and trials), rather than being the matrix itself.

    `entries` says so. Where it is None a frame lists entries that has three columns (or four, with trials) with names,
    the first two without fractions and holes. Where those hold whole numbers and the list would have fewer entries
    than rows and columns, it may as well be a matrix of three columns: then a warning tells how it was read.
    """
    if entries is not None:
        if entries and not is_frame(X):
            raise ValueError(
                f"entries=True: X must be a frame that lists entries, got {type(X).__name__}. Pass ids and values to "
                "fit_triplets(rows, columns, values)."
            )
        return entries
    if not is_frame(X) or not all(isinstance(name, str) for name in X.columns):
        return False
    if len(X.columns) != 3 and not (len(X.columns) == 4 and link == "binomial"):
        return False
    pair = [nth_column(X, k).to_numpy() for k in range(2)]
    if not all(map(_holds_ids, pair)):
        return False
    _warn_of_doubt(X, pair)
    return True


def _holds_ids(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        return False
    return array.dtype.kind != "O" or not any(value is None or value != value for value in array.tolist())


def _warn_of_doubt(X: Any, pair: list[np.ndarray]) -> None:
    if all(array.dtype.kind in "iub" for array in pair) and len(X) < sum(len(np.unique(array)) for array in pair):
        names = ", ".join(map(str, X.columns))
        tell(
            f"X: the frame with the columns {names} is read as a list of {len(X)} entries (row id, column id, value). "
            "If it is the matrix itself, pass entries=False; entries=True confirms the list.",
            DataWarning,
        )  # fmt: skip


def nth_column(frame: Any, k: int) -> Any:
    return frame.iloc[:, k] if hasattr(frame, "iloc") else frame.to_series(k)


def named_columns(frame: Any, names: list[Any], who: str) -> list[Any]:
    """Columns of a frame by their names; None stays None."""
    if not is_frame(frame):
        raise ValueError(f"{who}: data must be a pandas or polars frame, got {type(frame).__name__}.")
    for name in names:
        if name is not None and (not isinstance(name, str | int) or name not in list(frame.columns)):
            raise ValueError(
                f"{who}: the frame has no column {name!r}. Its columns: {', '.join(map(str, frame.columns))}. Name "
                "the columns of row ids, of column ids and of values."
            )
    listed = list(frame.columns)
    for name in names:
        if name is not None and listed.count(name) > 1:
            raise ValueError(f"{who}: the frame has {listed.count(name)} columns of the name {name!r}. Rename them.")
    return [None if name is None else frame[name] for name in names]


# ---- numbers ----


def read_numbers(values: Any, name: str) -> np.ndarray:
    """(m,) float64, NaN where missing; words and infinities are refused."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(values, pandas.Series):
        cells = read_pandas(values, name)
    elif polars is not None and isinstance(values, polars.Series):
        cells = read_polars(values, name)
    else:
        array = values if isinstance(values, np.ndarray) else as_numbers(values)
        if array.ndim != 1:
            raise ValueError(f"{name}: expected one number per entry, got an array of shape {array.shape}.")
        cells = read_array(array, name)
    if cells.origin == "empty" or cells.numeric:
        return np.array(cells.floats(), dtype=np.float64)
    where, shown = _first_word(cells)
    raise ValueError(
        f"{name}: entry {where} is {shown!r}, which is no number. Convert it to one, or leave the entry out."
    )


def _first_word(cells: Any) -> tuple[int, Any]:
    """Place and text of the entry to blame: of a column read as text the first that is no number even so."""
    if cells.origin == "category":
        return 0, cells.categories[0]
    listed = np.asarray(cells.values).tolist()
    texts = [k for k, v in enumerate(listed) if isinstance(v, str)] or [0]
    where = next((k for k in texts if not _like_number(listed[k])), texts[0])
    return where, cells.values[where]


def _like_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(values: Any) -> np.ndarray:
    """A sequence as an array; objects where it is not all numbers."""
    listed = list(values) if hasattr(values, "__iter__") else [values]
    array = np.asarray(listed)
    return array if array.dtype.kind in "biuf" else np.array(listed, dtype=object)


def check_finite(observed: Observed, name: str = "values", dropped: bool = True) -> Observed:
    """The entries with a value; one that is infinite is named, and unless `dropped` one that is missing."""
    infinite = np.isinf(observed.values)
    if infinite.any():
        k = int(np.argmax(infinite))
        raise ValueError(
            f"{name}: the cell of {observed.cell(k)} is {observed.values[k]} (infinity). Give finite numbers, or leave "
            "the cell out (NaN)."
        )
    missing = np.isnan(observed.values)
    if not missing.any():
        return observed
    if not dropped:
        k = int(np.argmax(missing))
        raise ValueError(f"{name}: entry {k} ({observed.cell(k)}) is missing. Leave out what was not observed.")
    return observed.take(~missing)  # not observed after all; its row and column stay known


# ---- triplets ----


def read_triplets(
    rows: Any, columns: Any = None, values: Any = None, trials: Any = None, data: Any = None, who: str = "fit_triplets",
    dropped: bool = True,
) -> Observed:  # fmt: skip
    """Entries from ids and numbers; from a frame `data` and the names of its columns; or from a frame's first columns
    (row ids, column ids, values, and trials where there is a fourth). One without a value is dropped, or refused.
    """
    if data is not None:
        rows, columns, values, trials = named_columns(data, [rows, columns, values, trials], who)
    elif is_frame(rows):
        if not 3 <= len(rows.columns) <= 4 or columns is not None:
            raise ValueError(
                f"{who}: a frame that lists entries has three columns (row ids, column ids, values) or four (trials), "
                f"got {len(rows.columns)}. Name the columns: fit_triplets('user', 'item', 'rating', data=frame)."
            )
        rows, columns, values, *more = [nth_column(rows, k) for k in range(len(rows.columns))]
        trials = more[0] if more else trials
    if columns is None or values is None:
        raise ValueError(f"{who}: columns and values are missing. Pass ids of rows, ids of columns and values.")
    row_labels, column_labels = as_labels(rows, "row"), as_labels(columns, "column")
    numbers = read_numbers(values, "values")
    counts = None if trials is None else read_numbers(trials, "trials")
    lengths = {"rows": len(row_labels), "columns": len(column_labels), "values": len(numbers)}
    lengths |= {} if counts is None else {"trials": len(counts)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"{who}: one entry has one of each, got different lengths: {told}.")
    row_ids, row = learn_ids(row_labels, "row")
    column_ids, column = learn_ids(column_labels, "column")
    return check_finite(Observed(row_ids, column_ids, row, column, numbers, counts), dropped=dropped)


# ---- whole matrices ----


def read_matrix(X: Any, trials: Any = None) -> Observed:
    """Entries of a dense matrix (NaN, None, NA: not observed) or a sparse one (stored: observed, zeros too).

    With `trials` cells of a sparse matrix that were tried are observed as well: 0 of so many.
    """
    if is_sparse(X):
        return _read_sparse(X, trials, sys.modules["scipy.sparse"])
    source = open_table(X)
    n, p = len(source), source.n_columns
    cells = np.empty((n, p))
    for k, given in enumerate(source.cells(range(p))):
        if not given.numeric and given.origin != "empty":
            words = np.asarray(given.values).tolist()
            where = next((i for i, v in enumerate(words) if isinstance(v, str)), 0)
            raise ValueError(
                f"X: {source.label(k)} holds {given.origin} (row {where}: {words[where]!r}), and a matrix holds "
                "numbers. Convert or drop the column; a frame that lists entries goes to fit_triplets."
            )
        cells[:, k] = given.floats()
    labels = np.arange(p) if source.container == "numpy" else as_labels(list(source.labels), "column")
    index = source.data.index.to_numpy() if source.container == "pandas" else np.arange(n)
    rows, columns = _row_ids(index), Ids(labels, "column")
    row, column = np.nonzero(~np.isnan(cells))
    counts = None if trials is None else trials_at(trials, row, column, cells.shape, X)
    return check_finite(Observed(rows, columns, row, column, cells[row, column], counts), "X")


def _row_ids(index: np.ndarray) -> Ids:
    """The index of a frame; two rows of one name would otherwise be taken for one."""
    try:
        return given_ids(index, "row", "X (its index)")
    except ValueError as error:
        raise ValueError(f"{error} Or drop the index: X.reset_index(drop=True).") from error


def _read_sparse(X: Any, trials: Any, sparse: Any) -> Observed:
    if len(X.shape) != 2:
        raise ValueError(f"X: a sparse array of shape {X.shape} is no matrix. Pass one with rows and columns.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a complex sparse matrix. Pass its real part.")
    coo = sparse.coo_matrix(X)
    row, column = coo.row.astype(np.int64), coo.col.astype(np.int64)
    values = coo.data.astype(np.float64)
    if trials is not None:  # a cell that was tried is observed, though none of its trials succeeded
        tried = np.stack(tried_cells(trials, X.shape))
        tried = tried[:, ~np.isin(tried[0] * X.shape[1] + tried[1], row * X.shape[1] + column)]
        row, column = np.append(row, tried[0]), np.append(column, tried[1])
        values = np.append(values, np.zeros(tried.shape[1]))
    order = np.lexsort((column, row))
    row, column, values = row[order], column[order], values[order]
    counts = None if trials is None else trials_at(trials, row, column, X.shape)
    rows, columns = Ids(np.arange(X.shape[0]), "row"), Ids(np.arange(X.shape[1]), "column")
    return check_finite(Observed(rows, columns, row, column, values, counts), "X")
