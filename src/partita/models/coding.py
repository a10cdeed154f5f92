"""Any table as levels: numeric columns cut into bins, a missing cell a level of its own where training had one.

A missing cell, or a level not seen in training, becomes

* the column's last level, "missing", where training had missing cells in the column: that they are missing may say
  something, and the training rows tell what;
* -1, "to be integrated out", where training had none: nothing is known of what its being missing means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.scaling import restore
from ..data.schema import Schema
from ..data.table import Table
from .cut_points import cut_points


@dataclass(frozen=True, eq=False)
class Coder:
    """How the cells of a table become levels, learnt from training rows only.

    schema      of the tables it codes. Cuts are made between the numbers that a table holds: where a column spans many
                orders of magnitude, scaling them loses the small ones, and `Schema.unscaled` keeps them.
    cuts        for each column its cut points in the units of the table; empty for binary and categorical columns.
    missing     (d,) bool: columns with a level for missing cells, the last one.
    """

    schema: Schema
    cuts: tuple[np.ndarray, ...]
    missing: np.ndarray

    @classmethod
    def learn(
        cls,
        table: Table,
        label: np.ndarray,
        n_classes: int,
        weight: np.ndarray | None = None,
        force_first_cut: bool = False,
    ) -> Coder:
        """From the rows that have a label (label >= 0) and count (weight > 0)."""
        used = label >= 0 if weight is None else (label >= 0) & (weight > 0)
        cuts = [np.zeros(0)] * table.schema.n_columns
        for j, column in enumerate(table.schema.numeric):
            cuts[column] = cut_points(table.reals[:, j], label, n_classes, weight, force_first_cut)
        return cls(table.schema, tuple(cuts), np.logical_not(table.observed()[used]).any(axis=0))

    @cached_property
    def own_levels(self) -> np.ndarray:
        """(d,) int32 number of levels of each column, missing not among them; also the code of its missing level."""
        own = np.array([len(cuts) + 1 for cuts in self.cuts], np.int32)
        own[self.schema.discrete] = self.schema.n_levels
        return own

    @cached_property
    def levels(self) -> np.ndarray:
        """(d,) int32 number of levels of each column."""
        return self.own_levels + self.missing.astype(np.int32)

    def codes(self, table: Table) -> np.ndarray:
        """(n, d) int32, C-contiguous, in column order: the level of each cell, or -1 = to be integrated out."""
        schema = self.schema
        codes = np.empty((len(table), schema.n_columns), np.int32)
        codes[:, schema.discrete] = table.codes
        for j, column in enumerate(schema.numeric):
            cells = table.reals[:, j]
            codes[:, column] = np.where(np.isnan(cells), -1, np.searchsorted(self.cuts[column], cells))
        for column in np.flatnonzero(self.missing):
            codes[codes[:, column] < 0, column] = self.own_levels[column]
        return codes

    def cut_points(self) -> list[np.ndarray]:
        """The cut points of each column in the caller's units."""
        columns = self.schema.columns
        return [restore(cuts, column.centre, column.scale) for cuts, column in zip(self.cuts, columns)]

    def level_names(self) -> list[list[str]]:
        """What the levels of each column are called: a level of the caller's, a range, or "missing"."""
        names = []
        for column, cuts, own, missing in zip(self.schema.columns, self.cut_points(), self.own_levels, self.missing):
            listed = _ranges(cuts) if column.kind in ("count", "real") else [str(level) for level in column.levels]
            listed += ["(unseen)"] * (int(own) - len(listed))
            names.append([*listed, "missing"] if missing else listed)
        return names

    def to_tree(self) -> dict[str, Any]:
        return {"schema": self.schema.to_tree(), "cuts": list(self.cuts), "missing": self.missing}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Coder:
        schema = Schema.from_tree(tree["schema"])
        cuts, missing = tuple(tree["cuts"]), tree["missing"]
        if len(cuts) != schema.n_columns or missing.shape != (schema.n_columns,) or missing.dtype != bool:
            raise ValueError("a coder whose cuts do not fit its columns")
        if any(c.dtype != np.float64 or c.ndim != 1 or not (np.diff(c) > 0).all() for c in cuts):
            raise ValueError("a coder whose cut points do not rise")
        return cls(schema, cuts, missing)


def _ranges(cuts: np.ndarray) -> list[str]:
    """Names of the bins, with as many digits as tell the cuts apart."""
    if not len(cuts):
        return ["any"]
    digits = next(d for d in range(6, 18) if d == 17 or len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts))
    texts = [f"{cut:.{digits}g}" for cut in cuts]
    return [f"<= {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"> {texts[-1]}"]
