"""Columns that are accepted but deserve a warning: all missing, constant, numbers written as text, a level for every
row, cells far off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.data.cells import Cells, Level
from partita.data.kinds import DISCRETE
from partita.data.levels import is_number
from partita.data.schema import Column
from partita.data.telling import tell
from partita.data.validate import DataWarning

_MESSAGES = {
    "all missing": "hold no observed cell: they are kept and say nothing",
    "constant": "hold one value only: they are kept and say little",
    "beyond": (
        "hold whole numbers beyond 2 to the power of 53, some of which a floating-point number cannot tell apart: they "
        "count as the same value; subtract a constant first, or write them as words if that is what they are"
    ),
    "spelled": (
        "hold numbers written as text, each of which counts as a word of its own, near to no other: convert them to "
        'numbers (marks such as "?" to NaN), or say "categorical" in column_kinds if they are names'
    ),
    "unique": (
        "have as many levels as observed cells, like a row's name: "
        "drop such a column, or convert it to numbers if that is what it holds"
    ),
    "far": (
        "hold cells more than 10,000 times as far from the middle as the others are: they are scaled by the others; if "
        "such a cell is a slip or marks a missing one, make it missing"
    ),
}
FAR = 1e4
# a column of text spells numbers if all but so many of its levels do, with a point or in more than so many ways
MARKS, FEW_NUMBERS = 2, 10
EXACT = 2**53  # floats hold every whole number up to here
_NAMES_SHOWN = 20
_CODE = re.compile(r"[+-]?0\d")


def find_doubt(cells: Cells, column: Column, said: bool = False) -> str | None:
    """What is doubtful about the column, if anything: "all missing", "beyond", "spelled", "constant", "unique" or
    "far".

    said        whether the caller has named its kind, and so means text to be words.
    """
    observed = cells.values[~cells.missing]
    if not len(observed):
        return "all missing"
    if column.kind not in DISCRETE and cells.origin == "int" and _alike_as_floats(observed):
        return "beyond"
    if cells.origin == "text" and not said and _spell_numbers(column.levels):
        return "spelled"
    if column.kind == "categorical" and len(column.levels) >= len(observed) > 1:
        return "unique"
    if len(cells.values) > 1 and observed[0] == observed[-1] and bool(np.all(observed == observed[0])):
        return "constant"
    if column.kind == "real" and column.scale != 1.0:
        floats = cells.floats()
        with np.errstate(over="ignore", invalid="ignore"):
            if np.nanmax(abs(floats / column.scale - column.centre / column.scale)) > FAR:
                return "far"
    return None


def _spell_numbers(levels: Sequence[Level]) -> bool:
    """Whether the levels look like numbers that were read as text (1.5, 1,5 or 1,000): not like codes (01234) or a few
    grades (1, 2, 3).
    """
    spelled = [str(level).strip() for level in levels]
    numbers = [text for text in spelled if is_number(text.replace(",", ""))]
    if not numbers or len(spelled) - len(numbers) > MARKS or any(_CODE.match(text) for text in numbers):
        return False
    return len(numbers) > FEW_NUMBERS or any("." in text or "," in text for text in numbers)


def _alike_as_floats(whole: np.ndarray) -> bool:
    """Whether some of the whole numbers that differ are one number as floats."""
    if max(abs(int(whole.min())), abs(int(whole.max()))) <= EXACT:
        return False
    return len(np.unique(whole.astype(np.float64))) < len(np.unique(whole))


def warn_of(doubts: Sequence[str | None], labels: Sequence[Any]) -> None:
    """One warning for each sort of doubt, naming the columns."""
    for doubt, message in _MESSAGES.items():
        names = [repr(label) for label, own in zip(labels, doubts) if own == doubt]
        if names:
            more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
            shown = ", ".join(names[:_NAMES_SHOWN]) + more
            tell(f"Columns that {message}: {shown}.", DataWarning)
