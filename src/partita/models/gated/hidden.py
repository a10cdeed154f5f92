"""Cells of the rows that a fit learns from, hidden from it: how wide the laws of the holes of training rows should be.

The other cells of such a row have shaped the gates, so that the row looks nearer to them than a new one would and its
laws are too narrow. Fits that go without a few cells of the rows they learn from say what the truth of these would have
wanted.
"""

from __future__ import annotations

import numpy as np

from ...kernels.contract import Rows
from .answer import Speaker
from .widths import KEPT, NORMAL, Cells

MOST_ROWS = 1000  # that cells are hidden of
WANTED = 400  # cells of a fit
LEAST_SHARE, MOST_SHARE = 0.02, 0.1  # of the cells of these rows
LEAST_IN_COLUMN, LEAST_IN_ROW = 10, 2  # cells that are seen before any is hidden


def may_be_hidden(reals: np.ndarray) -> np.ndarray:
    """Cells (n, columns) of rows with NaN where missing that leave enough in their row and column."""
    seen = ~np.isnan(reals)
    return seen & (seen.sum(axis=0) >= LEAST_IN_COLUMN) & (seen.sum(axis=1) >= LEAST_IN_ROW)[:, None]


def share_to_hide(reals: np.ndarray) -> float:
    """Of the cells of at most `MOST_ROWS` rows."""
    able = float(may_be_hidden(reals).sum()) * min(MOST_ROWS / max(len(reals), 1), 1.0)
    return float(np.clip(WANTED / able, LEAST_SHARE, MOST_SHARE)) if able else 0.0


def hide_some(reals: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which cells (n, columns) a fit goes without."""
    chosen = np.zeros(len(reals), bool)
    chosen[rng.permutation(len(reals))[:MOST_ROWS]] = True
    return may_be_hidden(reals) & chosen[:, None] & (rng.random(reals.shape) < share)


def hidden_cells(model: Speaker, rows: Rows, truth: np.ndarray, weight: np.ndarray) -> Cells:
    """Holes of `rows` whose `truth` (n, numeric columns of the lens; NaN where not known) is told, as the model fills
    them."""
    reals = model.view.reals
    hole = np.isnan(rows.reals[:, reals]) & ~np.isnan(truth[:, reals])
    those = np.flatnonzero(hole.any(axis=1))
    laws = model.laws(rows.take(those))
    i, j = np.nonzero(hole[those])
    parts = [laws.share[i], laws.location[i, :, j], laws.scale[i, :, j], np.minimum(laws.degrees[i], NORMAL)]
    best = np.argsort(-parts[0], axis=1, kind="stable")[:, :KEPT]
    share, *others = (np.take_along_axis(part, best, axis=1) for part in parts)
    share = share / share.sum(axis=1, keepdims=True)
    short = KEPT - best.shape[1]  # components that are not there
    padded = [
        np.pad(part, ((0, 0), (0, short)), constant_values=fill)
        for part, fill in zip((share, *others), (0.0, 0.0, 1.0, 1.0), strict=True)
    ]
    return Cells(truth[those][i, reals[j]], weight[those][i], *padded)
