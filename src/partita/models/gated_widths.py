"""How wide the laws of missing cells should be, and whose they should be, learnt from rows set aside.

Given its component a missing cell is Student's t by the model. Where that is the wrong shape (columns that nearly
repeat each other, values that pile up, few rows) its intervals hold too much or too little. Fits without some of the
rows say by how much: every observed cell of such a row is predicted from the others. One scale and one number of
degrees of freedom for the table, and the weights of the fits in a linear pool, are those under which these cells are
most probable.

Leaving training rows out in closed form (`gated_leave_one_out`) would not do: what a row has taught the expected cells
of other rows cannot be taken back, and with half of the cells missing it is most of what it taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from ..kernels.contract import Rows
from .gated_answer import Laws, Widths
from .gated_members import Data
from .gated_predict import GatedModel
from .pooling import pool_weights

FOLDS = 5  # a fit without a fold learns from four fifths of the rows
ENOUGH_CELLS = 2500  # of rows set aside: then no more folds
LEAST_HIDDEN = 0.25  # share of the cells of a row set aside that are taken away, with those that are missing
KEPT = 4  # components of a cell that are looked at, those of the largest shares
EQUAL_CELLS = 15.0  # what equal weights of the fits are worth
SCALES = np.exp(np.linspace(-1.4, 1.0, 13))
DEGREES = (2.0, 3.0, 5.0, 8.0, 16.0, 50.0, 500.0)
LOG_SCALE_PRECISION = 4.0  # of log scale, a normal variable with mean 0


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows that a fit learns from and rows set aside, by their places."""

    learnt: np.ndarray
    aside: np.ndarray


