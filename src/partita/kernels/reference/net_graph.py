"""One sweep over graphs, every option scored by the whole log joint."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np

from ..net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES, GraphTask, NetData
from .draw import Stream, pick
from .net_graph_classes import classes, log_classes, split_or_merge
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


def _edges(stream: Stream, data, task, z, edge) -> None:
    n = len(z)
    for i in range(n):
        for j in range(n):
            full = not edge[i, j] and edge[:, j].sum() >= task.max_parents
            if not task.allowed[i, j] or task.required[i, j] or full:
                continue
            if task.prior == ORDERED_CLASSES and z[i] >= z[j]:
                continue
            values = []
            for present in (0, 1):
                edge[i, j], before = present, edge[i, j]
                values.append(log_joint(data, task, z, edge))
                edge[i, j] = before
            odds = task.heat * (values[1] - values[0])
            edge[i, j] = stream.uniform() < (1.0 / (1.0 + exp(-odds)) if odds > -700 else 0.0)


def _reversals(stream: Stream, data, task, z, edge) -> None:
    n = len(z)
    for a in range(n):
        for b in range(a + 1, n):
            if not edge[a, b] and not edge[b, a]:
                continue
            i, j = (a, b) if edge[a, b] else (b, a)
            if task.required[i, j] or not task.allowed[j, i] or edge[:, i].sum() >= task.max_parents:
                continue
            before = log_joint(data, task, z, edge)
            edge[i, j], edge[j, i] = 0, 1
            if not log(stream.uniform()) < task.heat * (log_joint(data, task, z, edge) - before):
                edge[i, j], edge[j, i] = 1, 0


def _parent_sets(stream: Stream, data, task, z, edge) -> None:
    n = len(z)
    for j in range(n):
        candidates: list[int] = []
        for _ in range(CANDIDATES):
            i = stream.below(n)
            shut = not task.allowed[i, j] or task.required[i, j] or i in candidates
            if shut or (z[i] >= z[j] if task.prior == ORDERED_CLASSES else _reaches(edge, j, i)):
                continue
            candidates.append(i)
        if len(candidates) < 2:
            continue
        values = []
        for chosen in range(1 << len(candidates)):
            for k, i in enumerate(candidates):
                edge[i, j] = chosen >> k & 1
            values.append(log_joint(data, task, z, edge))
        chosen = pick(task.heat * np.array(values), stream.uniform())
        for k, i in enumerate(candidates):
            edge[i, j] = chosen >> k & 1


def net_graph_sweep(data: Sequence[NetData], task: GraphTask, cache, z, edge, seed: int) -> float:
    stream = Stream(seed)
    _edges(stream, data, task, z, edge)
    if not task.single_edges:
        if task.prior in (GIVEN_ODDS, CLASSES):
            _reversals(stream, data, task, z, edge)
        _parent_sets(stream, data, task, z, edge)
    if task.move_classes:
        classes(stream, task, z, edge)
        for _ in range(task.n_splits):
            split_or_merge(stream, task, z, edge)
    return log_joint(data, task, z, edge)
