"""From the caller's table to codes and reals: `learn_schema` looks once, `encode` applies what it saw to any table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from partita.data.cells import Cells, Level
from partita.data.containers import Source, name_of, open_table
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
    read_levels,
)
from partita.data.levels import check_levels, spelled_codes
from partita.data.matching import match_columns
from partita.data.row_blocks import both_zero_and_one, row_blocks
from partita.data.scaling import centre_and_scale, standardise
from partita.data.schema import Column, Schema
from partita.data.table import Table
from partita.data.unseen import Unseen, find_unseen, warn_unseen


def learn_schema(
    X: Any, column_kinds: ColumnKinds = None, warn: bool = True, scaled: bool = True, declared: bool = False
) -> Schema:
    """Names, kinds, levels, centres and scales of the columns of X.

    column_kinds    kinds the caller insists on: a dict (name or position -> kind) or a list (None = infer); the levels
                    of a binary or categorical column stand for its kind.
    scaled          False: real cells keep the caller's units, for models that only compare them.
    declared        the categories that a column's type names are its levels, also those that no cell of X holds.

    With `warn`, warns once for each sort of columns that are all missing, constant, or have a level for every row.
    """
    source = open_table(X)
    wanted, levels = read_column_kinds(column_kinds, source.labels), read_levels(column_kinds, source.labels)
    columns: list[Column | None] = [None] * source.n_columns
    doubts: list[str | None] = [None] * source.n_columns
    for position, column in _zero_one_columns(source):
        if wanted[position] is None:
            columns[position] = column
    others = [position for position, column in enumerate(columns) if column is None]
    for position, cells in zip(others, source.cells(others)):
        name, label = source.labels[position], source.label(position)
        column = _learn_column(cells, wanted[position], name, label, scaled, declared, levels[position])
        columns[position] = column
        doubts[position] = find_doubt(cells, column, said=wanted[position] is not None)
    if warn:
        warn_of(doubts, source.labels)
    return Schema(tuple(column for column in columns if column is not None), source.named, source.container)


def encode(X: Any, schema: Schema, owner: str = "Schema", told: list[int] | None = None) -> Table:
    """X as a Table of the schema.

    Columns of a frame are matched by name where the schema has names; a level not in the schema is missing, and a
    warning names the columns where such cells are many.

    owner       who asks; named in the message about a wrong number of columns.
    told        for the next rows of a stream: columns already warned of; every other is, for a single such cell.
    """
    source = open_table(X)
    order = match_columns(source, schema, owner)
    unseen: list[Unseen] = []
    if source.array is not None:
        array = source.array if order == list(range(len(order))) else source.array[:, order]
        codes = _codes_of_array(array, schema, unseen)
        reals = array[:, schema.numeric].astype(np.float64, order="C")
    else:
        codes, reals = _codes_and_floats(source.cells(order), schema, len(source), unseen)
    _standardise_checked(reals, schema)
    warn_unseen(unseen, schema, told)
    return Table(schema, codes, reals)


def _zero_one_columns(source: Source) -> Iterable[tuple[int, Column]]:
    """The columns of a numeric array that hold 0, 1 and holes, neither alone: all at once, as most tables have many."""
    if source.array is None or source.array.dtype.kind not in "iuf":
        return
    whole = source.array.dtype.kind != "f"
    for position in both_zero_and_one(source.array):
        levels: tuple[Level, ...] = (0, 1) if whole else (0.0, 1.0)
        yield position, Column(name_of(source.labels[position]), "binary", levels, origin="int" if whole else "float")


def _learn_column(
    cells: Cells, wanted: str | None, name: Any, label: str, scaled: bool, declared: bool,
    levels: tuple[Level, ...] | None,
) -> Column:  # fmt: skip
    check_finite(cells, label)
    kept, observed = name_of(name), not cells.missing.all()
    if levels is not None:
        check_levels(cells, levels, label)
        return Column(kept, str(wanted), levels, origin=cells.origin, observed=observed)
    if wanted is None:
        kind = infer_kind(cells, label)
    else:
        kind = wanted
        check_kind(cells, kind, label)
    if kind in DISCRETE:
        levels = find_levels(cells, declared)
        if len(levels) > 2 and kind == "binary":
            kind, levels = ("categorical", levels) if wanted is None else (kind, find_levels(cells))
        return Column(kept, kind, levels, origin=cells.origin, observed=observed)
    centre, scale = centre_and_scale(cells.floats()) if kind == "real" and scaled else (0.0, 1.0)
    return Column(kept, kind, (), centre, scale, cells.origin, observed)


def _codes_and_floats(
    columns: Iterable[Cells], schema: Schema, n_rows: int, unseen: list[Unseen]
) -> tuple[np.ndarray, np.ndarray]:
    """The columns, in the schema's order, as codes and as floats that are not yet scaled; `unseen` is added to."""
    codes = np.empty((n_rows, len(schema.discrete)), dtype=np.int32)
    floats = np.empty((n_rows, len(schema.numeric)), dtype=np.float64)
    n_codes = n_floats = 0
    for position, (column, cells) in enumerate(zip(schema.columns, columns)):
        check_finite(cells, schema.label(position))
        if column.kind in DISCRETE:
            codes[:, n_codes] = _codes_of_column(cells, schema, position, unseen)
            n_codes += 1
        else:
            check_numbers(cells, column.kind, schema.label(position))
            floats[:, n_floats] = cells.floats()
            n_floats += 1
    return codes, floats


