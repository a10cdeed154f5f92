"""Quantiles of mixtures over draws, by inverting their distribution function."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, ndtr, ndtri

_ROUNDS = 60
_EXACT = 1e-9  # of the narrowest of the laws of a cell


def normal_mixture_quantile(p: float, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(m,) x with (1 / S) sum over s of Phi((x - mean_s) / sd_s) = p, of mean and sd (S, m), sd > 0.

    Newton steps inside a bracket that shrinks; a step that would leave it is replaced by bisection.
    """
    low, high = (mean + ndtri(p) * sd).min(axis=0), (mean + ndtri(p) * sd).max(axis=0)  # each end: all terms agree
    spread = np.sqrt(mean.var(axis=0) + (sd**2).mean(axis=0))
    x = np.clip(mean.mean(axis=0) + ndtri(p) * spread, low, high)
    near = _EXACT * sd.min(axis=0)
    for _ in range(_ROUNDS):
        z = (x - mean) / sd
        excess = ndtr(z).mean(axis=0) - p
        slope = (np.exp(-0.5 * z * z) / sd).mean(axis=0) / np.sqrt(2 * np.pi)
        low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = x - excess / slope
        inside = (step > low) & (step < high)
        new = np.where(inside, step, (low + high) / 2)
        done = np.abs(new - x) <= near
        x = new
        if done.all():
            break
    return x


def binomial_mixture_quantile(p: float, chance: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """(m,) smallest k with (1 / S) sum over s of P(successes <= k) >= p, of chances (S, m) and trials (m,)."""
    low, high = np.full(len(trials), -1.0), trials.astype(float)  # F(low) < p <= F(high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        k = np.maximum(middle, 0)
        # bdtr, which is the same, loses its digits from 1e7 trials on
        below = betainc(trials - k, k + 1, 1 - chance).mean(axis=0) < p
        below &= middle >= 0
        wide = high - low > 1
        low, high = np.where(wide & below, middle, low), np.where(wide & ~below, middle, high)
    return high


def level_quantile(p: float, chance: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """(m,) smallest level whose cumulative probability reaches p, of probabilities (m, L)."""
    place = (np.cumsum(chance, axis=1) < p - 1e-12).sum(axis=1)
    return levels[np.minimum(place, len(levels) - 1)]
