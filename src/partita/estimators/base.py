"""What all estimators share: parameters checked once, one table at the border, a tree to save."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..data.encode import encode, learn_schema
from ..data.schema import Schema
from ..data.table import Table
from ..data.validate import Constraint, boolean, check_parameters, either, instance, integer, number, optional
from ..inference.checkpoint import fingerprint
from ..inference.runner import Runner
from ..inference.streams import root_sequence

COMMON: dict[str, Constraint] = {
    "n_jobs": optional(either(integer(1), integer(high=-1))),
    "progress": boolean(),
    "time_budget": optional(number(0, open_low=True)),
    "checkpoint": optional(instance(str, os.PathLike)),
}


class TableEstimator(BaseEstimator):
    """An estimator that learns from a table with holes."""

    _constraints: ClassVar[dict[str, Constraint]] = {}

    def _check(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), {**COMMON, **self._constraints})
        root_sequence(self.random_state)

    def _learn(self, X: Any) -> Table:
        """The schema from the training table, and the table."""
        self.schema_: Schema = learn_schema(X, self.column_kinds)
        self.n_features_in_ = self.schema_.n_columns
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return encode(X, self.schema_, type(self).__name__)

    def _encode(self, X: Any) -> Table:
        check_is_fitted(self, "schema_")
        return encode(X, self.schema_, type(self).__name__)

    def _runner(self) -> Runner:
        path = None if self.checkpoint is None else str(self.checkpoint)
        return Runner(self.n_jobs, self.progress, self.time_budget, path, type(self).__name__)

    def _fingerprint(self, *data: Any) -> str:
        """What a checkpoint must agree with to be resumed; nothing where there is none."""
        return "" if self.checkpoint is None else fingerprint(*data, self._marks())

    def _marks(self) -> dict[str, Any]:
        """Parameters that decide the result: a checkpoint of a fit with others does not fit."""
        free = {"n_jobs", "progress", "time_budget", "checkpoint", "column_kinds", "random_state", "missing_label"}
        marks = {name: value for name, value in self.get_params(deep=False).items() if name not in free}
        marks["schema"] = repr(self.schema_.to_tree())  # kinds and levels: the same cells may mean something else
        if self.random_state is not None:
            marks["seed"] = root_sequence(self.random_state)
        return marks

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags
