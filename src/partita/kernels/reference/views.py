"""Statistics counted anew from labels and assignments; the view of every column drawn by its marginal likelihood."""

from __future__ import annotations

import numpy as np

from ..contract import CORRELATED, FIRST_RESTAURANT, Chain, Layout, Rows
from . import correlated
from .columns import counted, fill_column, log_marginal, own_stats
from .draw import pick


def rebuild(layout: Layout, rows: Rows, chain: Chain) -> None:
    """Statistics and tables of all columns from `label`, `z` and `view`."""
    chain.stats[:] = 0.0
    for d in range(layout.n_columns):
        if layout.kind[d] == CORRELATED:
            correlated.fill(correlated.cells_of(layout, rows, d), chain.filled, float(chain.hyper[d, 3]))
        chain.stats[:, :, own_stats(layout, d)] = counted(layout, rows, chain, d, int(chain.view[d]))
        fill_column(layout, chain, d)


def log_view_posterior(layout: Layout, rows: Rows, chain: Chain, d: int) -> np.ndarray:
    """log p(view of column d | the rest), up to a constant, for every view.

    The likelihood is that of the column under the view's groups; the prior, of a view, is the number of other columns
    there plus 1, for each of the V restaurants plus 1 / V.
    """
    n_restaurants = chain.z.shape[0]
    n_views = FIRST_RESTAURANT + n_restaurants
    mass = np.where(np.arange(n_views) < FIRST_RESTAURANT, 1.0, 1.0 / max(n_restaurants, 1))
    others = np.bincount(np.delete(chain.view, d), minlength=n_views)
    fit = [log_marginal(layout, d, chain.hyper[d], counted(layout, rows, chain, d, v)).sum() for v in range(n_views)]
    return np.array(fit) + np.log(others + mass)


def move_views(
    layout: Layout, rows: Rows, chain: Chain, uniforms: np.ndarray, first: int = 0, last: int = -1
) -> None:
    """Draw the views of the columns from `first` to `last` (-1: the end) in turn, with one uniform each of `uniforms`
    (D,). A correlated block stays where it is.
    """
    for d in range(first, layout.n_columns if last < 0 else last):
        if layout.kind[d] == CORRELATED:
            continue
        chain.view[d] = pick(log_view_posterior(layout, rows, chain, d), uniforms[d])
        chain.stats[:, :, own_stats(layout, d)] = counted(layout, rows, chain, d, int(chain.view[d]))
        fill_column(layout, chain, d)
