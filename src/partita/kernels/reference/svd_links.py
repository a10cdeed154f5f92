"""Plain twins of the Bayesian SVD's probit links: ordinal levels, binomial counts."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_ndtr, ndtri_exp

from partita.kernels.svd_links_contract import BinomialRows, Levels, Lines

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def _mirrored(levels: Levels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends of the intervals of the levels, standardised, and where they were mirrored to lie in the left tail."""
    low, high = ((end - levels.fitted) * levels.scale for end in levels.ends())
    flip = low + high > 0
    return np.where(flip, -high, low), np.where(flip, -low, high), flip


def svd_ordinal_masses(levels: Levels, log_mass: np.ndarray) -> None:
    low, high, _ = _mirrored(levels)
    log_high = log_ndtr(high)
    share = -np.expm1(np.minimum(log_ndtr(low) - log_high, 0.0))
    log_mass[:] = log_high + np.log(np.maximum(share, 1e-300))


def svd_ordinal_latents(levels: Levels, uniform: np.ndarray, latent: np.ndarray) -> None:
    low, high, flip = _mirrored(levels)
    log_high = log_ndtr(high)
    ratio = np.exp(np.minimum(log_ndtr(low) - log_high, 0.0))
    x = np.clip(ndtri_exp(log_high + np.log(uniform + (1 - uniform) * ratio)), low, high)
    latent[:] = levels.fitted + np.where(flip, -x, x) / levels.scale


def _slopes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """phi(x) / Phi(x) and phi(x) / Phi(-x)."""
    log_density = -0.5 * x * x - _HALF_LOG_2PI
    return np.exp(log_density - log_ndtr(x)), np.exp(log_density - log_ndtr(-x))


def svd_binomial_working(
    fitted: np.ndarray, successes: np.ndarray, trials: np.ndarray, weight: np.ndarray, score: np.ndarray
) -> None:
    success, failure = _slopes(fitted)
    weight[:] = trials * success * failure
    score[:] = successes * success - (trials - successes) * failure


def svd_binomial_sums(
    fitted: np.ndarray, shift: float, successes: np.ndarray, trials: np.ndarray, out: np.ndarray
) -> None:
    x = fitted + shift
    weight, score = np.empty_like(x), np.empty_like(x)
    svd_binomial_working(x, successes, trials, weight, score)
    out += [successes @ log_ndtr(x) + (trials - successes) @ log_ndtr(-x), score.sum(), weight.sum()]


def _curvature(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """phi/Phi (phi/Phi + x) at x, given phi/Phi; in the far left tail by its series, where the sum cancels."""
    far = x < -100.0
    inverse = 1.0 / np.where(far, x * x, 1.0)
    return np.where(far, 1.0 - inverse + 6.0 * inverse**2, slope * (slope + x))


class _Newton:
    """The normal approximation to a row's posterior by one Newton step from x, and the log posterior at x."""

    def __init__(self, lines: Lines, rows: BinomialRows, i: int, x: np.ndarray) -> None:
        at, other = lines.at(i), lines.other[lines.first[i] : lines.first[i + 1]]
        successes, trials, design = rows.successes[at], rows.trials[at], rows.design[other]
        fitted = rows.base[other] + design @ x
        failures, away = trials - successes, x - rows.centre[i]
        slope, back = _slopes(fitted)
        weight = successes * _curvature(fitted, slope) + failures * _curvature(-fitted, back)
        score = successes * slope - failures * back
        precision = np.diag(rows.precision) + (design.T * weight) @ design
        self.root = np.linalg.cholesky(precision)
        self.mean = np.linalg.solve(
            precision, rows.precision * rows.centre[i] + design.T @ (weight * (design @ x) + score)
        )
        self.log_posterior = float(
            successes @ log_ndtr(fitted) + failures @ log_ndtr(-fitted) - 0.5 * rows.precision @ away**2
        )

    def draw(self, noise: np.ndarray, stretch: float) -> np.ndarray:
        return self.mean + stretch * solve_triangular(self.root.T, noise, lower=False)

    def log_density(self, x: np.ndarray, df: float) -> float:
        """Of the Student t, up to a constant."""
        white = self.root.T @ (x - self.mean)
        return float(np.log(np.diag(self.root)).sum() - 0.5 * (df + len(x)) * np.log1p(white @ white / df))


def svd_binomial_rows(lines: Lines, rows: BinomialRows, begin: int, end: int) -> None:
    for i in range(begin, end):
        here = _Newton(lines, rows, i, rows.own[i])
        proposal = here.draw(rows.noise[i], rows.stretch[i])
        there = _Newton(lines, rows, i, proposal)
        forth, back = here.log_density(proposal, rows.df), there.log_density(rows.own[i], rows.df)
        log_ratio = there.log_posterior - here.log_posterior + back - forth
        rows.accepted[i] = np.log(rows.uniform[i]) < log_ratio
        if rows.accepted[i]:
            rows.own[i] = proposal
