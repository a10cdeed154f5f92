"""Columns of a learnt structure in the order pictures show them: class by class, earlier classes first."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .wanted import need


def need_structure(display: type, estimator: Any) -> None:
    """Raise unless the estimator is a fitted `StructureLearner` of one table."""
    from ..estimators.structure_learner import StructureLearner

    need(display, "a fitted StructureLearner", estimator, isinstance(estimator, StructureLearner))
    check_is_fitted(estimator)
    if hasattr(estimator, "tables_"):
        raise ValueError(
            f"{display.__name__}.from_estimator: this StructureLearner was fitted to {len(estimator.tables_)} tables, "
            "each with columns of its own. Pass one of estimator.tables_."
        )


def columns_by_class(estimator: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Positions of the columns in display order, their names and their classes, numbered from 0 in that order.

    Classes stand in their causal order where the prior has one, else larger ones first.
    """
    classes = np.asarray(estimator.classes_map_)
    given = np.unique(classes)
    if not in_order(estimator):
        _, counts = np.unique(classes, return_counts=True)
        given = given[np.lexsort((given, -counts))]
    rank = {label: k for k, label in enumerate(given.tolist())}
    place = np.array([rank[label] for label in classes.tolist()])
    order = np.lexsort((np.arange(len(place)), place))
    schema = estimator.schema_
    names = [str(schema.names[k]) if schema.named else f"column {schema.names[k]}" for k in order]
    return order, names, place[order]


def in_order(estimator: Any) -> bool:
    """Whether its classes have a causal order: those of the prior that weighs most do."""
    weights = estimator.prior_weights_
    return max(weights, key=lambda name: weights[name]) == "ordered-block"


def class_edges(classes: np.ndarray) -> np.ndarray:
    """Where a class ends and the next begins, in a list of columns ordered by class."""
    return np.flatnonzero(classes[1:] != classes[:-1]) + 1
