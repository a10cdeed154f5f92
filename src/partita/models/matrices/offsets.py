"""The mean and the precisions of the offsets.

The mean moves against the offsets of a side, (mu, b) -> (mu + t, b - t), which leaves every fitted value as it is: t
has a normal law, and no cell is looked at.
"""

from __future__ import annotations

import math

import numpy as np

from .problem import Problem
from .regression import offset_squares
from .sides import SIDES, Side
from .state import State


def draw_offsets(problem: Problem, rng: np.random.Generator, state: State) -> None:
    """Mean and tau; the offsets themselves are drawn with the factors. Ordinal cut points take the part of the mean."""
    if not problem.offsets:
        return
    for side in SIDES:
        if problem.link != "ordinal":
            shift_mean(problem, rng, state, side)
        draw_tau(problem, rng, state, side)


def shift_mean(problem: Problem, rng: np.random.Generator, state: State, side: Side) -> None:
    tau, offset = side.tau(state), side.offset(state)
    own = 1.0 / (problem.hyper.mean_width * problem.spread) ** 2
    total = len(offset) * tau + own
    pull = tau * float((offset - side.prior_mean(state)[:, -1]).sum()) - own * (state.mean - problem.centre)
    t = pull / total + rng.standard_normal() / math.sqrt(total)
    state.mean += t
    side.put(state, side.matrix(state), offset - t)


def draw_tau(problem: Problem, rng: np.random.Generator, state: State, side: Side) -> None:
    hyper = problem.hyper
    apart = side.offset(state) - side.prior_mean(state)[:, -1]
    count = len(apart) + side.features(problem).n_coefficients
    squares = float(apart @ apart) + offset_squares(side.regression(state))
    rate = hyper.offset_rate * problem.spread**2 + 0.5 * squares
    setattr(state, f"tau_{side.name}", float(rng.standard_gamma(hyper.offset_shape + 0.5 * count) / rate))
