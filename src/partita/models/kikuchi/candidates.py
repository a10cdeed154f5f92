"""All candidate regions of one order: what each would add, and bounds on what each could gain.

Let log E be the potentials that a candidate multiplies in, with E = 1 for the last class, k_i the cell of row i,
and q_i the current P(. | x_i). The conditional log-likelihood after the candidate is added is

    L'(log E) = L + sum_i w_i [log E(k_i, y_i) - log sum_c q_i(c) E(k_i, c)].

Two bounds on L', both exact:

1. L' <= 0, so a candidate whose penalty alone is too large need not be looked at.
2. L' <= L + slope, slope = sum_i w_i sum_c (1[y_i = c] - q_i(c)) log E(k_i, c). Proof: log-sum-exp is convex, so L' is
   concave in log E and lies below its tangent at log E = 0, which is this.

Slopes need sums of residuals over cells, not a logarithm per row, and come from matrix products for all candidates at
once (`kikuchi.moments`). Candidates are then scored exactly in the order of their bounds until no bound reaches the
best score. The potentials of a candidate and its own term sum_i w_i log E(k_i, y_i) are kept until one of its subsets
joins the model: nothing else changes them. An attribute with one level has potentials of 1 and is no candidate.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from ...kernels import kernel
from ...kernels.contract import Regions
from .moments import Summer
from .problem import Problem
from .regions import Region, added_freedom
from .work import Work

KEPT_NUMBERS = 40_000_000  # potentials kept in memory; beyond, they are made anew in every step
SLICE_SECONDS, ROW_SECONDS = 0.05, 3e-9


class Candidates:
    """Regions of `order` attributes among `attributes`, in lexicographic order."""

    def __init__(
        self, problem: Problem, attributes: np.ndarray, order: int, inside: Iterable[Region],
        subset_freedom: Callable[[np.ndarray], np.ndarray], theta: float, summer: Summer,
    ) -> None:  # fmt: skip
        self.problem, self.attributes, self.order = problem, attributes, order
        self.theta, self.summer = theta, summer
        members = combinations(attributes, order)
        # own degrees of freedom of m - 1 or more: the prior is 0, whatever else is in the model
        own = added_freedom(problem.rows.levels[members], problem.n_classes)
        self.members = np.ascontiguousarray(members[own < problem.total - 1])
        self.cells = problem.rows.levels[self.members].astype(np.int64).prod(axis=1)
        self.fresh = np.full(len(self.members), (1 << (1 << order)) - 1, np.uint32)
        self.subset_freedom = subset_freedom(self.members)  # (m, 2^order)
        self.df = np.zeros(len(self.members))
        self.offset = np.concatenate([[0], np.cumsum(self.cells)])
        width = problem.n_classes - 1
        self.kept = np.zeros((int(self.offset[-1]), width)) if self.offset[-1] * width <= KEPT_NUMBERS else None
        self.built = np.zeros(len(self.members), np.uint32)  # the `fresh` for which the following hold
        self.own = np.zeros(len(self.members))  # sum_i w_i log E(k_i, y_i)
        self.absorb(inside)

    def __len__(self) -> int:
        return len(self.members)

    def absorb(self, regions: Iterable[Region]) -> None:
        """These subsets are in the model now."""
        touched = np.zeros(len(self.members), bool)
        for region in regions:
            for places in itertools.combinations(range(self.order), len(region)):
                here = np.ones(len(self.members), bool)
                for place, attribute in zip(places, region, strict=True):
                    here &= self.members[:, place] == attribute
                self.fresh[here] &= np.uint32(~np.uint32(1 << sum(1 << place for place in places)))
                touched |= here
        bits = self.fresh[touched, None] >> np.arange(1 << self.order, dtype=np.uint32) & 1
        self.df[touched] = (bits * self.subset_freedom[touched]).sum(axis=1)

    @property
    def open(self) -> np.ndarray:
        """Whether the region itself is not yet in the model."""
        return (self.fresh >> np.uint32((1 << self.order) - 1) & 1).astype(bool)

    def region(self, index: int) -> Region:
        return tuple(int(j) for j in self.members[index])

    def take(self, index: np.ndarray) -> tuple[Regions, np.ndarray]:
        """Some candidates as regions of their own, and where their cells stand among those of all."""
        sizes = self.cells[index]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        return Regions(np.ascontiguousarray(self.members[index]), offset), (
            np.arange(offset[-1]) + np.repeat(self.offset[index] - offset[:-1], sizes)
        )

    def slices(self, index: np.ndarray, by_products: bool) -> list[np.ndarray]:
        """The index in parts that take a fraction of a second each; with products, one for each first attribute."""
        if not len(index):
            return []
        if by_products and self.order == 3:
            return np.split(index, np.flatnonzero(np.diff(self.members[index, 0])) + 1)
        width = self.problem.n_classes
        size = max(1, int(SLICE_SECONDS / (ROW_SECONDS * width * max(self.problem.n_rows, 1))))
        return [index[k : k + size] for k in range(0, len(index), size)]

    # ---- potentials, bounds and gains ----

    def potentials(self, index: np.ndarray) -> np.ndarray:
        """(cells, C - 1) log odds that the candidates would multiply in; they must have been built."""
        regions, cells = self.take(index)
        if self.kept is not None:
            return self.kept[cells]
        counts = np.empty((int(regions.offset[-1]), self.problem.n_classes))
        kernel.region_sums(self.problem.rows, regions, self.problem.class_weights(), counts)
        return self._potentials(regions, index, counts)

    def _potentials(self, regions: Regions, index: np.ndarray, counts: np.ndarray) -> np.ndarray:
        out = np.empty((len(counts), self.problem.n_classes - 1))
        kernel.region_potentials(self.problem.rows, regions, self.fresh[index], counts, self.theta, out)
        return out

    def build(self, index: np.ndarray, work: Work) -> None:
        """Bring potentials and own terms of these candidates up to date with their new subsets."""
        stale = index[self.built[index] != self.fresh[index]]
        if not len(stale):
            return
        by_products = self.summer.products_pay(len(stale), self.order, self.attributes, self.problem.n_classes)
        self.summer.load(self.problem.class_weights(), self.order, by_products)

        def part(some: np.ndarray) -> None:
            regions, cells = self.take(some)
            counts = self.summer.tables(regions)
            potentials = self._potentials(regions, some, counts)
            if self.kept is not None:
                self.kept[cells] = potentials
            self.own[some] = np.add.reduceat((counts[:, :-1] * potentials).sum(axis=1), regions.offset[:-1])

        work.run(part, self.slices(stale, by_products))
        self.built[stale] = self.fresh[stale]

    def bounds(self, index: np.ndarray, proba: np.ndarray, work: Work) -> np.ndarray:
        """Bound 2 on the gain in log-likelihood of these candidates, which must be built: the slope at `proba`."""
        residual = (self.problem.class_weights() - self.problem.weight[:, None] * proba)[:, :-1]
        by_products = self.summer.products_pay(len(index), self.order, self.attributes, residual.shape[1])
        self.summer.load(residual, self.order, by_products)

        slope = np.empty(len(self.members))

        def part(some: np.ndarray) -> None:
            regions, _ = self.take(some)
            products = (self.summer.tables(regions) * self.potentials(some)).sum(axis=1)
            slope[some] = np.add.reduceat(products, regions.offset[:-1])

        work.run(part, self.slices(index, by_products))
        room = 1.0 + np.abs(self.own[index]) + np.abs(slope[index])
        return slope[index] + 1e-9 * room  # rounding must not make the bound too low

    def gains(self, index: np.ndarray, proba: np.ndarray, work: Work) -> np.ndarray:
        """Exact gains in log-likelihood (eq. 8) of these candidates, which must be built."""
        out = np.empty(len(self.members))

        def part(some: np.ndarray) -> None:
            regions, _ = self.take(some)
            log_sums = np.empty(len(some))
            rows, weight = self.problem.rows, self.problem.weight
            kernel.region_normalisers(rows, weight, proba, regions, self.potentials(some), log_sums)
            out[some] = self.own[some] - log_sums

        work.run(part, self.slices(np.sort(index), False))
        return out[index]


def combinations(attributes: np.ndarray, order: int) -> np.ndarray:
    """(m, order) int32: all sets of `order` of the attributes, in lexicographic order."""
    flat = itertools.chain.from_iterable(itertools.combinations(attributes.tolist(), order))
    return np.fromiter(flat, np.int32).reshape(-1, order)
