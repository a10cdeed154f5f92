"""The Chinese restaurant franchise: groups that several data sets share [1].

Every data set is a restaurant. Its rows sit at tables, a new table with concentration alpha; every table serves one
dish, and tables of all restaurants choose their dishes as rows choose tables, a new dish with concentration `top`.
Rows with the same dish are one group, whichever data set they belong to. So a group that is common in one data set is
likely in another, in proportion to its tables.

Three forms of the same law, with n_tk rows of data set t in group k:
* tables summed out, `log_probability`: sums over all numbers of tables, exactly;
* tables counted, m_tk of them (`sample_tables`), which is all that `alpha` and `top` depend on;
* shares b_k of the groups, and what is left for others: `sample_shares` given the tables. Given shares the data sets
  are independent: a row joins group k with weight n_tk + alpha b_k.

[1] Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei (2006), Hierarchical Dirichlet processes, JASA 101, 1566-1581.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logsumexp

from .partition import log_probability as log_restaurant
from .partition import log_stirling

Array = NDArray[np.float64]


def count(groups: ArrayLike, first: ArrayLike) -> NDArray[np.intp]:
    """(T, K) rows of every data set in every group: groups (n,) of rows, those of data set t at first[t] ..
    first[t + 1] - 1."""
    groups, first = np.asarray(groups), np.asarray(first)
    k = int(groups.max(initial=-1)) + 1
    return np.array([np.bincount(groups[a:b], minlength=k) for a, b in zip(first[:-1], first[1:], strict=True)])


def log_probability(counts: ArrayLike, alpha: float, top: float) -> float:
    """Log probability of the groups of all rows; counts (T, K), every group with a row somewhere."""
    counts = np.asarray(counts)
    log_of = np.zeros(1)  # of the tables of the groups so far: log of the sum over all ways to have so many
    for column in counts.T:
        own = np.zeros(1)
        for rows in column:
            own = _log_convolve(own, log_stirling(int(rows), int(rows)))
        m = np.arange(len(own))
        with np.errstate(divide="ignore"):
            own = np.where(m > 0, own + m * np.log(alpha) + gammaln(np.maximum(m, 1)) + np.log(top), -np.inf)
        log_of = _log_convolve(log_of, own)
    m = np.arange(len(log_of))
    seats = (gammaln(alpha) - gammaln(alpha + counts.sum(axis=1))).sum()
    return float(seats + logsumexp(log_of + gammaln(top) - gammaln(top + m)))


def _log_convolve(a: Array, b: Array) -> Array:
    """Log of the products of two series, each given by logs; what is 1e-300 of the greatest is lost."""
    top_a, top_b = a.max(), b.max()
    with np.errstate(divide="ignore", under="ignore"):
        return np.log(np.convolve(np.exp(a - top_a), np.exp(b - top_b))) + top_a + top_b


def log_probability_of_tables(tables: ArrayLike, counts: ArrayLike, alpha: ArrayLike, top: ArrayLike) -> Array:
    """Log probability of tables (T, K) with their dishes up to what does not depend on alpha and top, which
    broadcast."""
    tables, rows = np.asarray(tables), np.asarray(counts).sum(axis=1)
    alpha, top = np.asarray(alpha, float), np.asarray(top, float)
    seats = tables.sum() * np.log(alpha) + len(rows) * gammaln(alpha) - sum(gammaln(alpha + n) for n in rows)
    dishes = tables.sum(axis=0)
    return seats + log_restaurant(np.broadcast_to(dishes, (*top.shape, len(dishes))), top)


def sample_tables(rng: np.random.Generator, counts: ArrayLike, alpha: float, shares: ArrayLike) -> NDArray[np.intp]:
    """(T, K) numbers of tables given rows and shares (K,) of the groups: row i + 1 of a group opens a table with
    probability alpha b / (alpha b + i)."""
    counts = np.asarray(counts)
    tables = np.zeros(counts.shape, np.intp)
    for at in np.argwhere(counts > 0):
        weight = alpha * float(np.asarray(shares)[at[1]])
        others = np.arange(counts[tuple(at)])
        opened = rng.random(len(others)) * (weight + others) < weight
        tables[tuple(at)] = max(int(opened.sum()), 1)  # the first row surely opens one, however small its share
    return tables


def sample_shares(rng: np.random.Generator, tables: ArrayLike, top: float) -> tuple[Array, float]:
    """Shares (K,) of the groups, and what is left for groups that nobody belongs to, given the tables."""
    drawn = rng.dirichlet(np.append(np.asarray(tables).sum(axis=0), top))
    drawn = np.maximum(drawn, 1e-300)
    return drawn[:-1], float(drawn[-1])


def sample_sticks(rng: np.random.Generator, n: int, top: float) -> Array:
    """(n,) parts of what is left that a new group takes."""
    return np.maximum(rng.beta(1.0, top, n), 1e-300)


def log_density_of_shares(counts: ArrayLike, alpha: float, top: float, shares: ArrayLike, left: float) -> float:
    """Log of the joint density of the groups of all rows and of the shares."""
    counts, b = np.asarray(counts), np.asarray(shares, float)
    seats = gammaln(alpha * b + counts) - gammaln(alpha * b)
    rows = counts.sum(axis=1)
    return float(
        seats.sum() + (gammaln(alpha) - gammaln(alpha + rows)).sum() + (top - 1.0) * np.log(left)
        + (np.log(top) - np.log(b)).sum()
    )  # fmt: skip


def sample_groups(rng: np.random.Generator, sizes: Sequence[int], alpha: ArrayLike, top: ArrayLike) -> NDArray[np.intp]:
    """Groups of all rows drawn from the franchise, one draw for every alpha and top: (..., n), numbered from 0; sizes
    are the rows of the data sets. A top of infinity gives every table a dish of its own."""
    alpha, top = np.broadcast_arrays(np.asarray(alpha, float), np.asarray(top, float))
    shape, alpha, top = alpha.shape, alpha.ravel(), np.minimum(top.ravel(), 1e300)
    m, n = len(alpha), int(sum(sizes))
    draw = np.arange(m)
    groups, dishes = np.zeros((m, n), np.intp), np.zeros((m, n), np.intp)
    n_tables, n_dishes = np.zeros(m, np.intp), np.zeros(m, np.intp)
    for start, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
        for i in range(size):
            seat, row, kind, table = rng.random((4, m))
            opened = seat * (alpha + i) < alpha if i else np.ones(m, bool)
            fresh = kind * (top + n_tables) < top
            dish = np.where(fresh, n_dishes, dishes[draw, (table * n_tables).astype(int)])
            # a table in proportion to its rows, and a dish to its tables: those of one drawn evenly
            groups[:, start + i] = np.where(opened, dish, groups[draw, start + (row * i).astype(int)])
            dishes[draw[opened], n_tables[opened]] = dish[opened]
            n_dishes += opened & fresh
            n_tables += opened
    return groups.reshape(*shape, n)
