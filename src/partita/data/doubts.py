"""Columns that are accepted but deserve a warning: all missing, constant, or with a level for every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.data.cells import Cells
from partita.data.telling import tell
from partita.data.validate import DataWarning

_MESSAGES = {
    "all missing": "hold no observed cell: they are kept and say nothing",
    "constant": "hold one value only: they are kept and say little",
    "unique": (
        "have as many levels as observed cells, like a row's name: "
        "drop such a column, or convert it to numbers if that is what it holds"
    ),
}
_NAMES_SHOWN = 20


def find_doubt(cells: Cells, kind: str, n_levels: int) -> str | None:
    """What is doubtful about the column, if anything: "all missing", "constant" or "unique"."""
    observed = cells.values[~cells.missing]
    if not len(observed):
        return "all missing"
    if kind == "categorical" and n_levels >= len(observed) > 1:
        return "unique"
    if len(cells.values) > 1 and observed[0] == observed[-1] and bool(np.all(observed == observed[0])):
        return "constant"
    return None


def warn_of(doubts: Sequence[str | None], labels: Sequence[Any]) -> None:
    """One warning for each sort of doubt, naming the columns."""
    for doubt, message in _MESSAGES.items():
        names = [repr(label) for label, own in zip(labels, doubts) if own == doubt]
        if names:
            more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
            shown = ", ".join(names[:_NAMES_SHOWN]) + more
            tell(f"Columns that {message}: {shown}.", DataWarning)
