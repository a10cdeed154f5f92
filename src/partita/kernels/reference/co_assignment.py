"""Partitions of the same rows side by side."""

from __future__ import annotations

import numpy as np


def shared_pairs(z: np.ndarray, n_groups: int, together: np.ndarray) -> None:
    """together[a, b] = ordered pairs of rows, a row with itself among them, that share a group both in state a and in
    state b of z (states, rows), groups 0 .. n_groups - 1.
    """
    for a, b in np.ndindex(len(z), len(z)):
        in_common = np.zeros((n_groups, n_groups))
        np.add.at(in_common, (z[a], z[b]), 1.0)
        together[a, b] = (in_common**2).sum()
