"""What a state says of a row: log p(x | class), group by group, or with the row itself left out."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..contract import BACKGROUND, CLASS_ONLY, CORRELATED, FIRST_RESTAURANT, Chain, Layout, Predictive, Rows
from . import correlated
from .cells import Cells, count_in, log_predictive, observed
from .columns import cells_of, columns_of, own_stats, score_from_table


def _scores(layout: Layout, rows: Rows, state: Predictive, view: int, c: int, n: int) -> np.ndarray:
    """log p(cells of the view | group) for the first n groups of class c, (rows, n)."""
    total = np.zeros((len(rows), n))
    for d in columns_of(state.view, view).tolist():
        if layout.kind[d] == CORRELATED:
            own = state.stats[c, :n, own_stats(layout, d)]
            for i, x in enumerate(correlated.cells_of(layout, rows, d)):
                if not np.isnan(x).all():
                    total[i] += correlated.log_predictive(state.hyper[d], own, correlated.row_of(x, None, False))
            continue
        total += score_from_table(layout, d, state.table[c, :, :n], cells_of(layout, rows, d))
    return total


def log_density(layout: Layout, rows: Rows, state: Predictive, out: np.ndarray) -> None:
    """out[i, c] = log p(row i | class c): views are independent, a restaurant is a mixture of its groups."""
    n_restaurants, n_classes = state.used.shape
    out[:] = _scores(layout, rows, state, BACKGROUND, 0, 1)
    for c in range(n_classes):
        out[:, c] += _scores(layout, rows, state, CLASS_ONLY, c, 1)[:, 0]
        for r in range(n_restaurants):
            if FIRST_RESTAURANT + r in state.view:  # the weights need not add up to one where nothing is mixed
                out[:, c] += logsumexp(_group_scores(layout, rows, state, r, c), axis=1)


def seat_weights(chain: Chain, out: np.ndarray) -> None:
    """out[r, c, g] = log weight of group g: size - discount of a group in use, alpha + discount times their number of a
    new one (none when the cap is reached), nothing of those beyond, all over their total.
    """
    size = chain.size[:, :, : out.shape[2]]
    weight = size - chain.discount[:, :, None] * (size > 0)
    for r, c in np.ndindex(*chain.used.shape):
        n = int(chain.used[r, c])
        weight[r, c, n] = chain.alpha[r, c] + chain.discount[r, c] * n if n < chain.cap else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        out[:] = np.log(weight) - np.log(weight.sum(axis=2, keepdims=True))


def group_scores(layout: Layout, rows: Rows, state: Predictive, restaurant: int, c: int, out: np.ndarray) -> None:
    """out[i, g] = log(weight of group g p(row i | group g)) in one restaurant and class."""
    out[:] = _group_scores(layout, rows, state, restaurant, c).reshape(out.shape)


def _group_scores(layout: Layout, rows: Rows, state: Predictive, restaurant: int, c: int) -> np.ndarray:
    n = int(state.used[restaurant, c])
    return _scores(layout, rows, state, FIRST_RESTAURANT + restaurant, c, n) + state.log_weight[restaurant, c, :n]


def leave_one_out(layout: Layout, rows: Rows, chain: Chain, out: np.ndarray) -> None:
    """out[i, c] = log p(row i | class c, the other rows), for the rows the chain was built from; a row that sits
    nowhere has the label -1, and nothing of it is taken out.
    """
    views = [columns_of(chain.view, v) for v in range(FIRST_RESTAURANT + chain.z.shape[0])]
    for i in range(len(rows)):
        cells = [observed(layout, rows, columns, i, chain) for columns in views]
        own = int(chain.label[i])
        stats, size = chain.stats.copy(), chain.size.copy()
        if own >= 0:
            count_in(layout, stats[0, 0], cells[BACKGROUND], -1.0)
            count_in(layout, stats[own, 0], cells[CLASS_ONLY], -1.0)
            for r, g in enumerate(chain.z[:, i]):
                count_in(layout, stats[own, g], cells[FIRST_RESTAURANT + r], -1.0)
                size[r, own, g] -= 1.0
        out[i] = log_predictive(layout, chain.hyper, stats[:1, 0], cells[BACKGROUND])
        out[i] += log_predictive(layout, chain.hyper, stats[:, 0], cells[CLASS_ONLY])
        for r, c in np.ndindex(*chain.used.shape):
            out[i, c] += _log_mixture(layout, chain, stats[c], size[r, c], r, c, cells[FIRST_RESTAURANT + r])


def _log_mixture(
    layout: Layout, chain: Chain, stats: np.ndarray, size: np.ndarray, r: int, c: int, cells: Cells
) -> float:
    """log p(cells | the groups of a restaurant), a new one among them but for the cap (weights as in `Chain`)."""
    taken = np.flatnonzero(size[: chain.used[r, c]] > 0)
    weight, groups = size[taken] - chain.discount[r, c], stats[taken]
    opening = chain.alpha[r, c] + chain.discount[r, c] * len(taken)
    if len(taken) < chain.cap and opening > 0:
        weight = np.append(weight, opening)
        groups = np.concatenate([groups, np.zeros((1, layout.n_stats))])
    return float(logsumexp(log_predictive(layout, chain.hyper, groups, cells), b=weight) - np.log(weight.sum()))
