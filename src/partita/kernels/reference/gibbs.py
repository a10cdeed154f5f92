"""Collapsed Gibbs sampling of the groups of one class in one restaurant (Neal 2000, algorithm 3)."""

from __future__ import annotations

import numpy as np

from ..contract import Chain, Layout, Rows
from .cells import draw_missing, observed
from .draw import pick
from .seating import Seating


def gibbs_sweep(
    layout: Layout, rows: Rows, chain: Chain, restaurant: int, c: int, order: np.ndarray, uniforms: np.ndarray,
    moved: np.ndarray | None = None,
) -> int:  # fmt: skip
    """Draw the group of each row of `order` (rows of class c) given all others, with one uniform each.

    Returns how many rows were done: fewer than all if no slot was left for a new group; make room and call again with
    the rest. `moved` (1,), where given, counts the rows that changed their group.
    """
    room = Seating(layout, chain, restaurant, c)
    done = 0
    for i, u in zip(order, uniforms, strict=True):
        if not room.offer_fresh():
            break
        cells = observed(layout, rows, room.columns, i, chain)
        own = int(room.z[i])
        alone = room.leave(cells, own)
        # nearly all rows stay: their own group comes first, for which the fresh one stands where they were alone
        g = pick(room.log_joint(cells), u, first=room.fresh if alone else own)
        draw_missing(layout, chain.hyper, room.stats[g], cells, u, i)
        room.z[i] = room.reseat(cells, own if alone else None, g)
        if moved is not None:
            moved += room.z[i] != own
        done += 1
    room.close()
    return done


def gibbs_sweeps(
    layout: Layout,
    rows: Rows,
    chain: Chain,
    order: np.ndarray,
    offset: np.ndarray,
    uniforms: np.ndarray,
    moved: np.ndarray,
    start: int,
    until: int = -1,
) -> int:
    """A sweep in every restaurant and class: rows of class c are order[offset[c] : offset[c + 1]], uniforms (R, rows).

    Row k of restaurant r is job r * rows + k. Does the jobs from `start` to `until` (-1: the end) and returns the job
    to go on with: `until`, or an earlier one where room must be made first. `moved` (1,) counts the rows that changed
    their group.
    """
    n = int(offset[-1])
    until = chain.z.shape[0] * n if until < 0 else until
    uniforms = np.reshape(uniforms, (-1, n))
    for r in range(chain.z.shape[0]):
        for c in range(chain.stats.shape[0]):
            first, last = max(start - r * n, int(offset[c])), min(until - r * n, int(offset[c + 1]))
            if first < last:
                done = gibbs_sweep(layout, rows, chain, r, c, order[first:last], uniforms[r, first:last], moved)
                if done < last - first:
                    return r * n + first + done
    return until
