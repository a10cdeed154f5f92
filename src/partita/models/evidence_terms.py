"""What every region adds to the logits of new rows, cells that are not known averaged over the training frequencies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .evidence_design import place_cells, region_codes, region_size


def level_frequencies(codes: np.ndarray, levels: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """Share of every level of every column."""
    total = weight.sum()
    return [np.bincount(codes[:, j], weight, int(levels[j])) / total for j in range(codes.shape[1])]


class RegionRows:
    """Where the rows of a table fall in one region; found once, used by every stage that has the region."""

    def __init__(self, codes: np.ndarray, levels: np.ndarray, region: Sequence[int], seen: np.ndarray) -> None:
        self.region, self.levels, self.seen, self.codes = list(region), levels, seen, codes
        self.cells = place_cells(seen, region_codes(codes, levels, region), region_size(levels, region))
        self.unknown = codes[:, self.region] < 0
        self.holes = np.flatnonzero(self.unknown.any(axis=1))

    def terms(self, w: np.ndarray, frequency: Sequence[np.ndarray]) -> np.ndarray:
        """(n, K) from the parameters (cells, K) of the region. A cell not seen in training adds nothing: the mean of
        its prior."""
        out = np.vstack([w, np.zeros((1, w.shape[1]))])[self.cells]
        if len(self.holes):
            pattern = self.unknown[self.holes] @ (1 << np.arange(len(self.region)))
            for p in np.unique(pattern):
                rows = self.holes[pattern == p]
                out[rows] = self._averaged(rows, self.unknown[rows[0]], w, frequency)
        return out

    def _averaged(self, rows: np.ndarray, unknown: np.ndarray, w: np.ndarray, frequency) -> np.ndarray:
        """Rows with the same unknown attributes M: the mean of w over the levels of M, independent of each other."""
        rest, share, code, step = self.seen, np.ones(len(self.seen)), np.zeros(len(self.seen), np.int64), 1
        wanted = np.zeros(len(rows), np.int64)
        for j, hidden in zip(reversed(self.region), unknown[::-1], strict=True):
            rest, level = np.divmod(rest, int(self.levels[j]))
            if hidden:
                share = share * frequency[j][level]
            else:
                code += level * step
                wanted += self.codes[rows, j].astype(np.int64) * step
                step *= int(self.levels[j])
        cells, index = np.unique(code, return_inverse=True)
        table = np.zeros((len(cells) + 1, w.shape[1]))
        np.add.at(table, index, share[:, None] * w)
        return table[place_cells(cells, wanted, np.inf)]
