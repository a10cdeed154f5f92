"""Rows set aside: what fits without them say of each of their cells, which teaches how wide the laws of cells are.

Leaving training rows out of a fit in closed form would not do: what a row has taught the expected cells of other rows
cannot be taken back, and with half of the cells missing it is most of what it taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from ...kernels.contract import Rows
from .answer import CellLaw, Speaker
from .hidden import LEAST_SHARE, hidden_cells, hide_some, share_to_hide
from .members import Data
from .pool import Pool
from .row_marks import has_holes, row_marks
from .widths import KEPT, NORMAL, Cells, choose, choose_seen, mixed, together

FOLDS = 5  # a fit without a fold learns from four fifths of the rows
HIDING = 3  # fits of all rows that cells are hidden from, where these are a good part of all
REFIT_STREAMS = FOLDS + HIDING + 1
ENOUGH_CELLS, ENOUGH_ROWS = 2500, 150  # set aside: then no more folds
MOST_CELLS = 10_000  # of a fold that are looked at
LEAST_HIDDEN = 0.25  # share of the cells of a row set aside that are taken away, with those that are missing


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows that a fit learns from and rows set aside, if any, by their places; `hidden` (learnt rows, numeric columns
    of the lens), cells that the fit goes without."""

    lens: int
    learnt: np.ndarray
    aside: np.ndarray
    hidden: np.ndarray


def make_folds(data: Data, lens: int, most: int, rng: np.random.Generator, n_votes: int = 0) -> list[Fold]:
    """Fifths of the rows, each with its part of every class, as many as their cells ask for, at most `most`, and at
    least `n_votes`; and cells to hide, if `most` is not 0.

    Cells are hidden from the same fits where few of all will do. Where it takes more, such a fit would know less than
    the one of all rows in two ways, and the laws of new rows would be taught too wide: then other fits, of all rows, go
    without them, as they do where fits vote, whose votes should not depend on cells.
    """
    n, reals = len(data.label), data.rows[lens].reals
    cells = int((~np.isnan(reals)).sum())
    wanted = max(min(fifths(ENOUGH_CELLS, cells), most) if cells else 0, n_votes)
    if n < FOLDS or not wanted:
        return []
    order = rng.permutation(n)
    order = order[np.argsort(data.label[order], kind="stable")]
    fold = np.empty(n, np.int64)
    fold[order] = np.arange(n) % FOLDS
    share = share_to_hide(reals) if most else 0.0
    apart = share > LEAST_SHARE or n_votes > 0
    folds = []
    for k in range(wanted):
        learnt = np.flatnonzero(fold != k)
        hidden = np.zeros((len(learnt), reals.shape[1]), bool) if apart else hide_some(reals[learnt], share, rng)
        folds.append(Fold(lens, learnt, np.flatnonzero(fold == k), hidden))
    if apart and share:
        everyone, none = np.arange(n), np.arange(0)
        n_hiding = HIDING if share > LEAST_SHARE else 1
        folds += [Fold(lens, everyone, none, hide_some(reals, share, rng)) for _ in range(n_hiding)]
    return folds


def fifths(enough: int, there: int) -> int:
    """How many fifths of what is there are enough, or all five."""
    return int(np.clip(np.ceil(FOLDS * enough / there), 1, FOLDS))


def without(data: Data, fold: Fold) -> Data:
    """The rows that a fit without the fold learns from, through the fold's lens without the hidden cells."""
    rows = [part.take(fold.learnt) for part in data.rows]
    mine = rows[fold.lens]
    rows[fold.lens] = replace(mine, reals=np.where(fold.hidden, np.nan, mine.reals))
    return replace(data, rows=rows, label=data.label[fold.learnt], weight=data.weight[fold.learnt])


def hide_more(rows: Rows, rng: np.random.Generator) -> Rows:
    """The rows with so many more real cells missing that `LEAST_HIDDEN` of them are, as rows to be filled will have."""
    already = float(np.isnan(rows.reals).mean()) if rows.reals.size else 1.0
    if already >= LEAST_HIDDEN:
        return rows
    more = rng.random(rows.reals.shape) < (LEAST_HIDDEN - already) / (1.0 - already)
    return replace(rows, reals=np.where(more, np.nan, rows.reals))


