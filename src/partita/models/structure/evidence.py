"""How well a prior over networks explains the data: log p(data | prior), to weigh priors against each other.

What is known of the graph beforehand counts as data here: graphs that are not allowed have likelihood 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln, logsumexp

from ...kernels import kernel
from ...kernels.net_contract import BlockRule
from ...priors.partition import log_probability
from .normaliser import ClassPrior, log_acyclic
from .state import NetState, Schedule

ENOUGH_SHARE = 0.02  # of single-class states in a chain: then they alone give the evidence
PARTITIONS, DRAWS = 6, 40  # else so many partitions, so many draws of edge probabilities for each
STEPS = 4e8  # at most, of the sums over graphs for these draws


def of_ordered(states: Sequence[NetState], schedule: Schedule) -> float:
    """From the closed-form target: states seen by one half of the sweeps, and how often the other half is there."""
    classes, values = _halves(states, schedule)
    found = []
    for here, there in ((0, 1), (1, 0)):
        known = {z.tobytes(): v for z, v in zip(classes[here], values[here], strict=True)}
        visits = sum(z.tobytes() in known for z in classes[there])
        if visits:
            found.append(float(logsumexp(list(known.values()))) - np.log(visits / len(classes[there])))
    if found:
        return float(np.mean(found))
    # no state was seen twice: the best bound there is, the states that were seen
    return float(
        logsumexp(list({z.tobytes(): v for z, v in zip(np.concatenate(classes), np.concatenate(values))}.values()))
    )


def _halves(states: Sequence[NetState], schedule: Schedule) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Classes and values of the sweeps that count, in two: of the first and of the other chains, or halves of one."""
    classes, values = map(list, zip(*(state.seen(schedule) for state in states), strict=True))
    if len(states) == 1:
        half = len(values[0]) // 2
        classes, values = [classes[0][:half], classes[0][half:]], [values[0][:half], values[0][half:]]
    return (
        [np.concatenate(classes[0::2]), np.concatenate(classes[1::2])],
        [np.concatenate(values[0::2]), np.concatenate(values[1::2])],
    )


def of_block(
    rng: np.random.Generator, tables: np.ndarray, rule: BlockRule, one_class: float, classes: np.ndarray, shares:
    np.ndarray, edges: np.ndarray,
) -> float:  # fmt: skip
    """Log of the sum over classes and graphs, normaliser and all.

    `one_class` is the log sum over graphs of one class (`net_exact.one_class`); partitions seen, their shares, and the
    edge probabilities `edges` are of the chains. Where single-class states are too rare to count, the sums of the
    commonest partitions are found by drawing edge probabilities near their posterior.
    """
    n = len(tables)
    together: dict[tuple[int, ...], float] = {}
    for z, share in zip(classes, shares, strict=True):
        _, names = np.unique(z, return_inverse=True)
        first = np.array([np.flatnonzero(names == k)[0] for k in range(names.max() + 1)])
        canonical = tuple(np.argsort(np.argsort(first))[names].tolist())
        together[canonical] = together.get(canonical, 0.0) + share
    prior = log_acyclic(ClassPrior((0, n), (rule.alpha,), ((rule.beta1, rule.beta2),)), False)
    alone = together.get((0,) * n, 0.0)
    if alone >= ENOUGH_SHARE:
        return float(log_probability(np.array([n]), rule.alpha)) + one_class - float(np.log(alone)) - prior
    common = sorted(together, key=lambda z: -together[z])[:PARTITIONS]
    logs = [
        float(log_probability(np.bincount(z), rule.alpha)) + log_sum_of_classes(rng, tables, rule, np.array(z), edges)
        for z in common
    ]
    return float(logsumexp(logs)) - float(np.log(sum(together[z] for z in common))) - prior


def log_sum_of_classes(
    rng: np.random.Generator, tables: np.ndarray, rule: BlockRule, z: np.ndarray, edges: np.ndarray
) -> float:
    """Log of the integral over eta of the sum over acyclic graphs, classes z given: by importance sampling."""
    n, K = len(tables), int(z.max()) + 1
    member = np.eye(K)[z]
    sizes = member.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    present = np.minimum(member.T @ edges @ member, pairs)
    a, b = rule.beta1 + 0.7 * present, rule.beta2 + 0.7 * (pairs - present)  # a little wider than the posterior
    sets = np.arange(1 << n)
    inside = (sets[:, None] >> np.arange(n) & 1).astype(float)
    logs = []
    for _ in range(int(max(4, min(DRAWS, STEPS / 3**n / PARTITIONS)))):
        eta = np.clip(rng.beta(a, b), 1e-12, 1 - 1e-12)
        ratio = ((rule.beta1 - a) * np.log(eta) + (rule.beta2 - b) * np.log1p(-eta)).sum()
        ratio += (betaln(a, b) - betaln(rule.beta1, rule.beta2)).sum()
        chance = eta[np.ix_(z, z)]
        log_odds, none = np.log(chance) - np.log1p(-chance), np.log1p(-chance)
        weight = tables + (inside @ log_odds).T + (none.sum(axis=0) - np.diag(none))[:, None]
        logs.append(ratio + kernel.net_dag_sum(np.ascontiguousarray(weight), np.zeros((0, 0))))
    return float(logsumexp(logs) - np.log(len(logs)))
