"""Which pairs to scan where there are more than may be: all of them are looked at first, in some of the rows.

Columns that act only together say nothing alone, so a screen of single columns would lose them. A first look at every
pair in a part of the rows costs as much as the scan that follows: its share of the rows is that of the pairs that may
be scanned. Where the share would leave too few rows, or the pairs are too many to be listed, columns are left out
before that, those with the smallest parameters of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .search import Field, all_pairs, fitted_dimensions, scan

LEAST_ROWS = 200  # of a first look: fewer would choose pairs by chance
MOST_PAIRS = 4_000_000  # of a first look
NOTHING = -np.inf  # threshold of a look that wants the gain of every pair


@dataclass
class Screened:
    """Pairs to scan, pairs that were looked at in some rows only, columns that were not looked at."""

    pairs: np.ndarray  # int32 (m, 2)
    left: np.ndarray  # int32 (., 2)
    columns: np.ndarray
    n_rows: int  # of the first look


def screen_pairs(
    field: Field, columns: np.ndarray, size: np.ndarray, max_cells: int, limit: int, rng: np.random.Generator
) -> Screened:
    """At most `limit` pairs of the columns; `size` is that of each column's own parameters."""
    n = len(field.moments)
    kept = _room(n, size, limit)
    dropped = np.delete(columns, kept)
    pairs = all_pairs(columns[kept], field.levels, max_cells)
    if len(pairs) <= limit:
        return Screened(pairs, pairs[:0], dropped, n)
    gain, n_rows = _first_look(field, pairs, limit, rng)
    best = np.argsort(-gain, kind="stable")
    return Screened(pairs[np.sort(best[:limit])], pairs[best[limit:]], dropped, n_rows)


def best_pair_of_each(
    field: Field, columns: np.ndarray, size: np.ndarray, max_cells: int, limit: int, rng: np.random.Generator
) -> np.ndarray:
    """For each column the largest gain, at first look, of a pair with it; -inf where it was not looked at."""
    pairs = all_pairs(columns[_room(len(field.moments), size, limit)], field.levels, max_cells)
    out = np.full(len(field.levels), -np.inf)
    if len(pairs):
        gain, _ = _first_look(field, pairs, limit, rng)
        for side in pairs.T:
            np.maximum.at(out, side, gain)
    return out[columns]


def _room(n_rows: int, size: np.ndarray, limit: int) -> np.ndarray:
    """Positions of the columns whose pairs can be looked at."""
    most = min(MOST_PAIRS, max(limit, limit * n_rows // LEAST_ROWS))
    return np.sort(np.argsort(-size, kind="stable")[: int((1 + math.isqrt(1 + 8 * most)) // 2)])


def _first_look(field: Field, pairs: np.ndarray, limit: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Gains of all pairs in some of the rows, and how many rows."""
    n = len(field.moments)
    rows = np.sort(rng.choice(n, min(n, max(LEAST_ROWS, limit * n // len(pairs))), replace=False))
    some = Field(
        np.ascontiguousarray(field.columns[:, rows]), field.levels, np.ascontiguousarray(field.moments[rows]),
        field.n_jobs, field.stop,
    )  # fmt: skip
    return scan(some, pairs, fitted_dimensions(pairs, field.levels, set()), NOTHING).gain, len(rows)
