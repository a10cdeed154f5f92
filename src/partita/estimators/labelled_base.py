"""What estimators that learn from labelled rows in one pass share: labels, weights, and which rows count."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.containers import open_table, take_rows
from ..data.labels import encode_labels
from ..data.table import Table
from ..data.weights import read_weights
from ..models.coded.coding import Coder
from ..models.coded.soundness import check_coder, check_tree
from ..models.coded.tan import Tree
from .base import TableEstimator


class LabelledEstimator(TableEstimator):
    """An estimator for which a row without a label, or with weight zero, is as if it were not there, except that
    `classes_` still names a class whose rows all weigh 0.
    """

    classes_: np.ndarray
    _coder: Coder
    _tree: Tree

    def _check_loaded(self) -> None:
        if hasattr(self, "schema_"):
            check_coder(self._coder, self.schema_)
            if hasattr(self, "_tree"):
                check_tree(self._tree, self._coder.levels, len(self.classes_))

    def _labelled_rows(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """The rows of X that count, their labels and weights; sets `classes_`.

        classes     the classes allowed; without it, those that occur in y.
        """
        X = open_table(X)
        owner, n_rows = type(self).__name__, len(X)
        mark = getattr(self, "missing_label", None)
        label, self.classes_ = encode_labels(y, mark, classes, n_rows=n_rows, owner=owner)
        weight = read_weights(sample_weight, n_rows, owner)
        used = np.flatnonzero((label >= 0) & (weight > 0))
        if len(used) == n_rows:
            return X, label, weight
        if not len(used):
            raise ValueError(
                f"{owner}: no row has both a label and a weight above 0, so there is nothing to learn from. Give some "
                "row both."
            )
        return take_rows(X, used), label[used], weight[used]

    def _learn_labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, np.ndarray, np.ndarray]:
        """The training table, its labels and weights; sets `schema_` and `classes_`."""
        rows, label, weight = self._labelled_rows(X, y, sample_weight)
        return self._learn(rows), label, weight
