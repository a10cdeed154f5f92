"""Step 3 of a sweep: precisions of the cells, alpha g_i d_j.

g_i | alpha, d ~ Gamma(nu + n_i / 2, nu + S_i), S_i = alpha / 2 sum_j d_j e_ij^2. How alike the g_i are, nu, is learnt
with them integrated out: where the noise is equal, a fixed small nu would let components fit single rows exactly, and
the rank would be wrong. The sums S_i are left behind by the draw of the rows, those of the columns by theirs, so g
follows the rows, d the columns, and then alpha. Where gains are drawn after the columns (the paper's prior with unequal
noise) a pass over the cells gives them.
"""

from __future__ import annotations

import math

import numpy as np

from ...kernels import kernel
from ...kernels.svd_contract import ResidualPass, SideCells, pad, padded
from .pieces import cut_evenly, cut_rows, run_pieces
from .problem import NOISE_DFS, Problem
from .sides import COLUMNS, ROWS, SIDES, Side
from .state import State


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
    """New g and d by a pass over the cells, and alpha; the log likelihood of the cells (latents) given them."""
    given = residual_pass(problem, state)
    squares, of_rows = np.empty(len(problem.entries)), np.empty(problem.n_rows)
    pieces = cut_rows(given.cells.first, 3 * padded(state.n_components), 10.0)
    noise = state.column_noise
    run_pieces(lambda _, piece: kernel.svd_squares(*piece, given, noise, squares, of_rows), pieces, n_threads)
    total = draw_side_noise(problem, rng, state, ROWS, of_rows, n_threads)
    if problem.unequal_noise:
        of_columns = _column_sums(problem, state, given.cells, squares, n_threads)
        total = draw_side_noise(problem, rng, state, COLUMNS, of_columns, n_threads)
    return end_noise(problem, rng, state, total)


def end_noise(problem: Problem, rng: np.random.Generator, state: State, total: float) -> float:
    """alpha (1 with the ordinal link) given `total`, the sum over cells of g_i d_j e_ij^2; the log likelihood."""
    if problem.link == "gaussian":
        state.alpha = draw_alpha(problem, rng, total)
        if problem.unequal_noise:
            share_noise(problem, rng, state)
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
    problem: Problem, rng: np.random.Generator, state: State, side: Side, squares: np.ndarray, n_threads: int = 1
) -> float:
    """nu and the precisions of one side, where noise is unequal; the sum over cells of g_i d_j e_ij^2.

    squares     (n,) sum over the cells of every row of the other side's precision times e^2
    """
    if problem.unequal_noise:
        counts, halves = side.counts(problem), 0.5 * state.alpha * squares
        df = problem.hyper.noise_df
        if df is None:
            log_law = log_law_of_df(problem, side, halves, n_threads)
            weight = np.exp(log_law - log_law.max())
            df = float(NOISE_DFS[np.searchsorted(np.cumsum(weight), rng.random() * weight.sum())])
        setattr(state, f"{side.name}_df", df)
        setattr(state, f"{side.name}_noise", rng.standard_gamma(df + 0.5 * counts) / (df + halves))
    return float(side.noise(state) @ squares)


def log_law_of_df(problem: Problem, side: Side, halves: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """log p(cells | nu) on NOISE_DFS up to a constant: product over rows of
    Gamma(nu + n_i / 2) / Gamma(nu) nu^nu (nu + S_i)^-(nu + n_i / 2)."""
    law, counts = problem.df_constants[side is COLUMNS].copy(), side.counts(problem).astype(float)

    def work(_: int, piece: tuple[int, int]) -> None:
        part = slice(*piece)
        kernel.svd_noise_law(counts, halves, NOISE_DFS[part], law[part])

    run_pieces(work, cut_evenly(len(law), 20.0 * len(counts)), n_threads)
    return law


def draw_alpha(problem: Problem, rng: np.random.Generator, total: float) -> float:
    """`total`: sum over cells of g_i d_j e_ij^2."""
    shape, rate = law_of_alpha(problem)
    return float(rng.standard_gamma(shape + 0.5 * len(problem.entries)) / (rate + 0.5 * total))


def law_of_alpha(problem: Problem) -> tuple[float, float]:
    """Shape and rate of its prior."""
    hyper = problem.hyper
    return (hyper.c, hyper.d) if problem.prior == "paper" else (hyper.noise_shape, hyper.noise_rate * problem.spread**2)


def share_noise(problem: Problem, rng: np.random.Generator, state: State) -> None:
    """(alpha, g) -> (alpha / q, q g), then d likewise: no cell sees it, but alpha given g hardly moves.

    q ~ Gamma(n nu - shape, nu sum g) but for the rate of alpha's prior, which decides on what is drawn.
    """
    shape, rate = law_of_alpha(problem)
    for side in SIDES:
        noise, df = side.noise(state), getattr(state, f"{side.name}_df")
        if len(noise) * df <= shape:  # a handful of rows under a strong prior of alpha
            continue
        q = float(rng.standard_gamma(len(noise) * df - shape) / (df * noise.sum()))
        if math.log1p(-rng.random()) < rate * state.alpha * (1.0 - 1.0 / q):
            state.alpha = state.alpha / q
            setattr(state, f"{side.name}_noise", q * noise)


def log_likelihood_of(problem: Problem, state: State, total: float) -> float:
    entries = problem.entries
    logs = len(entries) * math.log(state.alpha / (2.0 * math.pi))
    if problem.unequal_noise:
        logs += float(entries.row_counts @ np.log(state.row_noise) + entries.column_counts @ np.log(state.column_noise))
    return 0.5 * (logs - state.alpha * total)
