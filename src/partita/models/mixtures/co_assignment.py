"""Partitions of the same rows together: which rows share a group how often, and which partition is nearest to that."""

from __future__ import annotations

import numpy as np

from ...kernels import kernel

ROWS_COMPARED = 400


def most_central(assignments: np.ndarray) -> int:
    """The kept state whose co-assignment is nearest to the average one (least expected Binder loss), on some rows."""
    if len(assignments) == 1:
        return 0
    step = max(1, assignments.shape[1] // ROWS_COMPARED)
    z = np.ascontiguousarray(assignments[:, ::step], np.int32)
    together = np.empty((len(z), len(z)))
    kernel.shared_pairs(z, int(z.max()) + 1, together)
    # sum over pairs of (together - mean)^2 is, but for a constant, that of together * (1 - 2 mean)
    return int(np.argmin(np.diagonal(together) - 2.0 * together.mean(axis=1)))


def co_assignment(assignments: np.ndarray) -> np.ndarray:
    """Share of states in which two rows sit together."""
    n = assignments.shape[1]
    out = np.zeros((n, n))
    for z in assignments:
        out += z[:, None] == z
    return out / len(assignments)
