"""Partitions of the same rows together: which rows share a group how often, and which partition is nearest to that."""

from __future__ import annotations

import numpy as np

ROWS_COMPARED = 400


def most_central(assignments: np.ndarray) -> int:
    """The kept state whose co-assignment is nearest to the average one (least expected Binder loss), on some rows."""
    if len(assignments) == 1:
        return 0
    step = max(1, assignments.shape[1] // ROWS_COMPARED)
    z = assignments[:, ::step]
    K = int(z.max()) + 1
    offset = z + (K * K * np.arange(len(z)))[:, None]
    cost = np.empty(len(z))
    # sum over pairs of (together - mean)^2 is, but for a constant, that of together * (1 - 2 mean); pairs that are
    # together in two states are counted by the rows that their groups have in common
    for k, one in enumerate(z):
        shared = np.bincount((offset + K * one.astype(np.int64)).ravel()).astype(float)
        cost[k] = (np.bincount(one).astype(float) ** 2).sum() - 2.0 / len(z) * (shared @ shared)
    return int(np.argmin(cost))


def co_assignment(assignments: np.ndarray) -> np.ndarray:
    """Share of states in which two rows sit together."""
    n = assignments.shape[1]
    out = np.zeros((n, n))
    for z in assignments:
        out += z[:, None] == z
    return out / len(assignments)
