"""Step 3 of a sweep: precisions of the cells, alpha g_i d_j, from one pass over the residuals.

g_i | alpha, d ~ Gamma(nu + n_i / 2, nu + S_i), S_i = alpha / 2 sum_j d_j e_ij^2. How alike the g_i are, nu, is learnt
with them integrated out: where the noise is equal, a fixed small nu would let components fit single rows exactly, and
the rank would be wrong. Then d and its nu likewise, then alpha.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from ..kernels import kernel
from ..kernels.svd_contract import ResidualPass, SideCells, pad, padded
from .svd_pieces import cut_rows, run_pieces
from .svd_problem import NOISE_DFS, Problem
from .svd_sides import ROWS
from .svd_state import State


def residual_pass(problem: Problem, state: State) -> ResidualPass:
    """The pass over the cells in row order."""
    return ResidualPass(
        cells=ROWS.cells(problem, state),
        U=pad(state.U * state.gain),
        V=pad(state.V),
        row_offset=state.row_offset,
        shift=state.mean + state.column_offset,
    )


def fitted_values(problem: Problem, state: State, n_threads: int = 1) -> np.ndarray:
    """(m,) mean + b_i + c_j + u_i'v_j of the observed cells, row order."""
    given = residual_pass(problem, state)
    out = np.empty(len(problem.entries))
    pieces = cut_rows(given.cells.first, 3 * padded(state.n_components), 10.0)
    run_pieces(lambda _, piece: kernel.svd_fitted(*piece, given, out), pieces, n_threads)
    return out


def draw_noise(problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1) -> float:
    """New g, d and alpha (fixed at 1 for the ordinal link); the log likelihood of the cells (latents) given them."""
    entries = problem.entries
    given = residual_pass(problem, state)
    squares, of_rows = np.empty(len(entries)), np.empty(problem.n_rows)
    pieces = cut_rows(given.cells.first, 3 * padded(state.n_components), 10.0)
    noise = state.column_noise
    run_pieces(lambda _, piece: kernel.svd_squares(*piece, given, noise, squares, of_rows), pieces, n_threads)
    if problem.unequal_noise:
        state.row_df, state.row_noise = draw_side_noise(
            problem, rng, entries.row_counts, 0.5 * state.alpha * of_rows, state.row_df
        )
        of_columns = _column_sums(problem, state, given.cells, squares, n_threads)
        state.column_df, state.column_noise = draw_side_noise(
            problem, rng, entries.column_counts, 0.5 * state.alpha * of_columns, state.column_df
        )
        total = float(state.column_noise @ of_columns)
    else:
        total = float(of_rows.sum())
    if problem.link == "gaussian":
        state.alpha = draw_alpha(problem, rng, total)
    return log_likelihood_of(problem, state, total)


def _column_sums(
    problem: Problem, state: State, cells: SideCells, squares: np.ndarray, n_threads: int
) -> np.ndarray:
    """(J,) sum_i g_i e_ij^2 of every column."""
    pieces = cut_rows(cells.first, 16.0, 10.0)
    sums = np.zeros((len(pieces), problem.n_columns))

    def work(number: int, piece: tuple[int, int]) -> None:
        kernel.svd_column_sums(*piece, cells, state.row_noise, squares, sums[number])

    run_pieces(work, pieces, n_threads)
    return sums.sum(axis=0)


def draw_side_noise(
    problem: Problem, rng: np.random.Generator, counts: np.ndarray, halves: np.ndarray, df: float
) -> tuple[float, np.ndarray]:
    """nu and the precisions of one side; `counts` n_i cells, `halves` S_i."""
    if problem.hyper.noise_df is not None:
        df = problem.hyper.noise_df
    else:
        log_law = log_law_of_df(counts, halves)
        weight = np.exp(log_law - log_law.max())
        df = float(NOISE_DFS[np.searchsorted(np.cumsum(weight), rng.random() * weight.sum())])
    return df, rng.standard_gamma(df + 0.5 * counts) / (df + halves)


def log_law_of_df(counts: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """log p(cells | nu) on NOISE_DFS up to a constant: product over rows of
    Gamma(nu + n_i / 2) / Gamma(nu) nu^nu (nu + S_i)^-(nu + n_i / 2)."""
    sizes, times = np.unique(counts, return_counts=True)
    law = np.empty(len(NOISE_DFS))
    for a, nu in enumerate(NOISE_DFS):
        law[a] = times @ (gammaln(nu + 0.5 * sizes) - gammaln(nu) + nu * math.log(nu))
        law[a] -= (nu + 0.5 * counts) @ np.log(nu + halves)
    return law


def draw_alpha(problem: Problem, rng: np.random.Generator, total: float) -> float:
    """`total`: sum over cells of g_i d_j e_ij^2."""
    hyper = problem.hyper
    shape, rate = hyper.noise_shape, hyper.noise_rate * problem.spread**2
    if problem.prior == "paper":
        shape, rate = hyper.c, hyper.d
    return float(rng.standard_gamma(shape + 0.5 * len(problem.entries)) / (rate + 0.5 * total))


def log_likelihood_of(problem: Problem, state: State, total: float) -> float:
    entries = problem.entries
    logs = len(entries) * math.log(state.alpha / (2.0 * math.pi))
    if problem.unequal_noise:
        logs += float(entries.row_counts @ np.log(state.row_noise) + entries.column_counts @ np.log(state.column_noise))
    return 0.5 * (logs - state.alpha * total)
