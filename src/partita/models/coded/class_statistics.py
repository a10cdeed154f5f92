"""Sufficient statistics of every column in every class: sums over rows, so parts of a table add up to the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln

from ...data.kinds import DISCRETE
from ...data.schema import Column, Schema
from ...data.table import Table
from ...kernels import kernel

ROWS_AT_A_TIME = 1 << 18  # a part of a call's length


@dataclass(eq=False)
class ClassStatistics:
    """C classes, the columns of a schema.

    class_weight    (C,) weight of the rows of each class.
    counts          for each binary and categorical column (levels, C): weight of the rows at each level.
    sums            (C, numeric columns, 3): weight, sum and sum of squares of the observed cells, in the units of the
                    table, less `offset`.
    offset          (numeric columns,) a number near the cells of a count column, so that squares lose nothing; 0 for
                    real columns, which are centred already.
    log_factorials  (C, numeric columns): sum of log x! over a count column.
    tails           (numeric columns, 2): sums of third and of fourth powers over all classes, as `sums` less `offset`.
    """

    class_weight: np.ndarray
    counts: list[np.ndarray]
    sums: np.ndarray
    offset: np.ndarray
    log_factorials: np.ndarray
    tails: np.ndarray

    @classmethod
    def nothing(cls, schema: Schema, n_classes: int) -> ClassStatistics:
        counts, d = [np.zeros((k, n_classes)) for k in schema.n_levels], len(schema.numeric)
        return cls(
            np.zeros(n_classes), counts, np.zeros((n_classes, d, 3)), np.zeros(d), np.zeros((n_classes, d)),
            np.zeros((d, 2)),
        )  # fmt: skip

    def add(self, table: Table, label: np.ndarray, weight: np.ndarray) -> None:
        """Count more rows, each `weight` times; missing cells and rows without a label add nothing."""
        n_classes, reals = len(self.class_weight), self._less_offset(table, label, weight)
        sizes = [counts.size for counts in self.counts]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        flat = np.concatenate([counts.ravel() for counts in self.counts]) if self.counts else np.zeros(0)
        for start in range(0, len(table), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            kernel.class_statistics(
                table.codes[rows], reals[rows], label[rows], weight[rows], n_classes, first[:-1].copy(), flat,
                self.sums,
            )  # fmt: skip
            known = weight[rows, None] * (label[rows, None] >= 0)
            cells = np.nan_to_num(reals[rows])
            cubes = known * cells**3
            self.tails += np.stack([cubes.sum(axis=0), (cubes * cells).sum(axis=0)], axis=1)
        self.counts = [flat[a:b].reshape(-1, n_classes) for a, b in pairwise(first)]
        self.class_weight += np.bincount(label[label >= 0], weight[label >= 0], minlength=n_classes)

    def _less_offset(self, table: Table, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The numbers less their offset, which the first cells decide; adds the factorials of counts on the way."""
        reals = table.reals
        for j, position in enumerate(table.schema.numeric):
            if table.schema.kinds[position] != "count":
                continue
            seen = np.flatnonzero(~np.isnan(table.reals[:, j]) & (label >= 0))
            cells = table.reals[seen, j]
            if len(seen) and not self.sums[:, j, 0].any():
                self.offset[j] = np.rint(cells.mean())
            logs = weight[seen] * gammaln(cells + 1.0)
            self.log_factorials[:, j] += np.bincount(label[seen], logs, minlength=len(self.class_weight))
            if self.offset[j]:
                reals = reals.copy() if reals is table.reals else reals
                reals[:, j] -= self.offset[j]
        return reals

    def totals(self, j: int) -> np.ndarray:
        """(C, 3) weight, sum and sum of squares of numeric column j as the table has it, without an offset."""
        n, summed, squares = self.sums[:, j].T
        shift = self.offset[j]
        return np.stack([n, summed + shift * n, squares + 2 * shift * summed + shift**2 * n], axis=1)

    def kurtosis(self, j: int) -> float:
        """Fourth central moment of column j over the square of its variance: 3 for a normal law, 0 for a constant."""
        n = float(self.sums[:, j, 0].sum())
        if not n > 0:
            return 0.0
        mean, square = (self.sums[:, j, 1:].sum(axis=0) / n).tolist()
        cube, fourth = (self.tails[j] / n).tolist()
        variance = square - mean**2
        return (fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4) / variance**2 if variance > 0 else 0.0

    def _tails_of_table(self, j: int) -> np.ndarray:
        """`tails` of numeric column j as the table has it, without an offset."""
        (n, one, two), (three, four), s = self.sums[:, j].sum(axis=0), self.tails[j], self.offset[j]
        cubes = three + 3 * s * two + 3 * s**2 * one + s**3 * n
        return np.array([cubes, four + 4 * s * three + 6 * s**2 * two + 4 * s**3 * one + s**4 * n])

    def carried(self, old: Schema, new: Schema) -> ClassStatistics:
        """The same rows under a schema that has grown: more levels, or zeros and ones that have become numbers."""
        out = ClassStatistics.nothing(new, len(self.class_weight))
        out.class_weight = self.class_weight.copy()
        for position, (was, now) in enumerate(zip(old.columns, new.columns)):
            if not was.observed:
                continue
            if was.kind not in DISCRETE:
                there, here = _place(old, position), _place(new, position)
                same = was.kind == now.kind
                out.sums[:, here] = self.sums[:, there] if same else self.totals(there)
                out.offset[here] = self.offset[there] if same else 0.0
                out.log_factorials[:, here] = self.log_factorials[:, there]
                out.tails[here] = self.tails[there] if same else self._tails_of_table(there)
                continue
            counts = self.counts[_place(old, position)]
            if now.kind in DISCRETE:
                _put_levels(out.counts[_place(new, position)], counts, was, now)
            else:
                here = _place(new, position)
                out.sums[:, here], out.tails[here] = _sums_of_levels(counts, was, now)
        return out

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> ClassStatistics:
        return cls(**tree)

    def fits(self, schema: Schema, n_classes: int) -> bool:
        """Whether the arrays are those of these columns and classes."""
        blank = ClassStatistics.nothing(schema, n_classes)
        mine, theirs = ([s.class_weight, *s.counts, s.sums, s.offset, s.log_factorials, s.tails] for s in (self, blank))
        return len(mine) == len(theirs) and all(
            isinstance(a, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype and np.isfinite(a).all()
            for a, b in zip(mine, theirs)
        )


def _place(schema: Schema, position: int) -> int:
    """Where a column stands among the discrete or the numeric ones."""
    own = schema.discrete if schema.columns[position].kind in DISCRETE else schema.numeric
    return int(np.searchsorted(own, position))


def _put_levels(to: np.ndarray, counts: np.ndarray, was: Column, now: Column) -> None:
    index = {level: code for code, level in enumerate(now.levels)}
    for level, row in zip(was.levels, counts):
        to[index[level]] = row


def _sums_of_levels(counts: np.ndarray, was: Column, now: Column) -> tuple[np.ndarray, np.ndarray]:
    """(C, 3) and (2,): `sums` and `tails` of a numeric column from the counts of its zeros and ones."""
    values = (np.array([float(level) for level in was.levels]) - now.centre) / now.scale
    counts = counts[: len(values)]
    sums = np.stack([counts.sum(axis=0), values @ counts, values**2 @ counts], axis=1)
    return sums, np.array([values**3 @ counts.sum(axis=1), values**4 @ counts.sum(axis=1)])
