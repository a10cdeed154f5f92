"""Chinese-restaurant mixtures of the rows of each class, by collapsed Gibbs sampling: `init` and `step`.

One chain holds all classes, since the columns' hyper-parameters are shared by them. A step is: groups of all rows (and
labels of rows without one), concentrations, views of the columns, hyper-parameters of the columns; each move leaves the
posterior invariant, so any order and any omission is allowed.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..kernels import kernel
from ..kernels.contract import CORRELATED, FIRST_RESTAURANT, Chain, Layout, Rows, SeatingLaws, pad
from ..priors import partition
from .problem import Problem, initial_hyper, make_room
from .unlabelled import first_labels, rename_groups, sweep_unlabelled

# what a call of a kernel is given, so that it lasts some tens of milliseconds and Ctrl-C answers
CELLS_PER_CALL, VIEWS_PER_CALL = 80_000_000, 8_000_000


def init(rng: np.random.Generator, problem: Problem) -> Chain:
    """Over-dispersed start: the rows of each class are dealt at random into many groups of nearly equal size."""
    layout, settings = problem.layout, problem.settings
    n, C, R = len(problem.rows), settings.n_classes, settings.n_restaurants
    hyper, at = initial_hyper(layout, settings)
    label = first_labels(rng, problem)
    counts = np.bincount(label, minlength=C)
    start = np.minimum(np.maximum(counts, 1), min(settings.start, settings.cap)).astype(np.int32)
    view = FIRST_RESTAURANT + rng.integers(0, R, layout.n_columns).astype(np.int32)
    z = np.zeros((R, n), np.int32)
    capacity = pad(min(int(start.max()) + 1, settings.cap + 1))
    size = np.zeros((R, C, capacity))
    for r in range(R):
        for c in range(C):
            members = rng.permutation(np.flatnonzero(label == c))
            z[r, members] = np.arange(len(members)) % start[c]
            size[r, c, : start[c]] = np.bincount(z[r, members], minlength=start[c])
    used = np.where(counts > 0, start, 0)[None, :].repeat(R, 0).astype(np.int32)
    width = int(layout.levels[layout.kind == CORRELATED].sum())
    chain = Chain(
        hyper=hyper, at=at, view=view, label=label, z=z, used=used, size=size,
        alpha=np.full((R, C), 1.0 if settings.alpha is None else settings.alpha),
        stats=np.zeros((C, capacity, layout.n_stats)), table=np.zeros((C, layout.n_table, capacity)),
        filled=np.zeros((n, width)), cap=settings.cap,
    )  # fmt: skip
    kernel.rebuild(layout, problem.rows, chain)
    return chain


def log_joint(layout: Layout, chain: Chain) -> float:
    """log p(cells, groups | concentrations, hyper-parameters), without the factorials of counts."""
    seating = partition.log_probability(chain.size, chain.alpha, discount=chain.discount)
    return float(kernel.log_likelihood(layout, chain) + seating.sum())


def sweep_rows(rng: np.random.Generator, problem: Problem, chain: Chain, rows: np.ndarray | None = None) -> float:
    """Groups of the rows with a label (or of some of them), one by one, in random order; the share that changed."""
    order, offset = problem.by_class, problem.offset
    if rows is not None:
        order = rows[np.argsort(problem.label[rows], kind="stable")]
        offset = np.concatenate([[0], np.cumsum(np.bincount(problem.label[rows], minlength=len(offset) - 1))])
    order = shuffled(rng, order, offset)
    uniforms = rng.random((chain.z.shape[0], len(order)))
    moved = seat_in_parts(problem.layout, problem.rows, chain, order, offset, uniforms)
    make_room(problem.layout, chain, int(chain.used.max()) + 1)
    return moved / max(uniforms.size, 1)


def shuffled(rng: np.random.Generator, order: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Rows sorted by class, those of each class in random order."""
    order = order.copy()
    for first, last in pairwise(offset.tolist()):
        rng.shuffle(order[first:last])
    return order


def seat_in_parts(
    layout: Layout, rows: Rows, chain: Chain, order: np.ndarray, offset: np.ndarray, uniforms: np.ndarray
) -> int:
    """A sweep in every restaurant and class, cut so that no call of the kernel lasts long; room is made on the way.

    Returns how many rows changed their group.
    """
    at, end, moved = 0, uniforms.size, np.zeros(1, np.int64)
    while at < end:
        part = max(CELLS_PER_CALL // (max(layout.n_columns, 1) * chain.capacity), 1)
        until = min(at + part, end)
        at = kernel.gibbs_sweeps(layout, rows, chain, order, offset, uniforms, moved, at, until)
        if at < until:
            make_room(layout, chain, 2 * chain.capacity)
    return int(moved[0])


def move_views(rng: np.random.Generator, problem: Problem, chain: Chain) -> None:
    """The view of every column, a few columns at a time."""
    D, uniforms = problem.layout.n_columns, rng.random(problem.layout.n_columns)
    part = max(VIEWS_PER_CALL // (len(problem.rows) * (FIRST_RESTAURANT + chain.z.shape[0])), 1)
    for d in range(0, D, part):
        kernel.move_views(problem.layout, problem.rows, chain, uniforms, d, min(d + part, D))


def split_and_merge(rng: np.random.Generator, problem: Problem, chain: Chain) -> int:
    """A few split-merge proposals in every restaurant and class; returns how many were accepted."""
    accepted = 0
    seeds = rng.integers(0, 2**63, chain.used.shape, dtype=np.uint64)
    for c in range(chain.used.shape[1]):
        members = np.flatnonzero(chain.label == c)
        for r in range(chain.used.shape[0]):
            room = min(int(chain.used[r, c]) + problem.settings.split_merge, chain.cap) + 1
            make_room(problem.layout, chain, room)  # a split accepted without room for it would be lost
            accepted += kernel.split_merge(
                problem.layout, problem.rows, chain, r, c, members, problem.settings.split_merge, int(seeds[r, c])
            )
    return accepted


def step(
    rng: np.random.Generator, chain: Chain, problem: Problem, *, move_hyper: bool = True, propose: bool = True,
    laws: SeatingLaws | None = None,
) -> tuple[Chain, dict[str, float]]:  # fmt: skip
    """One sweep of all moves, those of the columns' hyper-parameters if `move_hyper`, split-merge if `propose`. The
    chain is changed in place.

    `laws`: the laws of seating to choose among, where not those of the settings.
    """
    settings = problem.settings
    moved = sweep_rows(rng, problem, chain)
    if len(problem.labelled) < len(problem.label):
        sweep_unlabelled(rng, problem, chain)
        rename_groups(rng, problem, chain)
    if settings.split_merge and propose:
        split_and_merge(rng, problem, chain)
    if settings.alpha is None:
        kernel.move_concentration(chain, laws or settings.laws, rng.random(chain.used.shape))
    if settings.n_restaurants > 1 and settings.move_columns:
        move_views(rng, problem, chain)
    if settings.column_prior is None and move_hyper:
        kernel.move_hyper(problem.layout, chain, settings.grids, rng.random((problem.layout.n_columns, 3)))
    concentration = float(chain.alpha.sum() / chain.alpha.size)
    infos = {"n_groups": float(chain.used.sum()), "concentration": concentration, "moved": moved}
    return chain, infos
