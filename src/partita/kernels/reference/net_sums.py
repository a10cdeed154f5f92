"""Sums over all acyclic graphs of a modular weight: graph by graph, order by order."""

from __future__ import annotations

from functools import lru_cache
from math import log

import numpy as np
from scipy.special import logsumexp

from ..net_contract import NO_SCORE
from .draw import Stream, pick


def subsets(within: int) -> list[int]:
    """All subsets of a set, in the order in which the native kernels list them: ascending."""
    found = [0]
    for i in range(within.bit_length()):
        if within >> i & 1:
            found += [chosen | 1 << i for chosen in found]
    return found


@lru_cache(maxsize=8)
def acyclic_graphs(n: int) -> list[tuple[int, ...]]:
    """The parents of every node in all acyclic graphs over n nodes (543 graphs of 4, 29,281 of 5), by their sinks."""

    def of(nodes: int) -> list[dict[int, int]]:
        if not nodes:
            return [{}]
        graphs = []
        for sinks in subsets(nodes)[1:]:
            rest = nodes & ~sinks
            for graph in of(rest):
                inner = 0
                for parents in graph.values():
                    inner |= parents
                # every sink of the rest must have a child among the sinks, else it would be one of them
                bare = rest & ~inner
                choices: list[dict[int, int]] = [dict(graph)]
                for j in range(sinks.bit_length()):
                    if sinks >> j & 1:
                        choices = [{**g, j: p} for g in choices for p in subsets(rest)]
                for g in choices:
                    used = 0
                    for j in range(sinks.bit_length()):
                        if sinks >> j & 1:
                            used |= g[j]
                    if bare & ~used == 0:
                        graphs.append(g)
        return graphs

    return [tuple(graph[j] for j in range(n)) for graph in of((1 << n) - 1)]


def net_dag_sum(weight, edges) -> float:
    n = len(weight)
    graphs = np.array(acyclic_graphs(n))
    logs = weight[np.arange(n), graphs].sum(axis=1)
    total = float(logsumexp(logs))
    if edges.size:
        shares = np.exp(logs - total)
        for i in range(n):
            edges[i] = shares @ (graphs >> i & 1)
    return total if total > -1e299 else NO_SCORE


def order_weights(score, heat: float, log_odds) -> tuple[np.ndarray, np.ndarray]:
    """For node j and set S: log of the sum over parent sets within S; and for a set the log of the sum over its
    orders."""
    n = len(score)
    within, reached = np.full((n, 1 << n), NO_SCORE), np.full(1 << n, NO_SCORE)
    for j in range(n):
        odds = [sum(log_odds[i, j] for i in range(n) if S >> i & 1) for S in range(1 << n)]
        for S in range(1 << n):
            within[j, S] = logsumexp([heat * score[j, P] + odds[P] for P in subsets(S)])
    reached[0] = 0.0
    for S in range(1, 1 << n):
        reached[S] = logsumexp([reached[S ^ 1 << j] + within[j, S ^ 1 << j] for j in range(n) if S >> j & 1])
    return within, reached


def draw_parents(stream: Stream, score, heat: float, log_odds, j: int, within: int) -> int:
    """The parents of node j among those within a set."""
    sets = subsets(within)
    odds = [sum(log_odds[i, j] for i in range(len(score)) if P >> i & 1) for P in sets]
    return sets[pick(np.array([heat * score[j, P] + o for P, o in zip(sets, odds)]), stream.uniform())]


def descendants(parents, j: int) -> int:
    """Node j and all that come from it."""
    found, before = 1 << j, 0
    while found != before:
        before = found
        for i, mine in enumerate(parents):
            if int(mine) & found:
                found |= 1 << i
    return found


def redraw_parents(stream: Stream, score, heat: float, log_odds, parents, j: int) -> None:
    """The parents of node j given those of all others."""
    parents[j] = draw_parents(stream, score, heat, log_odds, j, ((1 << len(score)) - 1) & ~descendants(parents, j))


def reverse_edge(stream: Stream, score, heat: float, log_odds, parents, a: int, b: int) -> None:
    """The edge between two nodes turned round, if there is one."""
    there = int(parents[b]) >> a & 1
    if not there and not int(parents[a]) >> b & 1:
        return
    i, j = (a, b) if there else (b, a)

    def log_weight() -> float:
        total = 0.0
        for k in (i, j):
            mine = int(parents[k])
            total += heat * score[k, mine] + sum(log_odds[u, k] for u in range(len(score)) if mine >> u & 1)
        return total

    before, old = log_weight(), (parents[i], parents[j])
    parents[j] = int(parents[j]) & ~(1 << i)
    circle = descendants(parents, i) >> j & 1
    parents[i] = int(parents[i]) | 1 << j
    uniform = stream.uniform()
    limit = log(uniform) if uniform > 0 else -np.inf
    if not limit < (-np.inf if circle else log_weight() - before):
        parents[i], parents[j] = old


def order_draw(stream: Stream, score, heat: float, log_odds, within, reached) -> list[int]:
    """A graph with probability proportional to its weight times the number of its linear extensions."""
    n = len(score)
    parents = [0] * n
    S = (1 << n) - 1
    while S:
        chance = np.array([
            reached[S ^ 1 << j] + within[j, S ^ 1 << j] if S >> j & 1 else -np.inf for j in range(n)
        ])  # fmt: skip
        j = pick(chance, stream.uniform())
        S ^= 1 << j
        parents[j] = draw_parents(stream, score, heat, log_odds, j, S)
    return parents


def linear_extensions(parents) -> float:
    """The number of orders in which every node comes after its parents."""
    n = len(parents)
    count = [0.0] * (1 << n)
    count[0] = 1.0
    for S in range((1 << n) - 1):
        for j in range(n):
            if not S >> j & 1 and not parents[j] & ~S:
                count[S | 1 << j] += count[S]
    return count[-1]


def net_order_draws(score, log_odds, parents, n_tries: int, seed: int) -> None:
    n, stream = len(score), Stream(seed)
    within, reached = order_weights(score, 1.0, log_odds)
    now = [int(mask) for mask in parents[0]]
    if now[0] < 0:
        now = order_draw(stream, score, 1.0, log_odds, within, reached)
    present = linear_extensions(now)
    for k in range(len(parents)):
        for _ in range(n_tries):
            drawn = order_draw(stream, score, 1.0, log_odds, within, reached)
            proposed = linear_extensions(drawn)
            if stream.uniform() * proposed < present:
                now, present = drawn, proposed
        parents[k] = now
    assert parents.shape[1] == n
