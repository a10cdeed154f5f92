"""The joint of classes and a graph, and which nodes lead to which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..net_contract import GIVEN_ODDS, GraphTask, NetData
from .net_graph_classes import log_classes
from .net_scores import score
from .net_seating import homes


def acyclic(edge: np.ndarray) -> bool:
    left = list(range(len(edge)))
    while left:
        roots = [j for j in left if not any(edge[i, j] for i in left)]
        if not roots:
            return False
        left = [j for j in left if j not in roots]
    return True


def log_likelihood(data: Sequence[NetData], task: GraphTask, edge) -> float:
    total = 0.0
    for j, home in enumerate(homes(task.seating)):
        first = int(task.seating.first[home])
        total += score(data[home], j - first, (np.flatnonzero(edge[:, j]) - first).tolist())
    return total


def log_joint(data: Sequence[NetData], task: GraphTask, z, edge) -> float:
    """Log joint of classes and graph, up to the normaliser over acyclic graphs; -inf where they do not go together."""
    total = log_likelihood(data, task, edge)
    if not acyclic(edge) or edge.sum(axis=0).max() > task.max_parents:
        return -np.inf
    if task.prior == GIVEN_ODDS:
        return total + float(task.log_odds[edge == 1].sum())
    return total + log_classes(task, z, edge)


def reaches(edge, start: int, end: int) -> bool:
    seen, front = set(), {start}
    while front:
        v = front.pop()
        if v == end:
            return True
        seen.add(v)
        front |= {int(u) for u in np.flatnonzero(edge[v])} - seen
    return False
