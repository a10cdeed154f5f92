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
    first = np.concatenate([[0], np.cumsum(z.max(axis=1) + 1)])
    seat = np.zeros((z.shape[1], first[-1]), np.float32)  # one column per group of every state
    np.put_along_axis(seat, (z + first[:-1, None]).T, 1.0, axis=1)
    # sum over pairs of (together - mean)^2 is, but for a constant, that of together * (1 - 2 mean)
    cost = seat * (seat.sum(axis=0) - (2.0 / len(z)) * ((seat @ seat.T) @ seat))
    return int(np.argmin(np.add.reduceat(cost.sum(axis=0), first[:-1])))


def co_assignment(assignments: np.ndarray) -> np.ndarray:
    """Share of states in which two rows sit together."""
    n = assignments.shape[1]
    out = np.zeros((n, n))
    for z in assignments:
        out += z[:, None] == z
    return out / len(assignments)
