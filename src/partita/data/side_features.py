"""Features of rows or columns of a matrix, lined up with their ids."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.data.containers import open_table
from partita.data.entries import is_frame
from partita.data.ids import Ids, as_labels, given_ids, shown
from partita.data.telling import tell
from partita.data.validate import DataWarning


def line_up(features: Any, ids: Ids, name: str, fixed: bool) -> tuple[Ids, Any]:
    """All ids of a side, and their features in that order: (n, p) float64 or sparse, NaN where unknown; or None.

    features    a pandas frame whose index holds ids or a dict from id to vector: lined up by id, and ids without an
                entry become known. Or an array with one line per id: where ids are whole numbers below its height the
                id is the line, else lines are in the order of the ids.
    fixed       whether the ids may not become more or change their order: those of a matrix, or listed by the caller.
    """
    if features is None:
        return ids, None
    named, matrix = open_features(features, name)
    if named is not None:
        return _by_id(named, matrix, ids, name, fixed)
    n = matrix.shape[0]
    numbered = ids.labels.dtype.kind in "iu" and len(ids) and ids.labels.min() >= 0 and ids.labels.max() < n
    if not fixed and numbered and n > len(ids):
        if int(ids.labels.min()) > 0:
            tell(
                f"{name} has {n} lines and the {ids.side} ids are taken for their numbers, counted from 0, but no "
                f"entry is of {ids.side} 0. If ids count from 1, say so by {ids.side}_ids=range(1, {n} + 1).",
                DataWarning,
            )  # fmt: skip
        return Ids(np.arange(n), ids.side), matrix
    if n != len(ids):
        listed = f"a frame whose index holds the {ids.side} ids"
        free = f"in the order of {ids.side}_ids_ (sorted ids), {listed}, or list the ids by {ids.side}_ids="
        order = f"in the order of the matrix or of the ids listed, or {listed}" if fixed else free
        raise ValueError(
            f"{name} has {n} lines, but there are {len(ids)} {ids.side}s. Give one line per {ids.side} {order}."
        )
    return ids, matrix


def _by_id(named: Ids, matrix: Any, ids: Ids, name: str, fixed: bool) -> tuple[Ids, Any]:
    place = named.codes(ids.labels)
    if (place < 0).any():
        lost = ids.labels[np.argmax(place < 0)]
        raise ValueError(
            f"{name} has {len(named)} lines, none of them for the {ids.side} {shown(lost)} "
            f"({int((place < 0).sum())} of {len(ids)} {ids.side}s are missing there). Give each a line (NaN: unknown)."
        )
    return (ids, matrix[place]) if fixed else (named, matrix)


def features_of(features: Any, labels: np.ndarray, width: int, ids: Ids, name: str, per_entry: bool = True) -> Any:
    """(n, p) features of the ids `labels`, which training did not see: by id, or one line for each in their order."""
    n = len(labels)
    if features is None:
        return np.full((n, width), np.nan)
    if width == 0:
        raise ValueError(f"{name} was passed, but the model was fitted without {ids.side} features. Leave it out.")
    named, matrix = open_features(features, name)
    if matrix.shape[1] != width:
        raise ValueError(f"{name} has {matrix.shape[1]} columns, but the model was fitted with {width}.")
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    if named is not None:
        place = named.codes(labels)
        return np.where((place >= 0)[:, None], matrix[place], np.nan)
    if len(matrix) != n:
        raise ValueError(
            f"{name} has {len(matrix)} lines, expected {n}: one per {'entry' if per_entry else 'new id'}, or a frame "
            "whose index holds the ids."
        )
    return matrix


def _stacked(features: Mapping[Any, Any], name: str) -> np.ndarray:
    """The lines of a dict; one that is no vector as long as the first is named."""
    lines: list[np.ndarray] = []
    for label, line in features.items():
        try:
            lines.append(np.asarray(line, dtype=float))
        except (TypeError, ValueError):
            raise ValueError(f"{name}: the line of {shown(label)} is {line!r}, not a vector of numbers.") from None
        if lines[-1].ndim != 1 or len(lines[-1]) != len(lines[0]):
            raise ValueError(
                f"{name}: the line of {shown(label)} has shape {lines[-1].shape}, the first has {lines[0].shape}. Give "
                "every id a vector, all of one length."
            )
    if not lines:
        raise ValueError(f"{name} is an empty dict. Give every id a vector, or leave it out.")
    return np.array(lines)


def open_features(features: Any, name: str) -> tuple[Ids | None, Any]:
    """Ids of the lines, where they have some, and the lines as a matrix of numbers."""
    sparse, pandas = sys.modules.get("scipy.sparse"), sys.modules.get("pandas")
    if sparse is not None and sparse.issparse(features):
        matrix = features.tocsr().astype(np.float64)
        if not np.isfinite(matrix.data).all():
            raise ValueError(f"{name} holds infinite or missing numbers. A sparse matrix must hold finite ones.")
        return None, matrix
    side = "column" if name.startswith("column") else "row"
    named = None
    if isinstance(features, Mapping):
        named = given_ids(list(features), side, name)
        features = _stacked(features, name)
    elif pandas is not None and isinstance(features, pandas.DataFrame):
        index = features.index
        if not (isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1):  # that says nothing
            named = given_ids(as_labels(index.to_numpy(), side), side, name)
    shape = getattr(features, "shape", None)
    if shape is not None and len(shape) == 1:
        raise ValueError(f"{name} has shape {shape}. Give a matrix, one line per {side}; reshape(-1, 1) makes one.")
    if shape is not None and shape[-1] == 0:
        raise ValueError(f"{name} has no columns (shape {tuple(shape)}). Leave it out.")
    source = open_table(features)
    lines = np.empty((len(source), source.n_columns))
    for k, column in enumerate(source.cells(range(source.n_columns))):
        if not column.numeric and column.origin != "empty":
            what = f"{name}: {source.label(k)}" if is_frame(features) else f"{name}: column {k}"
            raise ValueError(f"{what} holds {column.origin}, not numbers. Code it, for example as 0 and 1 per level.")
        lines[:, k] = column.floats()
    if np.isinf(lines).any():
        raise ValueError(f"{name} holds an infinite number in line {int(np.isinf(lines).any(axis=1).argmax())}.")
    return named, lines
