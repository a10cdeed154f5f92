"""How much two coded columns tell of each other within the classes: conditional mutual information of all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...kernels import kernel

CELLS_AT_A_TIME = 1 << 22  # of the tables counted in one call
ADDITIONS_AT_A_TIME = 30_000_000  # of one call
MOST_CELLS = 1 << 24  # of one table; a pair beyond it is not counted
DECIMALS = 10  # of an information


def count_pairs(
    codes: np.ndarray, levels: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, pairs: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The weights of the rows at every combination of levels and class, of all pairs (i, j) of columns.

    Yields (which, tables): positions of m pairs of one shape, and their counts (m, levels of i, levels of j, C).
    """
    shapes = levels[pairs].reshape(-1, 2)
    for shape in np.unique(shapes, axis=0):
        alike = np.flatnonzero((shapes == shape).all(axis=1))
        size = int(shape[0]) * int(shape[1]) * n_classes
        step = max(min(ADDITIONS_AT_A_TIME // max(len(codes), 1), CELLS_AT_A_TIME // size), 1)
        for start in range(0, len(alike), step):
            which = alike[start : start + step]
            first, counts = np.arange(len(which), dtype=np.int64) * size, np.zeros(len(which) * size)
            part = np.ascontiguousarray(pairs[which])
            for top in range(0, len(codes), ADDITIONS_AT_A_TIME):
                rows = slice(top, top + ADDITIONS_AT_A_TIME)
                kernel.pair_counts(codes[rows], levels, label[rows], weight[rows], n_classes, part, first, counts)
            yield which, counts.reshape(len(which), *shape, n_classes)


def all_information(
    codes: np.ndarray, levels: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, pairs: np.ndarray
) -> np.ndarray:
    """(pairs,) what the columns of each pair tell of each other given the class, in nats."""
    out = np.zeros(len(pairs))
    for which, tables in count_pairs(codes, levels, label, weight, n_classes, pairs):
        out[which] = conditional_information(tables)
    return out


def conditional_information(table: np.ndarray) -> np.ndarray:
    """I(a; b | class) in nats from counts (..., levels of a, levels of b, C):

        sum of n(a, b, y) / N log [n(a, b, y) n(y) / (n(a, y) n(b, y))].

    Terms are added as whole numbers of a small unit, so that their order (of levels, of classes) does not matter, and
    the last digits, which are rounding, are dropped, so that pairs that tell equally much are equal.
    """
    total = table.sum(axis=(-3, -2, -1))
    unit = 2.0 ** np.floor(42 - np.log2(np.maximum(total, 1.0) * np.log(np.maximum(total, 3.0))))
    inner, second = table.sum(axis=-2), table.sum(axis=-3)
    whole, first, second, classes = (
        np.rint(unit[..., None] * _x_log_x(side.reshape(*total.shape, -1))).astype(np.int64).sum(axis=-1)
        for side in (table, inner, second, inner.sum(axis=-2))
    )
    gain = np.maximum(whole - first - second + classes, 0) / unit
    return np.round(np.divide(gain, total, out=np.zeros_like(gain), where=total > 0), DECIMALS)


def _x_log_x(counts: np.ndarray) -> np.ndarray:
    return counts * np.log(np.where(counts > 0, counts, 1.0))
