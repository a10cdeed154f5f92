"""Orders of the nodes of a network: sums over listed sets of parents, and graphs drawn from an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

import numpy as np

from ..net_contract import NO_SCORE, CandidateSets
from .draw import Stream, pick

Parents = list[tuple[int, ...]]  # of every node, ascending


def nodes_of(known: CandidateSets, j: int, s: int) -> tuple[int, ...]:
    return tuple(sorted(int(i) for c, i in enumerate(known.nodes[j]) if int(known.sets[s]) >> c & 1))


def log_odds_of_sets(known: CandidateSets, log_odds) -> np.ndarray:
    """Of every listed set, from those of edges (n, n)."""
    return np.array(
        [
            sum(float(log_odds[i, j]) for i in nodes_of(known, j, s))
            for j in range(len(known.nodes))
            for s in range(int(known.first[j]), int(known.first[j + 1]))
        ]
    )


@dataclass
class Law:
    """Listed sets with their log odds (`prior`) and scores, which count `heat` times. A node among `kept` has its
    parents and keeps them."""

    known: CandidateSets
    prior: np.ndarray
    heat: float = 1.0
    kept: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def sets(self, j: int) -> list[tuple[tuple[int, ...], float, float]]:
        """Listed sets of parents, each with its score and its log odds."""
        return [
            (nodes_of(self.known, j, s), float(self.known.scores[s]), float(self.prior[s]))
            for s in range(int(self.known.first[j]), int(self.known.first[j + 1]))
        ]

    def within(self, j: int, before) -> list[tuple[tuple[int, ...], float]]:
        """Listed sets within the nodes before, with their log weights."""
        mine = [(nodes, self.heat * score + odds) for nodes, score, odds in self.sets(j)]
        return [(nodes, weight) for nodes, weight in mine if set(nodes) <= set(before)]

    def log_sum(self, j: int, before) -> float:
        if j in self.kept:
            return 0.0 if set(self.kept[j]) <= set(before) else NO_SCORE
        weights = [weight for _, weight in self.within(j, before)]
        return float(np.logaddexp.reduce(weights)) if weights else NO_SCORE

    def log_order(self, order) -> float:
        return sum(self.log_sum(j, order[:t]) for t, j in enumerate(order))

    def is_listed(self, j: int, parents) -> bool:
        return parents in [nodes for nodes, _, _ in self.sets(j)]


def relocate(stream: Stream, law: Law, order: list[int], start: int, size: int) -> list[int]:
    """One node of a window given the order of the others: every place there."""
    i = order[start + stream.below(size)]
    others = [j for j in order if j != i]
    options = [[*others[: start + p], i, *others[start + p :]] for p in range(size)]
    return options[pick(np.array([law.log_order(option) for option in options]), stream.uniform())]


def draw_set(stream: Stream, law: Law, j: int, before) -> tuple[int, ...]:
    """Parents of a node given what comes before it."""
    listed = law.within(j, before)
    return listed[pick(np.array([weight for _, weight in listed]), stream.uniform())][0]


def descendants(parents: Parents, i: int) -> int:
    """How many nodes are reached from this one, itself included."""
    reached, front = {i}, [i]
    while front:
        v = front.pop()
        children = {j for j, mine in enumerate(parents) if v in mine} - reached
        reached |= children
        front += children
    return len(reached)


def extend(stream: Stream | None, order: list[int], parents: Parents) -> tuple[list[int], float]:
    """An order that the graph fits, and its log chance: the next of the nodes whose parents are placed is chosen by how
    many nodes it leads to. Without a stream the order is the given one."""
    count, placed, chance = [descendants(parents, i) for i in range(len(parents))], list[int](), 0.0
    for t in range(len(parents)):
        is_open = [j not in placed and set(parents[j]) <= set(placed) for j in range(len(parents))]
        weight = np.array([count[j] if is_open[j] else 0 for j in range(len(parents))], float)
        with np.errstate(divide="ignore"):
            j = pick(np.log(weight), stream.uniform()) if stream else order[t]
        chance += log(count[j] / weight.sum())
        placed.append(j)
    return placed, chance


def turn(
    stream: Stream, law: Law, parents: Parents, start: int | None = None, size: int = 0, n_moves: int = 0
) -> Parents:
    """An order drawn given the graph, a window of it walked over (which one is drawn where none is given), its nodes
    given new parents."""
    order, chance = extend(stream, [], parents)
    if start is None:
        start, size = window(stream, len(parents))
        n_moves = size
    for _ in range(n_moves):
        order = relocate(stream, law, order, start, size)
    drawn = list(parents)
    for t in range(start, start + size):
        if order[t] not in law.kept:
            drawn[order[t]] = draw_set(stream, law, order[t], order[:t])
    _, after = extend(None, order, drawn)
    return drawn if log(stream.uniform()) < after - chance else parents


def window(stream: Stream, n: int) -> tuple[int, int]:
    """Where it starts, and how many nodes it has."""
    size = n >> stream.below(3)
    size = n if size < 2 else size
    return stream.below(n - size + 1), size
