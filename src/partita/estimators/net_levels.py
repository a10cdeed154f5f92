"""Any table of levels: whole numbers that take few values are levels too, what is continuous is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.containers import Source, open_table
from ..data.encode import encode, learn_schema
from ..data.kinds import DISCRETE, ColumnKinds, read_column_kinds
from ..data.schema import Schema

MOST_VALUES = 32  # of a column of whole numbers whose values are taken as levels


def learn_levels(X: Any, column_kinds: ColumnKinds, owner: str) -> tuple[Source, Schema]:
    """The table, and its schema with binary and categorical columns only."""
    source = open_table(X).hold()
    schema = learn_schema(source, column_kinds, warn=False, scaled=False)
    kinds: list[str | None] = list(read_column_kinds(column_kinds, source.labels))
    cells = encode(source, schema, owner).reals
    for place, position in enumerate(schema.numeric):
        column = schema.columns[position]
        seen = np.unique(cells[:, place][~np.isnan(cells[:, place])])
        if kinds[position] is None and len(seen) <= MOST_VALUES and (seen == np.round(seen)).all():
            kinds[position] = "categorical"
        else:
            raise ValueError(_continuous(schema, position, column.kind, len(seen), owner))
    return source, learn_schema(source, kinds)


def _continuous(schema: Schema, position: int, kind: str, n_values: int, owner: str) -> str:
    return (
        f"{owner}: {schema.label(position)} is of kind {kind!r} with {n_values} different values; a network of levels "
        f"needs binary or categorical columns (whole numbers of at most {MOST_VALUES} values are taken as levels). "
        "Cut it into bins: partita.MDLPDiscretizer where there is a class to cut by, else "
        "sklearn.preprocessing.KBinsDiscretizer(encode='ordinal', strategy='quantile'); or say "
        f"column_kinds={{{schema.names[position]!r}: 'categorical'}} to take every value as a level."
    )


def level_counts(schema: Schema) -> np.ndarray:
    """(n,) int32 number of levels of every column that have a name; at least one."""
    assert all(kind in DISCRETE for kind in schema.kinds)
    # not schema.n_levels, which gives a binary column two even where one was never seen: that one could not be answered
    return np.array([max(len(column.levels), 1) for column in schema.columns], dtype=np.int32)
