"""Rows of levels with holes, of one table or of several whose columns are nodes of one problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import NetData


@dataclass
class Rows:
    """The table: codes (N, n), -1 where a cell is missing."""

    codes: np.ndarray
    levels: np.ndarray
    bdeu: bool
    pseudo: float
    holes: np.ndarray = field(init=False)  # int32 (m, 2), row and column of every missing cell

    def __post_init__(self) -> None:
        self.holes = np.argwhere(self.codes < 0).astype(np.int32)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Missing cells drawn from the observed ones of their column."""
        cells = np.zeros(len(self.holes), np.int32)
        for j in np.unique(self.holes[:, 1]):
            seen, here = self.codes[self.codes[:, j] >= 0, j], self.holes[:, 1] == j
            drawn = rng.integers(0, self.levels[j], int(here.sum()))
            cells[here] = rng.choice(seen, int(here.sum())) if len(seen) else drawn
        return cells

    def filled(self, cells: np.ndarray) -> np.ndarray:
        codes = self.codes.copy()
        codes[self.holes[:, 0], self.holes[:, 1]] = cells
        return codes

    def refill(self, rng: np.random.Generator, cells: np.ndarray, graph: np.ndarray) -> None:
        """The missing cells drawn anew given the graph; `cells` is changed."""
        codes = self.filled(cells)
        order = rng.permutation(len(cells))
        kernel.net_fill(
            codes, self.levels, np.ascontiguousarray(graph), self.bdeu, self.pseudo,
            np.ascontiguousarray(self.holes[order]), rng.random(len(cells)),
        )  # fmt: skip
        cells[:] = codes[self.holes[:, 0], self.holes[:, 1]]

    def data(self, codes: np.ndarray) -> NetData:
        return NetData.of(codes, self.levels, self.bdeu, self.pseudo)


class Sheets:
    """Tables side by side: their columns follow one another as nodes, their missing cells as one list."""

    def __init__(self, parts: Sequence[Rows]):
        self.parts = list(parts)
        self.first = np.cumsum([0, *(part.codes.shape[1] for part in parts)]).astype(np.int32)
        self.first_cell = np.cumsum([0, *(len(part.holes) for part in parts)])

    @property
    def n_holes(self) -> int:
        return int(self.first_cell[-1])

    def nodes(self, t: int) -> slice:
        return slice(int(self.first[t]), int(self.first[t + 1]))

    def cells(self, t: int) -> slice:
        return slice(int(self.first_cell[t]), int(self.first_cell[t + 1]))

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([part.start(rng) for part in self.parts])

    def data(self, cells: np.ndarray) -> list[NetData]:
        """Every table with these numbers in its missing cells."""
        return [part.data(part.filled(cells[self.cells(t)])) for t, part in enumerate(self.parts)]

    def refill(self, rng: np.random.Generator, cells: np.ndarray, graph: np.ndarray) -> None:
        """Missing cells drawn anew given the graph; `cells` is changed."""
        for t, part in enumerate(self.parts):
            if len(part.holes):
                part.refill(rng, cells[self.cells(t)], graph[self.nodes(t), self.nodes(t)])
