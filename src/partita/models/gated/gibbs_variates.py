"""Random numbers that a Gibbs chain over gated experts needs, with care in the tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincc, gammainccinv, log_ndtr, ndtri_exp

LEAST_LOG, MOST_LOG = -700.0, 700.0  # where a positive number still is one


def choose(rng: np.random.Generator, log_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A column of every row of (n, H), and the logarithm of what the weights summed to."""
    top = log_weight.max(axis=1, keepdims=True)
    mass = np.cumsum(np.exp(log_weight - top), axis=1)
    total = mass[:, -1]
    point = np.minimum(rng.random(len(mass)) * total, np.nextafter(total, 0.0))
    chosen = (mass <= point[:, None]).sum(axis=1)  # never a weight of 0: there the sum does not rise
    return chosen.astype(np.int32), top[:, 0] + np.log(total)


def above(rng: np.random.Generator, mean: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Normal with variance 1, known to exceed the limit."""
    u = 1.0 - rng.random(np.shape(mean))  # in (0, 1]
    return mean - ndtri_exp(np.log(u) + log_ndtr(mean - limit))


def log_gamma(rng: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """Logarithm of a Gamma(shape, 1) variate, also where the shape is so small that the variate would be 0."""
    shape = np.asarray(shape, float)
    big = np.log(rng.standard_gamma(shape + 1.0))
    return big + np.log(1.0 - rng.random(shape.shape)) / shape


def gamma_above(rng: np.random.Generator, shape: np.ndarray, rate: np.ndarray, least: float) -> np.ndarray:
    """Gamma(shape, rate) variates that are known to be at least `least`."""
    share = gammaincc(shape, least * rate)
    value = gammainccinv(shape, share * (1.0 - rng.random(shape.shape))) / rate
    return np.where((share > 0.0) & np.isfinite(value), np.maximum(value, least), least)


def log_dirichlet(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Logarithms of Dirichlet vectors, (..., L)."""
    logs = log_gamma(rng, counts)
    top = logs.max(axis=-1, keepdims=True)
    return logs - top - np.log(np.exp(logs - top).sum(axis=-1, keepdims=True))


def slice_step(
    rng: np.random.Generator, log_density: Callable[[float], float], x: float, width: float, least: float, most: float
) -> float:
    """One slice-sampling step with stepping out, between `least` and `most`."""
    level = log_density(x) + np.log(1.0 - rng.random())
    low = x - width * rng.random()
    high = low + width
    while low > least and log_density(low) > level:
        low -= width
    while high < most and log_density(high) > level:
        high += width
    low, high = max(low, least), min(high, most)
    while True:
        new = low + (high - low) * rng.random()
        if log_density(new) > level:
            return new
        if high - low < 1e-12:
            return x
        if new < x:
            low = new
        else:
            high = new
