"""The one form in which every model sees a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.data.schema import Schema


@dataclass(frozen=True, eq=False)
class Table:
    """n rows.

    codes       (n, n_discrete) int32, C-contiguous: the level of each binary and categorical cell, -1 = missing.
    reals       (n, n_numeric) float64, C-contiguous: counts as they are, real cells centred and scaled, NaN = missing.
    """

    schema: Schema
    codes: np.ndarray
    reals: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.codes)
        assert self.codes.dtype == np.int32 and self.codes.shape == (n, len(self.schema.discrete))
        assert self.reals.dtype == np.float64 and self.reals.shape == (n, len(self.schema.numeric))
        assert self.codes.flags.c_contiguous and self.reals.flags.c_contiguous

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, index: Any) -> Table:
        """The rows of `index`: positions, a boolean mask or a slice."""
        return Table(self.schema, np.ascontiguousarray(self.codes[index]), np.ascontiguousarray(self.reals[index]))

    def observed(self) -> np.ndarray:
        """(n, n_columns) bool, in column order: the cells that are not missing."""
        mask = np.empty((len(self), self.schema.n_columns), dtype=bool)
        mask[:, self.schema.discrete] = self.codes >= 0
        mask[:, self.schema.numeric] = ~np.isnan(self.reals)
        return mask
