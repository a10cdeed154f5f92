"""What is known of rows before their values: given features, how active they are, and which cells they have.

Which cells are observed tells about the rows (people rate what they like). Two blocks of features (see `features`)
are the prior mean of one side's factors: [1, given features, log activity], and the side's rows of the 0/1 mask over
the root of their count, cut to a few singular vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from .entries import Entries
from .features import Features

MOST_VECTORS = 100
_UNEVEN = 1.5  # variance of the counts over that of a mask drawn cell by cell with one chance
_EDGE = 1.1  # leading singular value of the mask over that of a random one with the same margins


@dataclass(frozen=True, eq=False)
class Side:
    """Features of one side, and how to make those of a row that training did not see.

    features            blocks for the sampler; none is fine.
    given               whether the caller gave features; centre, scale (p,): how they are standardised.
    activity            whether log activity is in the first block, less `log_centre`.
    vectors             whether the mask is a block of its own, of `n_partners` columns.
    """

    features: Features
    given: bool
    centre: np.ndarray
    scale: np.ndarray
    activity: bool
    log_centre: float
    vectors: bool
    n_partners: int

    def matrices(self, given: Any, partners: Sequence[np.ndarray]) -> list[Any]:
        """Raw features of new rows, one matrix per block.

        given       (n, p) as the caller gives them, NaN where unknown (then the mean); None: all unknown.
        partners    per new row, places of the other side where it has cells; may be empty.
        """
        n, blocks = len(partners), []
        if self.given or self.activity:
            own = np.zeros((n, len(self.centre))) if given is None else standardised(given, self.centre, self.scale)
            blocks.append(np.column_stack([np.ones(n), own, *self._activity([len(p) for p in partners])]))
        if self.vectors:
            mask = np.zeros((n, self.n_partners))
            for k, places in enumerate(partners):
                inside = np.asarray(places, int)
                mask[k, inside[inside < self.n_partners]] = 1.0 / np.sqrt(max(len(inside), 1))
            blocks.append(mask)
        return blocks

    def _activity(self, counts: Sequence[int]) -> list[np.ndarray]:
        return [np.log(np.maximum(counts, 1)) - self.log_centre] if self.activity else []

    def prior_means(
        self, matrices: Sequence[Any], coefficients: Sequence[np.ndarray], n: int, width: int
    ) -> np.ndarray:
        """(n, K + 1) prior means of factors and offset of new rows under one draw's coefficients."""
        total = np.zeros((n, width))
        for matrix, block, g in zip(matrices, self.features.blocks, coefficients, strict=True):
            total += (matrix @ block.axes) @ g.astype(float)
        return total

    def to_tree(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"features": self.features.to_tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Side:
        return cls(**tree | {"features": Features.from_tree(tree["features"])})


def make_side(entries: Entries, side: str, given: Any, missingness: str | int) -> Side:
    """Features of the rows (side="row") or columns of a matrix.

    given           (n, p) array or sparse matrix, or None.
    missingness     "auto": up to 100 singular vectors of the mask and log activity, each where the mask is not what
                    chance would make of it; an integer: that many vectors, and log activity; 0: neither.
    """
    mask = sparse.csr_matrix((np.ones(len(entries)), entries.column, entries.first_in_row),
                             shape=(entries.n_rows, entries.n_columns))  # fmt: skip
    mask = mask if side == "row" else mask.T.tocsr()
    counts = entries.row_counts if side == "row" else entries.column_counts
    n, n_partners = mask.shape
    activity, n_vectors = _wanted(mask, counts, missingness)
    logs = np.log(np.maximum(counts, 1))
    centre = scale = np.zeros(0)
    matrices: list[Any] = []
    ranks: list[int | None] = []
    if given is not None or activity:
        own = np.zeros((n, 0))
        if given is not None:
            centre, scale = learn_scaling(given)
            own = standardised(given, centre, scale)
        matrices.append(np.column_stack([np.ones(n), own, *([logs - logs.mean()] if activity else [])]))
        ranks.append(None)
    if n_vectors:
        matrices.append(sparse.diags(1 / np.sqrt(np.maximum(counts, 1))) @ mask)
        ranks.append(n_vectors)
    features = Features.of(n, matrices, ranks)
    assert len(features.blocks) == len(matrices), "no block is empty"
    return Side(features, given is not None, centre, scale, activity, float(logs.mean()), n_vectors > 0, n_partners)


def _wanted(mask: sparse.csr_matrix, counts: np.ndarray, missingness: str | int) -> tuple[bool, int]:
    """Whether log activity is a feature, and how many singular vectors of the mask."""
    if missingness != "auto":
        return bool(missingness) and len(counts) > 0, min(int(missingness), *mask.shape) if mask.nnz else 0
    n, p = mask.shape
    if mask.nnz in (0, n * p) or min(n, p) < 8:
        return False, 0
    share = mask.nnz / (n * p)
    uneven = counts.var() > _UNEVEN * p * share * (1 - share)
    most = min(MOST_VECTORS, min(n, p) // 4)
    return bool(uneven), most if most and _structured(mask, counts) else 0


def _structured(mask: sparse.csr_matrix, counts: np.ndarray) -> bool:
    """Whether the mask, less its chance from both margins and over the root of its variance, has a singular value above
    that of independent cells, sqrt(n) + sqrt(p).
    """
    n, p = mask.shape
    # chance of a cell: a_i b_j, a product of margins
    a, b = counts / mask.nnz**0.5, np.asarray(mask.sum(axis=0)).ravel() / mask.nnz**0.5
    # over its root; where counts are below the mean, the mean's: the few cells of rare rows are no structure
    down, right = 1 / np.sqrt(np.maximum(a, a.mean())), 1 / np.sqrt(np.maximum(b, b.mean()))
    scaled = sparse.diags(down) @ mask @ sparse.diags(right)
    a, b = a * down, b * right
    less = LinearOperator(
        (n, p), matvec=lambda x: scaled @ x.ravel() - a * (b @ x.ravel()),
        rmatvec=lambda y: scaled.T @ y.ravel() - b * (a @ y.ravel()), dtype=float,
    )  # fmt: skip
    top = svds(less, k=1, return_singular_vectors=False, v0=np.random.default_rng(0).normal(size=min(n, p)))[0]
    return bool(top > _EDGE * (np.sqrt(n) + np.sqrt(p)))


def learn_scaling(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Centre and scale of given features: 0/1 columns stay as they are, others get mean 0 and standard deviation 1.

    Missing ones are left out.
    """
    dense = given.toarray() if sparse.issparse(given) else given
    binary = (np.isin(dense, (0.0, 1.0)) | np.isnan(dense)).all(axis=0)
    count = np.maximum((~np.isnan(dense)).sum(axis=0), 1)
    mean = np.nansum(dense, axis=0) / count
    size = np.nanmax(np.abs(dense - mean), axis=0, initial=0.0)
    size[size == 0] = 1.0  # squares of numbers of any size stay finite
    spread = size * np.sqrt(np.nansum(((dense - mean) / size) ** 2, axis=0) / count)
    return np.where(binary, 0.0, mean), np.where(binary | (spread == 0), 1.0, spread)


def standardised(given: Any, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n, p) dense; a NaN, a feature that is not known, counts as the mean (of 0/1 columns: as 0)."""
    dense = given.toarray() if sparse.issparse(given) else np.asarray(given, float)
    return np.nan_to_num((dense - centre) / scale)
