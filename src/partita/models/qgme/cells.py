"""Columns beside the Gaussian block under point parameters: probabilities of levels, rates of Poisson counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincc, gammaln, xlogy

from ..gated.cells import CellColumn
from ..gated.count_buckets import log_poisson
from ..gated.rows import View

LEAST_RATE = 1e-300  # of counts: a smaller one has no logarithm


@dataclass(frozen=True, eq=False)
class PointColumn(CellColumn):
    """A column whose parameter theta is known: (H, L) probabilities of its levels, or (H, 1) the rate of its counts.

    What `CellColumn` says of a posterior is said here of theta itself; `prior` are pseudo-counts that pull theta
    towards the shares of the whole table.
    """

    def fitted(self, statistics: np.ndarray) -> np.ndarray:
        """The theta that maximises likelihood and `penalty`, from statistics (H, L) or (H, 2)."""
        total = self.prior + statistics
        if self.count:
            return total[:, :1] / total[:, 1:]
        return total / total.sum(axis=1, keepdims=True)

    def penalty(self, theta: np.ndarray) -> float:
        """Log probability of the pseudo-counts under theta, over all components, less that under the whole table's."""
        if self.count:
            at = self.prior[0] / self.prior[1]
            return float((self.prior[0] * np.log(theta / at) - self.prior[1] * (theta - at)).sum())
        return float((self.prior * np.log(theta / (self.prior / self.prior.sum()))).sum())

    def expected_log_table(self, posterior: np.ndarray) -> np.ndarray:
        """log p(level), (H, L); of a count, of its buckets."""
        if self.count:
            return log_poisson(*self.buckets, self.expected_log_rate(posterior))
        return np.log(posterior)

    def expected_log_rate(self, posterior: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(posterior[:, 0], LEAST_RATE))

    def expected_log(self, table: np.ndarray, posterior: np.ndarray, cells: np.ndarray) -> np.ndarray:
        return self.log_predictive(posterior, cells)

    def log_predictive(self, posterior: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """log p(cell) of every row in every component, 0 for missing ones: (n, H)."""
        seen, shown = (cells >= 0)[:, None], np.maximum(cells, 0)
        if self.count:
            value, rate = shown[:, None].astype(float), posterior[:, 0]
            return np.where(seen, xlogy(value, rate) - rate - gammaln(value + 1.0), 0.0)
        return np.where(seen, np.log(posterior).T[shown], 0.0)

    def probabilities(self, posterior: np.ndarray) -> np.ndarray:
        """Probabilities of the levels (of the buckets of a count, made to sum to 1): (H, L)."""
        logs = self.expected_log_table(posterior)
        table = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return table / table.sum(axis=-1, keepdims=True)

    def count_at_most(self, posterior: np.ndarray, value: np.ndarray) -> np.ndarray:
        """(n, H) probability that a count is at most `value` (n,)."""
        return gammaincc(value[:, None] + 1.0, posterior[:, 0])

    def count_moments(self, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of a count in every component, (H,) each: Poisson's."""
        return posterior[:, 0], posterior[:, 0]

    def draw_count(self, posterior: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """n counts of one component with rate `posterior` (1,)."""
        return rng.poisson(posterior[0], n).astype(float)


def with_points(view: View) -> View:
    """The view with its columns beside the Gaussian block as columns of known parameters."""
    return replace(view, cells=tuple(PointColumn(**column.to_tree()) for column in view.cells))


def points(view: View) -> list[PointColumn]:
    """The columns of a view made by `with_points`."""
    assert all(isinstance(column, PointColumn) for column in view.cells)
    return [column for column in view.cells if isinstance(column, PointColumn)]
