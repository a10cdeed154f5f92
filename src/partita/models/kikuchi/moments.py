"""Tables of sums for many regions at once: by matrix products where attributes have few levels, else row by row.

A table over the attributes (a, b, c) follows from the sums over rows of products of indicators "attribute j is at level
l >= 1" (`kernels.contract.Moments`), and all those sums for a fixed a are one matrix product. A product of K x n and
n x K matrices is some thirty times cheaper per number than a pass over the rows, but has prod (levels - 1) numbers per
region.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.contract import Moments, Regions
from .problem import Problem

# nanoseconds, for the choice only: a multiply-add in a matrix product; a row in a table, at first and per column
PRODUCT_COST, ROW_COST, COLUMN_COST = 0.08, 0.8, 0.5
MOST_PRODUCT_ORDER = 3
MOST_INDICATORS = 60_000_000  # numbers in the matrix of indicators


class Summer:
    """Sums of V numbers per row over the cells of regions; `load` says which numbers."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        levels = problem.rows.levels
        self.first = np.concatenate([[0], np.cumsum(levels - 1)]).astype(np.int32)
        self._indicators: np.ndarray | None = None
        self.vectors = np.zeros((problem.n_rows, 1))
        self.moments: Moments | None = None

    def products_pay(self, n_regions: int, order: int, attributes: np.ndarray, width: int) -> bool:
        """Whether matrix products over these attributes cost less than a pass over the rows for each region."""
        columns = float((self.problem.rows.levels[attributes] - 1).sum())
        if order > MOST_PRODUCT_ORDER or self.first[-1] * self.problem.n_rows > MOST_INDICATORS:
            return False
        products = width * columns**order / max(order, 1) * PRODUCT_COST
        return products < n_regions * (ROW_COST + width * COLUMN_COST)

    def load(self, vectors: np.ndarray, order: int, by_products: bool) -> None:
        """Take the numbers (n, V) to be summed, and prepare sums of products for regions of this order."""
        self.vectors = np.ascontiguousarray(vectors)
        self.moments = self._low_moments(order) if by_products else None

    @property
    def indicators(self) -> np.ndarray:
        """(K, n): one row for each level but 0 of each attribute."""
        if self._indicators is None:
            rows = self.problem.rows
            owner = np.repeat(np.arange(len(rows.levels)), rows.levels - 1)
            level = np.arange(len(owner)) - self.first[owner] + 1
            self._indicators = (rows.codes[owner] == level[:, None]).astype(np.float64)
        return self._indicators

    def _low_moments(self, order: int) -> Moments:
        z, v = self.indicators, np.ascontiguousarray(self.vectors.T)
        k = len(z)
        one = np.ascontiguousarray(v @ z.T)
        two = np.stack([(z * w) @ z.T for w in v]) if order > 1 else np.zeros((len(v), 0, 0))
        return Moments(self.first, v.sum(axis=1), one.reshape(len(v), k), two, np.zeros((len(v), 0, 0, 0)))

    def tables(self, regions: Regions) -> np.ndarray:
        """(cells of all regions, V) sums; with products, regions of order 3 must share their first attribute."""
        out = np.empty((int(regions.offset[-1]), self.vectors.shape[1]))
        if self.moments is None:
            kernel.region_sums(self.problem.rows, regions, self.vectors, out)
            return out
        moments = self.moments
        if regions.members.shape[1] == 3:
            moments = self._with_first(int(regions.members[0, 0]))
        kernel.region_sums_of_moments(self.problem.rows, regions, moments, out)
        return out

    def _with_first(self, attribute: int) -> Moments:
        """The moments with all products of three indicators that begin with one of this attribute's."""
        assert self.moments is not None
        z, low = self.indicators, self.moments
        begin, end = self.first[attribute], self.first[attribute + 1]
        three = np.empty((self.vectors.shape[1], end - begin, len(z), len(z)))
        later = z[end:]
        for level, row in enumerate(z[begin:end]):
            there = np.flatnonzero(row)  # the product is 0 elsewhere
            part = later[:, there]
            for v in range(three.shape[0]):
                three[v, level, end:, end:] = (part * self.vectors[there, v]) @ part.T
        return Moments(low.first, low.zero, low.one, low.two, three)
