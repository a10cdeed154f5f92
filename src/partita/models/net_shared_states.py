"""Priors over networks weighed against each other by the states they share: for any number of columns and tables, and
where hyper-parameters are learnt.

With r the ratio of the ordered prior to the block prior where both are positive (C), the mean of 1 / r over the ordered
posterior is Z_block P_block(C) / Z_ordered. One class is a part of the block prior already: its share of the block
posterior, over what it had beforehand, is its evidence over the block's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import betaln, logsumexp

from ..priors import franchise
from ..priors.graph import pair_counts
from .net_evidence import acyclic
from .net_posterior import NetPosterior, mixture

DRAWS = 10_000  # partitions from which the normaliser of a prior is found
GRAPHS = 4  # of each of them: about 1 % where a twentieth are acyclic
MOST_CLASSES = 16  # whose orders are counted


@dataclass(frozen=True)
class ClassPrior:
    """Nodes of the data sets, and the values of alpha, of (beta1, beta2) and, where there are several data sets, of
    their room that are as likely beforehand: one of each where they are given."""

    first: tuple[int, ...]
    alphas: tuple[float, ...]
    betas: tuple[tuple[float, float], ...]
    rooms: tuple[float, ...] = (1.0,)

    @property
    def sizes(self) -> list[int]:
        return [b - a for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def log_one_class(self) -> float:
        """Log probability that all nodes are of one class."""
        z = np.zeros(self.first[-1], int)
        logs = [log_classes(z, self.first, alpha, room) for alpha in self.alphas for room in self.rooms]
        return float(logsumexp(logs) - np.log(len(logs)))


def log_classes(z: np.ndarray, first: Sequence[int], alpha: float, room: float) -> float:
    counts = franchise.count(z, first)
    if len(first) > 2:
        return franchise.log_probability(counts, room, alpha)
    return float(franchise.log_restaurant(counts[0], alpha))


@lru_cache(maxsize=64)
def log_acyclic(prior: ClassPrior, one_class: bool) -> float:
    """Log of the probability that graphs of the block prior, or of one class, are acyclic before cyclic ones are ruled
    out: its normaliser. By drawing, always the same draws."""
    rng, hits, n = np.random.default_rng(0), 0, prior.first[-1]
    home = np.repeat(np.arange(len(prior.sizes)), prior.sizes)
    apart = (home[:, None] == home) & ~np.eye(n, dtype=bool)
    for _ in range(0, DRAWS, 1000):
        alphas, rooms = rng.choice(prior.alphas, 1000), rng.choice(prior.rooms, 1000)
        z = np.zeros((1000, n), int)
        if not one_class and len(prior.sizes) > 1:
            z = franchise.sample_groups(rng, prior.sizes, rooms, alphas)
        elif not one_class:
            z = franchise.sample_groups(rng, prior.sizes, alphas, np.inf)
        K = int(z.max()) + 1
        for _ in range(GRAPHS):
            beta = np.array(prior.betas)[rng.integers(0, len(prior.betas), 1000)]
            eta = rng.beta(beta[:, 0, None, None], beta[:, 1, None, None], (1000, K, K))
            chance = eta[np.arange(1000)[:, None, None], z[:, :, None], z[:, None, :]]
            hits += int(acyclic((rng.random((1000, n, n)) < chance) & apart).sum())
    return float(np.log(max(hits, 1) / (DRAWS * GRAPHS)))


def log_ordered_over_block(
    z: np.ndarray, graph: np.ndarray, beta: tuple[float, float], normaliser: float, first: Sequence[int]
) -> float:
    """Log of the ordered prior of (z, G), summed over the orders of its classes, over the block prior of it; -inf
    where no order allows the graph. `normaliser` is the block prior's."""
    _, z = np.unique(z, return_inverse=True)
    edges, pairs = pair_counts(z, graph, np.asarray(first))
    k, before = len(edges), edges > 0
    if np.diag(before).any() or k > MOST_CLASSES:
        return -np.inf
    orders = _orders(before)
    if not orders:
        return -np.inf
    ratio = betaln(beta[0] + edges, beta[1] + pairs - edges) - betaln(*beta)
    # the ordered prior has one probability for two classes, the block prior one each way and one within every class
    unused = np.where(before | before.T, ~before, np.tri(k, dtype=bool))
    return float(np.log(orders) - np.log(np.arange(1, k + 1)).sum() - ratio[unused].sum() + normaliser)


