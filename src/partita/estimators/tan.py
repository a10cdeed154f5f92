"""`TANClassifier`: naive Bayes in which every column may depend on one other, along a tree."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.telling import tell
from ..data.validate import Constraint, DataWarning, boolean, number
from ..models.coded.coding import Coder
from ..models.coded.tan import Tree, learn_tree, log_joint
from .labelled_base import LabelledEstimator
from .probability_base import JointClassifier


class TANClassifier(JointClassifier, LabelledEstimator):
    """Tree-augmented naive Bayes: given the class, the columns form the tree of Chow and Liu.

    Numeric columns are cut into bins where the class changes (`MDLPDiscretizer` does the same); the tree has the
    greatest mutual information of columns given the class; all tables share one prior, `theta` pseudo-rows spread
    evenly.

    A cell missing at predict time is the level "missing" where training had missing cells in its column, and is summed
    over its levels, exactly, where training had none. A level not seen in training counts as missing.

    Parameters
    ----------
    theta : total pseudo-count of the prior, in rows.
    force_first_cut : True cuts every numeric column at least once, if that lowers the entropy of the class at all.
    missing_label : one more mark of a missing label; None, NaN and NA always are. Rows without a label are left out.
    column_kinds : kinds of columns that should not be inferred; a dict or list of "binary", "categorical", "count" and
        "real".
    random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator; learning is one pass without
        chance, so they have nothing to do.

    Attributes
    ----------
    tree_ : list of (parent, child), positions of columns; which column is the root changes no probability.
    edge_information_ : array, mutual information of each edge given the class, in nats.
    cut_points_ : list of arrays, cut points of each column in the units of X.
    classes_, n_features_in_, feature_names_in_.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import TANClassifier
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    >>> y = X[:, 0] ^ X[:, 1]  # beyond naive Bayes: neither column alone says anything
    >>> model = TANClassifier().fit(X, y)
    >>> model.tree_
    [(0, 1)]
    >>> model.predict([[0, 1], [1, 1]])
    array([1, 0])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "theta": number(0, open_low=True),
        "force_first_cut": boolean(),
    }
    _scaled = False

    def __init__(
        self, *, theta=1.0, force_first_cut=False, missing_label=None, column_kinds=None, random_state=None,
        n_jobs=None, progress=False, time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.theta = theta
        self.force_first_cut = force_first_cut
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TANClassifier:
        """Learn from rows X with labels y, each counted `sample_weight` times."""
        self._check()
        with self._all_or_nothing():
            table, label, weight = self._learn_labelled(X, y, sample_weight)
            n_classes = len(self.classes_)
            self._coder = Coder.learn(table, label, n_classes, weight, bool(self.force_first_cut))
            codes = self._coder.codes(table)
            self._tree: Tree = learn_tree(codes, self._coder.levels, label, weight, n_classes, float(self.theta))
            self.tree_ = self._tree.edges
            self.edge_information_ = np.array([self._tree.information[child] for _, child in self.tree_])
            self.cut_points_ = self._coder.cut_points()
            self._warn_of_skipped()
        return self

    def _warn_of_skipped(self) -> None:
        names = self.schema_.names
        if self._tree.skipped:
            shown = ", ".join(f"{names[i]!r} with {names[j]!r}" for i, j in self._tree.skipped[:5])
            more = f" and {len(self._tree.skipped) - 5} more" if len(self._tree.skipped) > 5 else ""
            tell(
                f"TANClassifier: pairs of columns with too many levels to count together are never joined: {shown}"
                f"{more}. Drop columns that name rows, or put rare levels together.",
                DataWarning,
            )

    def _log_joint(self, X: Any) -> np.ndarray:
        table = self._encode(X)
        return log_joint(self._tree, self._coder.codes(table))

    def to_networkx(self) -> Any:
        """The tree as a networkx.DiGraph: columns by name, edges from parent to child with their `information`. The
        class, which points to every column, is left out."""
        check_is_fitted(self, "tree_")
        import networkx

        graph = networkx.DiGraph()
        names = self.schema_.names
        graph.add_nodes_from(names)
        for (parent, child), information in zip(self.tree_, self.edge_information_.tolist()):
            graph.add_edge(names[parent], names[child], information=information)
        return graph
