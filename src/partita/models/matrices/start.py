"""Where a chain over a matrix with holes begins."""

from __future__ import annotations

import math

import numpy as np

from . import binomial as svd_binomial
from . import ordinal as svd_ordinal
from .levels import start_stretch
from .problem import Problem
from .rank import cell_matrix, leading_pairs, measure_rank, noise_edge
from .regression import start_regression
from .state import State
from .truncation import truncate

RANDOM_RANK = 1
FIRST_TAU = 4.0  # in units of the values' spread


def init(problem: Problem, rng: np.random.Generator, start: str | int = "random") -> State:
    """`start`: "random" (one component, the others are born), "svd" (of the observed cells), or so many at random."""
    limit = min(problem.max_rank, problem.n_rows, problem.n_columns)
    if start == "svd":
        k = limit
    else:
        k = RANDOM_RANK if start == "random" else min(int(start), limit)
    state = blank(problem, rng, k)
    if start == "svd" and len(problem.entries):
        residual = state_values(problem, state) - state.mean
        u, size, v = leading_pairs(cell_matrix(problem, residual), k, rng)
        # unobserved cells count as zero: the values are those of the whole matrix when divided by the share observed
        scale = np.sqrt(0.3 * size * problem.n_rows * problem.n_columns / len(problem.entries))
        state.U, state.V = np.ascontiguousarray(u * scale), np.ascontiguousarray(v * scale)
    state.edge = noise_edge(problem, rng, state)
    if problem.prior == "paper":
        as_gains(problem, rng, state, limit)
    else:
        truncate(problem, rng, state)
    state.rank = measure_rank(problem, state)
    return state


def blank(problem: Problem, rng: np.random.Generator, k: int) -> State:
    """Everything at its start, k components at random."""
    n, m, spread = problem.n_rows, problem.n_columns, problem.spread
    scale = math.sqrt(spread / math.sqrt(max(k, 1))) * (0.5 if problem.offsets else 1.0)
    tau = FIRST_TAU / spread**2
    state = State(
        U=rng.standard_normal((n, k)) * scale, V=rng.standard_normal((m, k)) * scale, theta=np.full(k, scale**2),
        row_offset=np.zeros(n), column_offset=np.zeros(m), row_noise=np.ones(n), column_noise=np.ones(m),
        row_mean=np.zeros((n, k + 1)), column_mean=np.zeros((m, k + 1)), mean=problem.centre,
        alpha=1.0 / spread**2, tau_row=tau, tau_column=tau,
        row_regression=start_regression(problem.row_features, k),
        column_regression=start_regression(problem.column_features, k),
    )  # fmt: skip
    start_stretch(problem, rng, state)
    if problem.link == "ordinal":
        state.cuts, state.cut_step, state.latent = svd_ordinal.start(problem)
    if problem.link == "binomial" and problem.offsets:
        state.mean = svd_binomial.start(problem)
    return state


def as_gains(problem: Problem, rng: np.random.Generator, state: State, limit: int) -> None:
    """The paper's prior has all its components from the start; those beyond the first few are off."""
    n, m, k = problem.n_rows, problem.n_columns, state.n_components
    norms = np.linalg.norm(state.U, axis=0), np.linalg.norm(state.V, axis=0)
    first = (state.U / norms[0], state.V / norms[1])
    rest = (rng.standard_normal((n, limit - k)) / math.sqrt(n), rng.standard_normal((m, limit - k)) / math.sqrt(m))
    state.U, state.V = (np.ascontiguousarray(np.hstack(pair)) for pair in zip(first, rest, strict=True))
    scale = problem.spread * math.sqrt(n * m)
    state.s = np.append(norms[0] * norms[1], np.full(limit - k, scale / limit))
    state.z = np.append(np.ones(k), np.zeros(limit - k))
    state.alpha_s = limit / float(state.s @ state.s)
    state.theta = np.full(limit, 1.0 / math.sqrt(n * m))
    state.row_mean, state.column_mean = np.zeros((n, limit + 1)), np.zeros((m, limit + 1))
    state.row_regression = start_regression(problem.row_features, limit)
    state.column_regression = start_regression(problem.column_features, limit)


def state_values(problem: Problem, state: State) -> np.ndarray:
    """What the factors explain: the values, or the latents or probits of rates in their place."""
    if problem.link == "binomial":
        return svd_binomial.probits(problem)
    return problem.entries.values if state.latent is None else state.latent
