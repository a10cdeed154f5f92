"""The blocked sampler: rows drawn whole. `step(problem, rng, state, n_threads) -> (state, info)` is one sweep.

A sweep leaves the law of the state given the cells as it is; `adapt`, births and truncation, stands apart and is for
burn-in only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..kernels.svd_contract import GainSums
from .svd_binomial import move_common, move_rows
from .svd_draw import Draw
from .svd_gains import draw_gains, rescale
from .svd_gauge import draw_gauge
from .svd_noise import draw_alpha, draw_noise, log_likelihood_of
from .svd_offsets import draw_offsets
from .svd_ordinal import move_latents
from .svd_problem import Problem
from .svd_rank import measure_rank
from .svd_regression import draw_regression
from .svd_rows import draw_rows
from .svd_sides import COLUMNS, SIDES
from .svd_start import init
from .svd_state import State
from .svd_truncation import adapt

__all__ = ["adapt", "init", "kept", "step"]

kept = Draw.of
RANK_EVERY = 5  # sweeps: looking costs a few passes over the cells


def step(
    problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1
) -> tuple[State, Mapping[str, float]]:
    """Steps 1-5; the state is changed in place."""
    state.sweep += 1
    of_levels = move_latents(problem, rng, state, n_threads) if problem.link == "ordinal" else math.nan
    log_likelihood = math.nan
    for side in SIDES:
        if problem.link == "binomial":
            move_rows(problem, rng, state, side, n_threads)
        else:
            sums = draw_rows(problem, rng, state, side, n_threads, problem.prior == "paper" and side is COLUMNS)
            if sums is not None:
                log_likelihood = _gains_and_noise(problem, rng, state, sums)
        draw_regression(problem, rng, state, side)
    draw_offsets(problem, rng, state)
    if problem.link == "binomial":
        log_likelihood = move_common(problem, rng, state, n_threads)
    elif problem.prior == "ard" or problem.unequal_noise:
        log_likelihood = draw_noise(problem, rng, state, n_threads)
    if problem.prior == "ard":
        draw_gauge(problem, rng, state)
    else:
        rescale(problem, rng, state)
    if state.sweep % RANK_EVERY == 0 or problem.prior == "paper":
        state.rank = measure_rank(problem, state, n_threads)
    return state, {
        "rank": float(state.rank),
        "components": float(state.n_components),
        "noise": float(state.alpha),
        "log_likelihood": of_levels if problem.link == "ordinal" else log_likelihood,
    }


def _gains_and_noise(problem: Problem, rng: np.random.Generator, state: State, sums: GainSums) -> float:
    """s and z from the sums that the columns left behind, and alpha, where it is the only precision."""
    total = draw_gains(problem, rng, state, sums)
    if problem.unequal_noise or problem.link != "gaussian":
        return math.nan
    state.alpha = draw_alpha(problem, rng, total)
    return log_likelihood_of(problem, state, total)
