"""The paper's prior, rows drawn whole: X = sum over k of s_k z_k u_k v_k' [1, sections 5.1-5.3].

u_ik ~ N(0, 1/I), v_jk ~ N(0, 1/J), s_k ~ N(0, 1/alpha_s) above 0, z_k ~ Bernoulli(pi_k), pi_k ~ Beta(a/K, b(K-1)/K).
With w_ij = u_i * v_j, all that s and z need of the cells is G = sum w w', h = sum y w and sum y^2 (y less mean and
offsets, all weighted), which the draw of the columns leaves behind.

Unlike [1], pi is integrated out (odds a / (b (K - 1)) of z_k = 1: with pi drawn, z sticks), and s_k where z_k is drawn;
(s, u, v) -> (s / (c d), c u, d v) is a move of its own, since strong components would otherwise keep their scales.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from ...kernels.svd_contract import GainSums
from .gauge import side_count, side_gram, transform
from .problem import Problem
from .sides import SIDES
from .state import State

RESCALINGS = 4  # random-walk steps of every component
_FAR = -6.0  # standard deviations below 0 of a mean, from where the normal tail is drawn by rejection


def draw_gains(problem: Problem, rng: np.random.Generator, state: State, sums: GainSums) -> float:
    """New z, s and alpha_s; returns the sum over cells of the weighted squared residuals."""
    assert state.s is not None and state.z is not None
    hyper, k = problem.hyper, state.n_components
    prior_odds = math.log(hyper.a) - math.log(hyper.b * (k - 1)) if k > 1 else math.inf
    s, z = state.s, state.z
    for c in rng.permutation(k):
        on = s * z
        on[c] = 0.0
        precision = state.alpha * sums.gram[c, c] + state.alpha_s
        mean = state.alpha * (sums.linear[c] - sums.gram[c] @ on) / precision
        # log of the evidence for z = 1 with s integrated over its half normal law
        depth = mean * math.sqrt(precision)
        evidence = 0.5 * math.log(state.alpha_s / precision) + 0.5 * depth**2 + log_ndtr(depth) + math.log(2.0)
        z[c] = float(rng.random() < 1.0 / (1.0 + math.exp(min(-prior_odds - evidence, 700.0))))
        s[c] = (
            positive_normal(rng, mean, 1.0 / math.sqrt(precision))
            if z[c]
            else positive_normal(rng, 0.0, 1.0 / math.sqrt(state.alpha_s))
        )
    state.alpha_s = float(rng.standard_gamma(hyper.e + 0.5 * k) / (hyper.f + 0.5 * float(s @ s)))
    on = s * z
    return max(float(sums.square[0] - 2.0 * on @ sums.linear + on @ sums.gram @ on), 0.0)


def positive_normal(rng: np.random.Generator, mean: float, spread: float) -> float:
    """One draw of N(mean, spread^2) above 0."""
    depth = mean / spread
    if depth > _FAR:
        low = ndtr(-depth)
        return max(mean + spread * float(ndtri(low + (1.0 - low) * rng.random())), 1e-300)
    while True:  # exponential envelope of the tail beyond -depth (Robert 1995)
        rate = 0.5 * (-depth + math.sqrt(depth * depth + 4.0))
        beyond = rng.standard_exponential() / rate
        if math.log1p(-rng.random()) < -0.5 * (beyond - depth - rate) ** 2:
            return spread * beyond


def rescale(problem: Problem, rng: np.random.Generator, state: State) -> None:
    """(s_k, u_k, v_k) -> (s_k / (c d), c u_k, d v_k), prior means with them, c and d by Metropolis steps.

    p(c, d) ~ c^(n_u - 1) d^(n_v - 1) exp(-(c^2 q_u + d^2 q_v + alpha_s s^2 / (c d)^2) / 2) d log c d log d, with q the
    weighted squares of the factors about their prior means and of the coefficients, n their number.
    """
    assert state.s is not None
    counts = [side_count(problem, side) for side in SIDES]
    squares = [np.diag(side_gram(state, side)) * side.precision(problem, state)[0] for side in SIDES]
    pull = state.alpha_s * state.s**2

    def log_law(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        quadratic = np.exp(2 * x) * squares[0] + np.exp(2 * y) * squares[1] + pull * np.exp(-2 * (x + y))
        return (counts[0] - 1) * x + (counts[1] - 1) * y - 0.5 * quadratic

    x, y = np.zeros(state.n_components), np.zeros(state.n_components)
    for _ in range(RESCALINGS):
        asked_x = x + rng.standard_normal(len(x)) * 1.5 / math.sqrt(2 * counts[0])
        asked_y = y + rng.standard_normal(len(y)) * 1.5 / math.sqrt(2 * counts[1])
        taken = np.log1p(-rng.random(len(x))) < log_law(asked_x, asked_y) - log_law(x, y)
        x, y = np.where(taken, asked_x, x), np.where(taken, asked_y, y)
    for side, by in zip(SIDES, (x, y), strict=True):
        transform(state, side, np.exp(by))
    state.s = state.s * np.exp(-x - y)
