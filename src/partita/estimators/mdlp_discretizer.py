"""`MDLPDiscretizer`: numeric columns cut into bins where the class changes, other columns as codes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config

from ..data.containers import frame_like
from ..data.validate import Constraint, boolean
from ..models.coded.coding import Coder
from .labelled_base import LabelledEstimator


class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, LabelledEstimator):
    """Integer codes for every column: Fayyad and Irani's bins of the numeric ones, the levels of the others.

    A numeric column is cut where the class changes, as often as the minimum description length criterion allows (not at
    all, if it says nothing of the class): see `models.coded.cut_points`. Binary and categorical columns keep their
    levels. A missing cell, and a level not seen in training, gets the code after the column's last level.

    Parameters
    ----------
    force_first_cut : True keeps the best first cut of a column even where it does not pay.
    column_kinds : kinds of columns that should not be inferred; a dict or list of "binary", "categorical", "count" and
        "real".
    random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator; cutting draws nothing and is one
        pass, so they have nothing to do.

    Attributes
    ----------
    cut_points_ : list of arrays, one per column, in the units of X; a cell x has the code "number of cuts below x".
        Empty where a column is not cut, and for binary and categorical columns.
    level_names_ : list of lists of str, what the codes of each column stand for.
    n_levels_ : array, number of levels of each column; missing is one of them where training had missing cells.
    classes_, n_features_in_, feature_names_in_.

    Notes
    -----
    Fit it on the training rows of a fold only: it looks at the labels. Rows without a label are left out. A frame gives
    a frame, an array an array; `set_output` has the last word.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import MDLPDiscretizer
    >>> X = np.array([[1.5], [1.7], [2.5], [np.nan], [7.5], [8.0], [8.5], [9.1]] * 3)
    >>> y = list("aaaabbbb") * 3
    >>> bins = MDLPDiscretizer().fit(X, y)
    >>> bins.cut_points_
    [array([5.])]
    >>> bins.transform([[0.0], [5.0], [5.1], [None]]).ravel().tolist()
    [0, 0, 1, 2]
    >>> bins.level_names_
    [['<= 5', '> 5', 'missing']]
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"force_first_cut": boolean()}
    _scaled = False

    def __init__(
        self, force_first_cut=False, column_kinds=None, *, random_state=None, n_jobs=None, progress=False,
        time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.force_first_cut = force_first_cut
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MDLPDiscretizer:
        """Learn cut points from rows X with labels y, each counted `sample_weight` times."""
        self._check()
        with self._all_or_nothing():
            table, label, weight = self._learn_labelled(X, y, sample_weight)
            self._coder = Coder.learn(table, label, len(self.classes_), weight, bool(self.force_first_cut))
            self.cut_points_ = self._coder.cut_points()
            self.level_names_ = self._coder.level_names()
            self.n_levels_ = self._coder.levels
        return self

    def transform(self, X: Any) -> Any:
        """(n, columns) integer codes, in the order of the training columns."""
        table = self._encode(X)
        codes = self._coder.codes(table)
        codes = np.where(codes < 0, self._coder.own_levels, codes)
        if _get_output_config("transform", self)["dense"] != "default":
            return codes  # scikit-learn puts it into the container asked for
        return frame_like(X, codes, self.get_feature_names_out())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags
