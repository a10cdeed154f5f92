"""How classes act on each other: the mean probability of an edge from one to another."""

from __future__ import annotations

import numpy as np

from ...priors.graph import pair_counts


def mean_template(classes: np.ndarray, edges: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """(K, K) mean of the edge probabilities (n, n) from columns of a class to those of another, NaN where there is no
    pair; of several tables (`first`: where the columns of each begin) over the pairs within tables."""
    names = np.unique(classes, return_inverse=True)[1]
    sums, pairs = pair_counts(names, edges, first)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 0, sums / pairs, np.nan)
