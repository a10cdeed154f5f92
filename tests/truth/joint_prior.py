"""The joint prior over everything a chain holds and the table it explains, and statistics that sum up a draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from small_tables import MEAN, chain_of, draw_column, empty_rows, fixed_hyper, holes, layout_of, small_grids

from partita.kernels import kernel
from partita.kernels.contract import BACKGROUND, BINARY, CATEGORICAL, CLASS_ONLY, COUNT, FIRST_RESTAURANT, Chain
from partita.models.mixtures.problem import CLASS_PSEUDO_COUNT, Problem, Settings
from partita.priors.partition import sample_partition_with_discount


@dataclass
class World:
    """Columns, labels (-1 missing) and which parts of the state are random; the others stay where they are.

    Discrete columns come first, as in the statistics below.
    """

    kinds: tuple[int, ...]
    label: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    n_restaurants: int = 1
    alpha: float | None = 1.0  # None: random
    finite: bool = False  # finite mixtures among the laws of seating, where alpha is random
    hyper: bool = False  # random positions on the grids
    view: tuple[int, ...] | None = (FIRST_RESTAURANT,) * 9  # None: random
    split_merge: int = 0
    cap: int = 50
    grids: Any = field(default_factory=small_grids)

    def start(self) -> tuple[Problem, Chain, np.ndarray]:
        """A problem with a table of its own, a chain on it, and which cells are missing."""
        layout, label = layout_of(self.kinds), np.array(self.label, np.int32)
        settings = Settings(
            n_classes=max(self.label) + 1, n_restaurants=self.n_restaurants, cap=self.cap, alpha=self.alpha,
            finite=self.finite, column_prior=None if self.hyper else 0.5, split_merge=self.split_merge,
            grids=self.grids, move_columns=self.view is None,
        )  # fmt: skip
        problem = Problem(layout, empty_rows(layout, len(label)), label, settings)
        view = None if self.view is None else np.array(self.view[: len(self.kinds)], np.int32)
        missing = holes(np.random.default_rng(0), layout, len(label))
        return problem, chain_of(problem, hyper=fixed_hyper(layout), view=view), missing


def draw_state(rng: np.random.Generator, world: World, problem: Problem, chain: Chain) -> None:
    """A state from the prior, written into the chain: as without a cap, until no class exceeds it."""
    while True:
        draw_uncapped(rng, world, problem, chain)
        if chain.used.max() <= world.cap:
            return


def draw_uncapped(rng: np.random.Generator, world: World, problem: Problem, chain: Chain) -> None:
    """Labels, views, hyper-parameters, concentrations and groups."""
    n_classes = problem.settings.n_classes
    for i in np.flatnonzero(problem.label < 0):
        known = np.concatenate([problem.label[problem.label >= 0], chain.label[:i][problem.label[:i] < 0]])
        mass = np.bincount(known, minlength=n_classes) + CLASS_PSEUDO_COUNT
        chain.label[i] = rng.choice(n_classes, p=mass / mass.sum())
    if world.view is None:
        R = world.n_restaurants
        chain.view[:] = draw_urn(rng, np.array([1.0, 1.0, *[1.0 / R] * R]), len(chain.view))
    if world.hyper:
        draw_hyper(rng, problem, chain)
    if world.alpha is None:
        laws = problem.settings.laws
        p = rng.choice(len(laws.alpha), chain.alpha.shape, p=np.exp(laws.log_prior))
        chain.alpha[:], chain.discount[:] = laws.alpha[p], laws.discount[p]
    chain.size[:] = 0.0
    for r, c in np.ndindex(*chain.used.shape):
        mine = np.flatnonzero(chain.label == c)
        chain.z[r, mine] = sample_partition_with_discount(
            rng, len(mine), float(chain.alpha[r, c]), float(chain.discount[r, c])
        )
        count = np.bincount(chain.z[r, mine])
        chain.used[r, c] = len(count)
        chain.size[r, c, : len(count)] = count


def draw_urn(rng: np.random.Generator, mass: np.ndarray, n: int) -> np.ndarray:
    """n draws from an urn, each put back with one more of its colour."""
    mass, out = mass.copy(), np.empty(n, np.int32)
    for k in range(n):
        out[k] = np.searchsorted(np.cumsum(mass), rng.random() * mass.sum(), side="right")
        mass[out[k]] += 1.0
    return out


def draw_hyper(rng: np.random.Generator, problem: Problem, chain: Chain) -> None:
    """Positions on the grids: columns of a kind draw from one urn, the three parts of a real column from three."""
    grids, kind = problem.settings.grids, problem.layout.kind
    for k in np.unique(kind):
        mine = np.flatnonzero(kind == k)
        if k in (BINARY, COUNT):
            first, second = (grids.beta, grids.beta) if k == BINARY else (grids.shape, grids.scale)
            size = len(first) * len(second)
            chain.at[mine, 0], chain.at[mine, 1] = np.divmod(
                draw_urn(rng, np.full(size, 1.0 / size), len(mine)), len(second)
            )
            chain.hyper[mine, 0], chain.hyper[mine, 1] = first[chain.at[mine, 0]], second[chain.at[mine, 1]]
            if k == COUNT:
                chain.hyper[mine, 1] = chain.hyper[mine, 0] / (MEAN * chain.hyper[mine, 1])
            continue
        axes = (grids.strength,) if k == CATEGORICAL else (grids.kappa, grids.nu, grids.sigma)
        for j, axis in enumerate(axes):
            chain.at[mine, j] = draw_urn(rng, np.full(len(axis), 1.0 / len(axis)), len(mine))
            chain.hyper[mine, j] = axis[chain.at[mine, j]]


def draw_table(rng: np.random.Generator, problem: Problem, chain: Chain, missing: np.ndarray) -> None:
    """The observed cells given everything else, in place; the chain's statistics follow."""
    for d, view in enumerate(chain.view):
        group = chain.label * (0 if view == BACKGROUND else len(chain.label))  # classes share no group
        if view >= FIRST_RESTAURANT:
            group = group + chain.z[view - FIRST_RESTAURANT]
        draw_column(rng, problem.layout, problem.rows, d, chain.hyper[d], group, missing[:, d])
    kernel.rebuild(problem.layout, problem.rows, chain)


