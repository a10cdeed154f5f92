"""Numbers of trials behind the cells of a matrix, given as a matrix of their own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from partita.data.containers import Source, open_table


def trials_at(trials: Any, row: np.ndarray, column: np.ndarray, shape: tuple[int, int], X: Any = None) -> np.ndarray:
    """(m,) float64 numbers of trials at these cells, NaN where missing. `X`: the matrix whose cells they are, where
    its rows and columns may have names, which those of `trials` must repeat.
    """
    if is_sparse(trials):
        _check_shape(trials.shape, shape)
        return np.asarray(trials.tocsr()[row, column], dtype=np.float64).ravel()
    return _dense(trials, shape, X)[row, column]


def tried_cells(trials: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns (int64) of all cells where something was tried."""
    if is_sparse(trials):
        _check_shape(trials.shape, shape)
        coo = trials.tocsr().tocoo()  # by way of csr cells stored twice are one
        some = coo.data > 0
        return coo.row[some].astype(np.int64), coo.col[some].astype(np.int64)
    row, column = np.nonzero(_dense(trials, shape, None) > 0)
    return row, column


def is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def _dense(trials: Any, shape: tuple[int, int], X: Any) -> np.ndarray:
    """(n, p) float64."""
    if np.ndim(trials) != 2:
        _check_shape(np.shape(trials), shape)
    source = open_table(trials)
    _check_shape((len(source), source.n_columns), shape)
    if X is not None:
        _check_names(source, open_table(X))
    counts = np.empty(shape)
    for k, cells in enumerate(source.cells(range(shape[1]))):
        if not cells.numeric and cells.origin != "empty":
            raise ValueError(f"trials: {source.label(k)} holds {cells.origin}, not numbers. Give whole numbers.")
        counts[:, k] = cells.floats()
    return counts


def _check_shape(got: tuple[int, ...], shape: tuple[int, int]) -> None:
    if tuple(got) != tuple(shape):
        what = got if got else "a single value"
        raise ValueError(f"trials: expected a matrix of the shape of X, {tuple(shape)}, got {what}.")


def _check_names(trials: Source, X: Source) -> None:
    """Two frames go together by position only where they name the same rows and columns in the same order."""
    if trials.container != X.container or X.container == "numpy":
        return
    same = trials.labels == X.labels
    if X.container == "pandas":
        same = same and trials.data.index.equals(X.data.index)
    if not same:
        raise ValueError(
            "trials: the frame names other rows or columns than X, or has them in another order. Line it up: "
            + ("trials.loc[X.index, X.columns]." if X.container == "pandas" else "trials.select(X.columns).")
        )
