"""One sweep over graphs, every option scored by the whole log joint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import exp, log

import numpy as np

from ..net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES, GraphTask, NetData
from .draw import Stream, pick
from .net_graph_classes import one_class, split_or_merge
from .net_graph_joint import log_joint, reaches
from .net_graph_nodes import move_node

CANDIDATES = 3  # of a set of parents that is drawn anew
RARE = 0.01  # chance of a change below which what is drawn counts, not the chance


def _edge(stream: Stream, data, task, z, edge, i: int, j: int, chances: np.ndarray | None = None) -> None:
    """One edge given all others."""
    full = not edge[i, j] and edge[:, j].sum() >= task.max_parents
    shut = not task.allowed[i, j] or task.required[i, j] or full
    if shut or (task.prior == ORDERED_CLASSES and z[i] >= z[j]):
        if chances is not None:
            chances[i, j] += edge[i, j]
        return
    values, present = [], int(edge[i, j])
    for option in (0, 1):
        edge[i, j] = option
        values.append(log_joint(data, task, z, edge))
    odds = task.heat * (values[1] - values[0])
    chance = 1.0 / (1.0 + exp(-odds)) if odds > -700 else 0.0
    edge[i, j] = stream.uniform() < chance
    if chances is not None:
        rare = chance > 1.0 - RARE if present else chance < RARE
        chances[i, j] += edge[i, j] if rare else chance


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
        if shut or (z[i] >= z[j] if task.prior == ORDERED_CLASSES else reaches(edge, j, i)):
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


def net_graph_sweep(data: Sequence[NetData], task: GraphTask, cache, z, edge, seed: int, chances) -> float:
    stream, n = Stream(seed), len(z)
    for i, j in product(range(n), repeat=2):
        _edge(stream, data, task, z, edge, i, j, chances if chances.size else None)
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
    for _ in range(task.n_nodes if task.move_classes and task.prior != ORDERED_CLASSES and n > 1 else 0):
        move_node(stream, data, task, z, edge)
    return log_joint(data, task, z, edge)
