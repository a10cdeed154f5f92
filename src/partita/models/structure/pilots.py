"""Which columns are worth looking at as parents of each: those that short chains over graphs took."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import CLASSES, GraphTask, HashedValues, NetData, NodeSeats
from .chains import seed_of
from .knowledge import Knowledge

PILOTS, SWEEPS, HOTTEST = 16, 12, 0.2  # chains, their sweeps, and the power of the joint they begin with
MOST_PARENTS = 6  # of a column, in these chains
CACHE_BITS = 18


def seen_edges(
    rng: np.random.Generator, data: NetData, known: Knowledge,
    walk: Callable[[float, np.ndarray], None] = lambda heat, graph: None,
) -> np.ndarray:  # fmt: skip
    """(n, n) how often each edge was there in the later halves of short chains under one class that cool down: each
    ends in a mode of its own. `walk(heat, graph)` is a further move of theirs, in place."""
    n, seen, cache = known.n, np.zeros((known.n, known.n)), HashedValues.room(CACHE_BITS)
    allowed, required = known.allowed.astype(np.uint8), known.required.astype(np.uint8)
    most = min(known.max_parents, max(MOST_PARENTS, int(required.sum(axis=0).max(initial=0))))
    for _ in range(PILOTS):
        z, edge = np.zeros(n, np.int32), required.copy()
        for k in range(SWEEPS):
            heat = min(1.0, HOTTEST ** (1.0 - 2.0 * k / SWEEPS))
            task = GraphTask(
                allowed, required, most, CLASSES, False, NodeSeats.plain(n, 1.0), 1.0, 1.0, np.zeros((n, n)), heat=heat
            )
            walk(heat, edge)
            kernel.net_graph_sweep([data], task, cache, z, edge, seed_of(rng), np.zeros((0, 0)))
            if 2 * k >= SWEEPS:
                seen += edge
    return seen / (PILOTS * (SWEEPS // 2))
