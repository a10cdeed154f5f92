"""Vectors with missing cells, grouped by which cells are missing, so that each pattern costs one factorisation.

For a batch of laws with centre m and scale matrix S, and vectors x broadcast against the batch, every pattern of
observed cells o gives one `Block`: the Cholesky factor L of S_oo, its log determinant and z = L^-1 (x_o - m_o).
From these follow densities of the observed cells and the regression of the missing cells on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .protocol import Array


@dataclass(frozen=True)
class Block:
    """All pairs (vector, law) that share one pattern of observed cells.

    `pairs` are their places in the flattened broadcast shape, `laws` the distinct laws among them (places in the
    flattened batch), `law_of` the law of each pair as an index into `laws`. `factor` L and `log_determinant` of S_oo
    are per law, `whitened` z is per pair.
    """

    seen: NDArray[np.bool_]
    pairs: NDArray[np.intp]
    laws: NDArray[np.intp]
    law_of: NDArray[np.intp]
    factor: Array
    log_determinant: Array
    whitened: Array

    @property
    def distance(self) -> Array:
        """Squared Mahalanobis distance of each pair's observed cells."""
        return (self.whitened**2).sum(axis=-1)

    def regression(self, scale: Array) -> tuple[Array, Array]:
        """Return the shift of the missing cells of each pair from their centre, and for each law the Schur complement.

        With C = L^-1 S_om the shift is C' z and the complement S_mm - C' C.
        """
        missing = ~self.seen
        cross = np.linalg.solve(self.factor, scale[self.laws][:, self.seen][:, :, missing])
        complement = scale[self.laws][:, missing][:, :, missing] - np.swapaxes(cross, -1, -2) @ cross
        return _apply(np.swapaxes(cross, -1, -2), self.law_of, self.whitened), complement


def blocks(x: Array, mean: Array, scale: Array) -> Iterator[Block]:
    """Yield the blocks of x, X + (P,) with NaN for missing, against laws with mean B + (P,) and scale B + (P, P)."""
    rows_shape, batch, width = x.shape[:-1], mean.shape[:-1], x.shape[-1]
    shape = np.broadcast_shapes(rows_shape, batch)
    x, mean, scale = x.reshape(-1, width), mean.reshape(-1, width), scale.reshape(-1, width, width)
    row_of = np.broadcast_to(np.arange(len(x)).reshape(rows_shape), shape).ravel()
    law_of = np.broadcast_to(np.arange(len(mean)).reshape(batch), shape).ravel()
    patterns, pattern_of_row = np.unique(~np.isnan(x), axis=0, return_inverse=True)
    for number, pairs in enumerate(_split(pattern_of_row.ravel()[row_of], len(patterns))):
        if pairs.size == 0:
            continue
        seen = patterns[number]
        laws, law = np.unique(law_of[pairs], return_inverse=True)
        factor = np.asarray(np.linalg.cholesky(scale[laws][:, seen][:, :, seen]), float)
        residual = x[row_of[pairs]][:, seen] - mean[law_of[pairs]][:, seen]
        whitened = _apply(np.linalg.inv(factor), law, residual)
        log_determinant = 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        yield Block(seen, pairs, laws, law, factor, log_determinant, whitened)


def _split(labels: NDArray[np.intp], n_labels: int) -> list[NDArray[np.intp]]:
    """Return the places of each label 0..n_labels-1."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, n_labels)))


def _apply(matrices: Array, which: NDArray[np.intp], vectors: Array) -> Array:
    """Return matrices[which[i]] @ vectors[i] for every i, one matrix product per matrix where each has many vectors."""
    if len(vectors) < 16 * len(matrices):
        return np.einsum("nij,nj->ni", matrices[which], vectors)
    out = np.empty((len(vectors), matrices.shape[-2]))
    for number, places in enumerate(_split(which, len(matrices))):
        out[places] = vectors[places] @ matrices[number].T
    return out
