"""Sums over rows from which gates and experts are updated; those of parts of a table add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rows import View


@dataclass(eq=False)
class GatedSums:
    """Weighted by responsibilities; F features of an expert: P Gaussian columns, then those beside them and 1.

    log_evidence   sum over rows of log sum_h of the unnormalised responsibilities
    count          (H,)
    first, second  (H, P), (H, P, P): moments of the Gaussian cells of all rows
    cells          of every column beside them, as `CellColumn.statistics`
    products       (H, F, F): <features features'> of the rows that experts see
    targets        (H, K, F): <t features> of them
    """

    log_evidence: float
    count: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cells: list[np.ndarray]
    products: np.ndarray
    targets: np.ndarray

    @classmethod
    def nothing(cls, view: View, n_components: int, n_latents: int) -> GatedSums:
        h, p, f = n_components, view.width, view.n_features
        return cls(
            0.0,
            np.zeros(h),
            np.zeros((h, p)),
            np.zeros((h, p, p)),
            [np.zeros((h, 2 if column.count else column.n_levels)) for column in view.cells],
            np.zeros((h, f, f) if n_latents else (h, 0, 0)),
            np.zeros((h, n_latents, f)),
        )

    def arrays(self) -> list[np.ndarray]:
        return [self.count, self.first, self.second, *self.cells, self.products, self.targets]

    def add(self, other: GatedSums, share: float = 1.0) -> None:
        """Add `share` times the other sums."""
        self.log_evidence += share * other.log_evidence
        for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
            mine += share * theirs

    def scale(self, share: float) -> None:
        self.log_evidence *= share
        for mine in self.arrays():
            mine *= share

    def reordered(self, order: np.ndarray) -> GatedSums:
        """The sums of the components of `order` only, in that order."""
        cells = [mine[order] for mine in self.cells]
        parts = (self.count, self.first, self.second, self.products, self.targets)
        count, first, second, products, targets = (part[order] for part in parts)
        return GatedSums(self.log_evidence, count, first, second, cells, products, targets)
