"""Values that are none of a column's levels: they count as missing, and where that matters a warning says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.data.cells import Cells
from partita.data.schema import Schema
from partita.data.telling import tell
from partita.data.validate import DataWarning

_MANY = 0.1  # of the observed cells of a column
_SHOWN = 20


@dataclass(frozen=True)
class Unseen:
    """Of the column at `position`: how many cells hold none of its levels, of how many observed ones, and one value."""

    position: int
    count: int
    observed: int
    example: Any


def find_unseen(position: int, cells: Cells, codes: np.ndarray) -> Unseen | None:
    """What of the cells has no code, though it is not missing."""
    strange = (codes < 0) & ~cells.missing
    count = int(np.count_nonzero(strange))
    if not count:
        return None
    value = cells.values[int(np.argmax(strange))]
    value = cells.categories[value] if cells.origin == "category" else value.item() if cells.numeric else value
    return Unseen(position, count, len(codes) - int(np.count_nonzero(cells.missing)), value)


def warn_unseen(found: Sequence[Unseen], schema: Schema, told: list[int] | None = None) -> None:
    """Warn of columns whose unseen values are many; with `told`, of any in a column that is not in it yet.

    told        of a stream: positions of the columns that were warned of; those of this time are added.
    """
    if told is None:
        worth = [one for one in found if one.count == one.observed or one.count > _MANY * one.observed]
        lead = "Values not seen in training count as missing"
        advice = "Check the spelling and the type of these columns against the training table."
    else:
        worth = [one for one in found if one.position not in told]
        told.extend(one.position for one in worth)
        lead = "Values that the first rows of the stream did not hold count as missing, now and later"
        advice = (
            "Begin the stream with rows that hold every level, or name the levels beforehand: by a list in place of "
            "the kind in column_kinds, by a pandas Categorical or a polars Enum. A column of numbers that is no "
            'choice among a few values needs "real" or "count" in column_kinds.'
        )
    if worth:
        listed = [
            f"{schema.label(one.position)} ({schema.kinds[one.position]}; {one.count:,} of {one.observed:,} observed "
            f"cells, for example {one.example!r})"
            for one in worth[:_SHOWN]
        ]
        more = f" and {len(worth) - _SHOWN} more columns" if len(worth) > _SHOWN else ""
        tell(f"{lead}: {', '.join(listed)}{more}. {advice}", DataWarning)


def warn_without_levels(schema: Schema) -> None:
    """Warn of categorical columns that begin a stream without a single level: none can be added later."""
    columns = [schema.label(k) for k, c in enumerate(schema.columns) if c.kind == "categorical" and not c.levels]
    if columns:
        more = f" and {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
        tell(
            f"The stream begins without a level of {', '.join(columns[:_SHOWN])}{more}, and none can be added later. "
            "Name the levels beforehand: by a list in place of the kind in column_kinds, by a pandas Categorical or a "
            "polars Enum.",
            DataWarning,
        )
