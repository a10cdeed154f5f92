"""The curvature of a log-linear model at its mode: one single-precision Cholesky factor per logit.

In whitened coordinates the Hessian of logit k is B_k = I + S' A_k S, with S the scaled design and A_k the rows'
information a p_k (1 - p_k); between logits it is left out. The factor of B_k, or of the matrix of the same information
with a row and column per row of the table where that is smaller, serves three ends: the preconditioner of the next
search for the mode, the diagonal of the posterior covariance B_k^-1, and the leverages of the rows.

Rows that hold little information about a class, and columns the data say little about, are left out of its factor
(of such columns the diagonal is kept).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.blas import strmm, strsm
from scipy.linalg.lapack import spotrf, strtri

from ...kernels import kernel
from ...kernels.modes_contract import Factor, Solver

QUIET_ROW, SURE = 0.05, 0.05  # share of the mean information, and |p - y|, below which a row is left out
QUIET_COLUMN = 0.02  # information in units of the prior's
LEAST_INFORMATION = 1e-4
SLOWEST, FASTEST = 0.2, 1.5  # how far a factor is trusted at other scales than its own


@dataclass
class Piece:
    """What is kept of one logit beside its factor."""

    rows: np.ndarray | None  # those in the factor; None: all
    columns: np.ndarray | None
    root: np.ndarray  # of the information of those rows
    dual: bool = False
    b: np.ndarray | None = None  # I + Q'Q, or I + Q Q' if dual
    rest: np.ndarray | None = None  # diagonal of B^-1 of the columns that the factor leaves out, else 0
    lower: np.ndarray | None = None  # Cholesky factor of `b`, if dual

    def informed(self, design: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Q: the rows and columns in the factor, by the root of their information."""
        q = np.empty((len(self.root), design.shape[1] if self.columns is None else len(self.columns)), np.float32)
        kernel.informed_rows(design, scale, self.rows, self.columns, self.root, q)
        return q


class Curvature:
    """Factors of all logits at one mode.

    spread (n, K) is p (1 - p), residual (n, K) p - y, both of one row of weight one.
    """

    def __init__(
        self, design: np.ndarray, scale: np.ndarray, spread: np.ndarray, residual: np.ndarray, weight: np.ndarray
    ) -> None:
        self.scale = scale
        self.information = scaled_information(design, scale, weight[:, None] * spread)
        self.variance = 1.0 / (1.0 + self.information)  # diagonal of B^-1; exact below where a column is kept
        self.log_determinant = 0.0
        self.factors: list[Factor] = []
        self.pieces: list[Piece] = []
        quiet = QUIET_ROW * (weight @ spread) / weight.sum()
        active = (spread > quiet) | (np.abs(residual) > SURE)
        known = self.information > QUIET_COLUMN
        known[0] = True
        root = np.sqrt(weight[:, None] * np.maximum(spread, LEAST_INFORMATION))
        for k in range(spread.shape[1]):
            rows = _most(active[:, k])
            self._add(k, design, Piece(rows, _most(known[:, k]), root[:, k].copy() if rows is None else root[rows, k]))

    def _add(self, k: int, design: np.ndarray, piece: Piece) -> None:
        """Factor logit k; its share of the diagonal and the log determinant."""
        q = piece.informed(design, self.scale) if piece.b is None else None
        if q is not None:
            piece.dual = q.shape[0] < q.shape[1]
            piece.b = q @ q.T if piece.dual else q.T @ q
            piece.b.flat[:: len(piece.b) + 1] += 1.0
        assert piece.b is not None
        lower = _cholesky(piece.b)
        self.log_determinant += 2.0 * float(np.log(np.diagonal(lower), dtype=np.float64).sum())
        if piece.columns is not None:
            self.log_determinant -= float(np.log(np.delete(self.variance[:, k], piece.columns)).sum())
            piece.rest = self.variance[:, k].copy()
            piece.rest[piece.columns] = 0.0
        if piece.dual:
            q = piece.informed(design, self.scale) if q is None else q
            m = strsm(1.0, lower, q.T, side=1, lower=1, trans_a=1).T
            piece.lower = lower
            diagonal = 1.0 - np.einsum("ij,ij->j", m, m)
        else:
            m, _ = strtri(lower, lower=1, overwrite_c=1)
            diagonal = np.einsum("ij,ij->j", m, m)
        self.variance[slice(None) if piece.columns is None else piece.columns, k] = np.clip(diagonal, 1e-7, 1.0)
        self.factors.append(Factor.of(m, piece.dual, piece.columns))
        self.pieces.append(piece)

    def times(self, ratio: float, design: np.ndarray) -> Curvature:
        """The curvature of so many times the information, where the rows stand for a larger table."""
        out = object.__new__(Curvature)
        out.scale, out.log_determinant, out.factors, out.pieces = self.scale, 0.0, [], []
        out.information = ratio * self.information
        out.variance = 1.0 / (1.0 + out.information)
        for k, piece in enumerate(self.pieces):
            assert piece.b is not None
            b = np.float32(ratio) * piece.b
            b.flat[:: len(b) + 1] += np.float32(1.0 - ratio)
            out._add(k, design, Piece(piece.rows, piece.columns, np.sqrt(ratio) * piece.root, piece.dual, b))
        return out

    def leverage(self, design: np.ndarray) -> np.ndarray:
        """(n, K): x_i' B_k^-1 x_i of every row in whitened coordinates; rows left out of a factor have none."""
        out = np.zeros((len(design), len(self.factors)))
        for k, (factor, piece) in enumerate(zip(self.factors, self.pieces, strict=True)):
            if factor.dual:  # of an informed row i it is 1 - ((I + Q Q')^-1)_ii
                inverse, _ = strtri(piece.lower, lower=1)
                h = 1.0 - np.einsum("ij,ij->j", inverse, inverse)
            else:  # |L^-1 q_i|^2
                t = strmm(1.0, factor.stored.T, piece.informed(design, self.scale).T, lower=1)
                h = np.einsum("ij,ij->j", t, t)
            rows = slice(None) if piece.rows is None else piece.rows
            out[rows, k] = h / piece.root**2
            if piece.rest is not None:
                others = design[rows]
                out[rows, k] += (others * others) @ (self.scale**2 * piece.rest).astype(np.float32)
        return np.maximum(out, 0.0, out=out)

    def preconditioner(self, scale: np.ndarray, tail: np.ndarray) -> Solver:
        """x -> about B^-1 x at other scales; `tail` (new columns, K): 1 + information of columns added since."""
        old = len(self.scale)
        trust = np.clip(self.scale / scale[:old], SLOWEST, FASTEST)
        ratio = np.concatenate([trust, np.ones(len(scale) - old)])
        return Solver(ratio, np.ascontiguousarray(tail, float), self.variance, self.factors)


def scaled_information(design: np.ndarray, scale: np.ndarray, information: np.ndarray) -> np.ndarray:
    """(columns, K): the diagonal of S' A_k S, given the rows' information (n, K)."""
    out = np.empty((design.shape[1], information.shape[1]))
    kernel.column_information(design, np.ascontiguousarray(information), out)
    out *= (scale**2)[:, None]
    return out


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
