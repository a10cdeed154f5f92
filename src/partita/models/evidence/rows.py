"""Equal rows of one class as one row with their weight, so that a weight of k and k equal rows are the same table.

The rows that variances are learnt from are drawn from the table: without this, a weighted table and the same one
written out would draw different rows.
"""

from __future__ import annotations

import numpy as np

MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number near 2^64 / golden ratio
HALF = np.uint64(32)


def merged(
    codes: np.ndarray, reals: np.ndarray, label: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The distinct rows in the order in which they first occur: codes, reals, label, and the sums of their weights."""
    columns = [label, *codes.T, *reals.T]
    _, first, index = np.unique(_hashes(columns), return_index=True, return_inverse=True)
    index = index.reshape(-1)
    alike = first[index]
    if len(first) == len(label) or not all(np.array_equal(c[alike], c, equal_nan=True) for c in columns):
        return codes, reals, label, weight  # nothing to merge; or, once in a blue moon, different rows with one hash
    order = np.argsort(first)
    kept = first[order]
    return codes[kept], reals[kept], label[kept], np.bincount(index, weight)[order]


def _hashes(columns: list[np.ndarray]) -> np.ndarray:
    """uint64 (n,), the same for rows that are equal; a NaN equals a NaN, and 0 equals -0."""
    out = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        if column.dtype == np.float64:
            bits = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)
        else:
            bits = column.astype(np.int64).view(np.uint64)
        out = (out ^ bits) * MIX  # modulo 2^64
        out ^= out >> HALF
    return out
