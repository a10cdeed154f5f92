"""The concentration alpha of a Chinese restaurant process given its number of groups, under a Gamma(shape, rate) prior.

p(alpha | K, n) is proportional to Gamma(alpha; shape, rate) alpha^K Gamma(alpha) / Gamma(alpha + n): of the partition,
only K and n matter. A cap on K changes nothing: the law under it is the uncapped joint law of alpha and the partition
given K <= cap (see `partition`), so alpha given a partition is as without one. Two samplers: griddy, exact up to its
grid and one uniform a draw, and Escobar and West's [1], exact in the limit of its chain.

[1] M. D. Escobar and M. West (1995), Bayesian density estimation and inference using mixtures, JASA 90, 577-588.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from .grids import draw_index

Array = NDArray[np.float64]

GRID: Array = np.geomspace(0.1, 50.0, 25)
GRID.setflags(write=False)


def log_posterior(
    alpha: ArrayLike,
    n_groups: ArrayLike,
    n_rows: ArrayLike,
    shape: float = 1.0,
    rate: float = 1.0,
) -> Array:
    """Return log p(alpha) + log p(partition | alpha), less terms free of alpha; all arguments broadcast."""
    alpha, n_rows = np.asarray(alpha, float), np.asarray(n_rows)
    log_prior = shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(alpha) - rate * alpha
    return log_prior + np.asarray(n_groups) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + n_rows)


def grid_log_weights(
    n_groups: ArrayLike,
    n_rows: ArrayLike,
    shape: float = 1.0,
    rate: float = 1.0,
    grid: ArrayLike = GRID,
) -> Array:
    """Return the unnormalised log posterior of every point of a log-spaced grid, (...) + (points,).

    A point stands for a cell whose width is proportional to alpha: hence the log alpha on top of the log density.
    """
    grid = np.asarray(grid, float)
    groups = np.asarray(n_groups)[..., None]
    rows = np.asarray(n_rows) if np.ndim(n_rows) == 0 else np.asarray(n_rows)[..., None]
    return log_posterior(grid, groups, rows, shape, rate) + np.log(grid)


def draw_griddy(
    uniform: ArrayLike,
    n_groups: ArrayLike,
    n_rows: ArrayLike,
    shape: float = 1.0,
    rate: float = 1.0,
    grid: ArrayLike = GRID,
) -> Array:
    """Draw alpha from its posterior on the grid, one uniform in [0, 1) for each draw."""
    weights = grid_log_weights(n_groups, n_rows, shape, rate, grid)
    return np.asarray(grid, float)[draw_index(weights, uniform)]


def draw_escobar_west(
    rng: np.random.Generator,
    alpha: ArrayLike,
    n_groups: ArrayLike,
    n_rows: ArrayLike,
    shape: float = 1.0,
    rate: float = 1.0,
) -> Array:
    """Move alpha by one step of [1], eqs 13 and 14; it leaves p(alpha | K, n) of the uncapped process in place.

    eta ~ Beta(alpha + 1, n); then alpha ~ Gamma(shape + K, rate - log eta) with odds (shape + K - 1) / (n (rate - log
    eta)), else Gamma(shape + K - 1, rate - log eta). Without rows alpha is drawn from its prior.
    """
    alpha, n_groups, n_rows = np.broadcast_arrays(np.asarray(alpha, float), n_groups, n_rows)
    eta = rng.beta(alpha + 1.0, np.maximum(n_rows, 1))
    raised = np.where(n_rows > 0, rate - np.log(eta), rate)
    odds = (shape + n_groups - 1.0) / (np.maximum(n_rows, 1) * raised)
    upper = (rng.random(alpha.shape) < odds / (1.0 + odds)) | (n_rows == 0)
    return np.asarray(rng.standard_gamma(shape + n_groups - np.where(upper, 0.0, 1.0))) / raised
