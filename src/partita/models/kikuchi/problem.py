"""What the search for regions is given, and its choices where the paper leaves the reading open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import kernel
from ...kernels.contract import CodedRows, Regions


@dataclass(frozen=True)
class Choices:
    """How to search.

    max_order       largest region, the class counted: 2 is naive Bayes with selection.
    theta           total pseudo-count of every submodel (eq. 4).
    beyond          past the hilltop while the likelihood rises: after the last order ("end"), after each ("each"),
                    or not at all ("never").
    singles         "greedy": the path starts from the class alone; "all": from naive Bayes on all attributes.
    prior_cells     degrees of freedom in the prior count "all" cells (eq. 7) or the "observed" ones only.
    max_candidates  most regions of one order that are searched.
    weight_cut      the path ends when a stage would weigh less than exp(-weight_cut) of the best; None: never.
    prune           False scores every candidate exactly in every step (slow; the path is the same).
    """

    max_order: int = 4
    theta: float = 1.0
    beyond: str = "end"
    singles: str = "greedy"
    prior_cells: str = "all"
    max_candidates: int = 1_000_000
    weight_cut: float | None = 40.0
    prune: bool = True


@dataclass
class Problem:
    """Coded rows with labels and weights; `total` is m of the paper, the sum of the weights."""

    rows: CodedRows
    label: np.ndarray  # int32 (n,)
    weight: np.ndarray  # float64 (n,)
    n_classes: int

    @classmethod
    def of(
        cls, codes: np.ndarray, levels: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int
    ) -> Problem:
        """From codes (n, d) without missing cells; rows of weight 0 do not count."""
        kept = weight > 0
        rows = CodedRows(np.ascontiguousarray(codes[kept].T, np.int32), np.ascontiguousarray(levels, np.int32))
        assert not rows.codes.size or rows.codes.min() >= 0, "the search sees complete rows only"
        label, weight = label[kept].astype(np.int32), weight[kept].astype(np.float64)
        return cls(rows, np.ascontiguousarray(label), np.ascontiguousarray(weight), n_classes)

    @property
    def n_rows(self) -> int:
        return len(self.label)

    @property
    def n_attributes(self) -> int:
        return len(self.rows.levels)

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def class_weights(self) -> np.ndarray:
        """(n, C): the weight of every row in the column of its class."""
        out = np.zeros((self.n_rows, self.n_classes))
        out[np.arange(self.n_rows), self.label] = self.weight
        return out

    def cells(self, region: tuple[int, ...]) -> np.ndarray:
        """(n,) cell of every row in one region, last member fastest."""
        cell = np.zeros(self.n_rows, np.int64)
        for j in region:
            cell = cell * int(self.rows.levels[j]) + self.rows.codes[j]
        return cell

    def counts(self, region: tuple[int, ...]) -> np.ndarray:
        """(levels of the members ..., C): weight of the rows in every cell of a region."""
        shape = [int(self.rows.levels[j]) for j in region]
        out = np.zeros((int(np.prod(shape, dtype=np.int64)), self.n_classes))
        if region:
            one = Regions(np.array([region], np.int32), np.array([0, len(out)], np.int64))
            kernel.region_sums(self.rows, one, self.class_weights(), out)
        else:
            out[0] = self.class_weights().sum(axis=0)
        return out.reshape(*shape, self.n_classes)