def statistics(problem: Problem, chain: Chain) -> dict[str, float]:
    """Numbers that a wrong move of any kind would disturb: the state's, the table's, and products of both.

    Cells are shown on a bounded scale, so that means have a variance; 0 where missing.
    """
    rows, label, log_alpha = problem.rows, chain.label, np.log(chain.alpha)
    x = np.concatenate([np.maximum(rows.codes, 0), np.nan_to_num(np.tanh(0.5 * rows.reals))], axis=1)
    mates = (chain.z[0] == chain.z[0, 0]) & (label == label[0])
    groups, at, view = float(chain.used.sum()), chain.at, chain.view
    pair = x[0] * x[1]
    out = {
        "groups": groups,
        "groups squared": groups**2,
        "size of the first row's group": float(mates.sum()),
        "alpha": float(log_alpha.mean()),
        "alpha times groups": float((log_alpha * chain.used).sum()),
        "discount": float(np.log1p(-chain.discount).mean()),
        "discount and the first row's group": float(np.log1p(-chain.discount[0, label[0]]) * mates.sum()),
        "log likelihood": kernel.log_likelihood(problem.layout, chain),
        "label": float(label.sum()),
        "label of the last row": float(label[-1]),
        "views alike": float(view[0] == view[-1]),
        "columns in the background": float((view == BACKGROUND).sum()),
        "columns of the class": float((view == CLASS_ONLY).sum()),
        "hyper alike": float((at[0] == at[-1]).all()),
    }
    each = {
        "mean of column": x.sum(axis=0),
        "pairs of column": x[0] * x.sum(axis=0),
        "pairs in groups of column": pair * mates[1],
        "label and column": label @ x,
        "pairs and restaurant of column": pair * (view >= FIRST_RESTAURANT),
        "first hyper-parameter of column": at[:, 0],
        "second hyper-parameter of column": at[:, 1],
        "third hyper-parameter of column": at[:, 2],
        "hyper-parameter and column": at[:, 0] * (x * x).sum(axis=0),
    }
    out.update({f"{key} {d}": value for key, values in each.items() for d, value in enumerate(values.tolist())})
    return out
