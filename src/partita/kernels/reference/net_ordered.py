"""One sweep over ordered classes, all graphs and edge probabilities summed out; nothing is remembered."""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from ..net_contract import BlockRule
from .draw import Stream, pick
from .net_classes import draw_class, net_class_sum


def classes_of(z) -> list[int]:
    """The classes as bit masks, in order."""
    return [sum(1 << i for i, a in enumerate(z) if a == k) for k in range(int(max(z)) + 1)]


def number_classes(classes: list[int], z) -> None:
    for a, members in enumerate(classes):
        for i in range(len(z)):
            if members >> i & 1:
                z[i] = a


def log_target(score, rule: BlockRule, classes: list[int]) -> float:
    n = len(score)
    total = lgamma(rule.alpha) - lgamma(rule.alpha + n) - lgamma(len(classes) + 1)
    before = 0
    for b, members in enumerate(classes):
        total += log(rule.alpha) + lgamma(members.bit_count())
        total += net_class_sum(score, rule, 1.0, members, sorted(classes[:b]), -1, [before] * n, [0] * n)
        before |= members
    return total


def net_ordered_target(score, rule: BlockRule, cache, z) -> float:
    return log_target(score, rule, classes_of(z))


def _node(stream: Stream, score, rule: BlockRule, classes: list[int], i: int) -> list[int]:
    """Node i in every class there is, and in one of its own at every place."""
    node = 1 << i
    others = [members & ~node for members in classes if members & ~node]
    options = [[c | node if a == o else c for a, c in enumerate(others)] for o in range(len(others))]
    options += [[*others[:g], node, *others[g:]] for g in range(len(others) + 1)]
    values = np.array([log_target(score, rule, option) for option in options])
    return options[pick(values, stream.uniform())]


def _proposal(stream: Stream, n: int, classes: list[int], turn: int) -> tuple[list[int], float] | None:
    """Other classes, and the log of the chance of the way back over that of the way forth."""
    K = len(classes)
    if turn % 3 == 0:
        a = 1 << stream.below(n)
        both = a | 1 << stream.below(n)
        apart = both.bit_count() == 2
        return [c ^ both if apart and (c & both).bit_count() == 1 else c for c in classes], 0.0
    if turn % 3 == 2:
        a, b = stream.below(K), stream.below(K)
        rest = classes[:a] + classes[a + 1 :]
        return [*rest[:b], classes[a], *rest[b:]], 0.0
    if stream.uniform() < 0.5:
        a = stream.below(K)
        first = classes[a] & stream.below(1 << n)
        if first in (0, classes[a]):
            return None
        halves = [first, classes[a] & ~first]
        return classes[:a] + halves + classes[a + 1 :], classes[a].bit_count() * log(2.0)
    if K == 1:
        return list(classes), 0.0
    a = stream.below(K - 1)
    both = classes[a] | classes[a + 1]
    return [*classes[:a], both, *classes[a + 2 :]], -both.bit_count() * log(2.0)


def _metropolis(stream: Stream, score, rule: BlockRule, classes: list[int], turn: int) -> list[int]:
    proposal = _proposal(stream, len(score), classes, turn)
    if proposal is None:
        return classes
    change = log_target(score, rule, proposal[0]) - log_target(score, rule, classes)
    uniform = stream.uniform()
    return proposal[0] if (log(uniform) if uniform > 0 else -np.inf) < change + proposal[1] else classes


def net_ordered_sweep(score, rule, cache, z, move_classes: bool, seed: int, edges, parents, weights) -> float:
    n, stream = len(score), Stream(seed)
    classes = classes_of(z)
    for i in range(n) if move_classes else ():
        classes = _node(stream, score, rule, classes, i)
    for turn in range(3 * n) if move_classes else range(2, 3 * n, 3):
        classes = _metropolis(stream, score, rule, classes, turn)
    before, odds = 0, np.zeros((n, n))
    for b, members in enumerate(classes):
        draw_class(stream, score, rule, 1.0, members, classes[:b], -1, [before] * n, [0] * n, edges, odds, parents)
        before |= members
    number_classes(classes, z)
    return log_target(score, rule, classes)
