"""Tables of a few rows, the model's prior over them, and chains that hold them: what all tests of truth start from.

Exact answers come from `families` and `priors` alone and draws from NumPy: no kernel is asked for either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partita.families import BetaBernoulli, DirichletCategorical, GammaPoisson, NormalInverseChiSquared
from partita.kernels import kernel
from partita.kernels.contract import BINARY, CATEGORICAL, COUNT, REAL, Chain, Grids, Layout, Rows, make_layout, pad
from partita.models.mixtures import mixture
from partita.models.mixtures.problem import Problem, Settings, make_grids

BASE = np.array([0.5, 0.3, 0.2])  # Dirichlet mean of a categorical column
MEAN = 2.0  # the unit in which the grid measures the mean of a count column
HYPER = {BINARY: (0.5, 0.7), CATEGORICAL: (1.5,), COUNT: (1.0, 0.4), REAL: (0.1, 3.0, 0.3, 0.2)}
USUAL_GRIDS = make_grids(50)
TABLES = {
    "binary": (BINARY,) * 4,
    "categorical": (CATEGORICAL,) * 3,
    "count": (COUNT,) * 2,
    "real": (REAL,) * 2,
    "mixed": (BINARY, CATEGORICAL, COUNT, REAL),
}


def layout_of(kinds: tuple[int, ...]) -> Layout:
    """Columns of the given kinds, one after the other."""
    discrete = np.isin(kinds, (BINARY, CATEGORICAL))
    source = np.where(discrete, np.cumsum(discrete) - 1, np.cumsum(~discrete) - 1)
    levels = [{BINARY: 2, CATEGORICAL: len(BASE)}.get(kind, 1) for kind in kinds]
    base = {CATEGORICAL: BASE, COUNT: np.array([MEAN])}
    return make_layout(kinds, source, levels, [base.get(kind, np.zeros(0)) for kind in kinds])


def fixed_hyper(layout: Layout) -> np.ndarray:
    """Hyper-parameters (columns, 4) away from all symmetries."""
    hyper = np.zeros((layout.n_columns, 4))
    for d, kind in enumerate(layout.kind):
        hyper[d, : len(HYPER[kind])] = HYPER[kind]
    return hyper


def family_of(layout: Layout, d: int, h: np.ndarray) -> Any:
    """The family of column d with hyper-parameters h (..., 4)."""
    kind = layout.kind[d]
    if kind == BINARY:
        return BetaBernoulli(h[..., 0], h[..., 1])
    if kind == CATEGORICAL:
        return DirichletCategorical(h[..., :1] * BASE)
    if kind == COUNT:
        return GammaPoisson(h[..., 0], h[..., 1])
    return NormalInverseChiSquared(mean=h[..., 3], kappa=h[..., 0], nu=h[..., 1], sigma2=h[..., 2])


def cells_of(layout: Layout, rows: Rows, d: int) -> np.ndarray:
    """The cells of column d, a view into the rows."""
    return (rows.codes if layout.kind[d] in (BINARY, CATEGORICAL) else rows.reals)[:, layout.source[d]]


def empty_rows(layout: Layout, n: int) -> Rows:
    """n rows without an observed cell."""
    discrete = np.isin(layout.kind, (BINARY, CATEGORICAL))
    return Rows(np.full((n, discrete.sum()), -1, np.int32), np.full((n, (~discrete).sum()), np.nan))


def holes(rng: np.random.Generator, layout: Layout, n: int, share: float = 0.25) -> np.ndarray:
    """Which cells (rows, columns) are missing: exactly the given share, the first row complete."""
    missing = np.zeros((n, layout.n_columns), bool)
    missing.reshape(-1)[layout.n_columns + rng.permutation((n - 1) * layout.n_columns)[: int(share * missing.size)]] = 1
    return missing


def draw_column(
    rng: np.random.Generator, layout: Layout, rows: Rows, d: int, h: np.ndarray, group: np.ndarray, missing: np.ndarray
) -> None:
    """Cells of column d from the prior: parameters of each group, then values of the rows that are not `missing`."""
    kind, n, K = layout.kind[d], len(group), int(group.max()) + 1
    if kind == BINARY:
        x = rng.random(n) < rng.beta(h[0], h[1], K)[group]
    elif kind == CATEGORICAL:
        reached = np.cumsum(rng.dirichlet(h[0] * BASE, K), axis=1)[group, :-1]
        x = (rng.random(n)[:, None] >= reached).sum(axis=1)
    elif kind == COUNT:
        x = rng.poisson(rng.gamma(h[0], 1.0 / h[1], K)[group])
    else:
        variance = h[1] * h[2] / rng.chisquare(h[1], K)
        mean = h[3] + np.sqrt(variance / h[0]) * rng.standard_normal(K)
        x = mean[group] + np.sqrt(variance)[group] * rng.standard_normal(n)
    cells_of(layout, rows, d)[:] = np.where(missing, -1 if kind in (BINARY, CATEGORICAL) else np.nan, x)


def draw_rows(rng: np.random.Generator, layout: Layout, hyper: np.ndarray, z: np.ndarray, missing: np.ndarray) -> Rows:
    """A table from the prior given groups z of its rows."""
    rows = empty_rows(layout, len(z))
    for d in range(layout.n_columns):
        draw_column(rng, layout, rows, d, hyper[d], z, missing[:, d])
    return rows


def clustered_table(name: str, seed: int, z: tuple[int, ...] = (0, 0, 0, 1, 1, 1, 2, 2)) -> tuple[Layout, Rows]:
    """A table drawn from its prior with given groups and a quarter of its cells missing."""
    rng, layout = np.random.default_rng(seed), layout_of(TABLES[name])
    return layout, draw_rows(rng, layout, fixed_hyper(layout), np.array(z), holes(rng, layout, len(z)))


def small_grids() -> Grids:
    """Grids of a few points, for priors that can be enumerated."""
    beta = np.array([0.3, 1.0, 4.0])
    sums = (beta[:, None] + beta)[np.triu_indices(len(beta))]

    def rise(a: np.ndarray, n: int = 40) -> np.ndarray:
        table = np.zeros((n, pad(len(a))))
        table[1:, : len(a)] = np.cumsum(np.log(a + np.arange(n - 1)[:, None]), axis=0)
        return table

    return Grids(
        beta=beta, strength=np.array([0.5, 2.0, 8.0]), shape=np.array([0.5, 2.0]), scale=np.array([0.5, 1.0, 3.0]),
        kappa=np.array([0.1, 1.0]), nu=np.array([4.0, 12.0]), sigma=np.array([0.2, 0.8, 2.0]),
        sums=sums, rise=rise(beta), rise_sum=rise(sums),
    )  # fmt: skip


def chain_of(
    problem: Problem, seed: int = 0, *, hyper: np.ndarray | None = None, view: np.ndarray | None = None
) -> Chain:
    """A started chain, with hyper-parameters and views set where they are given."""
    usual = replace(problem.settings, grids=USUAL_GRIDS)  # the start is a point of these, whatever the problem's grids
    chain = mixture.init(np.random.default_rng(seed), replace(problem, settings=usual))
    if hyper is not None:
        chain.hyper[:] = hyper
    if view is not None:
        chain.view[:] = view
    kernel.rebuild(problem.layout, problem.rows, chain)
    return chain


def one_class(layout: Layout, rows: Rows, **settings: Any) -> Problem:
    """A mixture of all rows."""
    return Problem(layout, rows, np.zeros(len(rows), np.int32), Settings(**{"cap": 50, **settings}))
