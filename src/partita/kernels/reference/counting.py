"""Sums over rows, class by class: statistics of columns, counts of pairs of columns."""

from __future__ import annotations

import numpy as np


def class_statistics(
    codes: np.ndarray,
    reals: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    first: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add the statistics of every column in every class.

    counts      from place first[j] on: the weight of the rows at each (code of column j, class).
    sums        (C, numeric columns, 3): weight, sum and sum of squares of the observed numbers.
    """
    for j, start in enumerate(first.tolist()):
        seen = (codes[:, j] >= 0) & (label >= 0)
        np.add.at(counts, start + codes[seen, j].astype(np.int64) * n_classes + label[seen], weight[seen])
    for j in range(reals.shape[1]):
        seen = ~np.isnan(reals[:, j]) & (label >= 0)
        x, w = reals[seen, j], weight[seen]
        np.add.at(sums, (label[seen], j), np.stack([w, w * x, w * x * x], axis=1))


def pair_counts(
    codes: np.ndarray,
    levels: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    pairs: np.ndarray,
    first: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add to `counts`, from place first[m] on, the weight of the rows at each (level of i, level of j, class) of pair
    m = (i, j); a row with a negative code in the pair or a negative label adds nothing.
    """
    for (i, j), start in zip(pairs.tolist(), first.tolist()):
        seen = (codes[:, i] >= 0) & (codes[:, j] >= 0) & (label >= 0)
        cell = (codes[seen, i].astype(np.int64) * levels[j] + codes[seen, j]) * n_classes + label[seen]
        np.add.at(counts, start + cell, weight[seen])
