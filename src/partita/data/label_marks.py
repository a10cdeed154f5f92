"""`missing_label`: one more mark of a missing label. It means labels of its own type only: text, number or truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.data.cells import Cells, Level, absent_types, plain, read_objects
from partita.data.kinds import find_levels
from partita.data.levels import spelling
from partita.data.telling import tell
from partita.data.validate import DataWarning

_PLURAL = {"text": "text", "a truth value": "truth values", "a number": "numbers"}
_SCALARS = (str, bool, int, float, np.bool_, np.integer, np.floating)


def read_mark(missing_label: Any, owner: str) -> Level | None:
    """The mark as a plain value; None where it always means missing (None, NaN, NA)."""
    if type(missing_label) in absent_types():
        return None
    if not isinstance(missing_label, _SCALARS):
        raise ValueError(
            f"{owner}: missing_label must be text, a number, True, False, None or NA, got {missing_label!r} "
            f"({type(missing_label).__name__}). Pass one mark; write others as None in y."
        )
    return None if missing_label != missing_label else plain(missing_label)


def without_marked(cells: Cells, mark: Level | None) -> Cells:
    """The labels with those that equal the mark missing too."""
    if mark is None or _sort(mark) not in _sorts(cells):
        return cells
    if cells.origin == "category":
        marked = np.isin(cells.values, [i for i, c in enumerate(cells.categories) if _same(c, mark)])
    elif cells.numeric:
        marked = cells.values == mark
    else:
        marked = np.fromiter((_same(value, mark) for value in cells.values), bool, len(cells.values))
    if cells.origin != "mixed":
        return Cells(cells.values, cells.missing | marked, cells.origin, cells.categories)
    values = cells.values.copy()
    values[marked] = None
    return read_objects(values, "y")


def check_mark_fits(cells: Cells, mark: Level | None) -> None:
    """Raise where a label is spelled as the mark but of another type; warn where no label can be of the mark's type."""
    if mark is None or not (sorts := _sorts(cells)) or _sort(mark) in sorts:
        return
    found = " and ".join(_PLURAL[sort] for sort in sorted(sorts))
    said = f"missing_label={mark!r} is {_sort(mark)}, but the labels are {found}"
    alike = [level for level in find_levels(cells) if spelling(level) == spelling(mark)]
    if alike:
        raise ValueError(f"{said}, among them {alike[0]!r}. Pass missing_label={alike[0]!r}.")
    tell(f"{said}: none is taken as missing by it. Pass a mark of their type.", DataWarning)


def _same(value: Any, mark: Level) -> bool:
    return _sort(value) == _sort(mark) and bool(value == mark)


def _sort(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "a truth value" if isinstance(value, bool | np.bool_) else "a number"


def _sorts(cells: Cells) -> set[str]:
    """The sorts of labels that there are."""
    if cells.missing.all():
        return set()
    if cells.numeric:
        return {"a truth value" if cells.origin == "bool" else "a number"}
    values = cells.categories if cells.origin == "category" else cells.values[~cells.missing]
    return {_sort(value) for value in values}
