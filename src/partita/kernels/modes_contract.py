"""What the search for the mode of a log-linear model takes. Symbols: p columns of the design, K logits.

`precondition(solver, x, out)` applies a solver to x (p, K);
`dense_mode(design, scale, label, weight, solver, max_steps, tolerance, loss, u, logits, residual)` minimises from `u`,
where the model is known (`loss`, `logits`, `residual`), and returns the loss; the three arrays are changed in place.
`column_information(design, information, out)` and `informed_rows(design, scale, rows, columns, root, out)` are what a
curvature is made of: out (p, K) the rows' information (n, K) summed over squares of the design; out (rows, columns)
some of the design, scaled by columns and rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Factor:
    """M with B^-1 = M'M, or I - M'M if `dual`, on the columns kept (None: all)."""

    stored: np.ndarray  # float32, C-contiguous: M, or its transpose if `by_columns`
    by_columns: bool
    dual: bool
    columns: np.ndarray | None  # int64

    @classmethod
    def of(cls, m: np.ndarray, dual: bool, columns: np.ndarray | None) -> Factor:
        by_columns = not m.flags.c_contiguous
        return cls(np.ascontiguousarray(m.T if by_columns else m), by_columns, dual, columns)


@dataclass
class Solver:
    """x -> about B^-1 x. The first columns have factors, one for each logit; of those after them only the diagonal
    of B is known."""

    ratio: np.ndarray  # (p,): the scales that the factors were made at over those now, as far as they are trusted
    tail: np.ndarray  # (columns without factors, K): the diagonal of B
    variance: np.ndarray  # (columns with factors, K): the diagonal of B^-1, for columns that a factor leaves out
    factors: list[Factor]
