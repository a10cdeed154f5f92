"""What a state says of one cell: which class and group its row is of, and the predictive law of a column in a group."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from ...kernels.contract import BINARY, CATEGORICAL, COUNT, Layout, Predictive, Rows
from ..lens import Sight
from . import vote
from .block import LEAST_DEGREES
from .ensemble import Ensemble, responsibilities
from .predictive import log_density

MIDDLES = (np.arange(16) + 0.5) / 16  # of slices of equal probability


def class_share(ensemble: Ensemble, layout: Layout, rows: Rows, state: Predictive) -> np.ndarray:
    if ensemble.n_classes == 1:
        return np.ones((len(rows), 1))
    return vote.posteriors(log_density(layout, rows, state), ensemble.log_prior, ensemble.temperature)


def group_weights(layout: Layout, rows: Rows, state: Predictive, c: int) -> list[np.ndarray]:
    """p(group | row) for each view; background and class-only views have one group."""
    one = np.ones((len(rows), 1))
    restaurants = range(state.log_weight.shape[0])
    return [one, one, *(responsibilities(layout, rows, state, r, c) for r in restaurants)]


def level_probabilities(layout: Layout, state: Predictive, c: int, d: int, n: int) -> np.ndarray:
    """(groups, levels) predictive of a discrete column."""
    t = state.table[c, layout.table_first[d] :, :n]
    if layout.kind[d] == BINARY:
        return np.exp(np.stack([t[1], t[0]], axis=1))
    assert layout.kind[d] == CATEGORICAL
    return np.exp(t[1 : 1 + layout.levels[d]] + t[0]).T


def student(layout: Layout, state: Predictive, c: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, scale and degrees of freedom of a real column's predictive in each group, at least LEAST_DEGREES: draws,
    means and spreads tell one law, and a finite variance.
    """
    _, centre, inverse, power = state.table[c, layout.table_first[d] : layout.table_first[d] + 4, :n]
    nu = 2 * power - 1
    return centre, np.sqrt(1 / (inverse * nu)), np.maximum(nu, LEAST_DEGREES)


def negative_binomial(layout: Layout, state: Predictive, c: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Size r and success probability of a count column's predictive (NumPy's convention: failures before r
    successes).
    """
    r, _, log_q = state.table[c, layout.table_first[d] : layout.table_first[d] + 3, :n]
    return r, -np.expm1(log_q)


def cell_moments(
    layout: Layout, state: Predictive, c: int, d: int, n: int, sight: Sight
) -> tuple[np.ndarray, np.ndarray]:
    """First two moments of a numeric column in each group, in table units."""
    if layout.kind[d] == COUNT:
        r, p = negative_binomial(layout, state, c, d, n)
        mean = r * (1 - p) / p
        return mean, mean / p + mean**2
    centre, scale, nu = student(layout, state, c, d, n)
    if sight.what == "scores":  # values lie between the least and the largest seen, so all moments are there
        value = sight.back(centre + scale * stdtrit(nu, MIDDLES[:, None]))
        return value.mean(axis=0), (value**2).mean(axis=0)
    mean = sight.back(centre)
    return mean, mean**2 + scale**2 * nu / (nu - 2) * sight.spread**2
