"""The kind of a column: binary, categorical, count or real; inferred from its cells, or said by the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partita.data.cells import Cells, Level, plain

KINDS = ("binary", "categorical", "count", "real")
DISCRETE = ("binary", "categorical")

# Integers whose largest and mean are below these are counts of something; larger ones are measurements, amounts, names
# or moments. A Poisson count of mean m spreads by the root of m only, so a count model would cut them into groups.
MOST_COUNTED, MEAN_COUNTED = 1000, 100

# a kind, the levels of a binary or categorical column, or None: inferred
ColumnKind = str | Sequence[Level] | None
ColumnKinds = Mapping[Any, ColumnKind] | Sequence[ColumnKind] | None


def infer_kind(cells: Cells, label: str) -> str:
    """The kind that dtype and values suggest.

    Truth values, and numbers that are only 0 and 1: binary. Text and categories: binary up to two levels, else
    categorical. Integers without a negative, all below 1000 and below 100 on average: count. Other numbers, larger
    integers and whole floats among them: real.
    """
    if cells.origin == "mixed":
        text = next(v for v, gone in zip(cells.values, cells.missing) if not gone and isinstance(v, str))
        raise ValueError(
            f"{label} mixes text ({text!r}) with numbers, so its kind is unclear. Write missing cells as None or NaN, "
            f'convert the column to one type, or say "categorical" in column_kinds.'
        )
    if not cells.numeric:
        return "binary" if len(find_levels(cells)) <= 2 else "categorical"
    if cells.origin == "bool":
        return "binary"
    if cells.missing.all():
        return "real"
    if _zero_one(cells):
        return "binary"
    return "count" if cells.origin == "int" and _like_counts(_observed(cells)) else "real"


def _like_counts(integers: np.ndarray) -> bool:
    return bool(integers.min() >= 0 and integers.max() < MOST_COUNTED and integers.mean() < MEAN_COUNTED)


def find_levels(cells: Cells, declared: bool = False) -> tuple[Level, ...]:
    """The distinct observed values: categories in their own order, everything else sorted. With `declared`, all
    categories that the column's type names.

    A truth value, or a number that is only 0 or 1, has both levels even where one does not occur.
    """
    if cells.origin == "category":
        if declared:
            return cells.categories
        return tuple(cells.categories[code] for code in np.unique(_observed(cells)))
    if cells.origin == "bool":
        return (False, True)
    if cells.numeric:
        if not cells.missing.all() and _zero_one(cells):
            return (0, 1) if cells.origin == "int" else (0.0, 1.0)
        return tuple(np.unique(_observed(cells)).tolist())
    distinct = {plain(v) for v in set(_observed(cells))}
    return tuple(sorted(distinct, key=lambda v: (isinstance(v, str), v)))


def check_kind(cells: Cells, kind: str, label: str) -> None:
    """Raise where the values contradict the kind the caller gave."""
    if kind in ("count", "real"):
        check_numbers(cells, kind, label)
    if kind == "count":
        floats = cells.floats()
        bad = not_counts(floats)
        if bad.any():
            raise count_error(label, int(np.argmax(bad)), floats[np.argmax(bad)])
    if kind == "binary":
        levels = find_levels(cells)
        if len(levels) > 2:
            shown = ", ".join(repr(level) for level in levels[:3])
            raise ValueError(
                f'{label} is said to be "binary" but holds {len(levels)} distinct values ({shown}, ...). '
                'A binary column has at most two; say "categorical".'
            )


def check_numbers(cells: Cells, kind: str, label: str) -> None:
    """Raise where a count or real column holds something else than numbers."""
    if not cells.numeric and not cells.missing.all():
        row = int(np.argmin(cells.missing))
        got = cells.values[row] if cells.origin != "category" else cells.categories[cells.values[row]]
        if cells.origin == "mixed":
            row, got = next((i, v) for i, v in enumerate(cells.values) if isinstance(v, str))
        raise ValueError(
            f'{label} is of kind "{kind}" but holds text or categories: {got!r} in row {row}. '
            'Convert it to numbers (missing cells as NaN or None), or say "categorical" in column_kinds.'
        )


def not_counts(floats: np.ndarray) -> np.ndarray:
    """Where a cell is negative or fractional."""
    with np.errstate(invalid="ignore"):
        return (floats < 0) | ((np.floor(floats) != floats) & ~np.isnan(floats))


def count_error(label: str, row: int, value: float) -> ValueError:
    return ValueError(
        f'{label} is of kind "count" but holds {float(value)!r} in row {row}. '
        'Counts are whole numbers >= 0; say "real" in column_kinds.'
    )


def check_finite(cells: Cells, label: str) -> None:
    """Raise where a numeric cell is infinite."""
    if cells.origin == "float" and np.isinf(cells.values).any():
        raise infinity_error(label, int(np.argmax(np.isinf(cells.values))))


def infinity_error(label: str, row: int) -> ValueError:
    return ValueError(
        f"Input X contains infinity or a value too large: {label}, row {row}. Write unknown cells as NaN, or cap them."
    )


def read_column_kinds(column_kinds: ColumnKinds, labels: Sequence[Any]) -> list[str | None]:
    """The caller's `column_kinds` as one kind per column; None = infer. Named levels are a binary column, where there
    are no more than two, or a categorical one.

    labels      the columns' names, or what stands for them: a dict is looked up by name first, then by position.
    """
    return [
        _check_word(said, where) if said is None or isinstance(said, str) else _kind_of(_check_levels(said, where))
        for said, where in _said(column_kinds, labels)
    ]


def read_levels(column_kinds: ColumnKinds, labels: Sequence[Any]) -> list[tuple[Level, ...] | None]:
    """The levels that the caller's `column_kinds` name, for each column; None where it names none."""
    return [
        None if said is None or isinstance(said, str) else _check_levels(said, where)
        for said, where in _said(column_kinds, labels)
    ]


