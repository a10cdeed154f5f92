"""What was learnt of a table's columns: names, kinds, levels, centre and scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.data.cells import Level
from partita.data.kinds import DISCRETE

if TYPE_CHECKING:
    from partita.data.table import Table


@dataclass(frozen=True)
class Column:
    """One column.

    name            the caller's name, or the position (an int) where there is none.
    kind            "binary", "categorical", "count" or "real".
    levels          what code 0, 1, ... of a binary or categorical column stands for; empty for the others.
    centre, scale   a real cell x is kept as (x - centre) / scale; 0 and 1 for the other kinds.
    observed        whether a single cell was; a column of holes says nothing and keeps its place.
    origin          how the cells were given: "bool", "int", "float", "text", "category", "mixed" or "empty".
    """

    name: str | int
    kind: str
    levels: tuple[Level, ...] = ()
    centre: float = 0.0
    scale: float = 1.0
    origin: str = "float"
    observed: bool = True


@dataclass(frozen=True)
class Schema:
    """All columns, in the caller's order.

    named       whether the names are all strings of the caller's.
    container   what the table came in: "numpy", "pandas" or "polars".
    """

    columns: tuple[Column, ...]
    named: bool = False
    container: str = "numpy"

    @cached_property
    def names(self) -> tuple[str | int, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        return tuple(column.kind for column in self.columns)

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @cached_property
    def discrete(self) -> np.ndarray:
        """Positions of the binary and categorical columns, in column order: the columns of `Table.codes`."""
        return np.array([i for i, kind in enumerate(self.kinds) if kind in DISCRETE], dtype=np.intp)

    @cached_property
    def numeric(self) -> np.ndarray:
        """Positions of the count and real columns, in column order: the columns of `Table.reals`."""
        return np.array([i for i, kind in enumerate(self.kinds) if kind not in DISCRETE], dtype=np.intp)

    @cached_property
    def n_levels(self) -> np.ndarray:
        """(n_discrete,) int32 number of levels; a binary column has 2 even where one of them never occurred."""
        sizes = [2 if c.kind == "binary" else max(len(c.levels), 1) for c in self.columns if c.kind in DISCRETE]
        return np.array(sizes, dtype=np.int32)

    @cached_property
    def centres(self) -> np.ndarray:
        """(n_numeric,) centre of each count and real column."""
        return np.array([self.columns[i].centre for i in self.numeric], dtype=np.float64)

    @cached_property
    def scales(self) -> np.ndarray:
        """(n_numeric,) scale of each count and real column."""
        return np.array([self.columns[i].scale for i in self.numeric], dtype=np.float64)

    def label(self, position: int) -> str:
        """The column as a message names it: "column 'age'" or "column 3"."""
        return f"column {self.columns[position].name!r}"

    def log_jacobian(self, table: Table) -> np.ndarray:
        """(n,) sum over the observed real cells of -log(scale).

        Added to a log density of the scaled cells it gives the log density of the caller's cells in their own units.
        """
        logs = -np.log(self.scales)  # zero for counts: they are not scaled
        used = np.flatnonzero(logs)
        return ~np.isnan(table.reals[:, used]) @ logs[used]

    def to_tree(self) -> dict[str, Any]:
        """A dict that JSON can hold; `from_tree` gives the same schema back, exactly."""
        columns = [asdict(column) | {"levels": list(column.levels)} for column in self.columns]
        return {"columns": columns, "named": self.named, "container": self.container}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Schema:
        columns = tuple(Column(**{**fields, "levels": tuple(fields["levels"])}) for fields in tree["columns"])
        return cls(columns, bool(tree["named"]), str(tree["container"]))
