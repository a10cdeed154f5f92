"""Averaged probabilities of classes made as sure, and as fair to each class, as rows set aside want them.

What a row says of its class is how it changes the odds from those of a row without any cell; only this change is
taken to a power. Offsets take back what gates do to the classes whatever a row says (`gated.votes`). They are learnt
from rows with their usual number of cells, and fade as a row has fewer. So a row without cells keeps the shares of the
classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.table import Table

FULL = 0.5  # of the cells of the middle row: from so many the offsets count in full


@dataclass(frozen=True, eq=False)
class Tempering:
    """Of probabilities p it makes, normalised, blank (p / blank)^temperature exp(reach offset).

    blank   (C,) the probabilities p of a row without any cell
    offset  (C,)
    enough  cells of a row from which its reach is 1
    """

    temperature: float
    offset: np.ndarray
    blank: np.ndarray
    enough: float

    @classmethod
    def none(cls, n_classes: int) -> Tempering:
        """What leaves probabilities as they are."""
        return cls(1.0, np.zeros(n_classes), np.full(n_classes, 1.0 / n_classes), 0.0)

    def __call__(self, proba: np.ndarray, table: Table) -> np.ndarray:
        """proba (n, C) of the rows of the table."""
        t, reach = self.temperature, reach_of(cells_seen(table), self.enough)
        logs = t * np.log(np.maximum(proba, 1e-300)) + (1.0 - t) * np.log(self.blank) + reach[:, None] * self.offset
        out = np.exp(logs - logs.max(axis=1, keepdims=True))
        return out / out.sum(axis=1, keepdims=True)

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))


def cells_seen(table: Table) -> np.ndarray:
    """(n,) observed cells of every row, but of columns that training showed nothing of."""
    known = np.array([column.observed for column in table.schema.columns], bool)
    return table.observed()[:, known].sum(axis=1)


def enough_cells(table: Table) -> float:
    """Of training rows."""
    return float(max(FULL * np.median(cells_seen(table)), FULL))


def reach_of(seen: np.ndarray, enough: float) -> np.ndarray:
    """(n,) how far offsets count for rows with `seen` cells."""
    return np.minimum(seen / enough, 1.0) if enough > 0 else np.ones(len(seen))
