"""From the caller's table to codes and reals: `learn_schema` looks once, `encode` applies what it saw to any table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from partita.data.cells import Cells, Level
from partita.data.containers import Source, open_table
from partita.data.doubts import find_doubt, warn_of
from partita.data.kinds import (
    DISCRETE,
    ColumnKinds,
    check_finite,
    check_kind,
    check_numbers,
    count_error,
    find_levels,
    infer_kind,
    infinity_error,
    not_counts,
    read_column_kinds,
)
from partita.data.scaling import centre_and_scale, standardise
from partita.data.schema import Column, Schema
from partita.data.table import Table

_CELLS_AT_ONCE = 1 << 15  # a block of rows that stays in the second-level cache


def learn_schema(X: Any, column_kinds: ColumnKinds = None) -> Schema:
    """Names, kinds, levels, centres and scales of the columns of X.

    column_kinds    kinds the caller insists on: a dict (name or position -> kind) or a list (None = infer).

    Warns, once for each sort, of columns that are all missing, constant, or have a level for every row.
    """
    source = open_table(X)
    wanted = read_column_kinds(column_kinds, source.labels)
    columns: list[Column] = []
    doubts: dict[str, list[str]] = {}
    for position, cells in enumerate(source.cells(range(source.n_columns))):
        column = _learn_column(cells, wanted[position], source.labels[position], source.label(position))
        columns.append(column)
        doubt = find_doubt(cells, column.kind, len(column.levels))
        if doubt:
            doubts.setdefault(doubt, []).append(repr(source.labels[position]))
    warn_of(doubts)
    return Schema(tuple(columns), source.named, source.container)


def encode(X: Any, schema: Schema, owner: str = "Schema") -> Table:
    """X as a Table of the schema.

    Columns of a frame are matched by name where the schema has names; a level not in the schema is missing.

    owner       who asks; named in the message about a wrong number of columns.
    """
    source = open_table(X)
    order = match_columns(source, schema, owner)
    if source.array is not None:
        array = source.array if order == list(range(len(order))) else source.array[:, order]
        codes = _codes_of_array(array, schema)
        reals = array[:, schema.numeric].astype(np.float64, order="C")
    else:
        codes, reals = _codes_and_floats(source.cells(order), schema, len(source))
    _standardise_checked(reals, schema)
    return Table(schema, codes, reals)


def match_columns(source: Source, schema: Schema, owner: str) -> list[int]:
    """For each column of the schema its position in the source; by name where both have names."""
    if source.named and schema.named:
        unseen = [name for name in source.labels if name not in set(schema.names)]
        gone = [name for name in schema.names if name not in set(source.labels)]
        if unseen or gone:
            message = "The feature names should match those that were passed during fit.\n"
            message += "".join(["Feature names unseen at fit time:\n", *(f"- {n}\n" for n in unseen)] if unseen else "")
            if gone:
                message += "".join(["Feature names seen at fit time, yet now missing:\n", *(f"- {n}\n" for n in gone)])
            raise ValueError(message + "Rename, drop or add these columns; a column without data may be all missing.")
        where = {name: position for position, name in enumerate(source.labels)}
        return [where[name] for name in schema.names]
    if source.n_columns != schema.n_columns:
        raise ValueError(
            f"X has {source.n_columns} features, but {owner} is expecting {schema.n_columns} features as input. "
            "Pass the same columns as in fit; a column without data may be all missing."
        )
    return list(range(schema.n_columns))


def _learn_column(cells: Cells, wanted: str | None, name: Any, label: str) -> Column:
    check_finite(cells, label)
    kept = name if isinstance(name, str) else int(name) if isinstance(name, int | np.integer) else str(name)
    if wanted is None:
        kind = infer_kind(cells, label)
    else:
        kind = wanted
        check_kind(cells, kind, label)
    if kind in DISCRETE:
        return Column(kept, kind, find_levels(cells), origin=cells.origin, observed=not cells.missing.all())
    centre, scale = centre_and_scale(cells.floats()) if kind == "real" else (0.0, 1.0)
    return Column(kept, kind, (), centre, scale, cells.origin, not cells.missing.all())


def _codes_and_floats(columns: Iterable[Cells], schema: Schema, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns, in the schema's order, as codes and as floats that are not yet scaled."""
    codes = np.empty((n_rows, len(schema.discrete)), dtype=np.int32)
    floats = np.empty((n_rows, len(schema.numeric)), dtype=np.float64)
    n_codes = n_floats = 0
    for position, (column, cells) in enumerate(zip(schema.columns, columns)):
        check_finite(cells, schema.label(position))
        if column.kind in DISCRETE:
            codes[:, n_codes] = codes_of(cells, column.levels)
            n_codes += 1
        else:
            check_numbers(cells, column.kind, schema.label(position))
            floats[:, n_floats] = cells.floats()
            n_floats += 1
    return codes, floats