def _orders(before: np.ndarray) -> float:
    """The number of orders in which a comes before b wherever before[a, b]."""
    k = len(before)
    needs = [sum(1 << a for a in np.flatnonzero(before[:, b])) for b in range(k)]
    count = np.zeros(1 << k)
    count[0] = 1.0
    for done in np.arange(1 << k):
        if count[done]:
            for b in range(k):
                if not done >> b & 1 and not needs[b] & ~done:
                    count[done | 1 << b] += count[done]
    return float(count[-1])


def log_odds_of_order(
    ordered: NetPosterior, block: NetPosterior, prior: ClassPrior, normaliser: float, most: int
) -> float:
    """Log evidence of ordered classes over that of classes without order. Where the block chain never is in C, half a
    visit is counted. `most` parents are what the ordered chain allows."""

    def ratios(part: NetPosterior) -> list[float]:
        at = part.graph_hyper[:, 1] if len(prior.betas) > 1 else np.zeros(len(part.graphs), int)
        return [
            log_ordered_over_block(z, g, prior.betas[b], normaliser, prior.first)
            for z, g, b in zip(part.graph_z, part.graphs, at, strict=True)
        ]

    inverse = [-value for value in ratios(ordered)]
    known = [value for value in inverse if np.isfinite(value)]
    small = block.graphs.sum(axis=1).max(axis=1) <= most
    share = max(int((np.isfinite(ratios(block)) & small).sum()), 0.5) / len(block.graphs)
    if not known:
        return 0.0
    return float(np.log(share) - (logsumexp(known) - np.log(len(inverse))))


def weigh(
    ordered: NetPosterior, block: NetPosterior, prior: ClassPrior, most: int, classes_known: bool
) -> tuple[NetPosterior, dict[str, float]]:
    """Ordered classes, classes without order and one class together, and their weights; all as likely beforehand."""
    normaliser, single = log_acyclic(prior, False), log_acyclic(prior, True)
    evidence = {"ordered-block": log_odds_of_order(ordered, block, prior, normaliser, most), "block": 0.0}
    parts, normalisers = [ordered, block], [0.0, normaliser]
    alone = np.array([len(np.unique(z)) == 1 for z in block.graph_z])
    if alone.any() and not classes_known:
        evidence["sparse"] = float(np.log(alone.mean())) + normaliser - single - prior.log_one_class()
        parts.append(_only(block, alone))
        normalisers.append(single)
    for part, value in zip(parts, evidence.values(), strict=True):
        part.log_evidence = float(value)
    logs = np.array(list(evidence.values()))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    together = replace(mixture(parts, weights, normalisers), log_evidence=float("nan"))
    return together, dict(zip(evidence, weights.tolist(), strict=True))


def _only(part: NetPosterior, chosen: np.ndarray) -> NetPosterior:
    """The posterior as some of the networks drawn have it."""
    graphs = part.graphs[chosen]
    edges = graphs.mean(axis=0)
    return replace(
        part, edges=edges, edge_errors=np.sqrt(edges * (1 - edges) / len(graphs)), graphs=graphs,
        graph_z=part.graph_z[chosen], graph_weight=np.full(len(graphs), 1.0 / len(graphs)),
        graph_cells=part.graph_cells[chosen], graph_hyper=part.graph_hyper[chosen],
        classes=np.zeros((1, part.edges.shape[0]), np.int32), shares=np.ones(1),
        top_value=part.top_value[:0], top_z=part.top_z[:0], top_graph=part.top_graph[:0],
    )  # fmt: skip
