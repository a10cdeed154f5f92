"""One sweep over ordered classes given edge probabilities, every option scored by the sums of all nodes."""

from __future__ import annotations

from math import inf, log, log1p, prod

import numpy as np

from ..net_contract import NO_SCORE, NetData, NodeSeats, list_sets
from .draw import Stream, pick
from .net_scores import score
from .net_seating import close_class, homes, open_class


def net_score_lists(data: NetData, child: int, most: int, out) -> None:
    for k, nodes in enumerate(list_sets(len(data.levels), most)):
        out[k] = NO_SCORE if child in nodes else score(data, child, nodes)


class _State:
    """Classes in order, each with its nodes, and by their names the probability of edges between any two of them and
    the share of each."""

    def __init__(self, weight, most: int, seating: NodeSeats, z, eta):
        self.weight, self.seating, self.home = weight, seating, homes(seating)
        self.sets = [list_sets(int(size), most) for size in np.diff(seating.first)]
        self.order = list(range(int(max(z)) + 1))
        self.name = [int(a) for a in z]
        self.eta = {(a, b): float(eta[a, b]) for a in self.order for b in self.order if a != b}

    def place(self, i: int) -> int:
        return self.order.index(self.name[i])

    def mates(self, j: int) -> list[int]:
        """The nodes of its data set."""
        return [u for u in range(len(self.name)) if self.home[u] == self.home[j]]

    def terms(self, j: int) -> list[tuple[float, list[int]]]:
        """Weight of every set of parents of node j, without the probabilities of absent edges."""
        first, odds = int(self.seating.first[self.home[j]]), {}
        for u in self.mates(j):
            if self.place(u) < self.place(j):
                eta = self.eta[self.name[u], self.name[j]]
                odds[u] = eta / (1.0 - eta)
        found = []
        for w, nodes in zip(self.weight[self.home[j]][j - first], self.sets[self.home[j]]):
            there = [first + u for u in nodes]
            found.append((w * prod(odds.get(u, 0.0) for u in there), there))
        return found

    def log_sums(self) -> float:
        return sum(_log(sum(w for w, _ in self.terms(j))) for j in range(len(self.name)))

    def log_target(self) -> float:
        """Log of order x sums, and the probability that edges are absent but for the odds of those present."""
        total = self.log_sums() - sum(log(k + 1) for k in range(len(self.order)))
        for j in range(len(self.name)):
            for u in self.mates(j):
                if self.place(u) < self.place(j):
                    total += log1p(-self.eta[self.name[u], self.name[j]])
        return total


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def _node(stream: Stream, state: _State, i: int, fresh) -> None:
    old, seating = state.name[i], state.seating
    alone = state.name.count(old) == 1
    others = [a for a in state.order if not (alone and a == old)]
    if alone:
        close_class(seating, state.order.index(old), len(state.order))
    new = old if alone else max(state.name) + 1
    if not alone:
        for b, other in enumerate(others):
            state.eta[new, other] = state.eta[other, new] = float(fresh[i, b])
    options = [(a, others) for a in others] + [(new, [*others[:g], new, *others[g:]]) for g in range(len(others) + 1)]
    values = []
    for k, (name, order) in enumerate(options):
        here = sum(state.name[u] == name for u in state.mates(i) if u != i)
        seat = here + seating.alpha * seating.share[k] if k < len(others) else seating.alpha * seating.share[-1]
        state.name[i], state.order, before = name, order, state.name[i]
        values.append(log(seat) + state.log_target())
        state.name[i] = before
    o = pick(np.array(values), stream.uniform())
    state.name[i], state.order = options[o]
    if o >= len(others):
        open_class(seating, o - len(others), len(others), float(seating.stick[i]))


def _relocate(stream: Stream, state: _State) -> None:
    a, b = stream.below(len(state.order)), stream.below(len(state.order))
    if a == b:
        return
    before, order, share = state.log_sums(), list(state.order), state.seating.share
    state.order.insert(b, state.order.pop(a))
    if not log(stream.uniform()) < state.log_sums() - before:
        state.order = order
    else:
        K = len(order)
        share[:K] = np.insert(np.delete(share[:K], a), b, share[a])


def _swap(stream: Stream, state: _State) -> None:
    a, b = stream.below(len(state.name)), stream.below(len(state.name))
    if state.name[a] == state.name[b] or state.home[a] != state.home[b]:
        return
    before = state.log_sums()
    state.name[a], state.name[b] = state.name[b], state.name[a]
    if not log(stream.uniform()) < state.log_sums() - before:
        state.name[a], state.name[b] = state.name[b], state.name[a]


def net_listed_sweep(
    weight, most: int, seating: NodeSeats, z, eta, fresh, move_classes: bool, n_swaps: int, seed: int, edges, graph
) -> float:
    n, stream, state = len(z), Stream(seed), _State(weight, most, seating, z, eta)
    for i in range(n) if move_classes else ():
        _node(stream, state, i, fresh)
    for _ in range(n_swaps):
        _relocate(stream, state)
        if move_classes:
            _swap(stream, state)
    graph[:] = 0
    for j in range(n):
        # the native kernel walks through the sets depth first; the order decides which one a uniform picks
        terms = sorted(state.terms(j), key=lambda term: term[1])
        total = sum(w for w, _ in terms)
        for w, nodes in terms:
            edges[nodes, j] += w / total
        with np.errstate(divide="ignore"):
            chosen = terms[pick(np.log([w for w, _ in terms]), stream.uniform())][1]
        graph[chosen, j] = 1
    for i in range(n):
        z[i] = state.place(i)
    for a, of_a in enumerate(state.order):
        for b, of_b in enumerate(state.order):
            eta[a, b] = 0.5 if a == b else state.eta[of_a, of_b]
    return state.log_sums()