def make_folds(data: Data, lens: int, most: int, rng: np.random.Generator) -> list[Fold]:
    """At most `most` folds of five, each with its part of every class; none where there is no cell to look at."""
    n, cells = len(data.label), int((~np.isnan(data.rows[lens].reals)).sum())
    if n < FOLDS or not cells:
        return []
    order = rng.permutation(n)
    order = order[np.argsort(data.label[order], kind="stable")]
    fold = np.empty(n, np.int64)
    fold[order] = np.arange(n) % FOLDS
    wanted = int(np.clip(np.ceil(FOLDS * ENOUGH_CELLS / cells), 1, FOLDS))
    return [Fold(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(min(wanted, most))]


def without(data: Data, fold: Fold) -> Data:
    """The rows that a fit without the fold learns from."""
    rows = [part.take(fold.learnt) for part in data.rows]
    return replace(data, rows=rows, label=data.label[fold.learnt], weight=data.weight[fold.learnt])


@dataclass(eq=False)
class Cells:
    """Observed cells of rows that a model has not seen, each given the other cells of its row; (m, K) in components.

    value, weight (m,); share, location, scale, degrees (m, K)
    """

    value: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    location: np.ndarray
    scale: np.ndarray
    degrees: np.ndarray

    def density(self, widths: Widths | None = None) -> np.ndarray:
        """(m,) of every cell, its laws stretched by `widths`."""
        scale, degrees = self.scale, self.degrees
        if widths is not None:
            scale, degrees = scale * widths.scale, np.full_like(degrees, widths.degrees)
        z = (self.value[:, None] - self.location) / scale
        logs = gammaln(0.5 * (degrees + 1.0)) - gammaln(0.5 * degrees) - 0.5 * np.log(degrees * np.pi)
        logs -= np.log(scale) + 0.5 * (degrees + 1.0) * np.log1p(z * z / degrees)
        return (self.share * np.exp(logs)).sum(axis=1)


def hide_more(rows: Rows, rng: np.random.Generator) -> Rows:
    """The rows with so many more real cells missing that `LEAST_HIDDEN` of them are, as rows to be filled will have."""
    already = float(np.isnan(rows.reals).mean()) if rows.reals.size else 1.0
    if already >= LEAST_HIDDEN:
        return rows
    more = rng.random(rows.reals.shape) < (LEAST_HIDDEN - already) / (1.0 - already)
    return replace(rows, reals=np.where(more, np.nan, rows.reals))


def predicted_cells(model: GatedModel, rows: Rows, weight: np.ndarray) -> Cells:
    """Every observed Gaussian cell of new rows given the other observed cells of its row."""
    x, parts = rows.reals[:, model.view.reals], []
    base = np.repeat(np.log(model.weight)[None], len(x), axis=0)
    for column, posterior in zip(model.view.cells, model.cells, strict=True):
        base += column.log_predictive(posterior, column.cells(rows))
    for i in range(len(x)):
        seen = np.flatnonzero(~np.isnan(x[i]))
        if len(seen):
            laws = _each_given_others(model, x[i, seen], seen, base[i])
            parts.append((x[i, seen], np.full(len(seen), weight[i]), *laws))
    return Cells(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _each_given_others(model: GatedModel, x: np.ndarray, seen: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shares, locations, scales and degrees (cells, K) of the cells of a row in its likeliest components.

    With A the inverse of the form's covariance of all seen cells, d their distances from the mean and D = d'Ad, cell j
    given the others has location x_j - (Ad)_j / A_jj and form variance 1 / A_jj; without it D is less by
    (Ad)_j^2 / A_jj, and log|A| by log A_jj.
    """
    gates = model.gates
    v, k = gates.nu + 1.0 - model.view.width, len(seen) - 1
    wide = (gates.kappa + 1.0) / (gates.kappa * v)
    covariance = wide[:, None, None] * gates.scale[:, seen[:, None], seen]
    A, log_det = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
    away = x - gates.mean[:, seen]
    pull, own = np.einsum("hij,hj->hi", A, away), np.diagonal(A, axis1=1, axis2=2)
    distance = np.maximum((pull * away).sum(axis=1)[:, None] - pull**2 / own, 0.0)
    logs = base + gammaln(0.5 * (v + k)) - gammaln(0.5 * v) - 0.5 * k * np.log(v * np.pi) - 0.5 * log_det
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


def together(parts: Sequence[Cells]) -> Cells:
    return Cells(*(np.concatenate(part) for part in zip(*(vars(one).values() for one in parts), strict=True)))


def choose(each: Sequence[Cells]) -> tuple[np.ndarray, Widths]:
    """Weights of the models, and scale and degrees of their laws, from the same cells as every model predicts them."""
    weight = each[0].weight
    share = pool_weights(_relative([cells.density() for cells in each]), weight, EQUAL_CELLS * len(each))

    def worth(widths: Widths) -> float:
        density = sum(w * cells.density(widths) for w, cells in zip(share, each, strict=True))
        prior = 0.5 * LOG_SCALE_PRECISION * np.log(widths.scale) ** 2
        return float(weight @ np.log(np.maximum(density, 1e-300)) - prior)

    grid = [Widths(float(scale), degrees) for scale in SCALES for degrees in DEGREES]
    coarse = max(grid, key=worth)
    step = np.log(SCALES[1] / SCALES[0])
    near = [Widths(coarse.scale * float(np.exp(c * step)), coarse.degrees) for c in (-0.67, -0.33, 0.0, 0.33, 0.67)]
    best = max(near, key=worth)
    return pool_weights(_relative([cells.density(best) for cells in each]), weight, EQUAL_CELLS * len(each)), best


def _relative(densities: list[np.ndarray]) -> np.ndarray:
    """(models, cells), the largest of every cell 1."""
    stacked = np.stack(densities) + 1e-300
    return stacked / stacked.max(axis=0)


def widened(laws: Laws, widths: Widths | None) -> Laws:
    """The laws with these widths in place of the model's own."""
    if widths is None:
        return laws
    return replace(laws, scale=laws.scale * widths.scale, degrees=np.full_like(laws.degrees, widths.degrees))
