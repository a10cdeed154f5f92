"""Numeric columns as terms of a log-linear model: a slope, steps at quantiles, products of two columns.

A cell missing from a column that had missing cells in training stands at the median (its level "missing" says the
rest); missing from a column that was complete, it is integrated out: terms are put at their training means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

SLOPE_LIMIT, FACTOR_LIMIT, PRODUCT_LIMIT = 4.0, 3.0, 5.0  # standardised values are clipped there
LEAST_SPREAD = 1e-6  # of a product; a smaller one is rounding, since products are of the order of one


def weighted_quantiles(sorted_x: np.ndarray, weight: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Quantiles by linear interpolation between order statistics, a weight of k counting as k equal values."""
    cumulative = np.cumsum(weight)
    position = shares * max(cumulative[-1] - 1.0, 0.0)
    low = np.floor(position)
    # whole weights give whole sums, which rounding must not take across the next value
    last = len(sorted_x) - 1
    below, above = (
        sorted_x[np.minimum(np.searchsorted(cumulative, at + 1e-9 * cumulative[-1], side="right"), last)]
        for at in (low, low + 1.0)
    )
    return below + (position - low) * (above - below)


@dataclass
class Numerics:
    """Constants of the numeric terms, q usable columns, learnt from the training rows."""

    column: np.ndarray  # int32 (q,): the column of `reals`
    had_missing: np.ndarray  # bool (q,)
    middle: np.ndarray  # (q,) median
    mean: np.ndarray  # (q,)
    spread: np.ndarray  # (q,)
    average: np.ndarray  # (q, 3): training means of the clipped slope, the clipped factor and its square
    cut_first: np.ndarray  # int64 (q + 1,): the cuts of column i are `cuts[cut_first[i] : cut_first[i + 1]]`
    cuts: np.ndarray
    above: np.ndarray  # share of training rows above each cut (a missing cell counts half)
    pairs: np.ndarray  # int32 (m, 2): the columns, among the q, of every product that is used
    chosen: np.ndarray  # int32: those of the products that promise most, where all are used though they are many
    product_mean: np.ndarray  # (m,)
    product_spread: np.ndarray

    def __len__(self) -> int:
        return len(self.column)

    @property
    def has_products(self) -> bool:
        return len(self.pairs) > 0

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Numerics:
        return cls(**tree)

    def standardised(self, reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, q) standardised cells, the median where training had missing cells; which cells are integrated out."""
        x = reals[:, self.column]
        missing = np.isnan(x)
        out = (np.where(missing, self.middle, x) - self.mean) / self.spread
        return out, missing & ~self.had_missing

    def slopes(self, reals: np.ndarray) -> np.ndarray:
        x, averaged = self.standardised(reals)
        return np.where(averaged, self.average[:, 0], np.clip(x, -SLOPE_LIMIT, SLOPE_LIMIT))

    def step_cells(self, reals: np.ndarray, i: int) -> np.ndarray:
        """Row of `step_map(i)` of every row: cuts below the cell; then half a step each; last, integrated out."""
        x = reals[:, self.column[i]]
        cuts = self.cuts[self.cut_first[i] : self.cut_first[i + 1]]
        cell = np.searchsorted(cuts, x).astype(np.int32)
        cell[np.isnan(x)] = len(cuts) + (1 if self.had_missing[i] else 2)
        return cell

    def step_map(self, i: int) -> np.ndarray:
        """(cuts + 3, cuts): the thermometer code of every interval, centred, so that steps have a random-walk prior."""
        above = self.above[self.cut_first[i] : self.cut_first[i + 1]]
        out = _thermometer(len(above)) - above
        out[-1] = 0.0
        return out

    def factors(self, reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, q) what is multiplied; which of it is integrated out."""
        x, averaged = self.standardised(reals)
        return np.where(averaged, self.average[:, 1], np.clip(x, -FACTOR_LIMIT, FACTOR_LIMIT)), averaged

    def raw_products(self, reals: np.ndarray) -> np.ndarray:
        x, averaged = self.factors(reals)
        i, j = self.pairs.T
        out = x[:, i]
        out *= x[:, j]
        if averaged.any():
            for k in np.flatnonzero(i == j):
                out[averaged[:, i[k]], k] = self.average[i[k], 2]
        return out

    def products(self, reals: np.ndarray) -> np.ndarray:
        z = self.raw_products(reals)
        z -= self.product_mean
        z /= self.product_spread
        return np.clip(z, -PRODUCT_LIMIT, PRODUCT_LIMIT, out=z)


@cache
def _thermometer(k: int) -> np.ndarray:
    """(k + 3, k): ones for the cuts below each interval; then half a step each; last, zeros."""
    return np.vstack([np.tri(k + 1, k, -1), np.full((1, k), 0.5), np.zeros((1, k))])


