"""Step 3 of a sweep: precisions of the cells, alpha g_i d_j, from one pass over the residuals.

g_i | alpha, d ~ Gamma(nu + n_i / 2, nu + alpha / 2 sum_j d_j e_ij^2) is drawn row by row within the pass, so that the
sums over columns already carry it; then d, then alpha.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import kernel
from ..kernels.svd_contract import ResidualPass, pad, padded
from .svd_pieces import cut_rows, run_pieces
from .svd_problem import Problem
from .svd_sides import ROWS
from .svd_state import State


def residual_pass(problem: Problem, state: State, gamma: np.ndarray | None = None) -> ResidualPass:
    """The pass over the cells in row order; `gamma` (I,) where the g_i are to be drawn."""
    return ResidualPass(
        cells=ROWS.cells(problem, state),
        U=pad(state.U * state.gain),
        V=pad(state.V),
        row_offset=state.row_offset,
        shift=state.mean + state.column_offset,
        column_noise=state.column_noise,
        gamma=np.zeros(0) if gamma is None else gamma,
        alpha=float(state.alpha),
        df=problem.hyper.noise_df,
        row_noise=state.row_noise,
        row_sum=np.empty(problem.n_rows),
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
    entries, df = problem.entries, problem.hyper.noise_df
    unequal = problem.unequal_noise
    given = residual_pass(problem, state, rng.standard_gamma(df + 0.5 * entries.row_counts) if unequal else None)
    pieces = cut_rows(given.cells.first, 3 * padded(state.n_components), 10.0)
    sums = np.zeros((len(pieces), problem.n_columns))
    run_pieces(lambda number, piece: kernel.svd_noise_sums(*piece, given, sums[number]), pieces, n_threads)
    squares = sums.sum(axis=0)  # of every column: sum_i g_i e_ij^2
    if unequal:
        shape = df + 0.5 * entries.column_counts
        state.column_noise = rng.standard_gamma(shape) / (df + 0.5 * state.alpha * squares)
    total = float(state.column_noise @ squares)
    if problem.link == "gaussian":
        state.alpha = draw_alpha(problem, rng, total)
    return log_likelihood(problem, state, total)


def draw_alpha(problem: Problem, rng: np.random.Generator, total: float) -> float:
    """`total`: sum over cells of g_i d_j e_ij^2."""
    hyper = problem.hyper
    shape, rate = hyper.noise_shape, hyper.noise_rate * problem.spread**2
    if problem.prior == "paper":
        shape, rate = hyper.c, hyper.d
    return float(rng.standard_gamma(shape + 0.5 * len(problem.entries)) / (rate + 0.5 * total))


def log_likelihood(problem: Problem, state: State, total: float) -> float:
    entries = problem.entries
    logs = len(entries) * math.log(state.alpha / (2.0 * math.pi))
    if problem.unequal_noise:
        logs += float(entries.row_counts @ np.log(state.row_noise) + entries.column_counts @ np.log(state.column_noise))
    return 0.5 * (logs - state.alpha * total)
