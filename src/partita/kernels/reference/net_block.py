"""One sweep over classes and a graph: the graph afresh given its layers, given probabilities, then classes given it."""

from __future__ import annotations

from itertools import combinations
from math import lgamma, log

import numpy as np

from ..net_contract import BlockRule
from .draw import Stream, pick
from .net_classes import draw_class
from .net_ordered import classes_of, number_classes
from .net_sums import linear_extensions, order_draw, order_weights, redraw_parents, reverse_edge

LOCAL_TURNS = 3  # the same number as in the native kernel


def log_prior(rule: BlockRule, classes: list[int], parents) -> float:
    """Equations 2.1 and 2.5, up to the normaliser over acyclic graphs."""
    n, b1, b2 = len(parents), rule.beta1, rule.beta2
    total = lgamma(rule.alpha) - lgamma(rule.alpha + n)
    for members in classes:
        size = members.bit_count()
        total += log(rule.alpha) + lgamma(size)
        for others in classes:
            pairs = others.bit_count() * size - (size if others == members else 0)
            present = sum((int(parents[j]) & others).bit_count() for j in range(n) if members >> j & 1)
            total += lgamma(b1 + b2) - lgamma(b1) - lgamma(b2)
            total += lgamma(b1 + present) + lgamma(b2 + pairs - present) - lgamma(b1 + b2 + pairs)
    return total


def layers_of(parents) -> tuple[list[int], list[int]]:
    """For every node all earlier layers, and the last of them: a node's layer is the first after all its parents'."""
    n = len(parents)
    within, hit = [0] * n, [0] * n
    done = last = 0
    while done != (1 << n) - 1:
        layer = [j for j in range(n) if not done >> j & 1 and not int(parents[j]) & ~done]
        for j in layer:
            within[j], hit[j] = done, last
        last = sum(1 << j for j in layer)
        done |= last
    return within, hit


def _redraw_given_layers(stream: Stream, score, rule, heat, classes, parents, edges) -> np.ndarray:
    """Edge probabilities and the graph given classes and layers; the log odds of edges are returned."""
    odds, (within, hit) = np.zeros((len(score),) * 2), layers_of(parents)
    for b, members in enumerate(classes):
        draw_class(stream, score, rule, heat, members, classes, b, within, hit, edges, odds, parents)
    return odds


def _redraw_by_orders(stream: Stream, score, heat, odds, parents, n_draws) -> None:
    """The graph given classes and edge probabilities: proposed too often by its number of orders, which is put
    right."""
    sums, reached = order_weights(score, heat, odds)
    present = linear_extensions(parents)
    for _ in range(n_draws):
        drawn = order_draw(stream, score, heat, odds, sums, reached)
        proposed = linear_extensions(drawn)
        if stream.uniform() * proposed < present:
            parents[:] = drawn
            present = proposed


def _gibbs(stream: Stream, rule: BlockRule, classes: list[int], parents) -> list[int]:
    for i in range(len(parents)):
        node = 1 << i
        others = [members & ~node for members in classes if members & ~node]
        options = [[c | node if a == o else c for a, c in enumerate(others)] for o in range(len(others))]
        options.append([*others, node])
        classes = options[pick(np.array([log_prior(rule, option, parents) for option in options]), stream.uniform())]
    return classes


def _split_or_merge(stream: Stream, rule: BlockRule, classes: list[int], parents) -> list[int]:
    K = len(classes)
    if stream.uniform() < 0.5:
        a = stream.below(K)
        first = classes[a] & stream.below(1 << len(parents))
        if first in (0, classes[a]):
            return classes
        proposal = [*classes[:a], first, *classes[a + 1 :], classes[a] & ~first]
        back = (classes[a].bit_count() - 1) * log(2.0) + log(2.0 / (K + 1))
    elif K > 1:
        a, other = stream.below(K), stream.below(K - 1)
        b = other + (other >= a)
        both = classes[a] | classes[b]
        proposal = [both if c == classes[a] else c for c in classes if c != classes[b]]
        back = -(both.bit_count() - 1) * log(2.0) - log(2.0 / K)
    else:
        return classes
    change = log_prior(rule, proposal, parents) - log_prior(rule, classes, parents)
    uniform = stream.uniform()
    return proposal if (log(uniform) if uniform > 0 else -np.inf) < change + back else classes


def net_block_sweep(score, rule, heat, z, parents, move_classes, n_draws, n_splits, seed, edges, weights) -> float:
    stream, classes = Stream(seed), classes_of(z)
    odds = _redraw_given_layers(stream, score, rule, heat, classes, parents, edges)
    _redraw_by_orders(stream, score, heat, odds, parents, n_draws)
    for _ in range(LOCAL_TURNS):
        for j in range(len(score)):
            redraw_parents(stream, score, heat, odds, parents, j)
        for a, b in combinations(range(len(score)), 2):
            reverse_edge(stream, score, heat, odds, parents, a, b)
    if move_classes:
        classes = _gibbs(stream, rule, classes, parents)
        for _ in range(n_splits):
            classes = _split_or_merge(stream, rule, classes, parents)
    number_classes(classes, z)
    return log_prior(rule, classes, parents)
