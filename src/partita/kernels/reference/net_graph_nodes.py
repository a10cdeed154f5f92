"""A node changes its class together with its edges: every step scored by the whole log joint."""

from __future__ import annotations

from math import exp, log

import numpy as np

from ..net_contract import GraphTask
from .draw import Stream, pick
from .net_graph_classes import log_edges
from .net_graph_joint import log_likelihood, reaches
from .net_seating import homes, log_seat, open_class, without


def partners(stream: Stream, task: GraphTask, i: int) -> list[int]:
    """Nodes that may have an edge with node i but need none, in random order."""
    home, may, must = homes(task.seating), task.allowed, task.required
    found = [
        int(u) for u in np.flatnonzero(home == home[i])
        if u != i and (may[i, u] or may[u, i]) and not (must[i, u] or must[u, i])
    ]  # fmt: skip
    for t in range(len(found) - 1, 0, -1):
        s = stream.below(t + 1)
        found[t], found[s] = found[s], found[t]
    return found


def attach(stream: Stream | None, data, task: GraphTask, z, edge, i: int, nodes, wanted) -> float:
    """No edge, one out or one in with each of the nodes in turn, drawn or, without a stream, as `wanted` says; the log
    chance of that."""
    chance = 0.0
    for t, u in enumerate(nodes):
        values = []
        for out, into in ((0, 0), (1, 0), (0, 1)):
            edge[i, u], edge[u, i] = out, into
            shut = (out and not task.allowed[i, u]) or (into and not task.allowed[u, i])
            shut = shut or (out and reaches(edge, u, i)) or (into and reaches(edge, i, u))
            shut = shut or max(edge[:, u].sum(), edge[:, i].sum()) > task.max_parents
            joint = log_likelihood(data, task, edge) + log_edges(task, z, edge)
            values.append(-np.inf if shut else task.heat * joint)
        o = wanted[t] if stream is None else pick(np.array(values), stream.uniform())
        edge[i, u], edge[u, i] = o == 1, o == 2
        top = max(values)
        chance += values[o] - top - log(sum(exp(value - top) for value in values))
    return chance


def move_node(stream: Stream, data, task: GraphTask, z, edge) -> None:
    """Another class, by how many would sit there, perhaps a fresh one, and edges drawn again."""
    seating, i = task.seating, stream.below(len(z))
    nodes = partners(stream, task, i)
    wanted = [1 if edge[i, u] else 2 if edge[u, i] else 0 for u in nodes]
    before, old_edge, share = z.copy(), edge.copy(), seating.share.copy()

    def joint() -> float:
        return log_likelihood(data, task, edge) + log_edges(task, z, edge)

    def detach() -> None:
        edge[i, nodes] = edge[nodes, i] = 0

    now = joint()
    detach()
    back = attach(None, data, task, z, edge, i, nodes, wanted)
    detach()
    others, K = without(seating, z, i)
    start = K if (before == before[i]).sum() == 1 else int(before[i])
    seats = np.array([log_seat(seating, others, i, None if k == K else k) for k in range(K + 1)])
    to = pick(np.where(np.arange(K + 1) == start, -np.inf, seats), stream.uniform())
    there, back_there = (log(np.exp(np.delete(seats, k)).sum()) for k in (start, to))
    if to == K:
        open_class(seating, K, K, float(seating.stick[i]))
    z[:] = others
    z[i] = to
    chance = attach(stream, data, task, z, edge, i, nodes, wanted)
    change = task.heat * (joint() - now + seats[to] - seats[start]) + back - chance
    change += (seats[start] - back_there) - (seats[to] - there)
    if not log(stream.uniform()) < change:
        z[:], edge[:], seating.share[:] = before, old_edge, share
