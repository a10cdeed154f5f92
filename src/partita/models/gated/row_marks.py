"""Rows known again: a number of 64 bits for every row of an encoded table, the same for the same cells and holes."""

from __future__ import annotations

import numpy as np

from ...data.table import Table

_STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def row_marks(table: Table) -> np.ndarray:
    """(n,) uint64. Two different rows have the same mark with probability 2^-64."""
    reals = np.where(np.isnan(table.reals), np.nan, table.reals) + 0.0  # one NaN, one zero
    bits = np.concatenate([reals.view(np.uint64).reshape(reals.shape), table.codes.astype(np.int64).view(np.uint64)], 1)
    with np.errstate(over="ignore"):
        place = _STEP * np.arange(1, bits.shape[1] + 1, dtype=np.uint64)
        return _stirred(_stirred(bits + place).sum(axis=1, dtype=np.uint64))


def _stirred(x: np.ndarray) -> np.ndarray:
    """SplitMix64's last step."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


def has_holes(table: Table) -> np.ndarray:
    """(n,) rows with a missing cell and one that is not."""
    seen = (~np.isnan(table.reals)).sum(axis=1) + (table.codes >= 0).sum(axis=1)
    return (seen > 0) & (seen < table.reals.shape[1] + table.codes.shape[1])
