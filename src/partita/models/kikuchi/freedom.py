"""Degrees of freedom that each subset of a candidate region would add: of all cells (eq. 7), or of observed ones."""

from __future__ import annotations

import itertools

import numpy as np

from ...kernels import kernel
from ...kernels.contract import Regions
from .problem import Problem
from .regions import Region, added_freedom, subsets


class Freedom:
    """Conditional degrees of freedom of potentials.

    With `cells="all"` the potential of S adds (|Y| - 1) prod (|X_i| - 1). With "observed" sampling zeros are taken for
    structural ones: a region counts its cells with the class that occur less its cells without the class that occur, in
    place of the products of eq. 7, and S adds the Moebius sum of that over its subsets.
    """

    def __init__(self, problem: Problem, cells: str) -> None:
        self.problem, self.observed = problem, cells == "observed"
        self._counted: dict[Region, float] = {}

    def of_subsets(self, members: np.ndarray) -> np.ndarray:
        """(m, 2^order): what each subset of each region adds; bit k of the column stands for member k."""
        order = members.shape[1]
        if self.observed:
            self._count(members)
        levels = self.problem.rows.levels[members]
        out = np.empty((len(members), 1 << order))
        for subset in range(1 << order):
            places = [k for k in range(order) if subset >> k & 1]
            if self.observed:
                out[:, subset] = [self.of(tuple(row)) for row in members[:, places].tolist()]
            else:
                out[:, subset] = added_freedom(levels[:, places], self.problem.n_classes)
        return out

    def of(self, region: Region) -> float:
        """What the potential of one region adds."""
        if not self.observed:
            return float(added_freedom(self.problem.rows.levels[list(region)], self.problem.n_classes))
        for part in subsets(region):
            if part not in self._counted:
                self._counted[part] = _spread(self.problem.counts(part).reshape(-1, self.problem.n_classes))
        return sum((-1) ** (len(region) - len(part)) * self._counted[part] for part in subsets(region))

    def _count(self, members: np.ndarray) -> None:
        """Count the cells of many regions and of all their subsets."""
        order = members.shape[1]
        for size in range(1, order + 1):
            wanted = {tuple(row) for places in itertools.combinations(range(order), size)
                      for row in members[:, list(places)].tolist()} - self._counted.keys()  # fmt: skip
            if wanted:
                self._count_listed(np.array(sorted(wanted), np.int32))

    def _count_listed(self, members: np.ndarray, at_once: int = 256) -> None:
        weights = self.problem.class_weights()
        for begin in range(0, len(members), at_once):
            part = np.ascontiguousarray(members[begin : begin + at_once])
            offset = np.concatenate([[0], np.cumsum(self.problem.rows.levels[part].astype(np.int64).prod(axis=1))])
            counts = np.empty((int(offset[-1]), self.problem.n_classes))
            kernel.region_sums(self.problem.rows, Regions(part, offset), weights, counts)
            for row, a, b in zip(part.tolist(), offset[:-1], offset[1:], strict=True):
                self._counted[tuple(row)] = _spread(counts[a:b])


def _spread(counts: np.ndarray) -> float:
    """Cells with the class that occur, less those without it."""
    return float(np.count_nonzero(counts) - np.count_nonzero(counts.any(axis=1)))
