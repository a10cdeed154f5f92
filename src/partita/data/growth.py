"""A schema that grows: what more rows add to what was learnt of the columns, whatever parts they come in.

Kinds only widen, as they would had all rows come at once: numbers that are only 0 and 1 are binary until another number
comes, counts become real with the first cell that is no count, and levels are added as they are met.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partita.data.cells import Cells, Level, plain
from partita.data.containers import open_table
from partita.data.encode import learn_schema, match_columns
from partita.data.kinds import DISCRETE, ColumnKinds, read_column_kinds
from partita.data.levels import spelled_codes
from partita.data.schema import Column, Schema


def grow_schema(schema: Schema, X: Any, column_kinds: ColumnKinds, owner: str) -> Schema:
    """The schema of the rows that `schema` was learnt from and of X together; centres and scales stay."""
    source = open_table(X)
    order = match_columns(source, schema, owner)
    wanted = read_column_kinds(column_kinds, schema.names)
    part = learn_schema(X, {source.labels[there]: kind for there, kind in zip(order, wanted)}, warn=False)
    columns = [
        _widen(old, part.columns[there], kind is not None, schema.label(position))
        for position, (old, there, kind) in enumerate(zip(schema.columns, order, wanted))
    ]
    return replace(schema, columns=tuple(columns))


def fill_gaps(schema: Schema, X: Any, owner: str) -> Schema:
    """What the next rows say of columns that were all missing, and the levels that binary columns still want, in the
    order they are met. Nothing that a model was built on changes: no kind, and no number of levels; a column of numbers
    that was all missing gets the centre and scale of its first cells.
    """
    gaps = [
        position for position, column in enumerate(schema.columns)
        if not column.observed or (column.kind == "binary" and len(column.levels) < 2)
    ]  # fmt: skip
    if not gaps:
        return schema
    source, columns = open_table(X), list(schema.columns)
    order = match_columns(source, schema, owner)
    for position, cells in zip(gaps, source.cells([order[position] for position in gaps])):
        column = columns[position]
        if cells.missing.all():
            continue
        if column.kind in DISCRETE:
            levels = _next_levels(cells, column.levels) if column.kind == "binary" else column.levels
            columns[position] = replace(column, levels=levels, observed=True)
        else:
            part = learn_schema(X, {source.labels[order[position]]: column.kind}, warn=False)
            columns[position] = replace(part.columns[order[position]], name=column.name)
    return replace(schema, columns=tuple(columns))


def _next_levels(cells: Cells, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """Up to two levels: those there are, and the first values that are none of them."""
    while len(levels) < 2:
        strange = (spelled_codes(cells, levels) < 0) & ~cells.missing
        if not strange.any():
            break
        value = cells.values[int(np.argmax(strange))]
        levels = (*levels, cells.categories[value] if cells.origin == "category" else plain(value))
    return levels


def _widen(old: Column, new: Column, fixed: bool, label: str) -> Column:
    """The column as both parts of it show it."""
    if not new.observed:
        return old
    if not old.observed:
        return replace(new, name=old.name)
    if old.kind in DISCRETE and new.kind in DISCRETE:
        return _join_levels(old, new, fixed, label)
    if old.kind in DISCRETE or new.kind in DISCRETE:
        binary = old if old.kind in DISCRETE else new
        if not set(binary.levels) <= {0, 1}:
            raise _mixed(old, new, label)
        return replace(new if old.kind in DISCRETE else old, name=old.name)  # zeros and ones are numbers too
    return replace(old, kind="real") if "real" in (old.kind, new.kind) else old


def _join_levels(old: Column, new: Column, fixed: bool, label: str) -> Column:
    added = [level for level in new.levels if level not in old.levels]
    if not added:
        return old
    levels = [*old.levels, *added]
    if len({isinstance(level, str) for level in levels}) > 1:
        raise _mixed(old, new, label)
    if old.origin != "category":
        levels.sort()
    if len(levels) <= 2:
        return replace(old, levels=tuple(levels))
    if fixed and old.kind == "binary":
        raise ValueError(
            f'{label} is said to be "binary" but holds a third value in these rows: {added[-1]!r}, after '
            f'{", ".join(map(repr, old.levels))}. Say "categorical" in column_kinds and learn anew.'
        )
    return replace(old, kind="categorical", levels=tuple(levels))


def _mixed(old: Column, new: Column, label: str) -> ValueError:
    return ValueError(
        f'{label} was "{old.kind}" ({old.origin}) in the rows so far and is "{new.kind}" ({new.origin}) in these. '
        "Convert the column to one type in all parts."
    )
