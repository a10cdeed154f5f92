"""Sums over all graphs and edge probabilities into one class of nodes, term by term.

`members` is the class, `classes` those that its parents come from, `own` its place among them or -1. Node j may have
the parents P within `within[j]` that hit `hit[j]` (nothing is asked where that is 0).
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import logsumexp

from ..net_contract import NO_SCORE, BlockRule
from .draw import Stream, pick
from .net_sums import subsets


def sets_of(score, heat: float, j: int, within: int, hit: int) -> tuple[list[int], np.ndarray]:
    """The subsets of `within`, and their log weights: NO_SCORE for those that are not allowed."""
    sets = subsets(within)
    return sets, np.array([heat * score[j, P] if not hit or P & hit else NO_SCORE for P in sets])


def grid_of(rule: BlockRule, members: int, classes, own: int) -> tuple[list[tuple[float, ...]], np.ndarray]:
    """Points eta (one number a class) and log weights of the product rule."""
    axes = []
    for a, others in enumerate(classes):
        pairs = int(others).bit_count() - (a == own)
        size = pairs * members.bit_count() // 2 + 1
        axes.append(list(zip(rule.nodes[size, :size], rule.weights[size, :size])))
    points = list(product(*axes))
    etas = [tuple(float(eta) for eta, _ in point) for point in points]
    return etas, np.array([sum(np.log(w) for _, w in point) for point in points], float)


def values_on_grid(score, rule: BlockRule, heat: float, members: int, classes, own: int, within, hit):
    """The points, and the log of the integrand times their weight."""
    etas, logs = grid_of(rule, members, classes, own)
    for j in range(len(score)):
        if not members >> j & 1:
            continue
        sets, weights = sets_of(score, heat, j, within[j], hit[j])
        for g, eta in enumerate(etas):
            terms = weights.copy()
            for a, others in enumerate(classes):
                pairs = int(others).bit_count() - (a == own)
                present = np.array([(P & int(others)).bit_count() for P in sets])
                terms += present * np.log(eta[a]) + (pairs - present) * np.log1p(-eta[a])
            logs[g] += logsumexp(terms)
    return etas, logs


def net_class_sum(score, rule: BlockRule, heat: float, members: int, classes, own: int, within, hit) -> float:
    _, logs = values_on_grid(score, rule, heat, members, [int(c) for c in classes], own, list(map(int, within)), hit)
    return max(float(logsumexp(logs)), NO_SCORE)


def draw_class(stream: Stream, score, rule, heat, members, classes, own, within, hit, edges, log_odds, parents) -> None:
    """Eta given everything else into log_odds, parents given eta; P(i -> j | eta, classes) is added to edges."""
    n = len(score)
    etas, logs = values_on_grid(score, rule, heat, members, classes, own, within, hit)
    eta = etas[pick(logs, stream.uniform())]
    odds = np.zeros(n)
    for a, others in enumerate(classes):
        for i in range(n):
            if others >> i & 1:
                odds[i] = np.log(eta[a]) - np.log1p(-eta[a])
    for j in range(n):
        if not members >> j & 1:
            continue
        log_odds[:, j] = odds
        sets, weights = sets_of(score, heat, j, within[j], hit[j])
        weights = weights + [sum(odds[i] for i in range(n) if P >> i & 1) for P in sets]
        parents[j] = sets[pick(weights, stream.uniform())]
        shares = np.exp(weights - logsumexp(weights))
        for i in range(n):
            edges[i, j] += sum(share for P, share in zip(sets, shares) if P >> i & 1)
