"""One sweep over graphs, every option scored by the whole log joint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import exp, log

import numpy as np

from ..net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES, GraphTask, NetData
from .draw import Stream, pick
from .net_graph_classes import log_classes, one_class, split_or_merge
from .net_scores import score
from .net_seating import homes

CANDIDATES = 3  # of a set of parents that is drawn anew


def acyclic(edge: np.ndarray) -> bool:
    left = list(range(len(edge)))
    while left:
        roots = [j for j in left if not any(edge[i, j] for i in left)]
        if not roots:
            return False
        left = [j for j in left if j not in roots]
    return True


def log_joint(data: Sequence[NetData], task: GraphTask, z, edge) -> float:
    """Log joint of classes and graph, up to the normaliser over acyclic graphs; -inf where they do not go together."""
    total = 0.0
    for j, home in enumerate(homes(task.seating)):
        first = int(task.seating.first[home])
        total += score(data[home], j - first, (np.flatnonzero(edge[:, j]) - first).tolist())
    if not acyclic(edge) or edge.sum(axis=0).max() > task.max_parents:
        return -np.inf
    if task.prior == GIVEN_ODDS:
        return total + float(task.log_odds[edge == 1].sum())
    return total + log_classes(task, z, edge)


def _reaches(edge, start: int, end: int) -> bool:
    seen, front = set(), {start}
    while front:
        v = front.pop()
        if v == end:
            return True
        seen.add(v)
        front |= {int(u) for u in np.flatnonzero(edge[v])} - seen
    return False


def _edge(stream: Stream, data, task, z, edge, i: int, j: int) -> None:
    """One edge given all others."""
    full = not edge[i, j] and edge[:, j].sum() >= task.max_parents
    if not task.allowed[i, j] or task.required[i, j] or full:
        return
    if task.prior == ORDERED_CLASSES and z[i] >= z[j]:
        return
    values = []
    for present in (0, 1):
        edge[i, j], before = present, edge[i, j]
        values.append(log_joint(data, task, z, edge))
        edge[i, j] = before
    odds = task.heat * (values[1] - values[0])
    edge[i, j] = stream.uniform() < (1.0 / (1.0 + exp(-odds)) if odds > -700 else 0.0)


def _reversal(stream: Stream, data, task, z, edge, a: int, b: int) -> None:
    """The edge between two nodes turned round, if there is one."""
    _turn(stream, data, task, z, edge, a, b, swap=False)


def _exchange(stream: Stream, data, task, z, edge, a: int, b: int) -> None:
    """Ordered classes: the ends of the edge between two nodes change places, and the edge turns round."""
    _turn(stream, data, task, z, edge, a, b, swap=True)


def _turn(stream: Stream, data, task, z, edge, a: int, b: int, swap: bool) -> None:
    if not edge[a, b] and not edge[b, a]:
        return
    i, j = (a, b) if edge[a, b] else (b, a)
    if task.required[i, j] or not task.allowed[j, i] or edge[:, i].sum() >= task.max_parents:
        return
    before = log_joint(data, task, z, edge)
    edge[i, j], edge[j, i] = 0, 1
    if swap:
        z[i], z[j] = z[j], z[i]
    if not log(stream.uniform()) < task.heat * (log_joint(data, task, z, edge) - before):
        edge[i, j], edge[j, i] = 1, 0
        if swap:
            z[i], z[j] = z[j], z[i]


def _reorder(stream: Stream, data, task, z, edge, a: int) -> None:
    """The classes at a and a + 1 change places, and all edges between them turn round."""
    if a + 1 > max(z):
        return
    first, second = np.flatnonzero(z == a), np.flatnonzero(z == a + 1)
    there, back = np.ix_(first, second), np.ix_(second, first)
    shut = (edge[there] & (task.required[there] | (1 - task.allowed[back].T))).any()
    before, old_z, old_edge = log_joint(data, task, z, edge), z.copy(), edge.copy()
    share = task.seating.share
    share[[a, a + 1]] = share[[a + 1, a]]
    edge[back], edge[there] = old_edge[there].T, 0
    z[first], z[second] = a + 1, a
    if not log(stream.uniform()) < (
        -np.inf if shut else task.heat * (log_joint(data, task, z, edge) - before)
    ):
        z[:], edge[:] = old_z, old_edge
        share[[a, a + 1]] = share[[a + 1, a]]


def _parent_set(stream: Stream, data, task, z, edge, j: int) -> None:
    """Which of a few candidates are parents of node j, all together."""
    candidates: list[int] = []
    for _ in range(CANDIDATES):
        i = stream.below(len(z))
        shut = not task.allowed[i, j] or task.required[i, j] or i in candidates
        if shut or (z[i] >= z[j] if task.prior == ORDERED_CLASSES else _reaches(edge, j, i)):
            continue
        candidates.append(i)
    if len(candidates) < 2:
        return
    values = []
    for chosen in range(1 << len(candidates)):
        for k, i in enumerate(candidates):
            edge[i, j] = chosen >> k & 1
        values.append(log_joint(data, task, z, edge))
    chosen = pick(task.heat * np.array(values), stream.uniform())
    for k, i in enumerate(candidates):
        edge[i, j] = chosen >> k & 1


def net_graph_sweep(data: Sequence[NetData], task: GraphTask, cache, z, edge, seed: int) -> float:
    stream, n = Stream(seed), len(z)
    for i, j in product(range(n), repeat=2):
        _edge(stream, data, task, z, edge, i, j)
    if not task.single_edges:
        for a, b in combinations(range(n), 2) if task.prior in (GIVEN_ODDS, CLASSES) else ():
            _reversal(stream, data, task, z, edge, a, b)
        for a, b in combinations(range(n), 2) if task.prior == ORDERED_CLASSES and task.move_classes else ():
            _exchange(stream, data, task, z, edge, a, b)
        for j in range(n):
            _parent_set(stream, data, task, z, edge, j)
    if task.prior == ORDERED_CLASSES and not (task.single_edges and task.move_classes):
        for a in range(max(z)):
            _reorder(stream, data, task, z, edge, a)
    for i in range(n) if task.move_classes else ():
        one_class(stream, task, z, edge, i)
    for _ in range(task.n_splits if task.move_classes else 0):
        split_or_merge(stream, task, z, edge)
    return log_joint(data, task, z, edge)
