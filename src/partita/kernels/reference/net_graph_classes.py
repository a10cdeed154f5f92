"""Classes given graphs: every option scored by the weight of all classes."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

import numpy as np

from ..net_contract import ORDERED_CLASSES, GraphTask
from .draw import Stream, pick
from .net_seating import close_class, homes, log_prior, log_seat, open_class, without


def log_edges(task: GraphTask, z, edge) -> float:
    """Log weight of the order of classes and of the edges between nodes that are seated (z is not -1)."""
    z, home = np.asarray(z), homes(task.seating)
    ordered, b1, b2 = task.prior == ORDERED_CLASSES, task.beta1, task.beta2
    K = int(z.max(initial=-1)) + 1
    total = -lgamma(K + 1) if ordered else 0.0
    apart = (home[:, None] == home) & ~np.eye(len(z), dtype=bool)
    for a in range(K):
        for b in range(K):
            between = np.outer(z == a, z == b) & apart
            present, pairs = int(edge[between].sum()), int(between.sum())
            if ordered and a >= b:
                if present:
                    return -np.inf
                continue
            total += lgamma(b1 + present) + lgamma(b2 + pairs - present) - lgamma(b1 + b2 + pairs)
            total += lgamma(b1 + b2) - lgamma(b1) - lgamma(b2)
    return total


def log_classes(task: GraphTask, z, edge) -> float:
    return log_prior(task.seating, z) + log_edges(task, z, edge)


def one_class(stream: Stream, task: GraphTask, z, edge, i: int) -> None:
    """The class of node i given all others: every class there is, and one of its own (at every place in an order)."""
    seating = task.seating
    others, K = without(seating, z, i)
    options, values = [], []
    for k in range(K):
        options.append(np.where(np.arange(len(z)) == i, k, others))
        values.append(log_seat(seating, others, i, k) + log_edges(task, options[-1], edge))
    gaps = range(K + 1) if task.prior == ORDERED_CLASSES else [K]
    for place in gaps:
        option = others + (others >= place)
        option[i] = place
        options.append(option)
        values.append(log_seat(seating, others, i, None) + log_edges(task, option, edge))
    o = pick(task.heat * np.array(values), stream.uniform())
    if o >= K:
        open_class(seating, gaps[o - K], K, float(seating.stick[i]))
    z[:] = options[o]


def _part(stream: Stream | None, task: GraphTask, z, edge, nodes, a: int, b: int, wanted) -> float:
    """Nodes that are not seated choose between classes a and b one after the other, or as `wanted` says."""
    chosen = 0.0
    for u, want in zip(nodes, wanted):
        values = []
        for k in (a, b):
            seat = log_seat(task.seating, z, u, k)
            z[u] = k
            values.append(seat + log_edges(task, z, edge))
            z[u] = -1
        odds = task.heat * (values[1] - values[0])
        to_b = stream.uniform() < 1.0 / (1.0 + exp(-odds)) if stream else want
        chosen += -log1p(exp(-odds)) if to_b else -log1p(exp(odds))
        z[u] = b if to_b else a
    return chosen


def split_or_merge(stream: Stream, task: GraphTask, z, edge) -> None:
    n, ordered, seating = len(z), task.prior == ORDERED_CLASSES, task.seating
    i, j = stream.below(n), stream.below(n)
    if i == j:
        return
    K, split = int(z.max()) + 1, z[i] == z[j]
    a, b = int(z[i]), (int(z[i]) + 1 if ordered else K) if split else int(z[j])
    if not split and ordered and (b != a + 1 or edge[np.ix_(z == a, z == b)].any()):
        return
    before, share, now = z.copy(), seating.share.copy(), log_classes(task, z, edge)
    nodes = [u for u in range(n) if u not in (i, j) and z[u] in (a, z[j])]
    wanted = [z[u] == b for u in nodes]
    z[nodes] = -1
    if split:
        whole, part = seating.share[a], max(stream.uniform(), 1e-100) if seating.top > 0 else 0.0
        z += z >= b
        open_class(seating, b, K, 0.0)
        seating.share[[a, b]] = part * whole, (1.0 - part) * whole
        z[j] = b
        change = -_part(stream, task, z, edge, nodes, a, b, wanted) + (log(whole) if whole > 0 else 0.0)
    else:
        whole = seating.share[a] + seating.share[b]
        change = _part(None, task, z, edge, nodes, a, b, wanted) - (log(whole) if whole > 0 else 0.0)
        z[z == b] = a
        seating.share[[a, b]] = whole, 0.0
        close_class(seating, b, K)
        z -= z > b
    if not log(stream.uniform()) < task.heat * (log_classes(task, z, edge) - now) + change:
        z[:], seating.share[:] = before, share
