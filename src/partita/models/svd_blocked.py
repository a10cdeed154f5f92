"""The blocked sampler: rows drawn whole. `step(problem, rng, state, n_threads) -> (state, info)` is one sweep.

A sweep leaves the law of the state given the cells as it is; `adapt`, births and truncation, stands apart and is for
burn-in only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .svd_gauge import draw_gauge
from .svd_noise import draw_noise
from .svd_offsets import draw_offsets
from .svd_problem import Problem
from .svd_rank import measure_rank
from .svd_regression import draw_regression
from .svd_rows import draw_rows
from .svd_sides import SIDES
from .svd_start import init
from .svd_state import State
from .svd_truncation import adapt

__all__ = ["adapt", "init", "step"]

RANK_EVERY = 5  # sweeps: looking costs a few passes over the cells


def step(
    problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1
) -> tuple[State, Mapping[str, float]]:
    """Steps 1-5; the state is changed in place."""
    state.sweep += 1
    for side in SIDES:
        draw_rows(problem, rng, state, side, n_threads)
        draw_regression(problem, rng, state, side)
    draw_offsets(problem, rng, state)
    log_likelihood = draw_noise(problem, rng, state, n_threads)
    draw_gauge(problem, rng, state)
    if state.sweep % RANK_EVERY == 0:
        state.rank = measure_rank(problem, state, n_threads)
    return state, {
        "rank": float(state.rank),
        "components": float(state.n_components),
        "noise": float(state.alpha),
        "log_likelihood": log_likelihood,
    }
