"""What a user knows of a network beforehand, read and checked: edges, parents, classes, a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.schema import Schema
from ..models.structure.knowledge import Knowledge
from .net_structure import read_edges, read_structure


def read_knowledge(
    schema: Schema, owner: str, required_edges: Any, forbidden_edges: Any, max_parents: int | None, classes: Any,
    template: Any,
) -> Knowledge:  # fmt: skip
    """All of it together; contradictions are named."""
    n = schema.n_columns
    required, allowed = np.zeros((n, n), bool), ~np.eye(n, dtype=bool)
    for child, parents in enumerate(read_structure(required_edges, schema, owner, "required_edges")):
        required[list(parents), child] = True
    for parent, child in read_edges(forbidden_edges, schema, owner, "forbidden_edges"):
        allowed[parent, child] = False
    both = np.argwhere(required & ~allowed)
    if len(both):
        a, b = (schema.names[k] for k in both[0])
        raise ValueError(
            f"{owner}: the edge from {a!r} to {b!r} is in required_edges and in forbidden_edges. Leave it out of one."
        )
    most = n - 1 if max_parents is None else min(int(max_parents), n - 1)
    crowded = np.flatnonzero(required.sum(axis=0) > most)
    if len(crowded):
        raise ValueError(
            f"{owner}: required_edges gives {schema.label(int(crowded[0]))} more parents than max_parents: "
            f"max_parents={most} allows fewer. Raise max_parents or drop edges."
        )
    return Knowledge(allowed, required, most, *read_classes(classes, template, n, owner))


def read_classes(classes: Any, template: Any, n: int, owner: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Classes of n columns as numbers, and the template over them; None where they are not given."""
    given = _read_classes(classes, n, owner)
    return given, _read_template(template, given, owner)


def _read_classes(classes: Any, n: int, owner: str) -> np.ndarray | None:
    if classes is None:
        return None
    array = np.asarray(classes)
    if array.shape != (n,):
        raise ValueError(
            f"{owner}: classes must name one class for each of the {n} columns, got an array of shape {array.shape}. "
            "Give a list as long as there are columns, or None to learn them."
        )
    if any(label is None or label != label for label in array.tolist()):
        raise ValueError(f"{owner}: classes has no class for some columns: {classes!r}. Name all, or pass None.")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int32)
    except TypeError:
        raise ValueError(f"{owner}: classes must be numbers or words that can be sorted, got {classes!r}.") from None


def _read_template(template: Any, classes: np.ndarray | None, owner: str) -> np.ndarray | None:
    if template is None:
        return None
    if classes is None:
        raise ValueError(f"{owner}: template is a matrix over classes and needs them. Pass classes as well.")
    k = int(classes.max()) + 1
    try:
        array = np.asarray(template, float)
    except (TypeError, ValueError):
        array = np.zeros(0)  # named below
    if array.shape != (k, k) or not ((array > 0) & (array < 1)).all():
        raise ValueError(
            f"{owner}: template must be a {k} x {k} matrix of probabilities between 0 and 1 (neither included), "
            f"edge from "
            f"class a to class b at [a, b], classes sorted; got {template!r}."
        )
    return array


def check_ordered(known: Knowledge, names: Sequence[Any], owner: str) -> None:
    """Raise where given classes leave no order that allows the required edges."""
    if known.classes is None:
        return
    k = int(known.classes.max()) + 1
    between = np.zeros((k, k), bool)
    for parent, child in np.argwhere(known.required):
        between[known.classes[parent], known.classes[child]] = True
        if known.classes[parent] == known.classes[child]:
            raise ValueError(
                f"{owner}: the required edge from {names[parent]!r} to {names[child]!r} lies within one "
                "of the given classes, where prior='ordered-block' allows none. Use prior='block', or other classes."
            )
    left = np.ones(k, bool)
    for _ in range(k):
        left &= (between & left[:, None]).any(axis=0)
    if left.any():
        raise ValueError(
            f"{owner}: the required edges form a cycle among the given classes, so no order of them allows these "
            "edges. Use prior='block', or other classes."
        )
