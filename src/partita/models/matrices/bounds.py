"""A bound on the scales theta of components, of links whose latents have unit noise.

Levels and successes that components separate completely are explained the better the larger these are, without an end:
the nearly log-uniform prior of theta alone would then let it run away, and every probability would end at 0 or 1. So
theta is at most `Problem.most_theta` there. What is integrated over theta gets the share of its law below the bound.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc, gammainccinv, gammaln

from .problem import Problem


def law_of_theta(problem: Problem, count: int) -> tuple[float, float]:
    """Shape of the inverse Gamma law given `count` numbers of a component, and the rate of its prior, bound apart."""
    return problem.hyper.theta_shape + 0.5 * count, problem.hyper.theta_rate * problem.spread


def draw_theta(problem: Problem, rng: np.random.Generator, squares: np.ndarray, count: int) -> np.ndarray:
    """theta (K,) given the sums of squares of `count` numbers each."""
    shape, rate = law_of_theta(problem, count)
    scale = rate + 0.5 * squares
    drawn = rng.standard_gamma(shape, len(squares))
    least = scale / problem.most_theta
    over = drawn < least
    if over.any():  # anew from the part that is left
        share = gammaincc(shape, least[over]) * (1.0 - rng.random(int(over.sum())))
        drawn[over] = np.maximum(np.where(share > 0.0, gammainccinv(shape, share), 0.0), least[over])
    return scale / drawn


def log_share(problem: Problem, squares: np.ndarray, count: int) -> np.ndarray:
    """Log probability (K,) that theta is below the bound, given the sums of squares; 0 without a bound."""
    if not np.isfinite(problem.most_theta):
        return np.zeros(np.shape(squares))
    shape, rate = law_of_theta(problem, count)
    least = (rate + 0.5 * squares) / problem.most_theta
    with np.errstate(divide="ignore"):
        near = np.log(gammaincc(shape, least))
    beyond = ~np.isfinite(near)  # so far out that it is 0: the first term of the continued fraction
    out = np.maximum(least, shape)
    far = shape * np.log(out) - out - np.log(out + 1.0 - shape) - gammaln(shape)
    return np.where(beyond, far, near)