def predicted_cells(model: Speaker, rows: Rows, weight: np.ndarray) -> Cells:
    """Every observed Gaussian cell of new rows given the other observed cells of its row."""
    x, parts, gates = rows.reals[:, model.view.reals], [], model.gate_law()
    base = np.repeat(np.log(model.weight)[None], len(x), axis=0)
    for column, posterior in zip(model.view.cells, model.cells, strict=True):
        base += column.log_predictive(posterior, column.cells(rows))
    for i in range(len(x)):
        seen = np.flatnonzero(~np.isnan(x[i]))
        if len(seen):
            laws = _each_given_others(gates, x[i, seen], seen, base[i])
            parts.append((x[i, seen], np.full(len(seen), weight[i]), *laws))
    return Cells(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _each_given_others(gates: CellLaw, x: np.ndarray, seen: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shares, locations, scales and degrees (cells, K) of the cells of a row in its likeliest components.

    With A the inverse of the form's covariance of all seen cells, d their distances from the mean and D = d'Ad, cell j
    given the others has location x_j - (Ad)_j / A_jj and form variance 1 / A_jj; without it D is less by
    (Ad)_j^2 / A_jj, and log|A| by log A_jj.
    """
    v, k = np.minimum(gates.degrees, NORMAL), len(seen) - 1
    given = gates.around(x, seen)
    pull, own = given.pull, given.own
    distance = np.maximum(given.distance[:, None] - pull**2 / own, 0.0)
    logs = base + gammaln(0.5 * (v + k)) - gammaln(0.5 * v) - 0.5 * k * np.log(v * np.pi) - 0.5 * given.log_det
    log_gate = logs[:, None] - 0.5 * np.log(own) - 0.5 * (v[:, None] + k) * np.log1p(distance / v[:, None])
    scale = np.sqrt((v[:, None] + distance) / ((v[:, None] + k) * own))
    degrees = np.repeat((v + k)[:, None], len(seen), axis=1)
    share = np.exp(log_gate - log_gate.max(axis=0))
    best = np.argsort(-share, axis=0, kind="stable")[:KEPT]
    laws = [np.take_along_axis(part, best, axis=0).T for part in (share, x - pull / own, scale, degrees)]
    laws[0] = laws[0] / laws[0].sum(axis=1, keepdims=True)
    short = KEPT - len(best)  # components that are not there
    return tuple(np.pad(part, ((0, 0), (0, short)), constant_values=fill)
                 for part, fill in zip(laws, (0.0, 0.0, 1.0, 1.0), strict=True))  # fmt: skip


def learn_widths(
    pool: Pool, models: Sequence[Sequence[Sequence[Speaker]]], folds: Sequence[Fold], data: Data, lens: int,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Weights and widths of a pool's laws of cells, of new rows and of those it has learnt from. `models[k][m]` are
    those that in fold k stand for member m of the pool, or, where there is only one m, for all of them together."""
    new: list[list[Cells]] = [[] for _ in models[0]]
    own: list[list[Cells]] = [[] for _ in models[0]]
    for fold, members in zip(folds, models, strict=True):
        aside = _some(fold.aside, data.rows[lens].reals, rng)
        rows = hide_more(data.rows[lens].take(aside), rng)
        if not np.isnan(rows.reals[:, members[0][0].view.reals]).all():
            for m, member in enumerate(members):
                new[m].append(mixed([predicted_cells(model, rows, data.weight[aside]) for model in member]))
        if fold.hidden.any():
            part, truth = without(data, fold), data.rows[lens].reals[fold.learnt]
            for m, member in enumerate(members):
                own[m].append(mixed([hidden_cells(model, part.rows[lens], truth, part.weight) for model in member]))
    if not new[0]:
        return
    share, pool.widths = choose([together(cells) for cells in new])
    if len(share) == len(pool.whole):
        pool.whole_weight = share
    if own[0]:
        pool.seen_widths = choose_seen([together(cells) for cells in own], share, pool.widths)
        pool.marks = np.unique(row_marks(data.table)[has_holes(data.table)])


def _some(aside: np.ndarray, reals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """As many of the rows as `MOST_CELLS` asks for."""
    cells = int((~np.isnan(reals[aside])).sum())
    if cells <= MOST_CELLS:
        return aside
    return np.sort(rng.choice(aside, max(len(aside) * MOST_CELLS // cells, 1), replace=False))
