"""The concentration alpha of a Chinese restaurant process given its number of groups, under a Gamma(shape, rate) prior.

p(alpha | K, n) is proportional to Gamma(alpha; shape, rate) alpha^K Gamma(alpha) / Gamma(alpha + n): of the partition,
only K and n matter. A cap on K changes nothing: the law under it is the uncapped joint law of alpha and the partition
given K <= cap (see `partition`), so alpha given a partition is as without one. Chains draw it on `GRID`, a point
standing for a cell whose width is proportional to alpha, together with the law of seating (`seating`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

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
