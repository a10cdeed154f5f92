"""The paper's prior with binomial cells: s, z and alpha_s given the factors, trials integrated out.

Nothing is conjugate here, so z_k is drawn from its two probabilities by looking at the cells with the component and
without it, and s_k moves by a random walk of its logarithm; where a component is off, s_k comes from its prior.
"""

from __future__ import annotations

import math

import numpy as np

from .binomial import log_likelihood
from .gains import positive_normal
from .problem import Problem
from .state import State

_SHORTEST = 0.01


def move_gains(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, switching: bool = True
) -> None:
    """New z (where `switching`), s and alpha_s; `fitted` (m,) are the probits of the cells now."""
    assert state.s is not None and state.z is not None
    hyper, k, entries = problem.hyper, state.n_components, problem.entries
    prior_odds = math.log(hyper.a) - math.log(hyper.b * (k - 1)) if k > 1 else math.inf

    def at(f: np.ndarray) -> float:
        return float(log_likelihood(problem, f)[0])

    now = at(fitted)
    for c in rng.permutation(k):
        product = state.U[:, c].copy()[entries.row] * state.V[:, c].copy()[entries.column]
        if switching:
            other = fitted + (1.0 - 2.0 * state.z[c]) * state.s[c] * product
            there = at(other)
            gain = (there - now) * (1.0 - 2.0 * state.z[c])  # of the component being on
            on = float(rng.random() < 1.0 / (1.0 + math.exp(min(-prior_odds - gain, 700.0))))
            if on != state.z[c]:
                state.z[c], fitted, now = on, other, there
        if not state.z[c]:
            state.s[c] = positive_normal(rng, 0.0, 1.0 / math.sqrt(state.alpha_s))
            continue
        log_x = math.exp(math.log(_SHORTEST) * rng.random()) * rng.standard_normal()
        asked = fitted + math.expm1(log_x) * state.s[c] * product
        then = at(asked)
        law = log_x - 0.5 * state.alpha_s * state.s[c] ** 2 * math.expm1(2.0 * log_x)
        if math.log1p(-rng.random()) < then - now + law:
            state.s[c], fitted, now = state.s[c] * math.exp(log_x), asked, then
    shape, rate = hyper.e + 0.5 * k, hyper.f + 0.5 * float(state.s @ state.s)
    state.alpha_s = float(rng.standard_gamma(shape) / rate)
