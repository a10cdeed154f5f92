"""The columns of a log-linear model: one block of columns for every region or numeric group.

A block gives each row either a cell, whose columns stand in a small map (regions: one column per cell seen in training;
steps), or its columns themselves (slopes, products). A stage's design is its blocks side by side after the intercept,
as a dense matrix for the rows that variances are learnt from, or by look-ups for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels import kernel

Key = tuple  # a region: its columns; ("slope", i), ("steps", i), ("products",), ("chosen products",): numeric groups
ROWS_AT_A_TIME = 65_536
NUMERIC_ORDER = {"slope": 101, "steps": 102, "products": 103, "chosen products": 103}


def is_region(key: Key) -> bool:
    return not isinstance(key[0], str)


def order_of(key: Key) -> int:
    """Groups of one order share the mean of their variances."""
    return len(key) - 1 if is_region(key) else NUMERIC_ORDER[key[0]]


@dataclass
class Block:
    """The columns of one group; `width` many. `cells` with `map` None: cell c is column c, cell `width` has none."""

    width: int
    cells: np.ndarray | None = None  # int32 (n,)
    map: np.ndarray | None = None  # float64 (cells, width)
    columns: np.ndarray | None = None  # float32 (n, width)

    @property
    def n_cells(self) -> int:
        return self.width + 1 if self.map is None else len(self.map)

    def table(self, w: np.ndarray) -> np.ndarray:
        """What every cell adds to the logits, (cells, K), from the block's parameters (width, K)."""
        if self.map is None:
            return np.vstack([w, np.zeros((1, w.shape[1]))])
        return self.map @ w

    def from_table(self, sums: np.ndarray) -> np.ndarray:
        """The transpose of `table`."""
        return sums[: self.width] if self.map is None else self.map.T @ sums

    def write(self, out: np.ndarray, rows: np.ndarray | slice) -> None:
        """The block's columns of some rows, into a matrix of zeros."""
        if self.columns is not None:
            out[:] = self.columns[rows]
            return
        assert self.cells is not None
        cells = self.cells[rows]
        if self.map is not None:
            out[:] = self.map[cells]
        else:
            seen = np.flatnonzero(cells < self.width)
            out[seen, cells[seen]] = 1.0


def region_codes(codes: np.ndarray, levels: np.ndarray, region: Sequence[int]) -> np.ndarray:
    """The cell of every row in a region, in mixed radix (int64); -1 cells count as level 0."""
    out = np.maximum(codes[:, region[0]], 0).astype(np.int64)
    for j in region[1:]:
        out *= int(levels[j])
        out += np.maximum(codes[:, j], 0)
    return out


def place_cells(seen: np.ndarray, codes: np.ndarray, size: float) -> np.ndarray:
    """Position of every code among the sorted codes `seen`, len(seen) if it is not there; `size` bounds the codes."""
    if size <= 4 * len(codes) + 1024:
        place = np.full(int(size), len(seen), np.int32)
        place[seen] = np.arange(len(seen), dtype=np.int32)
        return place[codes]
    at = np.searchsorted(seen, codes)
    at[at == len(seen)] = 0
    return np.where(seen[at] == codes, at, len(seen)).astype(np.int32)


def region_size(levels: np.ndarray, region: Sequence[int]) -> float:
    return float(np.prod(levels[list(region)].astype(float)))


def region_block(codes: np.ndarray, levels: np.ndarray, region: Sequence[int]) -> tuple[np.ndarray, Block]:
    """The cells seen in training, and the block."""
    if len(region) == 1:
        column = codes[:, region[0]]
        seen = np.flatnonzero(np.bincount(column, minlength=int(levels[region[0]])))
        cells = column if len(seen) == levels[region[0]] else place_cells(seen, column, float(levels[region[0]]))
        return seen, Block(len(seen), cells=np.ascontiguousarray(cells, np.int32))
    code = region_codes(codes, levels, region)
    size = region_size(levels, region)
    if size <= 4 * len(code) + 1024:
        seen = np.flatnonzero(np.bincount(code, minlength=int(size)))
    else:
        seen = np.unique(code)
    return seen, Block(len(seen), cells=place_cells(seen, code, size))


def dense_design(blocks: Sequence[Block], rows: np.ndarray | slice, n_rows: int) -> np.ndarray:
    """float32 (rows, 1 + columns), the intercept first."""
    out = np.zeros((n_rows, 1 + sum(b.width for b in blocks)), np.float32)
    out[:, 0] = 1.0
    first = 1
    for block in blocks:
        block.write(out[:, first : first + block.width], rows)
        first += block.width
    return out


class DenseDesign:
    """Products with a dense design, in single precision."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix, self.transposed = matrix, matrix.T

    def times(self, w: np.ndarray) -> np.ndarray:
        return (self.matrix @ w.astype(np.float32)).astype(np.float64)

    def transposed_times(self, r: np.ndarray) -> np.ndarray:
        return (self.transposed @ r.astype(np.float32)).astype(np.float64)


class LookUpDesign:
    """Products with the design of all rows: one look-up per row and block of cells."""

    def __init__(self, blocks: Sequence[Block], n_rows: int) -> None:
        self.blocks, self.n_rows = blocks, n_rows
        firsts, cells, at = [], [], 0
        for block in blocks:
            firsts.append(at)
            if block.cells is not None:
                cells.append(block.cells + np.int32(at))
                at += block.n_cells
        self.firsts, self.n_cells = firsts, at
        self.cells = np.ascontiguousarray(np.array(cells, np.int32).T) if cells else np.zeros((n_rows, 0), np.int32)

    def _parts(self):
        return (slice(a, a + ROWS_AT_A_TIME) for a in range(0, self.n_rows, ROWS_AT_A_TIME))

    def times(self, w: np.ndarray) -> np.ndarray:
        out = np.tile(w[:1], (self.n_rows, 1))
        table, first = np.zeros((self.n_cells, w.shape[1])), 1
        for block, at in zip(self.blocks, self.firsts, strict=True):
            part = w[first : first + block.width]
            if block.columns is None:
                table[at : at + block.n_cells] = block.table(part)
            else:
                out += block.columns @ part.astype(np.float32)
            first += block.width
        for rows in self._parts():
            kernel.look_up(self.cells[rows], table, out[rows])
        return out

    def transposed_times(self, r: np.ndarray) -> np.ndarray:
        sums = np.zeros((self.n_cells, r.shape[1]))
        for rows in self._parts():
            kernel.tally(self.cells[rows], r[rows], sums)
        out = [r.sum(axis=0)[None, :]]
        for block, at in zip(self.blocks, self.firsts, strict=True):
            if block.columns is None:
                out.append(block.from_table(sums[at : at + block.n_cells]))
            else:
                out.append((block.columns.T @ r.astype(np.float32)).astype(np.float64))
        return np.vstack(out)
