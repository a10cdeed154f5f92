"""One sweep over a graph, every option scored by the whole log joint."""

from __future__ import annotations

from itertools import combinations, product
from math import exp, lgamma, log

import numpy as np

from ..net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES, GraphTask, NetData
from .draw import Stream, pick
from .net_scores import score

CANDIDATES = 3  # of a set of parents that is drawn anew


def acyclic(edge: np.ndarray) -> bool:
    left = list(range(len(edge)))
    while left:
        roots = [j for j in left if not any(edge[i, j] for i in left)]
        if not roots:
            return False
        left = [j for j in left if j not in roots]
    return True


def log_joint(data: NetData, task: GraphTask, z, edge) -> float:
    """Log joint of classes and graph, up to the normaliser over acyclic graphs; -inf where they do not go together."""
    n = len(z)
    total = sum(score(data, j, np.flatnonzero(edge[:, j]).tolist()) for j in range(n))
    if not acyclic(edge) or edge.sum(axis=0).max() > task.max_parents:
        return -np.inf
    if task.prior == GIVEN_ODDS:
        return total + float(task.log_odds[edge == 1].sum())
    ordered, b1, b2 = task.prior == ORDERED_CLASSES, task.beta1, task.beta2
    K = int(max(z)) + 1
    total += lgamma(task.alpha) - lgamma(task.alpha + n) - (lgamma(K + 1) if ordered else 0.0)
    for b in range(K):
        of_b = np.flatnonzero(z == b)
        total += log(task.alpha) + lgamma(len(of_b))
        for a in range(K):
            of_a = np.flatnonzero(z == a)
            present = int(edge[np.ix_(of_a, of_b)].sum())
            if ordered and a >= b:
                if present:
                    return -np.inf
                continue
            pairs = len(of_a) * len(of_b) - (len(of_a) if a == b else 0)
            total += lgamma(b1 + present) + lgamma(b2 + pairs - present) - lgamma(b1 + b2 + pairs)
            total += lgamma(b1 + b2) - lgamma(b1) - lgamma(b2)
    return total


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
    odds = values[1] - values[0]
    edge[i, j] = stream.uniform() < (1.0 / (1.0 + exp(-odds)) if odds > -700 else 0.0)


def _reversal(stream: Stream, data, task, z, edge, a: int, b: int) -> None:
    """The edge between two nodes turned round, if there is one."""
    if not edge[a, b] and not edge[b, a]:
        return
    i, j = (a, b) if edge[a, b] else (b, a)
    if task.required[i, j] or not task.allowed[j, i] or edge[:, i].sum() >= task.max_parents:
        return
    before = log_joint(data, task, z, edge)
    edge[i, j], edge[j, i] = 0, 1
    if not log(stream.uniform()) < log_joint(data, task, z, edge) - before:
        edge[i, j], edge[j, i] = 1, 0


def _exchange(stream: Stream, data, task, z, edge, a: int, b: int) -> None:
    """Ordered classes: the ends of the edge between two nodes change places, and the edge turns round."""
    if not edge[a, b] and not edge[b, a]:
        return
    i, j = (a, b) if edge[a, b] else (b, a)
    if task.required[i, j] or not task.allowed[j, i] or edge[:, i].sum() >= task.max_parents:
        return
    before = log_joint(data, task, z, edge)
    edge[i, j], edge[j, i] = 0, 1
    z[i], z[j] = z[j], z[i]
    if not log(stream.uniform()) < log_joint(data, task, z, edge) - before:
        edge[i, j], edge[j, i] = 1, 0
        z[i], z[j] = z[j], z[i]


def _reorder(stream: Stream, data, task, z, edge, a: int) -> None:
    """The classes at a and a + 1 change places, and all edges between them turn round."""
    if a + 1 > max(z):
        return
    first, second = np.flatnonzero(z == a), np.flatnonzero(z == a + 1)
    there, back = np.ix_(first, second), np.ix_(second, first)
    shut = (edge[there] & (task.required[there] | (1 - task.allowed[back].T))).any()
    before, old_z, old_edge = log_joint(data, task, z, edge), z.copy(), edge.copy()
    edge[back], edge[there] = old_edge[there].T, 0
    z[first], z[second] = a + 1, a
    if not log(stream.uniform()) < (-np.inf if shut else log_joint(data, task, z, edge) - before):
        z[:], edge[:] = old_z, old_edge


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
    chosen = pick(np.array(values), stream.uniform())
    for k, i in enumerate(candidates):
        edge[i, j] = chosen >> k & 1


def _class(stream: Stream, data, task, z, edge, i: int) -> None:
    """The class of node i given all others: every class there is, and one of its own (at every place in an order)."""
    others = np.unique(np.delete(z, i), return_inverse=True)[1]
    K = int(others.max(initial=-1)) + 1
    options = [np.insert(others, i, k) for k in range(K)]
    if task.prior == ORDERED_CLASSES:
        options += [np.insert(others + (others >= g), i, g) for g in range(K + 1)]
    else:
        options.append(np.insert(others, i, K))
    values = np.array([log_joint(data, task, option, edge) for option in options])
    z[:] = options[pick(values, stream.uniform())]


def net_graph_sweep(data: NetData, task: GraphTask, cache, z, edge, seed: int) -> float:
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
        _class(stream, data, task, z, edge, i)
    return log_joint(data, task, z, edge)
