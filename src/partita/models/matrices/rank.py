"""Which components stand above the noise.

The edge is the largest singular value of unit noise on the observed cells, weighted as the residual is. The strength of
a component is that of sqrt(alpha) (g d') o mask o (u_k v_k') over the edge: it counts in the rank where it is above
COUNTED. The number of components in the model is no such quantity: tiny ones come and go.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from ...kernels import kernel
from ...kernels.svd_contract import pad, padded
from .pieces import cut_rows, run_pieces
from .problem import Problem
from .sides import COLUMNS, ROWS, Side
from .state import State
from .weights import cell_weights

COUNTED = 0.9
_POWER_STEPS = 2  # strengths are then right to a thousandth
_TINY = 1e-300


def cell_matrix(problem: Problem, numbers: np.ndarray) -> csr_matrix:
    """Numbers of the observed cells, row order, as a sparse matrix."""
    entries = problem.entries
    return csr_matrix((numbers, entries.column, entries.first_in_row), shape=(entries.n_rows, entries.n_columns))


def leading_pairs(matrix: csr_matrix, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The n leading singular triplets u (I, n), d (n,), v (J, n), largest first."""
    n = min(n, *matrix.shape)
    if min(matrix.shape) <= max(2 * n, 40) or matrix.shape[0] * matrix.shape[1] <= 20_000:
        left, size, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        left, size, right = svds(matrix, k=n, v0=rng.standard_normal(min(matrix.shape)), tol=1e-3)
    order = np.argsort(-size)[:n]
    return left[:, order], size[order], right[order].T


def noise_edge(problem: Problem, rng: np.random.Generator, state: State) -> float:
    """Of one draw of the noise."""
    entries = problem.entries
    if not len(entries):
        return 1.0
    noise = rng.standard_normal(len(entries)) * np.sqrt(cell_weights(problem, state))
    return float(leading_pairs(cell_matrix(problem, noise), 1, rng)[1][0])


def strengths(problem: Problem, state: State, n_threads: int = 1) -> np.ndarray:
    """(K,) of every component, by a few power steps of all at once.

    Signs of u and v change no singular value, so the matrix is taken non-negative, and |v| is close to its first
    singular vector.
    """
    u = pad(state.row_noise[:, None] * np.abs(state.U * state.gain))
    v = pad(state.column_noise[:, None] * np.abs(state.V))
    x = pad(np.abs(state.V))
    size = np.zeros(x.shape[1])
    # weights of binomial cells are no products of a row's and a column's
    weights = cell_matrix(problem, cell_weights(problem, state, n_threads)) if problem.link == "binomial" else None
    for _ in range(_POWER_STEPS):
        if weights is None:
            y = u * _sums(problem, state, ROWS, v * (x / _norms(x)), n_threads)
            x = v * _sums(problem, state, COLUMNS, u * (y / _norms(y)), n_threads)
        else:
            y = u * (weights @ (v * (x / _norms(x))))
            x = v * (weights.T @ (u * (y / _norms(y))))
        size = np.sqrt((x**2).sum(axis=0))
    return size[: state.n_components] * math.sqrt(state.alpha) / max(state.edge, _TINY)


def measure_rank(problem: Problem, state: State, n_threads: int = 1) -> int:
    """Components above the edge; under the paper's prior those that are on."""
    if state.z is not None:
        return int(state.z.sum())
    if not state.n_components or not len(problem.entries):
        return 0
    return int((strengths(problem, state, n_threads) > COUNTED).sum())


def _norms(x: np.ndarray) -> np.ndarray:
    return np.sqrt((x**2).sum(axis=0)) + _TINY


def _sums(problem: Problem, state: State, side: Side, x: np.ndarray, n_threads: int) -> np.ndarray:
    """Sums of the rows of x over the cells of every row of the side."""
    cells = side.cells(problem, state)
    out = np.empty((side.size(problem), x.shape[1]))
    pieces = cut_rows(cells.first, 2 * padded(x.shape[1]), 10.0)
    run_pieces(lambda _, piece: kernel.svd_gather_sums(*piece, cells, x, out), pieces, n_threads)
    return out
