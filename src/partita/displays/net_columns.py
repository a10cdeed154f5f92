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
    """Positions of the columns in display order, their names, and the places of their classes in `class_numbers`."""
    rank = {label: k for k, label in enumerate(class_numbers(estimator))}
    place = np.array([rank[label] for label in np.asarray(estimator.classes_map_).tolist()])
    order = np.lexsort((np.arange(len(place)), place))
    schema = estimator.schema_
    names = [str(schema.names[k]) if schema.named else f"column {schema.names[k]}" for k in order]
    return order, names, place[order]


def class_numbers(estimator: Any) -> list[int]:
    """The numbers that `classes_map_` gives the classes, in display order: their causal order where the prior has one,
    else larger ones first."""
    given, counts = np.unique(np.asarray(estimator.classes_map_), return_counts=True)
    return (given if in_order(estimator) else given[np.lexsort((given, -counts))]).tolist()


def in_order(estimator: Any) -> bool:
    """Whether its classes have a causal order: those of the prior that weighs most do."""
    weights = estimator.prior_weights_
    return max(weights, key=lambda name: weights[name]) == "ordered-block"


def class_edges(classes: np.ndarray) -> np.ndarray:
    """Where a class ends and the next begins, in a list of columns ordered by class."""
    return np.flatnonzero(classes[1:] != classes[:-1]) + 1
