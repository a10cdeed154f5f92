"""Hyper-parameters by griddy Gibbs: a grid of points, the log posterior over it, and a draw by one uniform.

A grid is a family whose last batch axis runs over the points; each family's `default_grid` gives one. The batch before
that axis, if any, is columns. The data enter through the statistics of the groups alone.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Grid(Protocol):
    """A family seen as a grid: all this file asks of it is the log marginal likelihood."""

    def log_marginal(self, statistics: Any) -> Any:
        """Return log p(data) for statistics S + (s,), S broadcast against the batch."""


def grid_log_posterior(grid: Grid, statistics: ArrayLike, log_prior: ArrayLike = 0.0) -> Array:
    """Return the log posterior of every grid point, up to a constant.

    `statistics` is (groups,) + V + (s,), V the columns (or nothing); every group of a column has parameters of its own
    under one hyper-parameter, so their log marginal likelihoods add up. The result is V + (points,); `log_prior`, flat
    unless given, broadcasts against it.
    """
    statistics = np.asarray(statistics, float)
    if statistics.ndim < 2:
        raise ValueError(
            f"statistics has shape {statistics.shape}; pass (groups, columns..., s), with a first axis of length 1 "
            "for a single group."
        )
    # Group by group: the memory is columns times points, whatever the number of groups.
    total = np.zeros(())
    for group in statistics:
        total = total + grid.log_marginal(group[..., None, :])
    return total + np.asarray(log_prior, float)


def pooled_log_prior(counts_of_others: ArrayLike, size: int) -> Array:
    """Return log(count + 1 / size), the prior of a grid point given how many OTHER columns sit at each point.

    This is a Dirichlet process over columns with mass 1 and a flat base over the `size` points, less its normaliser:
    columns learn from each other where they are alike. With no other columns it is flat.
    """
    counts = np.asarray(counts_of_others, float)
    if counts.shape[-1:] != (size,):
        raise ValueError(f"counts_of_others has shape {counts.shape}; its last axis must hold the {size} grid points.")
    return np.log(counts + 1.0 / size)


def draw_index(log_weights: ArrayLike, uniform: ArrayLike) -> NDArray[np.intp]:
    """Return an index of the last axis drawn in proportion to exp(log_weights), one uniform in [0, 1) for each draw.

    `uniform` broadcasts against the leading shape. Weights of -inf are never drawn.
    """
    log_weights = np.asarray(log_weights, float)
    peak = log_weights.max(axis=-1, keepdims=True)
    if not np.isfinite(peak).all():
        raise ValueError("log_weights has a row without a finite largest weight; one point at least must be possible.")
    cumulative = np.cumsum(np.exp(log_weights - peak), axis=-1)
    target = np.asarray(uniform, float)[..., None] * cumulative[..., -1:]
    # The last cumulative weight is left out, and the target is below it: the index stays within the points of weight.
    return np.asarray((target >= cumulative[..., :-1]).sum(axis=-1), dtype=np.intp)
