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

from ...data.scaling import restore
from ...data.schema import Schema
from ...data.table import Table
from .cut_points import cut_points


@dataclass(frozen=True, eq=False)
class Coder:
    """How the cells of a table become levels, learnt from training rows only.

    schema      of the tables it codes. Cuts are made between the numbers that a table holds: where a column spans many
                orders of magnitude, scaling them loses the small ones, and `learn_schema(scaled=False)` keeps them.
    cuts        for each column its cut points in the units of the table; empty for binary and categorical columns.
    missing     (d,) bool: columns with a level for missing cells, the last one.
    seen        for each column a bool array. Binary and categorical: which of the schema's levels training showed; the
                others (the level that a constant column of zeros never takes) are no levels here. Numeric: of length
                one, whether training showed any number at all.
    """

    schema: Schema
    cuts: tuple[np.ndarray, ...]
    missing: np.ndarray
    seen: tuple[np.ndarray, ...]

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
        observed = table.observed()[used]
        seen = list(np.atleast_2d(observed.any(axis=0)).T)
        for j, (column, size) in enumerate(zip(table.schema.discrete, table.schema.n_levels, strict=True)):
            cells = table.codes[used, j]
            seen[column] = np.bincount(cells[cells >= 0], minlength=int(size)) > 0
        return cls(table.schema, tuple(cuts), np.logical_not(observed).any(axis=0), tuple(seen))

    @cached_property
    def own_levels(self) -> np.ndarray:
        """(d,) int32 number of levels of each column, missing not among them; also the code of its missing level. 0 for
        a column of holes."""
        own = [int(seen.sum()) * (len(cuts) + 1) for seen, cuts in zip(self.seen, self.cuts, strict=True)]
        return np.array(own, np.int32)

    @cached_property
    def levels(self) -> np.ndarray:
        """(d,) int32 number of levels of each column."""
        return self.own_levels + self.missing.astype(np.int32)

    def codes(self, table: Table) -> np.ndarray:
        """(n, d) int32, C-contiguous, in column order: the level of each cell, or -1 = to be integrated out."""
        schema = self.schema
        codes = np.empty((len(table), schema.n_columns), np.int32)
        for j, column in enumerate(schema.discrete):
            seen = self.seen[column]
            place = np.append(np.where(seen, np.cumsum(seen) - 1, -1), -1)  # the last one: a missing cell, code -1
            codes[:, column] = place[table.codes[:, j]]
        for j, column in enumerate(schema.numeric):
            cells = table.reals[:, j]
            known = ~np.isnan(cells) & self.seen[column][0]
            codes[:, column] = np.where(known, np.searchsorted(self.cuts[column], cells), -1)
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
        for column, cuts, seen, missing in zip(self.schema.columns, self.cut_points(), self.seen, self.missing):
            if column.kind in ("count", "real"):
                listed = _ranges(cuts) if seen[0] else []
            else:  # of a binary column that showed one level only, the schema may know no other
                listed = [str(level) for level, shown in zip(column.levels, seen) if shown]
            names.append([*listed, "missing"] if missing else listed)
        return names

    def to_tree(self) -> dict[str, Any]:
        seen = list(self.seen)
        return {"schema": self.schema.to_tree(), "cuts": list(self.cuts), "missing": self.missing, "seen": seen}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Coder:
        schema = Schema.from_tree(tree["schema"])
        cuts, missing = tuple(tree["cuts"]), tree["missing"]
        if len(cuts) != schema.n_columns or missing.shape != (schema.n_columns,) or missing.dtype != bool:
            raise ValueError("a coder whose cuts do not fit its columns")
        if any(c.dtype != np.float64 or c.ndim != 1 or not (np.diff(c) > 0).all() for c in cuts):
            raise ValueError("a coder whose cut points do not rise")
        sizes = np.ones(schema.n_columns, int)
        sizes[schema.discrete] = schema.n_levels
        seen = tuple(tree["seen"])
        if [(s.dtype, s.shape) for s in seen] != [(np.dtype(bool), (size,)) for size in sizes]:
            raise ValueError("a coder whose levels do not fit its columns")
        if any(len(cuts[j]) for j in schema.discrete) or any(len(cuts[j]) and not seen[j] for j in schema.numeric):
            raise ValueError("a coder with cut points in a column that has no numbers")
        return cls(schema, cuts, missing, seen)


def _ranges(cuts: np.ndarray) -> list[str]:
    """Names of the bins, with as many digits as tell the cuts apart."""
    if not len(cuts):
        return ["any"]
    digits = next(d for d in range(6, 18) if d == 17 or len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts))
    texts = [f"{cut:.{digits}g}" for cut in cuts]
    return [f"<= {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"> {texts[-1]}"]
