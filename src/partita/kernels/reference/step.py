"""One step of a chain: all its moves, one after the other."""

from __future__ import annotations

import numpy as np

from ..contract import (
    CONCENTRATIONS,
    DONE,
    HYPER,
    PROPOSALS,
    SEATS,
    SHUFFLE,
    VIEWS,
    Chain,
    Layout,
    Moves,
    Rows,
)
from .gibbs import gibbs_sweeps
from .hyper import move_concentration, move_hyper
from .split_merge import split_merge
from .views import move_views


def chain_step(
    layout: Layout, rows: Rows, chain: Chain, moves: Moves, place: np.ndarray, found: np.ndarray, until: int = DONE
) -> int:
    """Moves from `place` (stage, position in it) on, up to the stage `until`; `place` then says how far they came.

    Returns the capacity to make room for before the step goes on: no more than there is where none is wanted. `found`
    (2,) counts rows that changed their group and proposals accepted.
    """
    while place[0] < until:
        at, room = _move(layout, rows, chain, moves, int(place[0]), int(place[1]), found)
        place[:] = (place[0] + 1, 0) if at is None else (place[0], at)
        if room > chain.capacity:
            return room
    return chain.capacity


def _move(
    layout: Layout, rows: Rows, chain: Chain, moves: Moves, stage: int, at: int, found: np.ndarray
) -> tuple[int | None, int]:
    """One stage from a position in it: where it was left (None: done) and the capacity that is wanted."""
    if stage == SHUFFLE:
        _shuffle(moves)
    elif stage == SEATS:
        return _seat(layout, rows, chain, moves, at, found)
    elif stage == PROPOSALS and moves.seeds is not None:
        return _propose(layout, rows, chain, moves, at, found)
    elif stage == CONCENTRATIONS and moves.concentrations is not None:
        assert moves.laws is not None
        move_concentration(chain, moves.laws, moves.concentrations)
    elif stage == VIEWS and moves.views is not None:
        move_views(layout, rows, chain, moves.views)
    elif stage == HYPER and moves.hyper is not None:
        assert moves.grids is not None
        move_hyper(layout, chain, moves.grids, moves.hyper)
    return None, 0


def _shuffle(moves: Moves) -> None:
    """The rows of each class in random order, from the last place down to the second (Fisher and Yates)."""
    for first, last in zip(moves.offset[:-1].tolist(), moves.offset[1:].tolist(), strict=True):
        for k in range(last - 1, first, -1):
            other = first + int(moves.shuffle[k] * (k - first + 1))
            moves.order[[k, other]] = moves.order[[other, k]]


def _seat(
    layout: Layout, rows: Rows, chain: Chain, moves: Moves, at: int, found: np.ndarray
) -> tuple[int | None, int]:
    moved = np.zeros(1, np.int64)
    reached = gibbs_sweeps(layout, rows, chain, moves.order, moves.offset, moves.seats, moved, at)
    found[0] += moved[0]
    if reached < moves.seats.size:
        return reached, 2 * chain.capacity
    return None, int(chain.used.max()) + 1


def _propose(
    layout: Layout, rows: Rows, chain: Chain, moves: Moves, at: int, found: np.ndarray
) -> tuple[int | None, int]:
    assert moves.seeds is not None
    n_restaurants, n_classes = chain.used.shape
    for k in range(at, n_classes * n_restaurants):
        c, r = divmod(k, n_restaurants)
        room = min(int(chain.used[r, c]) + moves.n_proposals, chain.cap) + 1
        if room > chain.capacity:  # a split without room for it would be lost
            return k, room
        members = np.flatnonzero(chain.label == c)
        found[1] += split_merge(layout, rows, chain, r, c, members, moves.n_proposals, int(moves.seeds[r, c]))
    return None, 0
