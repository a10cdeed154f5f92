"""The blocked sampler: rows drawn whole. `step(problem, rng, state, n_threads) -> (state, info)` is one sweep.

A sweep leaves the law of the state given the cells as it is; `adapt`, births and truncation, stands apart and is for
burn-in only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from . import binomial as svd_binomial
from .binomial import log_likelihood, move_mean, move_rows
from .binomial_gains import move_gains
from .draw import Draw
from .gains import draw_gains, rescale
from .gauge import draw_gauge
from .noise import draw_noise, draw_side_noise, end_noise, fitted_values
from .offsets import draw_offsets
from .ordinal import move_latents
from .problem import Problem
from .rank import measure_rank
from .regression import draw_regression
from .rows import draw_rows
from .scales import move_scales
from .sides import COLUMNS, SIDES, Side
from .start import init
from .state import State
from .truncation import adapt, resize

__all__ = ["adapt", "init", "kept", "resize", "step"]

kept = Draw.of
RANK_EVERY = 5  # sweeps: looking costs a few passes over the cells


def step(
    problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1
) -> tuple[State, Mapping[str, float]]:
    """Steps 1-5; the state is changed in place."""
    state.sweep += 1
    of_levels = math.nan
    if problem.link == "ordinal":
        of_levels = move_latents(problem, rng, state, fitted_values(problem, state, n_threads))
    total = math.nan
    for side in SIDES:
        if problem.link == "binomial":
            move_rows(problem, rng, state, side, n_threads)
        else:
            total = _draw_side(problem, rng, state, side, n_threads)
        draw_regression(problem, rng, state, side)
    draw_offsets(problem, rng, state)
    if problem.link == "binomial":
        logs = _move_common(problem, rng, state, n_threads)
    elif problem.prior == "paper" and problem.unequal_noise:
        logs = draw_noise(problem, rng, state, n_threads)
    else:
        logs = end_noise(problem, rng, state, total)
    if problem.prior == "ard":
        draw_gauge(problem, rng, state, n_threads)
    else:
        rescale(problem, rng, state)
    if state.sweep % RANK_EVERY == 0 or problem.prior == "paper":
        state.rank = measure_rank(problem, state, n_threads)
    return state, {
        "rank": float(state.rank),
        "components": float(state.n_components),
        "noise": float(state.alpha),
        "log_likelihood": of_levels if problem.link == "ordinal" else logs,
    }


def _move_common(problem: Problem, rng: np.random.Generator, state: State, n_threads: int) -> float:
    """What all binomial cells share: scales or gains, and the mean, 0 without offsets; returns the log-likelihood."""
    move = svd_binomial.move_scales if problem.prior == "ard" else move_gains
    move(problem, rng, state, fitted_values(problem, state, n_threads))
    fitted = fitted_values(problem, state, n_threads)
    return move_mean(problem, rng, state, fitted) if problem.offsets else float(log_likelihood(problem, fitted)[0])


def _draw_side(problem: Problem, rng: np.random.Generator, state: State, side: Side, n_threads: int) -> float:
    """The rows of a side and what follows from their sums: its noise, or (paper's prior, columns) s and z.

    Returns the sum over cells of the weighted squared residuals."""
    if problem.prior == "ard":
        # sums serve the noise of the side or the scales, not both: they take turns, another side every sweep
        scales = (side is COLUMNS) == (state.sweep % 2 == 0)
        squares, sums = draw_rows(problem, rng, state, side, n_threads, with_sums=scales)
        if sums is not None:
            return move_scales(problem, rng, state, sums, n_threads)
        return draw_side_noise(problem, rng, state, side, squares, n_threads)
    _, sums = draw_rows(problem, rng, state, side, n_threads, with_sums=side is COLUMNS)
    return math.nan if sums is None else draw_gains(problem, rng, state, sums)
