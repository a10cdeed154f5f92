"""One sweep over ordered classes given edge probabilities, every option scored by the sums of all nodes."""

from __future__ import annotations

from math import inf, log, log1p, prod

import numpy as np

from ..net_contract import NO_SCORE, NetData, list_sets
from .draw import Stream, pick
from .net_scores import score


def net_score_lists(data: NetData, child: int, most: int, out) -> None:
    for k, nodes in enumerate(list_sets(len(data.levels), most)):
        out[k] = NO_SCORE if child in nodes else score(data, child, nodes)


class _State:
    """Classes in order, each with its nodes, and the probability of edges between any two of them by their names."""

    def __init__(self, z, eta):
        self.order = list(range(int(max(z)) + 1))
        self.name = [int(a) for a in z]
        self.eta = {(a, b): float(eta[a, b]) for a in self.order for b in self.order if a != b}

    def place(self, i: int) -> int:
        return self.order.index(self.name[i])


def _terms(weight, sets, state: _State, j: int) -> list[float]:
    """Weight of every set of parents of node j, without the probabilities of absent edges."""
    odds = {}
    for u in range(len(state.name)):
        if state.place(u) < state.place(j):
            eta = state.eta[state.name[u], state.name[j]]
            odds[u] = eta / (1.0 - eta)
    return [w * prod(odds.get(u, 0.0) for u in nodes) for w, nodes in zip(weight[j], sets)]


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def _log_sums(weight, sets, state: _State) -> float:
    return sum(_log(sum(_terms(weight, sets, state, j))) for j in range(len(state.name)))


def _log_target(weight, sets, state: _State, alpha: float) -> float:
    """Log of restaurant x order x sums, and the probability that edges are absent but for the odds of those present."""
    sizes = [state.name.count(a) for a in state.order]
    total = _log_sums(weight, sets, state)
    for k, a in enumerate(state.order):
        total += log(alpha) + sum(log(m) for m in range(1, sizes[k])) - log(k + 1)
        total += sum(sizes[k] * sizes[m] * log1p(-state.eta[a, b]) for m, b in enumerate(state.order[:k]))
    return total


def _node(stream: Stream, weight, sets, state: _State, i: int, alpha: float, fresh) -> None:
    old = state.name[i]
    alone = state.name.count(old) == 1
    others = [a for a in state.order if not (alone and a == old)]
    new = old if alone else max(state.name) + 1
    if not alone:
        for b, other in enumerate(others):
            state.eta[new, other] = state.eta[other, new] = float(fresh[i, b])
    options = [(a, others) for a in others] + [(new, [*others[:g], new, *others[g:]]) for g in range(len(others) + 1)]
    values = []
    for name, order in options:
        state.name[i], state.order = name, order
        values.append(_log_target(weight, sets, state, alpha))
    state.name[i], state.order = options[pick(np.array(values), stream.uniform())]


def _relocate(stream: Stream, weight, sets, state: _State) -> None:
    a, b = stream.below(len(state.order)), stream.below(len(state.order))
    if a == b:
        return
    before, order = _log_sums(weight, sets, state), list(state.order)
    state.order.insert(b, state.order.pop(a))
    if not log(stream.uniform()) < _log_sums(weight, sets, state) - before:
        state.order = order


def _swap(stream: Stream, weight, sets, state: _State) -> None:
    a, b = stream.below(len(state.name)), stream.below(len(state.name))
    if state.name[a] == state.name[b]:
        return
    before = _log_sums(weight, sets, state)
    state.name[a], state.name[b] = state.name[b], state.name[a]
    if not log(stream.uniform()) < _log_sums(weight, sets, state) - before:
        state.name[a], state.name[b] = state.name[b], state.name[a]


def net_listed_sweep(
    weight, most: int, alpha: float, z, eta, fresh, move_classes: bool, n_swaps: int, seed: int, edges, graph
) -> float:
    n, stream, state = len(z), Stream(seed), _State(z, eta)
    sets = list_sets(n, most)
    for i in range(n) if move_classes else ():
        _node(stream, weight, sets, state, i, alpha, fresh)
    for _ in range(n_swaps):
        _relocate(stream, weight, sets, state)
        if move_classes:
            _swap(stream, weight, sets, state)
    # the native kernel walks through the sets depth first; the order decides which one a uniform picks
    walk = sorted(range(len(sets)), key=lambda k: sets[k])
    graph[:] = 0
    for j in range(n):
        terms = np.array(_terms(weight, sets, state, j))
        for nodes, share in zip(sets, terms / terms.sum()):
            edges[list(nodes), j] += share
        with np.errstate(divide="ignore"):
            chosen = sets[walk[pick(np.log(terms[walk]), stream.uniform())]]
        graph[list(chosen), j] = 1
    for i in range(n):
        z[i] = state.place(i)
    for a, of_a in enumerate(state.order):
        for b, of_b in enumerate(state.order):
            eta[a, b] = 0.5 if a == b else state.eta[of_a, of_b]
    return _log_sums(weight, sets, state)
