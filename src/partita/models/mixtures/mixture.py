"""Chinese-restaurant mixtures of the rows of each class, by collapsed Gibbs sampling: `init` and `step`.

One chain holds all classes, since the columns' hyper-parameters are shared by them. A step is: groups of all rows (and
labels of rows without one), concentrations, views of the columns, hyper-parameters of the columns; each move leaves the
posterior invariant, so any order and any omission is allowed.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.contract import (
    CORRELATED,
    DONE,
    FIRST_RESTAURANT,
    PROPOSALS,
    SHUFFLE,
    Chain,
    Layout,
    Moves,
    Rows,
    SeatingLaws,
    pad,
)
from ...priors import partition
from .problem import Problem, initial_hyper, make_room
from .unlabelled import first_labels, rename_groups, sweep_unlabelled


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
    for c in range(C):
        members = np.flatnonzero(label == c)
        seat = np.arange(len(members)) % start[c]
        size[:, c, : start[c]] = np.bincount(seat, minlength=start[c])
        for r in range(R):
            z[r, rng.permutation(members)] = seat
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


def carry_out(
    layout: Layout, rows: Rows, chain: Chain, moves: Moves, first: int = SHUFFLE, until: int = DONE
) -> tuple[int, int]:
    """The moves of the stages from `first` up to `until`, cut so that no call of the kernel lasts long; room is made on
    the way. Returns how many rows changed their group, and how many proposals were accepted.
    """
    place, found = np.array([first, 0]), np.zeros(2)
    while place[0] < until:
        make_room(layout, chain, kernel.chain_step(layout, rows, chain, moves, place, found, until))
    return int(found[0]), int(found[1])


def seating(rng: np.random.Generator, order: np.ndarray, label: np.ndarray, n_classes: int, chain: Chain) -> Moves:
    """A sweep over some rows with a label."""
    order = order[np.argsort(label[order], kind="stable")]
    offset = np.concatenate([[0], np.cumsum(np.bincount(label[order], minlength=n_classes))])
    return Moves(order, offset, rng.random(len(order)), rng.random((chain.z.shape[0], len(order))))


def sweep_rows(rng: np.random.Generator, problem: Problem, chain: Chain, rows: np.ndarray | None = None) -> float:
    """Groups of the rows with a label (or of some of them), one by one, in random order; the share that changed."""
    moves = seating(rng, problem.labelled if rows is None else rows, problem.label, chain.stats.shape[0], chain)
    moved, _ = carry_out(problem.layout, problem.rows, chain, moves, until=PROPOSALS)
    return moved / max(moves.seats.size, 1)


def split_and_merge(rng: np.random.Generator, problem: Problem, chain: Chain) -> int:
    """A few split-merge proposals in every restaurant and class; returns how many were accepted."""
    moves = seating(rng, np.zeros(0, np.int64), problem.label, chain.stats.shape[0], chain)
    moves.seeds, moves.n_proposals = _seeds(rng, chain), problem.settings.split_merge or 0
    return carry_out(problem.layout, problem.rows, chain, moves, PROPOSALS, PROPOSALS + 1)[1]


def _seeds(rng: np.random.Generator, chain: Chain) -> np.ndarray:
    return rng.integers(0, 2**63, chain.used.shape, dtype=np.uint64)


def all_moves(
    rng: np.random.Generator, chain: Chain, problem: Problem, move_hyper: bool, n_proposals: int,
    laws: SeatingLaws | None,
) -> Moves:  # fmt: skip
    """The moves of a step with their random numbers. Columns have some only where they move, so that no chain with
    fixed columns depends on how many there are."""
    settings, n, D, (R, C) = problem.settings, len(problem.by_class), problem.layout.n_columns, chain.used.shape
    views = D if settings.n_restaurants > 1 and settings.move_columns else 0
    hyper = 3 * D if settings.column_prior is None and move_hyper else 0
    numbers = rng.random((R + 1) * n + R * C + views + hyper)
    seats, concentrations, columns = numbers[n:], numbers[(R + 1) * n :], numbers[(R + 1) * n + R * C :]
    moves = Moves(problem.by_class.copy(), problem.offset, numbers[:n], seats[: R * n].reshape(R, n))
    if n_proposals:
        moves.seeds, moves.n_proposals = _seeds(rng, chain), n_proposals
    if settings.alpha is None:
        moves.laws, moves.concentrations = laws or settings.laws, concentrations[: R * C].reshape(R, C)
    if views:
        moves.views = columns[:views]
    if hyper:
        moves.grids, moves.hyper = settings.grids, columns[views:].reshape(D, 3)
    return moves


def step(
    rng: np.random.Generator, chain: Chain, problem: Problem, *, move_hyper: bool = True,
    n_proposals: int | None = None, laws: SeatingLaws | None = None,
) -> tuple[Chain, dict[str, float]]:  # fmt: skip
    """One sweep of all moves, those of the columns' hyper-parameters if `move_hyper`. The chain is changed in place.

    `n_proposals`: split-merge proposals in each restaurant and class, where not those of the settings.
    `laws`: the laws of seating to choose among, where not those of the settings.

    The info says how many groups there are, their mean concentration, the share of seats that changed, and how many
    proposals were accepted.
    """
    if n_proposals is None:
        n_proposals = problem.settings.split_merge or 0
    moves, first, before = all_moves(rng, chain, problem, move_hyper, n_proposals, laws), SHUFFLE, 0
    if len(problem.labelled) < len(problem.label):
        before, _ = carry_out(problem.layout, problem.rows, chain, moves, until=PROPOSALS)
        sweep_unlabelled(rng, problem, chain)
        rename_groups(rng, problem, chain)
        first = PROPOSALS
    moved, accepted = carry_out(problem.layout, problem.rows, chain, moves, first)
    concentration = float(chain.alpha.sum() / chain.alpha.size)
    share = (before + moved) / max(moves.seats.size, 1)
    info = {"n_groups": float(chain.used.sum()), "concentration": concentration, "moved": share}
    return chain, {**info, "accepted": float(accepted)}
