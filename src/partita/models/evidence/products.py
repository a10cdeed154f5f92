"""Which products of numeric columns to use where all are too many: those with the most evidence gain over the slopes.

The gain of a product z with the fitted model held is that of a region with one cell (`evidence.search`),

    max over v of 1/2 sum over logits of [g^2 / (h + 1/v) - rho log(1 + v h)],    g = z'(y - p), h = z' W z,

and all of them are products of matrices: g is an entry of F' R F, h comes from F'' W F'' (F'' the squares) and F' W F.
"""

from __future__ import annotations

import math

import numpy as np

from .numerics import LEAST_SPREAD, Numerics
from .search import GRID, Field, Gains


def promising_products(
    numerics: Numerics, reals: np.ndarray, weight: np.ndarray, size: np.ndarray, field: Field, least: float,
    limit: int, budget: float,
) -> np.ndarray:  # fmt: skip
    """Pairs (m, 2) of columns whose products have more gain than `least`, best first, at most `budget`; with one logit
    at most half of them by chance, with more, where the share of chance is not known, those with a gain beyond the log
    of their number. No more than `limit` products are looked at: those of the columns with the largest `size`."""
    room = (math.isqrt(1 + 8 * limit) - 1) // 2
    kept = np.sort(np.argsort(-size, kind="stable")[:room])
    factor = np.ascontiguousarray(numerics.factors(reals)[0][:, kept])
    i, j = np.triu_indices(len(kept))
    gain, best = _gains(factor, weight / weight.sum(), field, i, j)
    pairs = np.stack([kept[i], kept[j]], axis=1)
    found = Gains(pairs, gain, np.ones(len(pairs), np.int32), GRID[best], len(pairs))
    one_logit = field.moments.shape[1] == 2
    chosen = found.chosen(found.worth_having(least) if one_logit else math.log(len(pairs) + 1), budget)
    return np.array(sorted(chosen), np.int32).reshape(-1, 2)


def _gains(
    factor: np.ndarray, share: np.ndarray, field: Field, i: np.ndarray, j: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gain of every product, and which variance of the grid is best."""
    squares = factor * factor

    def sums(x: np.ndarray, of_row: np.ndarray) -> np.ndarray:
        return ((x * of_row[:, None]).T @ x)[i, j]

    mean = sums(factor, share)
    spread = np.sqrt(np.maximum(sums(squares, share) - mean**2, 0.0)) + LEAST_SPREAD
    n_logits = field.moments.shape[1] // 2
    gains = np.zeros((len(GRID), len(i)))
    for k in range(n_logits):
        pull, information = field.moments[:, k], field.moments[:, n_logits + k]
        g = (sums(factor, pull) - mean * pull.sum()) / spread
        h = sums(squares, information) - 2 * mean * sums(factor, information) + mean**2 * information.sum()
        h = np.maximum(h, 0.0) / spread**2
        for row, v in zip(gains, GRID, strict=True):
            row += 0.5 * (g**2 / (h + 1 / v) - field.share * np.log1p(v * h))
    best = gains.argmax(axis=0)
    return gains[best, np.arange(len(i))], best
