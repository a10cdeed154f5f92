"""Which columns play the same role, and how sure is that? The posterior probability of a common class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .column_matrix import draw_matrix
from .net_columns import columns_by_class, need_structure


class CoassignmentDisplay:
    """Matrix of the probabilities that two columns play the same role.

    coassignment    (n, n) posterior probability that two columns share a class.
    names, classes  as in `EdgeProbabilitiesDisplay`.
    """

    def __init__(self, coassignment: np.ndarray, names: list[str], classes: np.ndarray) -> None:
        self.coassignment = coassignment
        self.names = names
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator: Any) -> CoassignmentDisplay:
        """Of a fitted `StructureLearner`."""
        need_structure(cls, estimator)
        order, names, classes = columns_by_class(estimator)
        return cls(estimator.coassignment_[np.ix_(order, order)], names, classes)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> CoassignmentDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        return draw_matrix(self, self.coassignment, ax, "probability of one class", ("", ""), colorbar)
