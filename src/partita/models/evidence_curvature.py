"""The curvature of a log-linear model at its mode: one single-precision Cholesky factor per logit.

In whitened coordinates the Hessian of logit k is B_k = I + S' A_k S, with S the scaled design and A_k the rows'
information a p_k (1 - p_k); between logits it is left out. The factor of B_k, or of the matrix of the same information
with a row and column per row of the table where that is smaller, serves three ends: the preconditioner of the next
search for the mode, the diagonal of the posterior covariance B_k^-1, and the leverages of the rows.

Rows that hold little information about a class, and columns the data say little about, are left out of its factor
(of such columns the diagonal is kept).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.blas import strmm, strsm
from scipy.linalg.lapack import spotrf, strtri

from ..kernels.modes_contract import Factor, Solver

QUIET_ROW, SURE = 0.05, 0.05  # share of the mean information, and |p - y|, below which a row is left out
QUIET_COLUMN = 0.02  # information in units of the prior's
LEAST_INFORMATION = 1e-4
SLOWEST, FASTEST = 0.2, 1.5  # how far a factor is trusted at other scales than its own


class Curvature:
    """Factors of all logits at one mode.

    spread (n, K) is p (1 - p), residual (n, K) p - y, both of one row of weight one; `ratio` scales all information,
    where the rows stand for a larger table.
    """

    def __init__(
        self, design: np.ndarray, scale: np.ndarray, spread: np.ndarray, residual: np.ndarray, weight: np.ndarray,
        leverage: bool = False, ratio: float = 1.0,
    ) -> None:  # fmt: skip
        self.scale = scale
        scaled = design * scale.astype(np.float32)
        squares = scaled * scaled
        information = ratio * (squares.T @ (weight[:, None] * spread).astype(np.float32)).astype(np.float64)
        self.variance = 1.0 / (1.0 + information)  # diagonal of B^-1; exact below where a column is kept
        self.log_determinant = 0.0
        self.leverage = np.zeros(spread.shape)
        self.factors: list[Factor] = []
        quiet = QUIET_ROW * (weight @ spread) / weight.sum()
        for k in range(spread.shape[1]):
            columns = information[:, k] > QUIET_COLUMN
            columns[0] = True
            rows = (spread[:, k] > quiet[k]) | (np.abs(residual[:, k]) > SURE)
            self._add(k, scaled, rows, columns, ratio * weight * np.maximum(spread[:, k], LEAST_INFORMATION), leverage)
            if leverage:
                if self.factors[-1].columns is not None:
                    rest = np.where(columns, 0.0, self.variance[:, k]).astype(np.float32)
                    self.leverage[:, k] += rows * (squares @ rest)
        np.maximum(self.leverage, 0.0, out=self.leverage)

    def _add(self, k: int, scaled: np.ndarray, rows, columns, information: np.ndarray, leverage: bool) -> None:
        """Factor logit k; its share of the diagonal, the log determinant and the leverages."""
        row_index = _most(rows)
        column_index = _most(columns)
        q = scaled if row_index is None else scaled[row_index]
        q = q if column_index is None else q[:, column_index]
        information = information if row_index is None else information[row_index]
        q = q * np.sqrt(information).astype(np.float32)[:, None]
        dual = q.shape[0] < q.shape[1]
        b = q @ q.T if dual else q.T @ q
        b.flat[:: len(b) + 1] += 1.0
        lower = _cholesky(b)
        self.log_determinant += 2.0 * float(np.log(np.diagonal(lower), dtype=np.float64).sum())
        if column_index is not None:
            self.log_determinant -= float(np.log(self.variance[~columns, k]).sum())
        m, diagonal, h = (_dual if dual else _primal)(lower, q, leverage)
        self.variance[slice(None) if column_index is None else column_index, k] = np.clip(diagonal, 1e-7, 1.0)
        if leverage:
            self.leverage[slice(None) if row_index is None else row_index, k] = h / information
        self.factors.append(Factor.of(m, dual, column_index))

    def preconditioner(self, scale: np.ndarray, tail: np.ndarray) -> Solver:
        """x -> about B^-1 x at other scales; `tail` (new columns, K): 1 + information of columns added since."""
        old = len(self.scale)
        trust = np.clip(self.scale / scale[:old], SLOWEST, FASTEST)
        ratio = np.concatenate([trust, np.ones(len(scale) - old)])
        return Solver(ratio, np.ascontiguousarray(tail, float), self.variance, self.factors)


def _most(chosen: np.ndarray) -> np.ndarray | None:
    """Positions of the chosen; None (all) where nearly all are, since copying costs more than it saves."""
    index = np.flatnonzero(chosen)
    return None if len(index) > 0.9 * len(chosen) else index


def _cholesky(b: np.ndarray) -> np.ndarray:
    """The lower factor; in double precision where single precision loses positive definiteness."""
    lower, failed = spotrf(b.T, lower=1, clean=1)
    if failed:
        ridge = 1e-6 * float(np.trace(b, dtype=np.float64)) / len(b)
        lower = cholesky(b.astype(np.float64) + ridge * np.eye(len(b)), lower=True).astype(np.float32, order="F")
    return lower


def _dual(lower: np.ndarray, q: np.ndarray, leverage: bool):
    """B^-1 = I - Q' (I + Q Q')^-1 Q; the leverage of row i is 1 - ((I + Q Q')^-1)_ii."""
    m = strsm(1.0, lower, q.T, side=1, lower=1, trans_a=1).T
    diagonal = 1.0 - np.einsum("ij,ij->j", m, m)
    if not leverage:
        return m, diagonal, None
    inverse, _ = strtri(lower, lower=1)
    return m, diagonal, 1.0 - np.einsum("ij,ij->j", inverse, inverse)


def _primal(lower: np.ndarray, q: np.ndarray, leverage: bool):
    """B^-1 = L^-T L^-1; the leverage of row i is |L^-1 q_i|^2."""
    m, _ = strtri(lower, lower=1, overwrite_c=1)
    diagonal = np.einsum("ij,ij->j", m, m)
    if not leverage:
        return m, diagonal, None
    t = strmm(1.0, m, q.T, lower=1)
    return m, diagonal, np.einsum("ij,ij->j", t, t)
