"""Made-up tables whose truth is known: mixtures of coins, classes of coins, clusters of mixed columns, and holes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

PAPER_MODES = (4, 10, 5, 20)
"""Groups of each class in the AClass paper's second experiment."""


def make_coin_mixture(
    n_rows: int = 1000,
    n_columns: int = 50,
    n_groups: int = 30,
    *,
    missing: float = 0.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows from a uniform mixture of products of coins, whose weights come from Beta(1/2, 1/2).

    missing         share of the cells to remove.

    Returns (X, groups, theta): X (n_rows, n_columns) of 0.0, 1.0 and NaN; groups (n_rows,), the group of each row;
    theta (n_groups, n_columns), the probability of a 1.
    """
    rng = np.random.default_rng(random_state)
    theta = rng.beta(0.5, 0.5, (n_groups, n_columns))
    groups = rng.integers(n_groups, size=n_rows)
    return _toss(rng, theta[groups], missing), groups, theta


def make_coin_classes(
    n_rows: int = 1000,
    n_columns: int = 100,
    modes: Sequence[int] = PAPER_MODES,
    *,
    missing: float = 0.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """A classification problem: every class is a coin mixture of its own, and all classes are equally likely.

    modes           number of groups of each class; by default those of the AClass paper's second experiment.
    missing         share of the cells to remove.

    Returns (X, y, theta): X as in `make_coin_mixture`; y (n_rows,), 0 .. len(modes) - 1; theta, one array (groups of
    the class, n_columns) for each class. Train and test rows of one problem are two parts of one call.
    """
    rng = np.random.default_rng(random_state)
    theta = [rng.beta(0.5, 0.5, (k, n_columns)) for k in modes]
    y = rng.integers(len(modes), size=n_rows)
    groups = rng.integers(np.asarray(modes)[y])
    first = np.cumsum([0, *modes[:-1]])  # where each class begins among the groups of all
    return _toss(rng, np.concatenate(theta)[first[y] + groups], missing), y, theta


def coin_mixture_log_density(X: Any, theta: np.ndarray) -> np.ndarray:
    """(n,) log probability of the observed cells of each row under the uniform mixture of theta (groups, columns)."""
    cells = np.asarray(X, dtype=np.float64)
    # A weight that was rounded to 0 or 1 must not turn 0 * log(0) into NaN; no row can contradict it.
    tiny = np.finfo(np.float64).tiny
    heads, tails = np.log(np.maximum(theta, tiny)), np.log(np.maximum(1.0 - theta, tiny))
    joint = (cells == 1).astype(float) @ heads.T + (cells == 0).astype(float) @ tails.T
    return logsumexp(joint, axis=1) - np.log(len(theta))


def make_mixed_clusters(
    n_rows: int = 300, n_clusters: int = 3, *, missing: float = 0.1, random_state: Any = None
) -> tuple[Any, np.ndarray]:
    """A pandas frame with real, count, categorical and binary columns, and the cluster of each row.

    Every cluster has its own mean, rate and probabilities; within a cluster the columns are independent. Clusters
    lie on a circle in the two real columns and overlap there; the other columns tell them apart.
    """
    from partita.data.files import need_pandas

    pd = need_pandas("make_mixed_clusters")
    rng = np.random.default_rng(random_state)
    cluster = rng.integers(n_clusters, size=n_rows)
    angle = 2 * np.pi * cluster / n_clusters
    colours = np.array(["amber", "blue", "coral", "green"])
    taste = rng.dirichlet(np.full(len(colours), 0.4), n_clusters)
    rate = rng.gamma(2.0, 3.0, n_clusters)
    member = rng.beta(0.5, 0.5, n_clusters)
    frame = pd.DataFrame(
        {
            "height": 170 + 12 * np.cos(angle) + rng.normal(0, 5, n_rows),
            "income": 30_000 + 9_000 * np.sin(angle) + rng.normal(0, 4_000, n_rows),
            "visits": rng.poisson(rate[cluster]),
            "colour": colours[(rng.random((n_rows, 1)) > np.cumsum(taste[cluster], axis=1)[:, :-1]).sum(axis=1)],
            "member": rng.random(n_rows) < member[cluster],
        }
    )
    return remove_cells(frame, missing, rng), cluster


def remove_cells(X: Any, fraction: float, random_state: Any = None) -> Any:
    """A copy of the table in which every cell is missing with probability `fraction`, whatever it holds.

    The container stays. A removed cell is NaN in an array of numbers (integers and truth values become floats), None in
    an array of objects or text, NA or NaN in a pandas column (whole numbers and truth values become nullable), null in
    a polars column.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(
            f"fraction={fraction!r} must be between 0 and 1: the share of cells to remove. Pass 0.25, say."
        )
    rng = np.random.default_rng(random_state)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _remove_pandas(X, rng.random(X.shape) < fraction)
    if polars is not None and isinstance(X, polars.DataFrame):
        return _remove_polars(X, rng.random(X.shape) < fraction)
    array = np.asarray(X)
    numbers = array.dtype.kind in "biuf"
    holed = array.astype(object if not numbers else array.dtype if array.dtype.kind == "f" else np.float64)
    holed[rng.random(array.shape) < fraction] = np.nan if numbers else None
    return holed


def _remove_pandas(frame: Any, gone: np.ndarray) -> Any:
    nullable = {"b": "boolean", "i": "Int64", "u": "UInt64"}
    holed = frame.copy()
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in nullable:
            column = column.astype(nullable[column.dtype.kind])
        holed.isetitem(j, column.mask(gone[:, j]))
    return holed


def _remove_polars(frame: Any, gone: np.ndarray) -> Any:
    import polars as pl

    columns = frame.get_columns()
    return pl.DataFrame([c.zip_with(pl.Series(~gone[:, j]), c.clear(len(c))) for j, c in enumerate(columns)])


def _toss(rng: np.random.Generator, weights: np.ndarray, missing: float) -> np.ndarray:
    """One coin a cell, then holes."""
    return remove_cells((rng.random(weights.shape) < weights).astype(np.float64), missing, rng)
