"""Scales of components moved together with their factors: theta_k -> x theta_k, u_k and v_k times sqrt(x).

Given its factors theta_k hardly moves, since hundreds of numbers repeat what it says, and given theta_k they cannot
shrink: a component that the data do not hold would need thousands of sweeps to go away. Here all follow at once (an
interweaving in the sense of [1]: in terms of u_k / sqrt(theta_k) it is theta_k alone that moves). The fit is linear in
x, so all that is needed of the cells are the sums of `GainSums`, which the draw of a side leaves behind.

[1] Y. Yu and X.-L. Meng (2011), To center or not to center: that is not the question, Journal of Computational and
Graphical Statistics 20, 531-570.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.svd_contract import GainSums, ScaleSteps
from .gauge import transform
from .problem import Problem
from .sides import SIDES
from .state import State

# Steps of every component, and the longest of log x: the data may say much of a scale, or, far below the noise, nothing
# over twenty powers of e. Latents were drawn with the component where it stands: long steps would take it away for good
STEPS = {"gaussian": (8, 20.0), "ordinal": (4, 1.0)}
_SHORTEST = 0.01


def move_scales(problem: Problem, rng: np.random.Generator, state: State, sums: GainSums, n_threads: int = 1) -> float:
    """A few Metropolis steps of every component; returns the sum over cells of the weighted squared residuals."""
    hyper, k = problem.hyper, state.n_components
    n_steps, longest = STEPS[problem.link]
    steps, log_uniform, gain = np.empty((n_steps, k)), np.empty((n_steps, k)), np.ones(k)
    for one, other in zip(steps, log_uniform, strict=True):
        one[:] = longest * (_SHORTEST / longest) ** rng.random(k) * rng.standard_normal(k)
        other[:] = np.log1p(-rng.random(k))
    rate = hyper.theta_rate * problem.spread
    given = ScaleSteps(state.theta, steps, log_uniform, state.alpha, hyper.theta_shape, rate, problem.most_theta)
    kernel.svd_scale_steps(sums.gram, sums.linear, given, gain)
    state.theta = state.theta * gain
    for side in SIDES:
        transform(state, side, np.sqrt(gain), n_threads)
    return max(float(sums.square[0] - 2.0 * gain @ sums.linear + gain @ sums.gram @ gain), 0.0)
