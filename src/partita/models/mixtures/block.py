"""What a state says of missing cells in a correlated block, by the normal-inverse-Wishart law of each group."""

from __future__ import annotations

import numpy as np

from ...families import NormalInverseWishart
from ...kernels.contract import Layout, Predictive, Rows

# A Student t with few degrees of freedom has no variance, and now and then a draw of it is absurd. One with fewer than
# this many is taken, by whatever tells of cells or draws them, as if it had this many: a variance of 3 squared scales.
LEAST_DEGREES = 3.0
BATCH = 4_000_000  # numbers in a covariance of all groups of some rows


def laws(layout: Layout, hyper: np.ndarray, stats: np.ndarray, d: int) -> NormalInverseWishart:
    """Of groups with hyper-parameters (groups, 4) and statistics (groups, ..); both as in `kernels.contract`."""
    width = int(layout.levels[d])
    kappa, nu, sigma2, mean = hyper.T
    scale = (sigma2 * (nu - width - 1))[:, None, None] * np.eye(width)
    prior = NormalInverseWishart(np.repeat(mean[:, None], width, axis=1), kappa, nu, scale)
    return prior.posterior(stats[:, : 1 + width + width * width])


def _groups(layout: Layout, state: Predictive, c: np.ndarray, g: np.ndarray, d: int) -> NormalInverseWishart:
    stats = state.stats[c, g, int(layout.stat_first[d]) :]
    return laws(layout, np.repeat(state.hyper[d][None], len(g), axis=0), stats, d)


class Moments:
    """First two moments of missing cells, from the groups of all states at once: few large batches of small matrices
    rather than many small ones.
    """

    def __init__(self, layout: Layout, rows: Rows, d: int) -> None:
        self.layout, self.d = layout, d
        first = int(layout.source[d])
        self.x = rows.reals[:, first : first + int(layout.levels[d])]
        self.holed = np.flatnonzero(np.isnan(self.x).any(axis=1))
        self.hyper: list[np.ndarray] = []
        self.stats: list[np.ndarray] = []
        self.weight: list[np.ndarray] = []

    def take(self, state: Predictive, c: int, weight: np.ndarray) -> None:
        """Add the groups of a class in a state; weight (rows, groups) is p(state, class, group | row)."""
        weight = weight[self.holed]
        g = np.flatnonzero((weight > 1e-9).any(axis=0))
        self.weight.append(weight[:, g])
        self.stats.append(state.stats[c, g, int(self.layout.stat_first[self.d]) :])
        self.hyper.append(np.repeat(state.hyper[self.d][None], len(g), axis=0))

    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """Both moments of every cell given the observed ones of its row."""
        first, second = self.x.copy(), self.x**2
        if not len(self.holed):
            return first, second
        every = laws(self.layout, np.concatenate(self.hyper), np.concatenate(self.stats), self.d)
        weight = np.concatenate(self.weight, axis=1)
        part = max(BATCH // (weight.shape[1] * self.x.shape[1] ** 2), 1)
        for at in range(0, len(self.holed), part):
            rows, w = self.holed[at : at + part], weight[at : at + part]
            mean, covariance = every.predictive_moments(self.x[rows, None], LEAST_DEGREES)
            spread = mean**2 + np.diagonal(covariance, axis1=2, axis2=3)
            first[rows] = np.einsum("nb,nbp->np", w, mean)
            second[rows] = np.einsum("nb,nbp->np", w, np.where(w[:, :, None] > 0, spread, 0.0))
        return first, second


def draw(
    layout: Layout, state: Predictive, d: int, c: np.ndarray, g: np.ndarray, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """x (rows, P) with missing cells drawn together, row i in group g[i] of class c[i]."""
    out = x.copy()
    for one in np.unique(np.stack([c, g], axis=1)[np.isnan(x).any(axis=1)], axis=0):
        mine = (c == one[0]) & (g == one[1])
        group = _groups(layout, state, one[:1], one[1:], d)
        out[mine] = group.draw_missing(x[mine], rng, LEAST_DEGREES)
    return out