def learn_numerics(reals: np.ndarray, weight: np.ndarray, n_quantiles: int, max_products: int) -> Numerics:
    """Constants of the columns that have at least two values."""
    rows: list[tuple] = []
    cuts: list[np.ndarray] = []
    above: list[np.ndarray] = []
    whole = reals.shape[1] > 0 and bool((weight == 1.0).all()) and not np.isnan(reals).any()
    columns = _learn_whole(reals, n_quantiles) if whole else (_learn_column(x, weight, n_quantiles) for x in reals.T)
    for j, learnt in enumerate(columns):
        if learnt is not None:
            rows.append((j, *learnt[0]))
            cuts.append(learnt[1])
            above.append(learnt[2])
    table = np.array([row[2:] for row in rows], float).reshape(len(rows), 3)
    first = np.concatenate([[0], np.cumsum([len(c) for c in cuts])]).astype(np.int64)
    none = np.zeros(0)
    out = Numerics(
        np.array([row[0] for row in rows], np.int32), np.array([row[1] for row in rows], bool),
        table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), np.zeros((len(rows), 3)),
        first, np.concatenate([none, *cuts]), np.concatenate([none, *above]), np.zeros((0, 2), np.int32),
        np.zeros(0, np.int32), none, none,
    )  # fmt: skip
    _learn_averages(out, reals, weight)
    if 1 <= len(out) * (len(out) + 1) // 2 <= max_products:
        use_products(out, reals, weight, np.stack(np.triu_indices(len(out)), axis=1))
    return out


def _learn_whole(reals: np.ndarray, n_quantiles: int) -> Iterator[tuple | None]:
    """`_learn_column` of all columns, for rows of weight one without holes: what is plain then is done at once."""
    t = np.sort(reals.T, axis=1)
    n = t.shape[1]
    shares = np.concatenate([[0.5], np.arange(1, n_quantiles) / n_quantiles])
    low = np.floor(shares * (n - 1)).astype(np.int64)
    below, above = t[:, low], t[:, np.minimum(low + 1, n - 1)]
    quantile = below + (shares * (n - 1) - low) * (above - below)
    mean = t @ np.full(n, 1 / n)
    for x, middle, centre in zip(t, quantile, mean, strict=True):
        spread = _spread(x, centre, 1 / n) if x[-1] > x[0] else 0.0
        if not spread > 1e-12 * max(abs(centre), 1e-300):
            yield None
            continue
        cuts = middle[1:]
        upto = np.searchsorted(x, cuts, side="right")
        kept = (upto < n) & (cuts >= x[0]) & np.append(True, cuts[1:] > cuts[:-1])
        yield (False, middle[0], centre, spread), cuts[kept], 1.0 - upto[kept] / n


def _spread(t: np.ndarray, mean: float, share: float | np.ndarray) -> float:
    """Standard deviation of sorted numbers; squares of huge ones would overflow."""
    unit = max(t[-1] - mean, mean - t[0])
    z = (t - mean) / unit
    return float(unit * np.sqrt((z * z * share).sum()))


def _learn_column(x: np.ndarray, weight: np.ndarray, n_quantiles: int):
    """(had missing, median, mean, spread), cuts, share above each cut; None if the column has a single value."""
    seen = ~np.isnan(x)
    order = np.argsort(x[seen], kind="stable")
    t, w = x[seen][order], weight[seen][order]
    if not len(t) or t[-1] <= t[0]:
        return None
    middle = float(weighted_quantiles(t, w, np.array([0.5]))[0])
    all_rows, absent = weight.sum(), weight[~seen].sum()
    mean = (w / all_rows) @ t + middle * (absent / all_rows)
    unit = max(t[-1] - mean, mean - t[0])  # squares of huge numbers would overflow
    away = (w / all_rows) @ ((t - mean) / unit) ** 2 + absent / all_rows * ((middle - mean) / unit) ** 2
    spread = unit * np.sqrt(away)
    if not spread > 1e-12 * max(abs(mean), 1e-300):
        return None
    cuts = np.unique(weighted_quantiles(t, w, np.arange(1, n_quantiles) / n_quantiles))
    beyond = w.sum() - np.concatenate([[0.0], np.cumsum(w)])[np.searchsorted(t, cuts, side="right")]
    inside = (np.searchsorted(t, cuts, side="right") < len(t)) & (cuts >= t[0])
    return (not seen.all(), middle, mean, spread), cuts[inside], (beyond[inside] + 0.5 * absent) / all_rows


def use_products(numerics: Numerics, reals: np.ndarray, weight: np.ndarray, pairs: np.ndarray) -> None:
    """Learn the constants of some products, which are used from now on."""
    factor, share = numerics.factors(reals)[0], weight / weight.sum()
    i, j = pairs.T
    squares = factor * factor
    mean = ((factor * share[:, None]).T @ factor)[i, j]
    away = ((squares * share[:, None]).T @ squares)[i, j] - mean**2  # of numbers of at most FACTOR_LIMIT^2
    numerics.pairs, numerics.product_mean = pairs.astype(np.int32), mean
    numerics.product_spread = np.sqrt(np.maximum(away, 0.0)) + LEAST_SPREAD


def _learn_averages(numerics: Numerics, reals: np.ndarray, weight: np.ndarray) -> None:
    x, _ = numerics.standardised(reals)
    share = weight / weight.sum()
    factor = np.clip(x, -FACTOR_LIMIT, FACTOR_LIMIT)
    numerics.average[:, 0] = share @ np.clip(x, -SLOPE_LIMIT, SLOPE_LIMIT)
    numerics.average[:, 1], numerics.average[:, 2] = share @ factor, share @ factor**2
