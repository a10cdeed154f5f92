"""What a state says of missing cells in a correlated block, by the normal-inverse-Wishart law of each group."""

from __future__ import annotations

import numpy as np

from ..families import NormalInverseWishart
from ..kernels.contract import Layout, Predictive, Rows


def law(layout: Layout, state: Predictive, c: int, d: int, g: int) -> NormalInverseWishart:
    """Of group g of class c; prior and statistics as in `kernels.contract`."""
    width, first = int(layout.levels[d]), int(layout.stat_first[d])
    kappa, nu, sigma2, mean = state.hyper[d]
    prior = NormalInverseWishart(np.full(width, mean), kappa, nu, sigma2 * (nu - width - 1) * np.eye(width))
    return prior.posterior(state.stats[c, g, first : first + 1 + width + width * width])


def cells(layout: Layout, rows: Rows, d: int) -> np.ndarray:
    """The block's cells, (rows, P), NaN where missing."""
    first = int(layout.source[d])
    return rows.reals[:, first : first + int(layout.levels[d])]


def moments(
    layout: Layout, rows: Rows, state: Predictive, c: int, d: int, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First two moments of every cell given the observed ones of its row; `weight` (rows, groups) is p(group | row)."""
    x = cells(layout, rows, d)
    first, second = np.zeros(x.shape), np.zeros(x.shape)
    for g in range(weight.shape[1]):
        near = weight[:, g] > 1e-9
        if near.any():
            mean, covariance = law(layout, state, c, d, g).predictive_moments(x[near])
            share = weight[near, g, None]
            first[near] += share * mean
            second[near] += share * (mean**2 + np.diagonal(covariance, axis1=1, axis2=2))
    return first, second


def draw(
    layout: Layout, state: Predictive, d: int, c: np.ndarray, g: np.ndarray, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """x (rows, P) with missing cells drawn together, row i in group g[i] of class c[i]."""
    out = x.copy()
    for one in np.unique(np.stack([c, g], axis=1)[np.isnan(x).any(axis=1)], axis=0):
        mine = (c == one[0]) & (g == one[1])
        out[mine] = law(layout, state, int(one[0]), d, int(one[1])).draw_missing(x[mine], rng)
    return out
