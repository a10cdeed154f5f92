"""Columns beside the Gaussian block of a gate: levels and counts, what a gate says of them and what an expert sees.

Given its component, such a cell is independent of all others (a Dirichlet over levels, or a Gamma over the rate of a
Poisson count). An expert sees features of it: one indicator for each of its frequent levels (a single one for two
levels), less their training means, or the standardised logarithm of a count.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betainc, digamma

from ...families.dirichlet_categorical import DirichletCategorical
from ...families.gamma_poisson import GammaPoisson
from ...kernels.contract import COUNT, Rows
from ..lens import Sight
from ..mixtures.draw import draw_counts
from .count_buckets import (
    bucket_ends,
    bucket_of,
    bucket_starts,
    log_negative_binomial,
    log_poisson,
    middles,
    poisson_means,
)

MOST_INDICATORS = 50  # of a column's most frequent levels; the others look alike to an expert and are guessed as one


@dataclass(frozen=True, eq=False)
class CellColumn:
    """One column.

    count         whether its cells are counts
    source        its place in the codes, or the reals (counts), of the lens's rows
    prior         pseudo-counts of the levels (L,), or shape and rate of a count's Gamma (2,)
    features      (L, d) what an expert sees of level 0 .. L - 1; of a count, of every bucket of values
    centre, spread   of log(1 + count)
    starts        (L,) the least value of every bucket of a count; None: one value each, 0 .. L - 1
    """

    count: bool
    source: int
    prior: np.ndarray
    features: np.ndarray
    centre: float = 0.0
    spread: float = 1.0
    starts: np.ndarray | None = None

    @cached_property
    def buckets(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every bucket of a count, (L,) each."""
        starts = np.arange(self.n_levels) if self.starts is None else self.starts
        return starts, bucket_ends(starts)

    @property
    def n_levels(self) -> int:
        return len(self.features)

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @cached_property
    def shown(self) -> np.ndarray | None:
        """The levels with indicators, where there are several others, which look alike to an expert: the group of the
        last; None where it tells all levels, or buckets, apart."""
        return None if self.count or self.n_levels <= self.n_features + 1 else np.argmax(self.features, axis=0)

    @cached_property
    def group_features(self) -> np.ndarray:
        """(G, d) what an expert sees of every group of levels."""
        if self.shown is None:
            return self.features
        return self.features[np.append(self.shown, np.setdiff1d(np.arange(self.n_levels), self.shown)[0])]

    def grouped(self, table: np.ndarray) -> np.ndarray:
        """Sums over the levels of every group, (H, L) -> (H, G)."""
        if self.shown is None:
            return table
        others = np.delete(table, self.shown, axis=1).sum(axis=1, keepdims=True)
        return np.concatenate([table[:, self.shown], others], axis=1)

    def log_grouped(self, table: np.ndarray) -> np.ndarray:
        """The same of logarithms."""
        if self.shown is None:
            return table
        top = table.max(axis=1, keepdims=True)
        return np.log(np.maximum(self.grouped(np.exp(table - top)), 1e-300)) + top

    def of_groups(self, level: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Weights of groups (H, G) on their levels (H, L), each as its share of exp(table) is."""
        if self.shown is None:
            return level
        group = np.full(self.n_levels, len(self.shown))
        group[self.shown] = np.arange(len(self.shown))
        return level[:, group] * np.exp(table - self.log_grouped(table)[:, group])

    def cells(self, rows: Rows) -> np.ndarray:
        """Level of each row, or its count, as integers; -1 where it is missing."""
        if not self.count:
            return rows.codes[:, self.source].astype(np.int64)
        counts = rows.reals[:, self.source]
        return np.where(np.isnan(counts), -1, counts).astype(np.int64)

    def look(self, cells: np.ndarray) -> np.ndarray:
        """Features of observed cells (n,), zeros for missing ones: (n, d)."""
        seen = cells >= 0
        if self.count:
            value = np.maximum(cells, 0)
            beyond = ((np.log1p(value) - self.centre) / self.spread)[:, None]
            top = self.buckets[0][-1]
            shown = np.where(value[:, None] > top, beyond, self.features[bucket_of(self.buckets[0], value)])
        else:
            shown = self.features[np.maximum(cells, 0)]
        return shown * seen[:, None]

    def family(self, posterior: np.ndarray) -> DirichletCategorical | GammaPoisson:
        """The law of the column's parameter, (..., L) pseudo-counts or (..., 2) shape and rate, as a family."""
        if self.count:
            return GammaPoisson(posterior[..., 0], posterior[..., 1])
        return DirichletCategorical(posterior)

    def statistics(self, weight: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """What rows with these cells, in component h with `weight` (n, H), add to a posterior: (H, L) or (H, 2)."""
        seen = np.flatnonzero(cells >= 0)
        weight = weight[seen]
        if self.count:
            return np.stack([cells[seen] @ weight, weight.sum(axis=0)], axis=-1)
        out = np.zeros((weight.shape[1], self.n_levels))
        for h in range(len(out)):
            out[h] = np.bincount(cells[seen], weight[:, h], self.n_levels)
        return out

    def statistics_of_guesses(self, levels: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """The same for missing cells that put `levels` (H, L) of weight on each level, or bucket of counts; `posterior`
        is the one that they were guessed by."""
        if self.count:
            total = (levels * poisson_means(*self.buckets, self.expected_log_rate(posterior))).sum(axis=1)
            return np.stack([total, levels.sum(axis=1)], axis=-1)
        return levels

    def expected_log_rate(self, posterior: np.ndarray) -> np.ndarray:
        """(H,) E[log rate] of a count."""
        return digamma(posterior[:, 0]) - np.log(posterior[:, 1])

    def expected_log_table(self, posterior: np.ndarray) -> np.ndarray:
        """E[log p(level | theta)] for all levels, (H, L), given posteriors (H, L) or (H, 2); of a bucket of counts the
        logarithm of the sum of exp E[log p(value | theta)] over its values."""
        if self.count:
            rate, log_rate = posterior[:, 0] / posterior[:, 1], self.expected_log_rate(posterior)
            return log_poisson(*self.buckets, log_rate) + (np.exp(log_rate) - rate)[:, None]
        return digamma(posterior) - digamma(posterior.sum(axis=-1, keepdims=True))

    def expected_log(self, table: np.ndarray, posterior: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """E[log p(cell | theta)] of every row in every component, 0 for missing ones: (n, H); `table` is that of the
        levels. Counts may lie beyond it, or share a bucket."""
        seen = (cells >= 0)[:, None]
        if not self.count or (self.starts is None and cells.max(initial=0) < self.n_levels):
            return table.T[np.maximum(cells, 0)] * seen
        return self.family(posterior).expected_log_likelihood(np.where(cells < 0, np.nan, cells)[:, None])

    def log_predictive(self, posterior: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """log p(cell) of every row in every component, 0 for missing ones: (n, H)."""
        shown = np.where(cells < 0, np.nan, cells) if self.count else cells
        return self.family(posterior).log_predictive(shown[:, None])

    def probabilities(self, posterior: np.ndarray) -> np.ndarray:
        """Predictive probabilities of the levels (of the buckets of a count, made to sum to 1): (H, L)."""
        table = posterior
        if self.count:
            logs = log_negative_binomial(*self.buckets, posterior[:, 0], posterior[:, 1])
            table = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return table / table.sum(axis=-1, keepdims=True)

    def count_at_most(self, posterior: np.ndarray, value: np.ndarray) -> np.ndarray:
        """(n, H) predictive probability that a count is at most `value` (n,)."""
        shape, rate = posterior[:, 0], posterior[:, 1]
        return betainc(shape, value[:, None] + 1.0, rate / (1.0 + rate))

    def count_moments(self, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictive mean and variance of a count in every component, (H,) each."""
        shape, rate = posterior[:, 0], posterior[:, 1]
        return shape / rate, shape / rate + shape / rate**2

    def draw_count(self, posterior: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """n predictive counts of one component with `posterior` (2,)."""
        shape, rate = posterior
        return draw_counts(np.full(n, shape), np.full(n, rate / (1.0 + rate)), rng)

    def divergence(self, posterior: np.ndarray) -> float:
        return float(np.sum(self.family(posterior).divergence(self.family(self.prior))))  # type: ignore[arg-type]

    def to_tree(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def make_column(sight: Sight, source: int, rows: Rows, weight: np.ndarray, prior_rows: float) -> CellColumn:
    """The column behind a sight, its prior worth `prior_rows` rows of the training table, its features learnt there."""
    if sight.kind == COUNT:
        return _count_column(source, rows.reals[:, source], weight, prior_rows)
    codes = rows.codes[:, source]
    seen = codes >= 0
    counts = np.bincount(codes[seen], weight[seen], sight.levels) if seen.any() else np.zeros(sight.levels)
    share = (counts + 1.0) / (counts + 1.0).sum()
    if sight.levels == 2:
        spread = np.sqrt(share[0] * share[1])
        features = (np.array([[0.0], [1.0]]) - share[1]) / spread
    else:
        shown = np.sort(np.argsort(-counts, kind="stable")[:MOST_INDICATORS])
        features = np.zeros((sight.levels, len(shown)))
        features[shown, np.arange(len(shown))] = 1.0
        features -= share[shown]
    return CellColumn(False, source, prior_rows * share, features)


def _count_column(source: int, counts: np.ndarray, weight: np.ndarray, prior_rows: float) -> CellColumn:
    """Rates of components are believed to differ as much as the counts do beyond Poisson's noise, so that the prior is
    worth `prior_rows` rows at most: the rate of greater counts is better known from one row than from the others."""
    seen = ~np.isnan(counts)
    shown, weight = counts[seen], weight[seen]
    total = weight.sum()
    mean = float((shown @ weight + 0.5) / (total + 1.0))
    logs = np.log1p(shown)
    centre = float(logs @ weight / total) if total > 0 else 0.0
    spread = float(np.sqrt((logs - centre) ** 2 @ weight / total)) if total > 0 else 1.0
    spread = spread if spread > 1e-12 else 1.0
    starts = bucket_starts(int(shown.max()) if len(shown) else 0)
    features = ((middles(starts) - centre) / spread)[:, None]
    single = bool((np.diff(starts) == 1).all())
    excess = float((shown - mean) ** 2 @ weight / total) - mean if total > 0 else 0.0
    rows = min(prior_rows, mean / excess) if excess > 0 else prior_rows
    prior = np.array([rows * mean, rows])
    return CellColumn(True, source, prior, features, centre, spread, None if single else starts)
