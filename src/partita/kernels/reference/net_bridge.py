"""Classes in order on a rung between priors: every option scored by the weight of all classes."""

from __future__ import annotations

from math import log

import numpy as np

from ..net_contract import NodeSeats
from .draw import Stream, pick
from .net_seating import homes, log_seat, open_class, without

Law = tuple[np.ndarray, np.ndarray, np.ndarray, NodeSeats, np.ndarray]  # rise, rest, whole, seating, graph


def log_weight(law: Law, z) -> float:
    """Log weight of the edges between nodes that are seated (z is not -1)."""
    rise, rest, whole, seating, graph = law
    z, home, total = np.asarray(z), homes(seating), 0.0
    apart = (home[:, None] == home) & ~np.eye(len(z), dtype=bool)
    for a in range(int(z.max(initial=-1)) + 1):
        for b in range(int(z.max(initial=-1)) + 1):
            between = np.outer(z == a, z == b) & apart
            edges, pairs, kind = int(graph[between].sum()), int(between.sum()), int(a >= b)
            total += rise[kind, edges] + rest[pairs - edges] - whole[kind, pairs]
    return total


def net_bridge_sweep(rise, rest, whole, log_room: float, seating: NodeSeats, graph, move_nodes: bool, z, seed: int):
    stream, n = Stream(seed), len(z)
    order = np.arange(n)
    for i in range(n - 1, 0, -1) if move_nodes else ():
        j = stream.below(i + 1)
        order[[i, j]] = order[[j, i]]
    law = rise, rest, whole, seating, graph
    for node in order if move_nodes else ():
        _move_node(stream, law, log_room, z, int(node))
    K = int(z.max()) + 1
    for _ in range(K if K > 1 else 0):
        k = stream.below(K)
        options = [np.insert(np.delete(np.arange(K), k), gap, k) for gap in range(K)]
        values = np.array([log_weight(law, np.argsort(option)[z]) for option in options])
        found = options[pick(values, stream.uniform())]
        z[:] = np.argsort(found)[z]
        seating.share[:K] = seating.share[found]


def _move_node(stream: Stream, law: Law, log_room: float, z, i: int) -> None:
    seating = law[3]
    others, K = without(seating, z, i)
    options, values = [], []
    for k in range(K):
        options.append(np.where(np.arange(len(z)) == i, k, others))
        values.append(log_seat(seating, others, i, k) + log_weight(law, options[-1]))
    for place in range(K + 1):
        option = others + (others >= place)
        option[i] = place
        options.append(option)
        fresh = log_seat(seating, others, i, None) - log(K + 1.0) + (log_room if K else 0.0)
        values.append(fresh + log_weight(law, option))
    chosen = pick(np.array(values), stream.uniform())
    if chosen >= K:
        open_class(seating, chosen - K, K, float(seating.stick[i]))
    z[:] = options[chosen]