def codes_of(cells: Cells, levels: Sequence[Level]) -> np.ndarray:
    """(n,) int32: the position of each cell among the levels; -1 where it is missing or none of them."""
    index = {level: code for code, level in enumerate(levels)}
    if cells.origin == "category":
        table = [index.get(category, -1) for category in cells.categories]
        return np.array([*table, -1], dtype=np.int32)[cells.values]
    if not cells.numeric:
        return np.fromiter((index.get(value, -1) for value in cells.values), np.int32, len(cells.values))
    numbers = sorted(level for level in levels if not isinstance(level, str))
    if not numbers:
        return np.full(len(cells.values), -1, dtype=np.int32)
    keys = np.array(numbers)
    values = cells.values.astype(np.int8) if cells.origin == "bool" else cells.values
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    found = (keys[place] == values) & ~cells.missing
    return np.where(found, np.array([index[number] for number in numbers], dtype=np.int32)[place], np.int32(-1))


def _codes_of_array(array: np.ndarray, schema: Schema) -> np.ndarray:
    """The codes of a numeric array, whole blocks of rows at a time where all discrete columns have levels 0 and 1."""
    levels = [schema.columns[position].levels for position in schema.discrete]
    codes = np.empty((len(array), len(levels)), dtype=np.int32)
    if any(pair != (0, 1) for pair in levels):
        columns = Source("numpy", array, tuple(schema.names), False, array).cells(schema.discrete.tolist())
        for j, cells in enumerate(columns):
            check_finite(cells, schema.label(schema.discrete[j]))
            codes[:, j] = codes_of(cells, levels[j])
        return codes
    whole = len(levels) == schema.n_columns
    for rows in _row_blocks(codes):
        block = array[rows] if whole else array[rows][:, schema.discrete]
        one = block == 1
        known = one | (block == 0)
        np.subtract(one, ~known, out=codes[rows], dtype=np.int32)
        if array.dtype.kind == "f" and not known.all() and np.isinf(block).any():
            row, j = np.argwhere(np.isinf(block))[0]
            raise infinity_error(schema.label(schema.discrete[j]), rows.start + int(row))
    return codes


def _standardise_checked(floats: np.ndarray, schema: Schema) -> None:
    """Scale the count and real columns in place; raise where a cell is infinite or no count."""
    counts = [j for j, position in enumerate(schema.numeric) if schema.kinds[position] == "count"]
    for rows in _row_blocks(floats):
        block = floats[rows]
        if counts and not_counts(block[:, counts]).any():
            row, k = np.argwhere(not_counts(block[:, counts]))[0]
            raise count_error(schema.label(schema.numeric[counts[k]]), rows.start + int(row), block[row, counts[k]])
        standardise(block, schema.centres, schema.scales)
        if np.isinf(block).any():
            row, j = np.argwhere(np.isinf(block))[0]
            raise infinity_error(schema.label(schema.numeric[j]), rows.start + int(row))


def _row_blocks(array: np.ndarray) -> Iterable[slice]:
    """Slices of consecutive rows, small enough for the cache; none where the array has no columns."""
    n_rows, n_columns = array.shape
    if n_columns == 0:
        return []
    step = max(1, _CELLS_AT_ONCE // n_columns)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
