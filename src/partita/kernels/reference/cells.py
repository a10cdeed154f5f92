"""The observed cells of one row: counted into the statistics of a group, and predicted from them.

Cells are a dict from kind to (columns, values), observed cells only; of a correlated block (current values, which are
observed).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..contract import BINARY, CATEGORICAL, CORRELATED, COUNT, REAL, Chain, Layout, Rows, stat_width
from . import correlated

Cells = dict[int, tuple[np.ndarray, np.ndarray]]


def observed(
    layout: Layout, rows: Rows, columns: np.ndarray, i: int, chain: Chain | None = None, whole: bool = False
) -> Cells:
    """The cells of row i that are there, among `columns`; those missing in a correlated block as the chain holds them.

    With `whole` these count as observed.
    """
    cells: Cells = {}
    for kind in (BINARY, CATEGORICAL, COUNT, REAL):
        d = columns[layout.kind[columns] == kind]
        discrete = kind in (BINARY, CATEGORICAL)
        x = (rows.codes if discrete else rows.reals)[i, layout.source[d]]
        there = x >= 0 if discrete else ~np.isnan(x)
        cells[kind] = d[there], x[there]
    cells[CORRELATED] = correlated.NO_ROW
    for d in columns[layout.kind[columns] == CORRELATED]:
        current = None if chain is None else chain.filled[i]
        cells[CORRELATED] = correlated.row_of(correlated.cells_of(layout, rows, d)[i], current, whole)
    return cells


def count_in(layout: Layout, stats: np.ndarray, cells: Cells, by: float) -> None:
    """Add a row to (by = 1) or take it out of (by = -1) the statistics (S,) of a group."""
    d, x = cells[BINARY]
    stats[layout.stat_first[d] + (x != 1)] += by
    d, x = cells[CATEGORICAL]
    stats[layout.stat_first[d]] += by
    stats[layout.stat_first[d] + 1 + x] += by
    for kind, powers in ((COUNT, 2), (REAL, 3)):
        d, x = cells[kind]
        for power in range(powers):
            stats[layout.stat_first[d] + power] += by * x**power
    if len(x := cells[CORRELATED][0]):
        _own(layout, stats)[...] += by * correlated.statistics_of_rows(x[None])[0]


def log_predictive(layout: Layout, hyper: np.ndarray, stats: np.ndarray, cells: Cells) -> np.ndarray:
    """log p(row | the rows in the group) for every group, from the statistics (groups, S); cells are independent."""
    total = np.zeros(len(stats))
    for kind, of_kind in _LOG_PREDICTIVE.items():
        d, x = cells[kind]
        if len(d):
            total += of_kind(layout, hyper[d].T, stats, d, x).sum(axis=1)
    if len(cells[CORRELATED][0]):
        total += correlated.log_predictive(hyper[correlated.block_of(layout)], _own(layout, stats), cells[CORRELATED])
    return total


def draw_missing(layout: Layout, hyper: np.ndarray, stats: np.ndarray, cells: Cells, uniform: float, i: int) -> None:
    """Missing cells of the block of row i, about to join the group of statistics (S,) as `uniform` decided."""
    if len(cells[CORRELATED][0]):
        own = hyper[correlated.block_of(layout)], _own(layout, stats)
        correlated.draw_missing(*own, cells[CORRELATED], uniform, i)


def _own(layout: Layout, stats: np.ndarray) -> np.ndarray:
    """The statistics (..., s) of the correlated block."""
    d = correlated.block_of(layout)
    first = int(layout.stat_first[d])
    return stats[..., first : first + stat_width(CORRELATED, int(layout.levels[d]))]


def _binary(layout: Layout, h: np.ndarray, stats: np.ndarray, d: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Beta-Bernoulli: (a + ones) / (a + b + n), or with b and zeros."""
    ones, zeros = stats[:, layout.stat_first[d]], stats[:, layout.stat_first[d] + 1]
    same = np.where(x == 1, h[0] + ones, h[1] + zeros)
    return np.log(same / (h[0] + h[1] + ones + zeros))


def _categorical(layout: Layout, h: np.ndarray, stats: np.ndarray, d: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Dirichlet-categorical: (h base + count of the level) / (h + n)."""
    n, count = stats[:, layout.stat_first[d]], stats[:, layout.stat_first[d] + 1 + x]
    return np.log((h[0] * layout.base[layout.base_first[d] + x] + count) / (h[0] + n))


def _count(layout: Layout, h: np.ndarray, stats: np.ndarray, d: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gamma-Poisson: a negative binomial with r = shape + sum, p = (rate + n) / (rate + n + 1)."""
    r, rate = h[0] + stats[:, layout.stat_first[d] + 1], h[1] + stats[:, layout.stat_first[d]]
    choose = gammaln(r + x) - gammaln(r) - gammaln(x + 1.0)
    return choose - r * np.log1p(1.0 / rate) - x * np.log1p(rate)


def _real(layout: Layout, h: np.ndarray, stats: np.ndarray, d: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Normal-inverse-chi-squared: a Student t with nu + n degrees of freedom."""
    nu, centre, spread = student(h, *(stats[:, layout.stat_first[d] + k] for k in range(3)))
    constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * spread)
    return constant - 0.5 * (nu + 1.0) * np.log1p((x - centre) ** 2 / spread)


def student(h: np.ndarray, n: np.ndarray, s1: np.ndarray, s2: np.ndarray) -> tuple[np.ndarray, ...]:
    """Degrees of freedom nu, centre, nu times the squared scale of the predictive t; h = kappa, nu, sigma^2, mean."""
    kappa = h[0] + n
    return h[1] + n, (h[0] * h[3] + s1) / kappa, posterior_squares(h, n, s1, s2) * (1.0 + 1.0 / kappa)


def posterior_squares(h: np.ndarray, n: np.ndarray, s1: np.ndarray, s2: np.ndarray) -> np.ndarray:
    """The posterior sum of squares; rounding may not take it below that of the prior alone, nu sigma^2."""
    centre = (h[0] * h[3] + s1) / (h[0] + n)
    least = h[1] * h[2]
    return np.maximum(least, least + h[0] * h[3] ** 2 + s2 - (h[0] + n) * centre**2)


_LOG_PREDICTIVE = {BINARY: _binary, CATEGORICAL: _categorical, COUNT: _count, REAL: _real}
