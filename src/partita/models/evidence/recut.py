"""Naive Bayes on fresh rows, bins and all: what it answers for rows that its bins were cut without.

The bins of a numeric column are cut where the labels of all rows say so. Leaving a row out of the counts leaves it in
the cuts, and where numeric columns are many beside the rows, some are cut by chance alone: their bins tell the label of
the very rows that are left out. So in such tables the rows are parted, and each part is answered by counts and cuts of
the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels import kernel
from ..coded.cut_points import cut_points
from .naive import Tallied
from .numerics import Numerics

WIDE = 0.25  # numeric columns for each row, from which cuts by chance count
PARTS = 5


def is_wide(n_numeric: int, total: float) -> bool:
    return n_numeric > 0 and n_numeric >= WIDE * total


def parts_of(numerics: Numerics, reals: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The part of every row: within its class in turn, in the order of the sums of the standardised numbers, so that
    neither the order of the rows nor that of the columns matters."""
    z = numerics.standardised(reals)[0].sum(axis=1)
    part = np.empty(len(label), np.int64)
    for c in np.unique(label):
        mine = np.flatnonzero(label == c)
        part[mine[np.argsort(z[mine], kind="stable")]] = (np.arange(len(mine)) + c) % PARTS
    return part


def answers_without_own_part(
    codes: np.ndarray, plain: Sequence[int], levels: np.ndarray, reals: np.ndarray, part: np.ndarray,
    label: np.ndarray, weight: np.ndarray, n_classes: int, force_first_cut: bool,
) -> np.ndarray:  # fmt: skip
    """(n, C) log P(y) + sum of log P(x_j | y) by naive Bayes of the rows of the other parts.

    `plain` are the columns of `codes` that are no bins; of them the levels stay as they are."""
    out = np.empty((len(label), n_classes))
    for k in np.unique(part):
        away = part == k
        rest = np.where(away, 0.0, weight)
        cells = [codes[:, j] for j in plain]
        sizes = [int(levels[j]) for j in plain]
        for x in reals.T:
            cuts = cut_points(x, label, n_classes, rest, force_first_cut)
            if len(cuts):
                cells.append(np.where(np.isnan(x), len(cuts) + 1, np.searchsorted(cuts, x)).astype(np.int32))
                sizes.append(len(cuts) + 2 if np.isnan(x).any() else len(cuts) + 1)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        placed = np.empty((len(label), len(cells)), np.int32)
        for j, column in enumerate(cells):
            np.add(column, np.int32(first[j]), out=placed[:, j])
        counted = Tallied.of(placed[~away], first, label[~away], weight[~away], n_classes)
        logits = np.tile(np.log(counted.whole), (int(away.sum()), 1))
        kernel.look_up(np.ascontiguousarray(placed[away]), counted.table, logits)
        out[away] = logits
    return out
