"""Which regions to add: evidence gains of candidates with the fitted model held, no refits.

Gains come from one pass over the rows per candidate (`scan_regions`); candidates are cut into parts that threads take
in turn, and each is scored alone, so their number changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ...kernels import kernel

GRID = np.array([0.02, 0.1, 0.5, 2.5, 12.0])  # prior variances that a region's gain is maximised over
CHANCE = 0.1  # measured on noise, two classes: .02 to .11 for t in 1 to 4, attributes of 2 to 5 levels
WORK_AT_A_TIME = 15_000_000  # additions of one call of the kernel, about 50 ms


class Halted(Exception):
    """A search was stopped between two calls of the kernel."""


def never() -> bool:
    return False


@dataclass
class Field:
    """What the search looks at: the codes, column by column, and the moments of a fitted stage."""

    columns: np.ndarray  # int32 (d, n)
    levels: np.ndarray  # int32 (d,)
    moments: np.ndarray  # float64 (n, 2 K): a (y - p), a p (1 - p)
    n_jobs: int = 1
    stop: Callable[[], bool] = never  # asked between calls of the kernel

    @property
    def share(self) -> float:
        """K logits of K classes have K - 1 free directions."""
        k = self.moments.shape[1] // 2
        return 1.0 if k == 1 else (k - 1) / k


@dataclass
class Gains:
    regions: np.ndarray  # int32 (m, order)
    gain: np.ndarray  # (m,); -1: at most the threshold of the scan
    occupied: np.ndarray  # int32 (m,) cells
    variance: np.ndarray  # (m,) the best of the grid
    n_looked: int  # regions that these were chosen from

    def chosen(self, threshold: float, budget: float) -> dict[tuple[int, ...], float]:
        """Regions with more gain than the threshold, best first, while their cells fit the budget; their variances."""
        out, used = {}, 0
        for c in np.argsort(-self.gain, kind="stable"):
            if self.gain[c] <= threshold:
                break
            if used + self.occupied[c] <= budget:
                used += int(self.occupied[c])
                out[tuple(self.regions[c].tolist())] = float(self.variance[c])
        return out

    def worth_having(self, least: float) -> float:
        """The lowest threshold, not below `least`, above which at most half the regions are expected to be chance.

        Of regions that add nothing to one logit, a share of at most `CHANCE` exp(-t) has a gain above t; the rule is
        that of Benjamini and Hochberg. Without it a wide table of noise yields hundreds of pairs, and leave-one-out
        does not see that they were chosen."""
        ordered = np.sort(self.gain)[::-1]
        expected = CHANCE * self.n_looked * np.exp(-np.maximum(ordered, 0.0))
        kept = np.flatnonzero((ordered > least) & (expected <= 0.5 * np.arange(1, len(ordered) + 1)))
        return float(np.nextafter(ordered[kept[-1]], -np.inf)) if len(kept) else np.inf


def scan(field: Field, regions: np.ndarray, fitted: np.ndarray, threshold: float) -> Gains:
    """Gains of candidate regions (m, order); those that cannot exceed the threshold are only bounded.

    Raises `Halted` when `field.stop` says so."""
    m = len(regions)
    gain, occupied, best = np.empty(m), np.empty(m, np.int32), np.empty(m, np.int32)
    size = max(1, WORK_AT_A_TIME // max(1, field.moments.size))
    parts = [slice(a, a + size) for a in range(0, m, size)]
    regions, fitted = np.ascontiguousarray(regions, np.int32), np.ascontiguousarray(fitted, float)

    def work(part: slice) -> None:
        if field.stop():
            raise Halted
        kernel.scan_regions(
            field.columns, field.levels, regions[part], fitted[part], field.moments, GRID, field.share, threshold,
            gain[part], occupied[part], best[part],
        )  # fmt: skip

    if field.n_jobs == 1 or len(parts) == 1:
        for part in parts:
            work(part)
    else:
        with ThreadPoolExecutor(field.n_jobs) as pool:
            list(pool.map(work, parts))
    return Gains(regions, gain, occupied, GRID[best], m)


def all_pairs(columns: np.ndarray, levels: np.ndarray, max_cells: int) -> np.ndarray:
    """Pairs of the given columns, int32 (m, 2), whose cells are at most `max_cells`."""
    i, j = np.triu_indices(len(columns), 1)
    pairs = np.stack([columns[i], columns[j]], axis=1).astype(np.int32)
    return pairs[np.prod(levels[pairs].astype(float), axis=1) <= max_cells]


def triples_over(pairs: np.ndarray, columns: np.ndarray, levels: np.ndarray, max_cells: int, limit: int):
    """Triples with at least one of the pairs, which come best first, and the pairs that were left for the limit."""
    d = len(levels)
    taken = max(1, limit // max(1, len(columns)))
    pairs, left = pairs[:taken], pairs[taken:]
    triples = np.concatenate([np.repeat(pairs, len(columns), axis=0), np.tile(columns, len(pairs))[:, None]], axis=1)
    triples = np.sort(triples, axis=1).astype(np.int64)
    triples = triples[(triples[:, 0] < triples[:, 1]) & (triples[:, 1] < triples[:, 2])]
    key = np.unique((triples[:, 0] * d + triples[:, 1]) * d + triples[:, 2])
    triples = np.stack([key // d // d, key // d % d, key % d], axis=1)
    return triples[np.prod(levels[triples].astype(float), axis=1) <= max_cells].astype(np.int32), left


def fitted_dimensions(regions: np.ndarray, levels: np.ndarray, pairs: set[tuple[int, ...]]) -> np.ndarray:
    """Dimensions of every candidate that the model has: the constant, the single attributes, the pairs in the model."""
    free = levels[regions] - 1.0
    out = 1.0 + free.sum(axis=1)
    if regions.shape[1] == 3 and pairs:
        d = len(levels)
        keys = np.array(sorted(i * d + j for i, j in pairs), np.int64)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            inside = np.isin(regions[:, a].astype(np.int64) * d + regions[:, b], keys)
            out += free[:, a] * free[:, b] * inside
    return out
