"""Which level a cell is: by value, else by its spelling, so that the number 3 and the text "3" are one level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from partita.data.cells import Cells, Level, plain

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_TRUTH = {"true": True, "false": False}


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


def spelled_codes(cells: Cells, levels: Sequence[Level]) -> np.ndarray:
    """As `codes_of`; a cell that equals no level takes the one level of the other type that is spelled like it.

    The same column may be text in one file and numbers in the next, where only numbers happen to occur.
    """
    codes = codes_of(cells, levels)
    strange = (codes < 0) & ~cells.missing
    if not strange.any():
        return codes
    for_numbers = _by_spelling((code, level) for code, level in enumerate(levels) if isinstance(level, str))
    for_text = _by_spelling((code, level) for code, level in enumerate(levels) if not isinstance(level, str))
    if cells.numeric and not for_numbers:
        return codes
    values, which = _distinct(cells, strange)
    found = []
    for value in values.tolist():
        named = cells.categories[value] if cells.origin == "category" else plain(value)
        found.append((for_text if isinstance(named, str) else for_numbers).get(spelling(named), -1))
    codes[strange] = np.array(found, dtype=np.int32)[which]
    return codes


def check_levels(cells: Cells, levels: Sequence[Level], label: str) -> None:
    """Raise where a cell is none of the levels that the caller named."""
    strange = (spelled_codes(cells, levels) < 0) & ~cells.missing
    if strange.any():
        row = int(np.argmax(strange))
        got = cells.categories[cells.values[row]] if cells.origin == "category" else plain(cells.values[row])
        raise ValueError(
            f"{label} holds {got!r} in row {row}, which is none of the levels that column_kinds names for it: "
            f"{', '.join(map(repr, levels[:20]))}{', ...' if len(levels) > 20 else ''}. Add it there, or make it "
            "missing."
        )


def _distinct(cells: Cells, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values at these rows, and for each row which it is; text need not compare with numbers beside it."""
    if cells.numeric:
        return np.unique(cells.values[rows], return_inverse=True)
    index: dict[Level, int] = {}
    which = [index.setdefault(value, len(index)) for value in cells.values[rows].tolist()]
    values = np.empty(len(index), dtype=object)
    values[:] = list(index)
    return values, np.array(which, dtype=np.intp)


def _by_spelling(levels: Iterable[tuple[int, Level]]) -> dict[str, int]:
    """Spelling -> code; a spelling that two levels share says nothing."""
    found: dict[str, int] = {}
    shared = set()
    for code, level in levels:
        spelled = spelling(level)
        if found.setdefault(spelled, code) != code:
            shared.add(spelled)
    return {spelled: code for spelled, code in found.items() if spelled not in shared}


def spelling(level: Level) -> str:
    """One spelling for a number, a truth value and their text: 3, 3.0, "3" and "03" are all "3"."""
    if isinstance(level, str):
        value = value_of_text(level)
        return level if value is None else spelling(value)
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    return repr(level)


def value_of_text(text: str) -> int | float | bool | None:
    """The number or truth value that the text spells, if it spells one."""
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return _TRUTH.get(text.lower())


def is_number(text: str) -> bool:
    """Whether the text spells a number."""
    return _NUMBER.fullmatch(text) is not None


def as_given(values: np.ndarray, cells: Cells) -> np.ndarray:
    """Levels (None = missing) in the type of the column they are to fill, where all of them can be spelled in it.

    A column of holes says nothing of its type: it takes the levels as they are.
    """
    if values.dtype != object or cells.origin not in ("bool", "int", "float", "text") or cells.missing.all():
        return values
    out = values.copy()
    for i, value in enumerate(values.tolist()):
        if cells.origin == "text" and value is not None and not isinstance(value, str):
            out[i] = spelling(value)
        elif cells.origin != "text" and isinstance(value, str):
            out[i] = value_of_text(value)
            if out[i] is None:
                return values
    return out
