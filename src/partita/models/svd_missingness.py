"""Which cells are observed says something: features of a side made from the mask.

Two kinds: the log of how many cells a row has, and its mask over the square root of their number, cut to the leading
singular vectors. How many of those carry anything: singular values above those of a mask with the same margins and no
structure, at most MOST_VECTORS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.linalg import svds

from .svd_entries import Entries
from .svd_features import Features
from .svd_sides import ROWS, Side

MOST_VECTORS = 100
ABOVE_CHANCE = 1.05  # singular values of one mask differ from those of another by a few per cent
UNEVEN = 2.0  # variance of the counts over what chance gives, above which activity is a feature


def side_features(
    entries: Entries, side: Side, given: Any = None, missingness: str | int = "auto", seed: int = 0
) -> Features:
    """Features of one side: given ones (n, p), intercept and log activity as one block, the mask as another.

    `missingness`: "auto", or how many singular vectors of the mask; 0: nothing is made of the mask at all.
    """
    n = entries.n_rows if side is ROWS else entries.n_columns
    plain = [] if given is None else [scaled_columns(given)]
    mask = None
    vectors = 0
    if missingness != 0 and len(entries):
        mask = scaled_mask(entries, side)
        vectors = count_vectors(entries, side, seed) if missingness == "auto" else min(int(missingness), *mask.shape)
        if vectors or uneven(counts_of(entries, side), mask.shape[1]):
            plain.append(log_activity(counts_of(entries, side)))
    matrices: list[Any] = [np.column_stack([np.ones(n), *plain])] if plain else []
    if mask is not None and vectors:
        matrices.append(mask)
    return Features.of(n, matrices, [None, vectors][: len(matrices)] if plain else [vectors] * len(matrices))


def scaled_columns(given: Any) -> np.ndarray:
    """Columns of more than two values centred and of unit variance; those of two (levels) as they are."""
    x = given.toarray() if issparse(given) else np.array(given, float)
    x = x.astype(float).reshape(len(x), -1)
    for column in x.T:
        if len(np.unique(column)) > 2:
            column -= column.mean()
            column /= column.std()
    return x


def counts_of(entries: Entries, side: Side) -> np.ndarray:
    return entries.row_counts if side is ROWS else entries.column_counts


def log_activity(counts: np.ndarray) -> np.ndarray:
    logs = np.log(np.maximum(counts, 1))
    return logs - logs.mean()


def uneven(counts: np.ndarray, width: int) -> bool:
    """Whether the counts vary more than those of cells observed at random."""
    share = counts.mean() / width
    return bool(counts.var() > UNEVEN * width * share * (1.0 - share) + 1e-9)


def scaled_mask(entries: Entries, side: Side) -> csr_matrix:
    """(n, N) the observed cells of every row of the side over the square root of their number."""
    if side is ROWS:
        first, other, shape = entries.first_in_row, entries.column, (entries.n_rows, entries.n_columns)
    else:
        first, other, shape = entries.first_in_column, entries.row_by_column, (entries.n_columns, entries.n_rows)
    data = np.repeat(1.0 / np.sqrt(np.maximum(np.diff(first), 1)), np.diff(first))
    mask = csr_matrix((data, other, first), shape=shape)
    mask.sum_duplicates()  # a cell given twice is one cell of the mask
    return mask


def count_vectors(entries: Entries, side: Side, seed: int = 0) -> int:
    """Singular values of the mask above the second one of a mask without structure, whose first is the margins'."""
    mask = scaled_mask(entries, side)
    most = min(MOST_VECTORS, min(mask.shape) - 1)
    if most < 2:
        return 0
    rng = np.random.default_rng(seed)
    # every row keeps its count and every column its own, up to cells met twice
    shuffled = rng.permutation(entries.column if side is ROWS else entries.row_by_column)
    chance = csr_matrix((np.ones(len(entries)), shuffled, mask.indptr), shape=mask.shape)
    chance.sum_duplicates()
    chance.data[:] = np.repeat(1.0 / np.sqrt(np.maximum(np.diff(chance.indptr), 1)), np.diff(chance.indptr))
    edge = ABOVE_CHANCE * singular_values(chance, 2)[1]
    found = int((singular_values(mask, most) > edge).sum())
    return 0 if found <= 1 else found


def singular_values(matrix: csr_matrix, n: int) -> np.ndarray:
    """The n largest, descending."""
    if matrix.shape[0] * matrix.shape[1] <= 1_000_000:
        return np.linalg.svd(matrix.toarray(), compute_uv=False)[:n]
    return np.sort(svds(matrix, k=n, v0=np.ones(min(matrix.shape)), return_singular_vectors=False))[::-1]
