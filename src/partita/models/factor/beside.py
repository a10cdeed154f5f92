"""Columns beside the real ones in the form with factor analysers: levels and counts, and what experts see of them.

Given its component such a cell is independent of everything else, as in the form with full covariances; an expert sees
[b o s; features; 1]. A cell that a labelled row misses has q(cell | z) of its own (`gated.guess`), with the factors in
the place of the Gaussian columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...kernels.contract import Rows
from ..gated.cells import CellColumn
from ..gated.guess import Guesses
from ..gated.rows import View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Beside:
    """Of n rows: cells (D, n) of the columns, -1 where missing; features (n, d), 0 for a missing cell, the last of them
    1; holes: column and rows of missing cells that an expert needs."""

    columns: tuple[CellColumn, ...]
    levels: NDArray[np.int64]
    features: Array
    holes: list[tuple[int, NDArray[np.intp]]] = field(default_factory=list)

    @classmethod
    def of(cls, columns: tuple[CellColumn, ...], rows: Rows, label: NDArray[np.integer] | None = None) -> Beside:
        n = len(rows)
        levels = np.array([column.cells(rows) for column in columns], np.int64).reshape(len(columns), n)
        shown = [column.look(cells) for column, cells in zip(columns, levels, strict=True)]
        holes = []
        if label is not None:
            holes = [(j, np.flatnonzero((cells < 0) & (label >= 0))) for j, cells in enumerate(levels)]
        kept = [(j, places) for j, places in holes if len(places)]
        return cls(columns, levels, np.concatenate([*shown, np.ones((n, 1))], axis=1), kept)

    @classmethod
    def nothing(cls, n: int) -> Beside:
        return cls((), np.zeros((0, n), np.int64), np.ones((n, 1)))

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    def spans(self) -> list[slice]:
        """The place of every column among the features."""
        ends = np.cumsum([0, *(column.n_features for column in self.columns)]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def first_cells(self, weight: Array) -> list[Array]:
        """Posteriors of the columns from rows that belong to components with `weight` (n, H)."""
        return [column.prior + column.statistics(weight, self.levels[j]) for j, column in enumerate(self.columns)]

    def first_guesses(self, cells: list[Array]) -> list[Array]:
        """(H, holes, groups of levels) of every column with holes, by the gates alone."""
        out = []
        for j, places in self.holes:
            table = self.columns[j].grouped(self.columns[j].probabilities(cells[j]))
            out.append(np.repeat(table[:, None], len(places), axis=1))
        return out

    def log_gate(self, cells: list[Array], tables: list[Array], rows: slice) -> Array:
        """Expected log probability of the observed cells of some rows, (b, H)."""
        parts = [
            column.expected_log(table, posterior, self.levels[j, rows])
            for j, (column, table, posterior) in enumerate(zip(self.columns, tables, cells, strict=True))
        ]
        return sum(parts[1:], parts[0])

    def tables(self, cells: list[Array]) -> list[Array]:
        return [column.expected_log_table(post) for column, post in zip(self.columns, cells, strict=True)]

    def log_predictive(self, cells: list[Array]) -> Array:
        """Predictive log probability of the observed cells of all rows, (n, H)."""
        parts = [
            column.log_predictive(posterior, self.levels[j])
            for j, (column, posterior) in enumerate(zip(self.columns, cells, strict=True))
        ]
        return sum(parts[1:], parts[0])

    def expected_features(
        self, cells: list[Array], h: int, rows: slice
    ) -> tuple[Array, list[tuple[NDArray[np.intp], slice, Array]]]:
        """What the expert of component h expects to see of rows, (b, d); and of every column with missing cells the
        rows, the place among the features and their covariance."""
        looks, doubts = self.features[rows].copy(), []
        for j, (column, span) in enumerate(zip(self.columns, self.spans(), strict=True)):
            hidden = np.flatnonzero(self.levels[j, rows] < 0)
            if len(hidden):
                table = column.probabilities(cells[j][h : h + 1])[0]
                mean = table @ column.features
                looks[hidden, span] = mean
                covariance = (column.features * table[:, None]).T @ column.features - np.outer(mean, mean)
                doubts.append((hidden, span, covariance))
        return looks, doubts


@dataclass
class _Now:
    """What guesses ask: of the experts M (H, F, F) sum of <ww'> and w (H, C, F), of the columns tables of expected log
    probabilities and the posteriors behind them."""

    M: Array
    w: Array
    tables: list[Array]
    cells: list[Array]

    @property
    def n_components(self) -> int:
        return len(self.w)


@dataclass
class _Part:
    """Rows as guesses see a block."""

    features: Array
    holes: list[tuple[int, NDArray[np.intp]]]

    def __len__(self) -> int:
        return len(self.features)


@dataclass
class _Products:
    cells: list[Array]
    products: Array


class Hidden:
    """Guessed cells of a block of rows; `tables` (H, cells, G) of the whole table change in place.

    looks   (H, b, d) expected features, or (1, b, d) where no cell is guessed
    """

    def __init__(self, beside: Beside, rows: slice, tables: list[Array], now: _Now, n_active: int):
        features = beside.features[rows]
        self.now: Any = now
        part = _Part(features, [])
        mine = []
        for (j, places), table in zip(beside.holes, tables, strict=True):
            first, last = np.searchsorted(places, [rows.start, rows.start + len(features)])
            if last > first:
                part.holes.append((j, places[first:last] - rows.start))
                mine.append(table[:, first:last])
        self.part: Any = part
        self.guesses: Guesses | None = None
        if mine:
            nowhere: Any = None  # guesses ask a view for its columns and its width only
            view = View(nowhere, np.arange(n_active), (), beside.columns, ())
            self.guesses = Guesses(view, cast(Any, part), mine)

    @property
    def looks(self) -> Array:
        return self.part.features[None] if self.guesses is None else self.guesses.looks

    def update(self, t: Array, s: Array) -> None:
        """One turn of every cell, given <t> (b, H, C) and <s> (b, H, T)."""
        assert self.guesses is not None
        self.guesses.update(self.part, self.now, t, np.moveaxis(s, 1, 2))

    def log_weight(self) -> Array:
        assert self.guesses is not None
        return self.guesses.log_weight(self.part, self.now)

    def add(self, r: Array, cells: list[Array], products: Array) -> None:
        """Add the guessed cells, with responsibilities r (b, H), to the columns' statistics and to the products of
        features (H, d, d)."""
        if self.guesses is None:
            return
        f = self.now.w.shape[2]
        sums: Any = _Products(cells, np.zeros((len(products), f, f)))
        self.guesses.add(self.part, self.now, r, sums)
        d = products.shape[1]
        products += sums.products[:, f - d :, f - d :]


def make_now(
    weight: Array, square: Array, used: Array, pairs: Array, tables: list[Array], cells: list[Array]
) -> _Now:
    """From means (H, C, F) and summed second moments (H, F, F) of w, and those of b."""
    t, f = used.shape[1], weight.shape[2]
    on = np.ones((len(used), f))
    on[:, :t] = used
    both = on[:, :, None] * on[:, None, :]
    both[:, :t, :t] = pairs
    return _Now(square * both, weight * on[:, None, :], tables, cells)
