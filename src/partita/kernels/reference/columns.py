"""One column: its statistics in every group, its log marginal likelihood, its predictive table."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..contract import (
    BACKGROUND,
    BINARY,
    CATEGORICAL,
    CORRELATED,
    COUNT,
    FIRST_RESTAURANT,
    REAL,
    Chain,
    Layout,
    Rows,
    stat_width,
    table_width,
)
from . import correlated
from .cells import posterior_squares, student


def columns_of(view: np.ndarray, which: int) -> np.ndarray:
    """The columns that sit in a view."""
    return np.flatnonzero(view == which)


def own_stats(layout: Layout, d: int) -> slice:
    """Where the statistics of column d stand among those of a group."""
    first = int(layout.stat_first[d])
    return slice(first, first + stat_width(int(layout.kind[d]), int(layout.levels[d])))


def column_of_statistic(layout: Layout) -> np.ndarray:
    """To which column each of the S statistics of a group belongs."""
    return np.searchsorted(layout.stat_first, np.arange(layout.n_stats), side="right") - 1


def own_table(layout: Layout, d: int) -> slice:
    """Where the predictive table of column d stands."""
    first = int(layout.table_first[d])
    return slice(first, first + table_width(int(layout.kind[d]), int(layout.levels[d])))


def own_base(layout: Layout, d: int) -> np.ndarray:
    """The Dirichlet mean of a categorical column, (levels,)."""
    first = int(layout.base_first[d])
    return layout.base[first : first + int(layout.levels[d])]


def places(chain: Chain, view: int) -> tuple[np.ndarray, np.ndarray]:
    """Class and group of every row in a view: (0, 0) in the background, (label, 0) in "class only"."""
    nought = np.zeros(len(chain.label), np.int32)
    return (
        nought if view == BACKGROUND else chain.label,
        nought if view < FIRST_RESTAURANT else chain.z[view - FIRST_RESTAURANT],
    )


def counted(layout: Layout, rows: Rows, chain: Chain, d: int, view: int) -> np.ndarray:
    """The statistics (C, G, statistics of d) of column d if it sat in `view`: every seated row counted anew."""
    if layout.kind[d] == CORRELATED:
        each = correlated.statistics_of_rows(chain.filled)
    else:
        each = statistics_of_cells(layout, d, cells_of(layout, rows, d))
    stats = np.zeros((*chain.stats.shape[:2], each.shape[1]))
    c, g = places(chain, view)
    seated = (c >= 0) & (g >= 0)
    np.add.at(stats, (c[seated], g[seated]), each[seated])
    return stats


def statistics_of_cells(layout: Layout, d: int, x: np.ndarray) -> np.ndarray:
    """What each cell of column d adds to the statistics of its group, (rows, statistics of d); zero where missing."""
    kind = layout.kind[d]
    if kind == BINARY:
        return np.stack([x == 1, (x >= 0) & (x != 1)], axis=1).astype(float)
    if kind == CATEGORICAL:
        return np.concatenate([x[:, None] >= 0, x[:, None] == np.arange(layout.levels[d])], axis=1).astype(float)
    return np.where(np.isnan(x)[:, None], 0.0, np.stack([x**p for p in range(2 if kind == COUNT else 3)], axis=1))


def log_marginal(layout: Layout, d: int, h: np.ndarray, stats: np.ndarray) -> np.ndarray:
    """log p(the cells of column d in a group), stats (..., statistics of d); h (4, ...) broadcasts against the groups.

    Without the factorials of a count column: they depend on neither groups nor hyper-parameters.
    """
    s = np.moveaxis(stats, -1, 0)
    kind = layout.kind[d]
    if kind == BINARY:
        return _log_beta(h[0] + s[0], h[1] + s[1]) - _log_beta(h[0], h[1])
    if kind == CATEGORICAL:
        result = gammaln(h[0]) - gammaln(h[0] + s[0])
        for share, count in zip(own_base(layout, d), s[1:], strict=True):
            result = result + gammaln(h[0] * share + count) - gammaln(h[0] * share)
        return result
    if kind == COUNT:
        gain = gammaln(h[0] + s[1]) - gammaln(h[0])
        return gain + h[0] * np.log(h[1]) - (h[0] + s[1]) * np.log(h[1] + s[0])
    if kind == REAL:
        nu, kappa = h[1] + s[0], h[0] + s[0]
        result = gammaln(0.5 * nu) - gammaln(0.5 * h[1]) + 0.5 * np.log(h[0] / kappa) - 0.5 * s[0] * np.log(np.pi)
        return result + 0.5 * h[1] * np.log(h[1] * h[2]) - 0.5 * nu * np.log(posterior_squares(h, *s))
    return correlated.log_marginal(h, stats)


def _log_beta(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def predictive_table(layout: Layout, d: int, h: np.ndarray, stats: np.ndarray) -> np.ndarray:
    """The table (entries, groups) of column d, stats (groups, statistics of d), as laid down in the contract."""
    s = stats.T
    kind = layout.kind[d]
    if kind == BINARY:
        return np.log((h[:2, None] + s) / (h[0] + h[1] + s[0] + s[1]))
    if kind == CATEGORICAL:
        return np.concatenate([-np.log(h[0] + s[:1]), np.log(h[0] * own_base(layout, d)[:, None] + s[1:])])
    if kind == COUNT:
        r, rate = h[0] + s[1], h[1] + s[0]
        return np.stack([r, -r * np.log1p(1.0 / rate) - gammaln(r), -np.log1p(rate)])
    nu, centre, spread = student(h, *s)
    constant = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(np.pi * spread)
    return np.stack([constant, centre, 1.0 / spread, 0.5 * (nu + 1.0)])


def score_from_table(layout: Layout, d: int, table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """log p(cell | group), (rows, groups), from the table (T, groups) and the cells (rows,); zero where missing."""
    t = table[own_table(layout, d)]
    kind, column = layout.kind[d], x[:, None]
    if kind == BINARY:
        return np.where(column < 0, 0.0, np.where(column == 1, t[0], t[1]))
    if kind == CATEGORICAL:
        return np.where(column < 0, 0.0, t[0] + t[1 + np.maximum(x, 0)])
    if kind == COUNT:
        score = gammaln(t[0] + column) + t[1] + column * t[2] - gammaln(column + 1.0)
    else:
        score = t[0] - t[3] * np.log1p((column - t[1]) ** 2 * t[2])
    return np.where(np.isnan(column), 0.0, score)


def cells_of(layout: Layout, rows: Rows, d: int) -> np.ndarray:
    """The cells of column d, one a row."""
    return (rows.codes if layout.kind[d] in (BINARY, CATEGORICAL) else rows.reals)[:, layout.source[d]]


def fill_table(layout: Layout, hyper: np.ndarray, stats: np.ndarray, table: np.ndarray, d: int, groups) -> None:
    """Write the table (T, G) of column d for `groups`, from the statistics (G, S); of a correlated block its factor."""
    if layout.kind[d] == CORRELATED:
        own = stats[groups, own_stats(layout, d)]
        correlated.write_factor(hyper[d], own)
        stats[groups, own_stats(layout, d)] = own
        return
    table[own_table(layout, d), groups] = predictive_table(layout, d, hyper[d], stats[groups, own_stats(layout, d)])


def fill_column(layout: Layout, chain: Chain, d: int) -> None:
    """The table of column d in every group in use and the empty one after them."""
    view = chain.view[d]
    for c in range(chain.stats.shape[0]):
        used = 0 if view < FIRST_RESTAURANT else int(chain.used[view - FIRST_RESTAURANT, c])
        fill_table(layout, chain.hyper, chain.stats[c], chain.table[c], d, slice(0, used + 1))
