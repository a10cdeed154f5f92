"""How much a cell counts, and what it has left to explain: what the noise edge, strengths and births look at."""

from __future__ import annotations

import numpy as np

from .binomial import working
from .noise import fitted_values
from .problem import Problem
from .state import State


def cell_weights(problem: Problem, state: State, n_threads: int = 1) -> np.ndarray:
    """(m,) precision of a cell over alpha: g_i d_j, or the expected curvature of a binomial log-likelihood."""
    if problem.link == "binomial":
        return working(problem, fitted_values(problem, state, n_threads))[0]
    entries = problem.entries
    return state.row_noise[entries.row] * state.column_noise[entries.column]


def weighted_residuals(problem: Problem, state: State, n_threads: int = 1) -> np.ndarray:
    """(m,) residuals times weights, which is the slope of a binomial log-likelihood."""
    fitted = fitted_values(problem, state, n_threads)
    if problem.link == "binomial":
        return working(problem, fitted)[1]
    y = problem.entries.values if state.latent is None else state.latent
    return (y - fitted) * cell_weights(problem, state, n_threads)
