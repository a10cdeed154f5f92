"""Tables of levels as a structure learner takes them: one, or several whose columns share classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.encode import encode
from ..data.schema import Schema
from ..models.structure.knowledge import Knowledge
from .net_levels import learn_levels, level_counts
from .net_prior import read_classes, read_knowledge

PER_TABLE = ("column_kinds", "required_edges", "forbidden_edges", "classes")  # lists of one entry a table, or None


@dataclass(frozen=True, eq=False)
class NetTable:
    """A table: codes (rows, columns), -1 where a cell is missing, and the number of levels of every column."""

    schema: Schema
    codes: np.ndarray
    levels: np.ndarray

    @classmethod
    def learn(cls, X: Any, column_kinds: Any, owner: str) -> NetTable:
        source, schema = learn_levels(X, column_kinds, owner)
        codes, levels = encode(source, schema, owner).codes, level_counts(schema)
        codes[:, levels == 1] = 0  # nothing can be missing where there is one level only
        return cls(schema, codes, levels)


def are_several(X: Any, owner: str) -> bool:
    """Whether X is a list of tables, rather than a table written as a list of rows."""
    if not isinstance(X, list | tuple):
        return False
    if len(X) == 0:
        raise ValueError(f"{owner}: X is an empty list. Give a table, or a list of at least one.")
    tables = [len(getattr(table, "shape", ())) == 2 for table in X]
    if any(tables) and not all(tables):
        wrong = tables.index(False)
        raise ValueError(
            f"{owner}: X is a list of tables, but X[{wrong}] is {type(X[wrong]).__name__}, not a table. Give an array "
            "of rows and columns or a frame for every entry."
        )
    return all(tables)


def one_for_each(value: Any, n_tables: int, name: str, owner: str) -> list[Any]:
    """A parameter that has one entry for every table; None is none for all."""
    if value is None:
        return [None] * n_tables
    if not isinstance(value, list | tuple) or len(value) != n_tables:
        got = f"a list of {len(value)}" if isinstance(value, list | tuple) else repr(value)
        raise ValueError(
            f"{owner}: with {n_tables} tables {name} must be a list with one entry for each of them (None where "
            f"nothing is known), got {got}."
        )
    return list(value)


def know_together(
    tables: Sequence[NetTable], owner: str, required: Any, forbidden: Any, max_parents: int | None, classes: Any,
    template: Any,
) -> Knowledge:  # fmt: skip
    """What is known of the columns of all tables; edges go within tables only, classes of the same name are one."""
    n_tables = len(tables)
    required = one_for_each(required, n_tables, "required_edges", owner)
    forbidden = one_for_each(forbidden, n_tables, "forbidden_edges", owner)
    parts = [
        read_knowledge(table.schema, owner, must, must_not, max_parents, None, None)
        for table, must, must_not in zip(tables, required, forbidden, strict=True)
    ]
    n = sum(part.n for part in parts)
    allowed, must = np.zeros((n, n), bool), np.zeros((n, n), bool)
    at = 0
    for part in parts:
        here = slice(at, at + part.n)
        allowed[here, here], must[here, here] = part.allowed, part.required
        at += part.n
    labels = None
    if classes is not None:
        given = one_for_each(classes, n_tables, "classes", owner)
        for k, (table, of) in enumerate(zip(tables, given, strict=True)):
            if of is None or np.shape(of) != (table.schema.n_columns,):
                raise ValueError(
                    f"{owner}: classes[{k}] must name one class for each of the {table.schema.n_columns} columns of "
                    f"table {k}, got {of!r}. Give classes for all tables, or None to learn them."
                )
        labels = [label for of in given for label in list(of)]
    most = max(part.max_parents for part in parts)
    return Knowledge(allowed, must, most, *read_classes(labels, template, n, owner))