def _said(column_kinds: ColumnKinds, labels: Sequence[Any]) -> list[tuple[Any, str]]:
    """What is said of each column, and where."""
    n_columns = len(labels)
    if column_kinds is None:
        return [(None, "column_kinds")] * n_columns
    if isinstance(column_kinds, Mapping):
        said: list[tuple[Any, str]] = [(None, "column_kinds")] * n_columns
        for key, kind in column_kinds.items():
            said[_find_column(key, labels)] = kind, f"column_kinds[{key!r}]"
        return said
    if isinstance(column_kinds, str) or not hasattr(column_kinds, "__len__"):
        raise ValueError(
            f"column_kinds must be a dict or a list with one entry per column, got {column_kinds!r}. "
            f'For one kind everywhere, pass ["{KINDS[0]}"] * {n_columns} or the like.'
        )
    if len(column_kinds) != n_columns:
        raise ValueError(
            f"column_kinds has {len(column_kinds)} entries but the table has {n_columns} columns. "
            "Give one entry per column (None = infer), or a dict with the exceptions only."
        )
    return [(kind, f"column_kinds[{i}]") for i, kind in enumerate(column_kinds)]


def _find_column(key: Any, labels: Sequence[Any]) -> int:
    for position, label in enumerate(labels):
        if type(key) is type(label) and key == label:
            return position
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(labels):
        return int(key)
    raise ValueError(
        f"column_kinds speaks of {key!r}, which is no column of the table. "
        f"Its columns: {', '.join(repr(label) for label in labels[:20])}{', ...' if len(labels) > 20 else ''}."
    )


def _check_word(kind: Any, where: str) -> str | None:
    if kind is None:
        return None
    if kind not in KINDS:
        raise ValueError(
            f"{where} must be one of {', '.join(map(repr, KINDS))}, a list of levels or None (infer), got {kind!r}."
        )
    return str(kind)


def _check_levels(said: Any, where: str) -> tuple[Level, ...]:
    if not isinstance(said, list | tuple | np.ndarray):
        _check_word(repr(said), where)
    levels = tuple(plain(level) for level in said)
    if not levels or len(set(levels)) < len(levels) or any(level != level for level in levels):
        raise ValueError(f"{where} must name levels that all differ, at least one and none missing, got {said!r}.")
    return levels


def _kind_of(levels: tuple[Level, ...]) -> str:
    return "binary" if len(levels) <= 2 else "categorical"


def _observed(cells: Cells) -> np.ndarray:
    return cells.values[~cells.missing]


def _zero_one(cells: Cells) -> bool:
    values = cells.values
    return bool(((values == 0) | (values == 1) | cells.missing).all())