def _codes_of_column(cells: Cells, schema: Schema, position: int, unseen: list[Unseen]) -> np.ndarray:
    codes = spelled_codes(cells, schema.columns[position].levels)
    strange = find_unseen(position, cells, codes)
    if strange is not None:
        unseen.append(strange)
    return codes


def _codes_of_array(array: np.ndarray, schema: Schema, unseen: list[Unseen]) -> np.ndarray:
    """The codes of a numeric array, whole blocks of rows at a time where all discrete columns have levels 0 and 1."""
    codes = np.empty((len(array), len(schema.discrete)), dtype=np.int32)
    if any(schema.columns[position].levels != (0, 1) for position in schema.discrete):
        _codes_by_column(array, schema, schema.discrete, codes, unseen)
        return codes
    whole = len(schema.discrete) == schema.n_columns
    doubtful = np.zeros(len(schema.discrete), dtype=bool)
    for rows in row_blocks(codes):
        block = array[rows] if whole else array[rows][:, schema.discrete]
        one = block == 1
        known = one | (block == 0)
        np.subtract(one, ~known, out=codes[rows], dtype=np.int32)
        if not known.all():
            doubtful |= (~known & (block == block)).any(axis=0)  # NaN alone differs from itself
    if doubtful.any():
        _codes_by_column(array, schema, schema.discrete[doubtful], codes, unseen)
    return codes


def _codes_by_column(
    array: np.ndarray, schema: Schema, positions: np.ndarray, codes: np.ndarray, unseen: list[Unseen]
) -> None:
    """Write the codes of these columns of a numeric array, one column after the other."""
    source = Source("numpy", array, tuple(schema.names), False, array)
    for position, cells in zip(positions.tolist(), source.cells(positions.tolist())):
        check_finite(cells, schema.label(position))
        codes[:, np.searchsorted(schema.discrete, position)] = _codes_of_column(cells, schema, position, unseen)


def _standardise_checked(floats: np.ndarray, schema: Schema) -> None:
    """Scale the count and real columns in place; raise where a cell is infinite or no count."""
    counts = [j for j, position in enumerate(schema.numeric) if schema.kinds[position] == "count"]
    for rows in row_blocks(floats):
        block = floats[rows]
        if counts and not_counts(block[:, counts]).any():
            row, k = np.argwhere(not_counts(block[:, counts]))[0]
            raise count_error(schema.label(schema.numeric[counts[k]]), rows.start + int(row), block[row, counts[k]])
        standardise(block, schema.centres, schema.scales)
        if np.isinf(block).any():
            row, j = np.argwhere(np.isinf(block))[0]
            raise infinity_error(schema.label(schema.numeric[j]), rows.start + int(row))
