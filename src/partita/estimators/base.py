"""What all estimators share: parameters checked once, one table at the border, a tree to save."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..data.archive import archive_kind
from ..data.archive_tree import ArchiveError
from ..data.containers import open_table
from ..data.encode import encode, learn_schema
from ..data.growth import fill_gaps
from ..data.schema import Schema
from ..data.table import Table
from ..data.unseen import warn_without_levels
from ..data.validate import Constraint, boolean, check_parameters, either, instance, integer, number, optional
from ..inference.checkpoint import fingerprint
from ..inference.runner import Runner
from ..inference.streams import root_sequence

CHECKPOINTS = ("checkpoint", "stream checkpoint")  # kinds of archives: of chains, of a filter
COMMON: dict[str, Constraint] = {
    "n_jobs": optional(either(integer(1), integer(high=-1))),
    "progress": boolean(),
    "time_budget": optional(number(0, open_low=True)),
    "checkpoint": optional(instance(str, os.PathLike)),
}


def check_checkpoint(path: str | os.PathLike[str]) -> None:
    """Raise where a fit could not write a checkpoint to `path` or resume from what is there, before it has begun."""
    said, file = f"checkpoint={os.fspath(path)!r}", Path(path)
    if file.is_dir():
        raise ValueError(f"{said} cannot be written: it is a folder. Give the path of a file in it.")
    folder = file.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        wrong = "no permission to write in" if folder.is_dir() else "there is no"
        raise ValueError(f"{said} cannot be written: {wrong} folder {str(folder)!r}. Create it or choose another path.")
    if file.exists():
        try:
            kind = archive_kind(path)
        except ArchiveError as error:
            raise ValueError(f"{said} cannot be resumed from, nor is it overwritten: {error}.") from error
        if kind not in CHECKPOINTS:
            raise ValueError(f"{said} holds a {kind}, not a checkpoint, and is not overwritten. Choose another path.")


class TableEstimator(BaseEstimator):
    """An estimator that learns from a table with holes."""

    _constraints: ClassVar[dict[str, Constraint]] = {}
    _scaled: ClassVar[bool] = True  # whether real cells are centred and scaled, or only compared

    def _check(self) -> None:
        parameters = self.get_params(deep=False)
        common = {name: constraint for name, constraint in COMMON.items() if name in parameters}
        check_parameters(type(self).__name__, parameters, {**common, **self._constraints})
        root_sequence(parameters.get("random_state"))
        if parameters.get("checkpoint") is not None:
            check_checkpoint(parameters["checkpoint"])

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What goes wrong inside leaves the estimator as it was: not fitted, or with the whole model it had."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _learn(self, X: Any, streaming: bool = False) -> Table:
        """The schema from the training table, and the table. Where more rows are to come, levels are also those that
        the columns' types declare.
        """
        source = open_table(X).hold()
        self.schema_: Schema = learn_schema(source, self.column_kinds, scaled=self._scaled, declared=streaming)
        if streaming:
            warn_without_levels(self.schema_)
        self.n_features_in_ = self.schema_.n_columns
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._forget("_told", "_checkpoint_told")
        return encode(source, self.schema_, type(self).__name__)

    def _encode_next(self, X: Any) -> Table:
        """The next rows of a stream: a value that is no level of its column is told, once for every column."""
        told, source = self.__dict__.setdefault("_told", []), open_table(X).hold()
        schema = fill_gaps(self.schema_, source, type(self).__name__)
        table = encode(source, schema, type(self).__name__, told)
        self.schema_ = schema
        return table

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

    def _settle(self) -> None:
        """Finish what was put off, before the model is written to a file."""

    def _check_loaded(self) -> None:
        """Raise where a file brought less than an answer needs, or parts that do not fit together."""

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
