"""Plain twins of the Bayesian SVD's coordinate sampler; residuals are kept, not computed anew."""

from __future__ import annotations

import numpy as np

from partita.kernels.svd_links_contract import CoordinateRows, Lines


def svd_coordinate_rows(lines: Lines, rows: CoordinateRows, begin: int, end: int) -> None:
    """Components one after the other, and in each all rows: the order of the paper."""
    for k, weight in enumerate(rows.weight):
        for i in range(begin, end):
            at = lines.at(i)
            v = rows.others[lines.other[lines.first[i] : lines.first[i + 1]], k]
            without = rows.residual[at] + weight * rows.own[i, k] * v  # X^{-k} of the row
            precision = rows.precision[k] + rows.alpha * weight**2 * (v @ v)  # (5.8), (5.10)
            mean = rows.alpha * weight * (without @ v) / precision  # (5.9), (5.11)
            rows.own[i, k] = mean + rows.noise[i, k] / np.sqrt(precision)
            rows.residual[at] = without - weight * rows.own[i, k] * v


def svd_component_sums(
    row: np.ndarray, column: np.ndarray, residual: np.ndarray, u: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    term = u[row] * v[column]
    out[:] = term @ term, residual @ term


def svd_component_shift(
    row: np.ndarray, column: np.ndarray, residual: np.ndarray, u: np.ndarray, v: np.ndarray, amount: float
) -> None:
    residual -= amount * u[row] * v[column]
