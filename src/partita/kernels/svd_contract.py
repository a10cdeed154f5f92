"""What the kernels of matrices with holes take and give.

Symbols: one side has n rows, the other N; K components, W = K rounded up to a multiple of eight (columns beyond K are
zero), q unknowns of a row: its K factors, and its offset where the model has offsets (q = K + 1). A row i of the one
side has cells p with the row j = other[p] of the other side, and y[p] = x_j'[u_i, b_i] + shift_j + noise of precision
alpha weight_i root_j^2, x_j = (gain * v_j, 1). All arrays are C-contiguous float64 unless said otherwise.

`svd_draw_rows(begin, end, given: RowDraw, sums: GainSums | None)` draws rows begin : end of `given.out`,
`svd_squares(begin, end, given: ResidualPass, column_noise, squares, row_sum)` gives squared residuals of the cells, and
their sums over a row, weighted by column_noise (N,),
`svd_column_sums(begin, end, cells: SideCells, row_noise, squares, column_sum)` adds row_noise_i times the squares to
the column of each cell,
`svd_fitted(begin, end, given: ResidualPass, out)` gives the fitted values of the cells of these rows, row order,
`svd_gather_sums(begin, end, cells: SideCells, X, out)` adds up rows X (N, W) over the cells of a row: out (n, W),
`svd_noise_law(counts, halves, nu, law)` takes sum_i (nu_a + counts_i / 2) log(nu_a + halves_i) off every law[a],
`svd_rotate(Q, shape, rate, uniform, cosine, sine, R)` rotates every pair of components, Q and R (K, K) in place,
`svd_scale_steps(gram, linear, given: ScaleSteps, gain)` moves the scales of components, gain (K,) in place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LANES = 8  # widths are multiples of it
LEAST_PIVOT = 1e-14  # share of its diagonal below which a pivot of the Cholesky factor is rounding only


def padded(n_components: int) -> int:
    """W of so many components, at least one vector."""
    return max(-(-n_components // LANES), 1) * LANES


def pad(x: np.ndarray, single: bool = False) -> np.ndarray:
    """The columns of x (n, K) and zeros up to W."""
    k = x.shape[1]
    out = np.zeros((len(x), padded(k)), np.float32 if single else np.float64)
    out[:, :k] = x
    return out


@dataclass
class SideCells:
    """Cells as one side sees them: row i has the cells first[i] : first[i + 1]."""

    first: np.ndarray  # int64 (n + 1,)
    other: np.ndarray  # int32 (m,)
    y: np.ndarray  # (m,)


@dataclass
class RowDraw:
    """Rows [u_i, b_i] ~ N(P^-1 h, P^-1), P = diag(precision) + alpha weight_i sum_j root_j^2 x_j x_j',
    h = diag(precision) prior_i + alpha weight_i sum_j root_j^2 x_j (y - shift_j)."""

    cells: SideCells
    Z: np.ndarray  # (N, W): root_j v_j; float32: products in it, their sums in double
    root: np.ndarray  # (N,)
    shift: np.ndarray  # (N,)
    weight: np.ndarray  # (n,)
    alpha: float
    gain: np.ndarray  # (K,)
    precision: np.ndarray  # (q,)
    prior: np.ndarray  # (n, q) prior means
    noise: np.ndarray  # (n, q) standard normal numbers
    out: np.ndarray  # (n, q)
    residual: np.ndarray | None = None  # (n,): sum over the row's cells of root_j^2 (y - shift_j - x_j'[u_i, b_i])^2


@dataclass
class GainSums:
    """Sums over cells of weight_i root_j^2 times w w', w r and r^2, w = u_i * v_j, r = y - shift_j - b_i; added to."""

    gram: np.ndarray  # (K, K), upper triangle
    linear: np.ndarray  # (K,)
    square: np.ndarray  # (1,)

    @classmethod
    def room(cls, n_components: int) -> GainSums:
        return cls(np.zeros((n_components, n_components)), np.zeros(n_components), np.zeros(1))


@dataclass
class ScaleSteps:
    """Metropolis steps of log theta_k, one component after the other, n rounds of them. What a component explains is
    multiplied by gain_k = theta_k / theta_k at the start, so with the sums of `GainSums` (gram in full) the cells say
    alpha (linear'gain - gain'gram gain / 2); the prior is InvGamma(shape, rate), theta_k <= most."""

    theta: np.ndarray  # (K,) at the start
    steps: np.ndarray  # (n, K)
    log_uniform: np.ndarray  # (n, K)
    alpha: float
    shape: float
    rate: float
    most: float


@dataclass
class ResidualPass:
    """e_p = y[p] - shift_j - row_offset_i - U_i'V_j."""

    cells: SideCells
    U: np.ndarray  # (n, W)
    V: np.ndarray  # (N, W)
    row_offset: np.ndarray  # (n,)
    shift: np.ndarray  # (N,)
