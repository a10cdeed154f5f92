"""Which columns act on which, and how sure is that? The posterior probability of every edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .column_matrix import draw_matrix
from .net_columns import columns_by_class, need_structure


class EdgeProbabilitiesDisplay:
    """Matrix of edge probabilities, parents down, children across.

    probabilities   (n, n) posterior probability of an edge from the row's column to the column's.
    names           columns in display order, class by class.
    classes         (n,) class of each, numbered in display order.
    """

    def __init__(self, probabilities: np.ndarray, names: list[str], classes: np.ndarray) -> None:
        self.probabilities = probabilities
        self.names = names
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator: Any) -> EdgeProbabilitiesDisplay:
        """Of a fitted `StructureLearner`."""
        need_structure(cls, estimator)
        order, names, classes = columns_by_class(estimator)
        return cls(estimator.edge_probabilities_[np.ix_(order, order)], names, classes)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> EdgeProbabilitiesDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        return draw_matrix(self, self.probabilities, ax, "probability of an edge", ("child", "parent"), colorbar)
