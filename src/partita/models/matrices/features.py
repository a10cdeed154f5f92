"""Features of one side of the matrix, in blocks, each as a thin singular value decomposition F = A diag(S) W'.

A row's factors have the prior mean F beta. With coefficients gamma = W'beta, whose isotropic prior is that of beta,
F beta = A diag(S) gamma, and given the factors every coefficient is independent of the others of its block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import svds

NEGLIGIBLE = 1e-8  # singular values below this share of the largest carry rounding only
_DENSE_CELLS = 4_000_000  # matrices up to this size are decomposed whole


@dataclass(frozen=True, eq=False)
class Block:
    """One group of features with a precision of its own.

    left (n, r)   A, orthonormal columns
    size (r,)     S, positive, descending
    axes (p, r)   W: features of an unseen row (p,) become its row of A diag(S) by `features @ axes`
    whole         whether all of the matrix is here, A diag(S) W', or only its leading singular vectors
    """

    left: np.ndarray
    size: np.ndarray
    axes: np.ndarray
    whole: bool = True

    @property
    def rows(self) -> np.ndarray:
        """(n, r) A diag(S): what the coefficients multiply."""
        return self.left * self.size

    def __len__(self) -> int:
        return len(self.size)

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class Features:
    """The blocks of one side with n rows; none is fine."""

    n: int
    blocks: tuple[Block, ...] = ()

    @classmethod
    def of(cls, n: int, matrices: Sequence[Any], ranks: Sequence[int | None] | None = None) -> Features:
        """One block per matrix (n, p), dense or scipy sparse; of the b-th at most ranks[b] singular vectors."""
        limits = [None] * len(matrices) if ranks is None else list(ranks)
        assert all(matrix.shape[0] == n for matrix in matrices), "features have one row per row of the side"
        blocks = [decompose(matrix, limit) for matrix, limit in zip(matrices, limits, strict=True)]
        return cls(int(n), tuple(block for block in blocks if len(block)))

    @property
    def n_coefficients(self) -> int:
        """Coefficients of one column of factors, over all blocks."""
        return sum(len(block) for block in self.blocks)

    @cached_property
    def left(self) -> np.ndarray:
        """(n, P) the left singular vectors of all blocks side by side."""
        return np.ascontiguousarray(np.hstack([block.left for block in self.blocks] or [np.zeros((self.n, 0))]))

    @cached_property
    def size(self) -> np.ndarray:
        """(P,) the singular values of all blocks."""
        return np.concatenate([block.size for block in self.blocks] or [np.zeros(0)])

    @cached_property
    def overlap(self) -> np.ndarray:
        """(P, P) inner products of the left singular vectors; those of one block are orthonormal."""
        return self.left.T @ self.left

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the coefficients of each block stand among the P."""
        ends = np.cumsum([len(block) for block in self.blocks]).tolist()
        return tuple(slice(end - len(block), end) for block, end in zip(self.blocks, ends, strict=True))

    def mean(self, coefficients: Sequence[np.ndarray]) -> np.ndarray:
        """(n, q) sum over blocks of A diag(S) gamma, gamma (r, q) of each block."""
        return self.left @ (self.size[:, None] * np.concatenate(list(coefficients)))

    def to_tree(self) -> dict[str, Any]:
        return {"n": self.n, "blocks": [block.to_tree() for block in self.blocks]}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Features:
        return cls(tree["n"], tuple(Block(**block) for block in tree["blocks"]))


def decompose(matrix: Any, rank: int | None = None) -> Block:
    """The thin singular value decomposition, cut to `rank`; signs are fixed so that it does not depend on the route."""
    few = rank is not None and rank < min(matrix.shape)
    if few and (issparse(matrix) or matrix.size > _DENSE_CELLS):
        # the start is fixed: the decomposition is a function of the matrix
        left, size, right = svds(matrix.astype(float), k=rank, v0=np.ones(min(matrix.shape)))
    else:
        dense = matrix.toarray() if issparse(matrix) else np.asarray(matrix, float)
        left, size, right = np.linalg.svd(dense, full_matrices=False)
    order = np.argsort(-size, kind="stable")[:rank]
    order = order[size[order] > NEGLIGIBLE * max(float(size.max(initial=0.0)), 1e-300)]
    left, size, axes = left[:, order], size[order], right[order].T
    sign = np.sign(left[np.abs(left).argmax(axis=0), np.arange(len(order))]) if len(order) else np.ones(0)
    whole = rank is None or rank >= min(matrix.shape)
    return Block(np.ascontiguousarray(left * sign), size, np.ascontiguousarray(axes * sign), whole)
