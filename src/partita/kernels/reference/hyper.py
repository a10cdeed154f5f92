"""Griddy Gibbs on hyper-parameters and concentrations, from group statistics alone: no row is looked at."""

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
    Grids,
    Layout,
    SeatingLaws,
)
from .columns import fill_column, log_marginal, own_stats
from .draw import pick


def n_moves(kind: int) -> int:
    """Grid moves of a column: kappa, nu and sigma^2 of real columns in turn, else all hyper-parameters at once."""
    return {BINARY: 1, CATEGORICAL: 1, COUNT: 1, REAL: 3, CORRELATED: 3}[kind]


def axes_of(kind: int, grids: Grids, move: int) -> dict[int, np.ndarray]:
    """Which hyper-parameters a move draws, and their grids."""
    if kind in (REAL, CORRELATED):
        return {move: (grids.kappa, grids.nu, grids.sigma)[move]}
    if kind == COUNT:
        return {0: grids.shape, 1: grids.scale}
    return {0: grids.strength} if kind == CATEGORICAL else {0: grids.beta, 1: grids.beta}


def grid_of(layout: Layout, chain: Chain, grids: Grids, d: int, move: int) -> tuple[np.ndarray, np.ndarray]:
    """The points of a move: positions (points, 4) and hyper-parameters (points, 4) of column d; the rest as it is."""
    kind = layout.kind[d]
    axes = axes_of(kind, grids, move)
    index = np.indices([len(axis) for axis in axes.values()]).reshape(len(axes), -1)
    at, hyper = np.repeat(chain.at[d][None], index.shape[1], 0), np.repeat(chain.hyper[d][None], index.shape[1], 0)
    for (k, axis), where in zip(axes.items(), index, strict=True):
        at[:, k], hyper[:, k] = where, axis[where]
    if kind == COUNT:  # the grid is over the shape and the mean, in units of the column's mean
        hyper[:, 1] = hyper[:, 0] / (layout.base[layout.base_first[d]] * hyper[:, 1])
    elif kind == CORRELATED and move == 1:  # the grid counts from P + 1
        hyper[:, 1] += layout.levels[d] + 1
    return at, hyper


def log_hyper_posterior(layout: Layout, chain: Chain, grids: Grids, d: int, move: int) -> np.ndarray:
    """log p(grid point | groups, other columns), up to a constant, for every point of a move of column d.

    The prior is a Dirichlet process over the columns of a kind: the number of others at the point, plus 1 / points.
    """
    at, hyper = grid_of(layout, chain, grids, d, move)
    moved = list(axes_of(layout.kind[d], grids, move))
    others = [e for e in np.flatnonzero(layout.kind == layout.kind[d]) if e != d]
    same = (chain.at[others][:, None, moved] == at[None, :, moved]).all(axis=2).sum(axis=0)
    stats = group_statistics(layout, chain, d)
    fit = log_marginal(layout, d, hyper.T[:, :, None], stats).sum(axis=1)
    return fit + np.log(same + 1.0 / len(at))


def group_statistics(layout: Layout, chain: Chain, d: int) -> np.ndarray:
    """The statistics (groups, statistics of d) of every group that holds column d."""
    view, own = chain.view[d], own_stats(layout, d)
    if view == BACKGROUND:
        return chain.stats[0, :1, own]
    used = [1 if view < FIRST_RESTAURANT else int(n) for n in chain.used[max(view - FIRST_RESTAURANT, 0)]]
    return np.concatenate([chain.stats[c, :n, own] for c, n in enumerate(used)])


def log_likelihood(layout: Layout, chain: Chain) -> float:
    """log p(cells | groups, hyper-parameters), without the factorials of counts."""
    columns = range(layout.n_columns)
    return float(
        sum(log_marginal(layout, d, chain.hyper[d], group_statistics(layout, chain, d)).sum() for d in columns)
    )


def refresh_tables(layout: Layout, chain: Chain) -> None:
    """Fill in all tables, after hyper-parameters were set from outside."""
    for d in range(layout.n_columns):
        fill_column(layout, chain, d)


def move_hyper(layout: Layout, chain: Chain, grids: Grids, uniforms: np.ndarray) -> None:
    """Draw the hyper-parameters of every column in turn; uniforms (D, 3), the first ones used."""
    uniforms = np.reshape(uniforms, (layout.n_columns, 3))
    for d in range(layout.n_columns):
        for move in range(n_moves(int(layout.kind[d]))):
            at, hyper = grid_of(layout, chain, grids, d, move)
            k = pick(log_hyper_posterior(layout, chain, grids, d, move), uniforms[d, move])
            chain.at[d], chain.hyper[d] = at[k], hyper[k]
        fill_column(layout, chain, d)


def log_seating_posterior(sizes: np.ndarray, laws: SeatingLaws) -> np.ndarray:
    """log p(alpha, discount | a partition into groups of the given sizes), up to a constant, at every point.

    The probability of a partition is the product of alpha + discount k over k = 0 .. K - 1, times Gamma(alpha) /
    Gamma(alpha + n), times Gamma(size - discount) / Gamma(1 - discount) of every group.
    """
    less, k = laws.discount[:, None], np.arange(len(sizes))
    opening = np.maximum(laws.alpha[:, None] + less * k, 0.0)
    with np.errstate(divide="ignore"):
        seated = (np.log(opening) + gammaln(sizes - less) - gammaln(1.0 - less)).sum(axis=1)
    return laws.log_prior + seated + gammaln(laws.alpha) - gammaln(laws.alpha + sizes.sum())


def move_concentration(chain: Chain, laws: SeatingLaws, uniforms: np.ndarray) -> None:
    """Draw alpha and discount of every restaurant and class; uniforms (R, C)."""
    uniforms = np.reshape(uniforms, chain.used.shape)
    for r, c in np.ndindex(*chain.used.shape):
        p = pick(log_seating_posterior(chain.size[r, c, : chain.used[r, c]], laws), float(uniforms[r, c]))
        chain.alpha[r, c], chain.discount[r, c] = laws.alpha[p], laws.discount[p]
