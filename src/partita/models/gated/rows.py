"""Rows as gates and experts see them: the Gaussian block, cells beside it, labels and weights, in blocks.

A block holds rows of one sort (no expert looks at them; one does; one does and has to guess missing cells beside the
Gaussian block), sorted so that rows with the same missing cells stand together and share one factorisation. Statistics
of blocks add up, so memory does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...data.table import Table
from ...kernels.contract import REAL, Rows
from ...kernels.gates_contract import Patterns
from ..lens import Lens, Sight
from .cells import CellColumn, make_column

BLOCK_NUMBERS = 400_000  # rows x columns x components of a block: a few megabytes, which stay in the cache
UNSEEN, SEEN, GUESSED = range(3)  # sorts of rows


@dataclass(frozen=True, eq=False)
class View:
    """Which columns a model looks at, and how.

    lens      the look at the table
    reals     places of the Gaussian columns in the reals of the lens's rows, and their positions in the table
    cells     the columns beside them; cell_sights are where they come from
    """

    lens: Lens
    reals: np.ndarray
    real_sights: tuple[Sight, ...]
    cells: tuple[CellColumn, ...]
    cell_sights: tuple[Sight, ...]

    @property
    def width(self) -> int:
        """P, the number of Gaussian columns."""
        return len(self.reals)

    @property
    def n_features(self) -> int:
        """What an expert sees: the Gaussian columns, features of the others, and 1."""
        return self.width + sum(column.n_features for column in self.cells) + 1

    def spans(self) -> Iterator[tuple[CellColumn, slice]]:
        """Every column beside the block with its place among the features behind the Gaussian columns."""
        first = 0
        for column in self.cells:
            yield column, slice(first, first + column.n_features)
            first += column.n_features


def make_view(
    lens: Lens, rows: Rows, weight: np.ndarray, prior_rows: float, chosen: np.ndarray | None = None
) -> View:
    """The view of all columns, or of those at positions `chosen` of the table; priors beside the block from `rows`."""
    wanted = None if chosen is None else set(chosen.tolist())
    reals, real_sights, cells, cell_sights = [], [], [], []
    for sight, source in zip(lens.sights, lens.layout.source.tolist(), strict=True):
        if wanted is not None and sight.column not in wanted:
            continue
        if sight.kind == REAL:
            reals.append(source)
            real_sights.append(sight)
        else:
            cells.append(make_column(sight, source, rows, weight, prior_rows))
            cell_sights.append(sight)
    return View(lens, np.array(reals, np.intp), tuple(real_sights), tuple(cells), tuple(cell_sights))


@dataclass(eq=False)
class Block:
    """Some rows of one sort.

    index      (b,) their places among the rows they were made from
    x          (b, P) Gaussian cells, 0 where missing; `patterns` says which are
    missing    (b,) how many are missing
    levels     (D, b) cells of the other columns, -1 where missing
    features   (b, C) features behind the Gaussian columns, the last of them 1; those of a missing cell are 0
    label      (b,) class, -1 for none
    weight     (b,)
    """

    sort: int
    index: np.ndarray
    x: np.ndarray
    patterns: Patterns
    missing: np.ndarray
    levels: np.ndarray
    features: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    holes: list[tuple[int, np.ndarray]] = field(default_factory=list)  # GUESSED: column, places of its missing cells

    def __len__(self) -> int:
        return len(self.index)


def make_blocks(
    view: View, table: Table | Rows, label: np.ndarray, weight: np.ndarray, n_components: int, experts: bool
) -> list[Block]:
    """The rows in blocks; where there are no `experts`, all rows are of the sort that no expert looks at."""
    rows = view.lens.rows(table) if isinstance(table, Table) else table
    x = np.ascontiguousarray(rows.reals[:, view.reals])
    levels = np.array([column.cells(rows) for column in view.cells], np.int64).reshape(len(view.cells), len(x))
    sort = np.full(len(x), UNSEEN)
    if experts:
        sort[label >= 0] = SEEN
        sort[(label >= 0) & (levels < 0).any(axis=0)] = GUESSED
    return blocks_of(view, x, levels, sort, label, weight, n_components)


def blocks_of(
    view: View, x: np.ndarray, levels: np.ndarray, sort: np.ndarray, label: np.ndarray, weight: np.ndarray,
    n_components: int,
) -> list[Block]:  # fmt: skip
    """Rows of known sorts in blocks: Gaussian cells x (n, P), NaN where missing, and those beside, levels (D, n)."""
    hidden = np.isnan(x)
    largest = max(32, BLOCK_NUMBERS // max(n_components * max(view.width, 1), 1))
    blocks = []
    for kind in np.unique(sort):
        mine = np.flatnonzero(sort == kind)
        order, patterns = Patterns.of(hidden[mine])
        mine = mine[order]
        for begin in range(0, len(mine), largest):
            index = mine[begin : begin + largest]
            own = patterns.rows(begin, begin + len(index))
            blocks.append(_block(view, int(kind), index, own, x[index], levels[:, index], label[index], weight[index]))
    return blocks


def _block(
    view: View, sort: int, index: np.ndarray, patterns: Patterns, x: np.ndarray, levels: np.ndarray,
    label: np.ndarray, weight: np.ndarray,
) -> Block:  # fmt: skip
    hidden = np.isnan(x)
    shown = [column.look(levels[j]) for j, column in enumerate(view.cells)]
    holes = []
    if sort == GUESSED:
        holes = [(j, np.flatnonzero(row < 0)) for j, row in enumerate(levels) if (row < 0).any()]
    features = np.concatenate([*shown, np.ones((len(index), 1))], axis=1)
    filled = np.where(hidden, 0.0, x)
    levels = np.ascontiguousarray(levels)
    return Block(sort, index, filled, patterns, hidden.sum(axis=1), levels, features, label, weight, holes)
