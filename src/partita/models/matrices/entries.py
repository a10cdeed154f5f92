"""The observed cells of a matrix with holes, twice: in row order and in column order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Entries:
    """I rows, J columns, m observed cells. An empty row or column is fine; a cell given twice counts as two.

    first_in_row       int64 (I + 1,): the cells of row i are first_in_row[i] : first_in_row[i + 1]
    row, column        int32 (m,), row order (columns ascend within a row)
    values             float64 (m,), row order: reals, codes 0..L-1 of levels, or successes
    first_in_column    int64 (J + 1,)
    row_by_column      int32 (m,), column order (rows ascend within a column)
    place              int64 (m,): where the p-th cell in column order stands in row order
    values_by_column   float64 (m,): values[place], kept since a gather through `place` would miss the cache every time
    trials             float64 (m,), row order, of a binomial link; else None
    """

    n_rows: int
    n_columns: int
    first_in_row: np.ndarray
    row: np.ndarray
    column: np.ndarray
    values: np.ndarray
    first_in_column: np.ndarray
    row_by_column: np.ndarray
    place: np.ndarray
    values_by_column: np.ndarray
    trials: np.ndarray | None = None

    @classmethod
    def of(
        cls, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, n_rows: int, n_columns: int,
        trials: np.ndarray | None = None,
    ) -> Entries:  # fmt: skip
        """Cells in any order; indices within 0..n_rows-1 and 0..n_columns-1."""
        rows, columns = np.asarray(rows, np.int32), np.asarray(columns, np.int32)
        assert len(rows) == len(columns) == len(values), "one row, one column and one value per cell"
        assert not len(rows) or (rows.min() >= 0 and rows.max() < n_rows), "a row index is out of range"
        assert not len(rows) or (columns.min() >= 0 and columns.max() < n_columns), "a column index is out of range"
        order = np.lexsort((columns, rows))
        row, column = rows[order], columns[order]
        numbers = np.asarray(values, np.float64)[order]
        place = np.argsort(column, kind="stable")
        return cls(
            int(n_rows), int(n_columns), _firsts(row, n_rows), row, column, numbers, _firsts(column, n_columns),
            row[place], place.astype(np.int64), numbers[place],
            None if trials is None else np.asarray(trials, np.float64)[order],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.values)

    @property
    def row_counts(self) -> np.ndarray:
        """(I,) observed cells of every row."""
        return np.diff(self.first_in_row)

    @property
    def column_counts(self) -> np.ndarray:
        """(J,) observed cells of every column."""
        return np.diff(self.first_in_column)

    def by_column(self, x: np.ndarray) -> np.ndarray:
        """Numbers of cells (m,) from row order into column order."""
        return self.values_by_column if x is self.values else x[self.place]

    def to_tree(self) -> dict[str, Any]:
        return {
            "n_rows": self.n_rows, "n_columns": self.n_columns, "row": self.row, "column": self.column,
            "values": self.values, "trials": self.trials,
        }  # fmt: skip

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Entries:
        return cls.of(tree["row"], tree["column"], tree["values"], tree["n_rows"], tree["n_columns"], tree["trials"])


def _firsts(index: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(index, minlength=n))]).astype(np.int64)
