"""Naive Bayes as a mixture whose groups are the classes: columns independent given the class, parameters averaged.

Every column has a conjugate prior (partita.families), the same in all classes:

* binary: Beta, categorical: Dirichlet, with `level_rows` pseudo-rows at every level;
* count: Gamma with the column's own mean, worth `count_rows` rows;
* real: normal-inverse-chi-squared with the column's own mean and variance, worth `mean_rows` and `variance_rows` rows.

Whole numbers need not be counts of anything (amounts, years), and a Poisson law is far too sure of those: with
counts="auto" a count column is taken as real where the evidence, log p(column | classes), is for it.

The variance of n numbers with kurtosis k is known as well as that of 2 n / (k - 1) normal ones. Where these are fewer
than `FEW_ROWS`, the statistics of a real column are worth so many rows: one six among four hundred fives is worth two,
and what comes next is not taken for impossible in the class that did not show the six.

A real column that shows one number only tells the classes apart in nothing but their size: the law of the whole column
then stands for each class, so that another number, when it comes, says nothing.

The column's own mean and variance come from the statistics of all classes together, which add up: the answer does not
depend on how the rows were parted. What is asked of a row is asked of the mixture kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.schema import Schema
from ...data.table import Table
from ...families import GammaPoisson, NormalInverseChiSquared
from ...kernels import kernel
from ...kernels.contract import (
    BINARY,
    CATEGORICAL,
    COUNT,
    FIRST_RESTAURANT,
    N_HYPER,
    REAL,
    Chain,
    Layout,
    Predictive,
    pad,
)
from ..lens import Lens, Sight, plain_lens
from ..mixtures.ensemble import Ensemble, group_log_weights, over_rows
from ..mixtures.vote import plain_members
from .class_statistics import ClassStatistics

NORMAL_TAILS = 2.0  # kurtosis less one of a normal law
FEW_ROWS = 5  # worth of a column below which its spread rests on a handful of cells
NO_SPREAD = 1e-13  # a variance below this share of the mean square is rounding


@dataclass(frozen=True)
class Prior:
    """What the priors are worth, in rows."""

    class_rows: float
    level_rows: float
    count_rows: float
    mean_rows: float
    variance_rows: float
    counts: str = "poisson"  # or "normal", or "auto": the better of the two for each column


def empty_table(schema: Schema) -> Table:
    """No rows of these columns."""
    return Table(schema, np.zeros((0, len(schema.discrete)), np.int32), np.zeros((0, len(schema.numeric))))


def make_ensemble(schema: Schema, statistics: ClassStatistics, prior: Prior, n_jobs: int = 1) -> Ensemble:
    """The posterior predictive as one state of a mixture: one restaurant, a group for each class."""
    lens = _look(schema, statistics, prior)
    weight = statistics.class_weight + prior.class_rows
    state = _predictive(lens, statistics, prior, np.log(weight / weight.sum()))
    kind = np.zeros(1, np.int64)
    return Ensemble([lens], [state], [0], np.ones(1), np.ones(1), kind, plain_members(kind), n_jobs)


def _look(schema: Schema, statistics: ClassStatistics, prior: Prior) -> Lens:
    """Every column as what it is, but for counts that are better taken as real."""
    lens = plain_lens(empty_table(schema), uniform_base=True)
    if prior.counts == "poisson":
        return lens
    sights = list(lens.sights)
    for d, sight in enumerate(sights):
        if sight.kind == COUNT and (prior.counts == "normal" or _rather_normal(statistics, sight.source, prior)):
            centre = float(statistics.offset[sight.source])
            sights[d] = Sight("standard", sight.column, sight.source, REAL, centre=centre)
    return Lens(sights)


def _rather_normal(statistics: ClassStatistics, j: int, prior: Prior) -> bool:
    """Whether the counts of column j are more probable as rounded normal numbers than as Poisson counts."""
    sums, totals = statistics.sums[:, j], statistics.totals(j)
    shape, rate, *_ = _number_prior(COUNT, totals.sum(axis=0), prior)
    kappa, nu, variance, mean = _number_prior(REAL, sums.sum(axis=0), prior)
    counts = np.column_stack([totals[:, :2], statistics.log_factorials[:, j]])
    poisson = GammaPoisson(np.array(shape), np.array(rate)).log_marginal(counts).sum()
    family = NormalInverseChiSquared(np.array(mean), np.array(kappa), np.array(nu), np.array(variance))
    return bool(family.log_marginal(sums).sum() > poisson)


def log_joint(ensemble: Ensemble, table: Table) -> np.ndarray:
    """log p(class, observed cells), (n, C), in the units of the table."""
    lens, state = ensemble.lenses[0], ensemble.states[0]
    return over_rows(ensemble, table, lambda part: group_log_weights(lens.layout, lens.rows(part), state, 0, 0))


def _predictive(lens: Lens, statistics: ClassStatistics, prior: Prior, log_weight: np.ndarray) -> Predictive:
    n_classes = len(log_weight)
    layout, room = lens.layout, pad(n_classes + 1)
    stats = np.zeros((1, room, layout.n_stats))
    hyper = np.zeros((layout.n_columns, N_HYPER))
    for d, sight in enumerate(lens.sights):
        own = slice(layout.stat_first[d], layout.stat_first[d] + _width(layout, d))
        if sight.discrete:
            counts = statistics.counts[sight.source].T
            stats[0, :n_classes, own] = _level_statistics(int(layout.kind[d]), counts)
            hyper[d] = _level_prior(int(layout.kind[d]), counts.shape[1], prior)
        else:
            sums = statistics.totals(sight.source) if layout.kind[d] == COUNT else statistics.sums[:, sight.source]
            total = sums.sum(axis=0)
            if layout.kind[d] == REAL:
                sums = _believed(sums, total, statistics.kurtosis(sight.source))
            stats[0, :n_classes, own] = sums[:, : _width(layout, d)]
            hyper[d] = _number_prior(int(layout.kind[d]), total, prior)
    view = np.full(layout.n_columns, FIRST_RESTAURANT, np.int32)
    table = _tables(layout, view, hyper, stats, n_classes)
    weights = np.full((1, 1, room), -np.inf)
    weights[0, 0, :n_classes] = log_weight
    return Predictive(view, hyper, np.zeros((1, room, 0)), table, weights, np.full((1, 1), n_classes, np.int32))


def _believed(sums: np.ndarray, total: np.ndarray, kurtosis: float) -> np.ndarray:
    """Statistics (C, 3) of the classes of a real column, worth fewer rows where only a handful of cells tells about its
    spread."""
    if not _variance(total):
        return np.tile(total, (len(sums), 1))
    worth = min(1.0, NORMAL_TAILS / max(kurtosis - 1.0, NORMAL_TAILS))
    return worth * sums if worth * total[0] < min(FEW_ROWS, total[0]) else sums


def _width(layout: Layout, d: int) -> int:
    return {BINARY: 2, CATEGORICAL: 1 + int(layout.levels[d]), COUNT: 2, REAL: 3}[int(layout.kind[d])]


def _level_statistics(kind: int, counts: np.ndarray) -> np.ndarray:
    """From counts (C, levels): ones and zeros of a binary column; n and counts of a categorical one."""
    if kind == BINARY:
        return counts[:, ::-1]
    return np.concatenate([counts.sum(axis=1, keepdims=True), counts], axis=1)


def _level_prior(kind: int, n_levels: int, prior: Prior) -> tuple[float, ...]:
    return (prior.level_rows, prior.level_rows, 0, 0) if kind == BINARY else (prior.level_rows * n_levels, 0, 0, 0)


def _number_prior(kind: int, total: np.ndarray, prior: Prior) -> tuple[float, ...]:
    """Hyper-parameters from the statistics of the whole column: weight, sum, sum of squares."""
    n, summed, _ = total.tolist()
    if kind == COUNT:
        mean = (summed + 0.5) / (n + 1.0)
        return prior.count_rows * mean, prior.count_rows, 0, 0  # shape, rate: the mean is that of the column
    mean = summed / n if n > 0 else 0.0
    return prior.mean_rows, prior.variance_rows, _variance(total) or 1.0, mean


def _variance(total: np.ndarray) -> float:
    """Variance of a column from its weight, sum and sum of squares; 0 where it is rounding, or nothing is known."""
    n, summed, squares = total.tolist()
    if not n > 0:
        return 0.0
    mean = summed / n
    variance = squares / n - mean**2
    return variance if variance > NO_SPREAD * mean**2 else 0.0


def _tables(layout: Layout, view: np.ndarray, hyper: np.ndarray, stats: np.ndarray, n_groups: int) -> np.ndarray:
    """The predictive tables of all columns, filled in by the kernel that knows them."""
    room = stats.shape[1]
    chain = Chain(
        hyper=hyper, at=np.zeros((layout.n_columns, N_HYPER), np.int32), view=view, label=np.zeros(0, np.int32),
        z=np.zeros((1, 0), np.int32), used=np.full((1, 1), n_groups, np.int32), size=np.zeros((1, 1, room)),
        alpha=np.ones((1, 1)), stats=stats, table=np.zeros((1, layout.n_table, room)), filled=np.zeros((0, 0)),
        cap=n_groups,
    )  # fmt: skip
    kernel.refresh_tables(layout, chain)
    return chain.table
