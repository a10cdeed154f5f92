"""A graph over columns as a user gives it: edges, parents of children, a matrix or a networkx graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..data.schema import Schema
from ..models.networks.graph import find_cycle

_ALLOWED = (
    "a list of (parent, child) pairs, a dict from children to their parents, a square 0/1 matrix (parent row, child "
    "column), a networkx.DiGraph, or None for no edges"
)


def read_structure(structure: Any, schema: Schema, owner: str, name: str = "structure") -> tuple[tuple[int, ...], ...]:
    """Sorted parents of every column; what is wrong is a ValueError that names it."""
    n = schema.n_columns
    parents: list[set[int]] = [set() for _ in range(n)]
    for parent, child in read_edges(structure, schema, owner, name):
        if parent == child:
            raise ValueError(f"{owner}: {name} has an edge from {schema.label(parent)} to itself. Leave it out.")
        parents[child].add(parent)
    cycle = find_cycle([sorted(of) for of in parents])
    if cycle:
        shown = " -> ".join(repr(schema.names[node]) for node in cycle)
        raise ValueError(f"{owner}: {name} has a directed cycle, {shown}. Leave one of these edges out.")
    return tuple(tuple(sorted(of)) for of in parents)


def read_edges(structure: Any, schema: Schema, owner: str, name: str) -> Iterable[tuple[int, int]]:
    """Pairs (parent, child) of positions, cycles and all."""
    if structure is None:
        return []
    if hasattr(structure, "edges") and hasattr(structure, "is_directed"):
        if not structure.is_directed():
            raise ValueError(f"{owner}: {name} is an undirected graph. Give a networkx.DiGraph.")
        structure = list(structure.edges())
    if isinstance(structure, np.ndarray) and structure.ndim == 2 and structure.shape[0] == structure.shape[1] != 2:
        return _of_matrix(structure, schema, owner, name)
    if isinstance(structure, np.ndarray) and structure.shape == (2, 2) and schema.n_columns == 2:
        return _of_matrix(structure, schema, owner, name)
    if isinstance(structure, Mapping):
        pairs = [(parent, child) for child, of in structure.items() for parent in _several(of)]
    else:
        try:
            pairs = [(parent, child) for parent, child in structure]
        except (TypeError, ValueError):
            raise ValueError(f"{owner}: {name} must be {_ALLOWED}, got {structure!r}.") from None
    return [(position_of(a, schema, owner, name), position_of(b, schema, owner, name)) for a, b in pairs]


def _several(names: Any) -> Iterable[Any]:
    return [names] if isinstance(names, str | int | np.integer) else list(names)


def _of_matrix(matrix: np.ndarray, schema: Schema, owner: str, name: str) -> Iterable[tuple[int, int]]:
    if len(matrix) != schema.n_columns or not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            f"{owner}: {name} is a matrix of shape {matrix.shape}; as a graph over {schema.n_columns} columns it must "
            "have one row and one column for each and hold 0 and 1 only."
        )
    return [(int(parent), int(child)) for parent, child in np.argwhere(matrix)]


def position_of(column: Any, schema: Schema, owner: str, name: str) -> int:
    """The place of a column given by its name, or by its position where that is no name."""
    if column in schema.names:
        return schema.names.index(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < schema.n_columns:
        return int(column)
    shown = ", ".join(repr(known) for known in schema.names[:12]) + (", ..." if schema.n_columns > 12 else "")
    raise ValueError(f"{owner}: {name} names {column!r}, which is no column. The columns are {shown}.")
