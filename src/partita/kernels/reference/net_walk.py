"""Graphs redrawn by orders of their nodes: of a chain, and on a ladder of temperatures."""

from __future__ import annotations

from math import log

import numpy as np

from ..net_contract import CandidateSets
from .draw import Stream
from .net_orders import Law, Parents, log_odds_of_sets, turn


def parents_of(edge) -> Parents:
    return [tuple(np.flatnonzero(edge[:, j]).tolist()) for j in range(len(edge))]


def store(parents: Parents, edge) -> None:
    edge[:] = 0
    for j, mine in enumerate(parents):
        edge[list(mine), j] = 1


def walking_law(known: CandidateSets, log_odds, heat: float, parents: Parents) -> Law:
    """Nodes whose parents are no listed set keep them."""
    law = Law(known, log_odds_of_sets(known, log_odds), heat)
    law.kept = {j: mine for j, mine in enumerate(parents) if not law.is_listed(j, mine)}
    return law


def net_order_walk(known: CandidateSets, log_odds, heat: float, edge, n_turns: int, seed: int) -> int:
    stream, parents = Stream(seed), parents_of(edge)
    law, moved = walking_law(known, log_odds, heat, parents), 0
    for _ in range(n_turns):
        after = turn(stream, law, parents)
        moved += after is not parents
        parents = after
    store(parents, edge)
    return moved


def log_score(law: Law, parents: Parents) -> float:
    return sum(next(score for nodes, score, _ in law.sets(j) if nodes == mine) for j, mine in enumerate(parents))


def swap(stream: Stream, laws: list[Law], graphs: list[Parents], r: int) -> None:
    """Graphs of two neighbouring rungs."""
    gain = (laws[r].heat - laws[r + 1].heat) * (log_score(laws[r], graphs[r + 1]) - log_score(laws[r], graphs[r]))
    if log(stream.uniform()) < gain:
        graphs[r], graphs[r + 1] = graphs[r + 1], graphs[r]


def net_graph_ladder(known: CandidateSets, prior, sums, heats, graphs, n_rounds: int, seed: int) -> None:
    stream, laws = Stream(seed), [Law(known, prior, float(heat)) for heat in heats]
    now = [parents_of(graph) for graph in graphs]
    for _ in range(n_rounds):
        for r, law in enumerate(laws):
            now[r] = turn(stream, law, now[r])
        for r in range(len(laws) - 2, -1, -1):
            swap(stream, laws, now, r)
    for parents, graph in zip(now, graphs, strict=True):
        store(parents, graph)


def net_set_sums(known: CandidateSets, log_odds, heats, prior, out) -> None:
    prior[:] = log_odds_of_sets(known, log_odds)
    for r, heat in enumerate(heats):
        law = Law(known, prior, float(heat))
        for j, nodes in enumerate(known.nodes):
            for within in range(1 << len(nodes)):
                out[r, j, within] = law.log_sum(j, [int(i) for c, i in enumerate(nodes) if i >= 0 and within >> c & 1])
