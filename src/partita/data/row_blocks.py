"""A large array a few rows at a time, so that what is computed of it on the way stays in the cache."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

_CELLS_AT_ONCE = 1 << 15  # a block of rows that stays in the second-level cache


def row_blocks(array: np.ndarray) -> Iterable[slice]:
    """Slices of consecutive rows, small enough for the cache; none where the array has no columns."""
    n_rows, n_columns = array.shape
    if n_columns == 0:
        return []
    step = max(1, _CELLS_AT_ONCE // n_columns)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def both_zero_and_one(array: np.ndarray) -> list[int]:
    """Columns of a numeric array that hold 0 and 1, both of them, and besides at most NaN."""
    n_columns = array.shape[1]
    binary, one, nil = np.ones(n_columns, bool), np.zeros(n_columns, bool), np.zeros(n_columns, bool)
    for rows in row_blocks(array):
        block = array[rows]
        ones, nils = block == 1, block == 0
        binary &= (ones | nils | (block != block)).all(axis=0)  # NaN alone differs from itself
        if not binary.any():
            return []
        one |= ones.any(axis=0)
        nil |= nils.any(axis=0)
    return np.flatnonzero(binary & one & nil).tolist()
