"""Exact posteriors of small networks: no chain, no chance.

With all graphs alike, with one class, or with classes and template given, the weight of a graph is a product over nodes
(given the probability eta of an edge), and sums over all acyclic graphs are a matter of 3^n steps (`net_dag_sum`). One
class: the sum is a polynomial of degree n (n - 1) in eta, so a Gauss-Jacobi rule integrates it exactly. Classes with an
order and without one are listed, for at most six nodes; those without one have such a rule for every two classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...kernels import kernel
from ...kernels.net_contract import NO_SCORE, BlockRule
from ...priors.graph import ordered_partitions
from ...priors.partition import enumerate_partitions, log_probability

NEGLIGIBLE = 1e-12  # share of the evidence below which a point of the rule needs no derivative


@dataclass
class Exact:
    """log_sum is the log of the sum over graphs (and classes) of prior weight times likelihood; `classes` holds
    partitions with their posterior shares, places in the order where there is one."""

    edges: np.ndarray
    log_sum: float
    classes: np.ndarray  # (k, n)
    shares: np.ndarray  # (k,)

    def together(self) -> np.ndarray:
        """(n, n) probability that two nodes share a class."""
        same = self.classes[:, :, None] == self.classes[:, None, :]
        return np.einsum("k,kij->ij", self.shares, same)


def sizes_of_sets(n: int) -> np.ndarray:
    sets = np.arange(1 << n)
    return sum((sets >> i & 1 for i in range(n)), np.zeros_like(sets))


def modular(tables: np.ndarray, log_odds: np.ndarray, classes: np.ndarray) -> Exact:
    """Edges independent beforehand: the same odds for all (a uniform prior), or those of a template."""
    n = len(tables)
    weight = np.array(tables)
    for i in range(n):
        weight[:, np.arange(1 << n) >> i & 1 == 1] += log_odds[i][:, None]
    edges = np.zeros((n, n))
    total = kernel.net_dag_sum(weight, edges)
    return Exact(edges, total, classes[None, :], np.ones(1))


def one_class(tables: np.ndarray, rule: BlockRule, edges_too: bool = True) -> Exact:
    """One class, the probability of an edge integrated out; the prior weight is that of (2.5), acyclic graphs only."""
    n = len(tables)
    points = n * (n - 1) // 2 + 1
    eta, share = rule.nodes[points, :points], rule.weights[points, :points]
    sizes = sizes_of_sets(n)

    def weight(q: Any) -> np.ndarray:
        return tables + sizes * (np.log(eta[q]) - np.log1p(-eta[q])) + (n - 1) * np.log1p(-eta[q])

    sums = np.array([kernel.net_dag_sum(weight(q), np.zeros((0, 0))) for q in range(points)]) + np.log(share)
    total = float(logsumexp(sums))
    edges, part = np.zeros((n, n)), np.zeros((n, n))
    for q in np.flatnonzero(sums > total + np.log(NEGLIGIBLE)) if edges_too else []:
        kernel.net_dag_sum(weight(q), part)
        edges += np.exp(sums[q] - total) * part
    return Exact(edges, total, np.zeros((1, n), np.int32), np.ones(1))


def ordered(tables: np.ndarray, rule: BlockRule, classes: np.ndarray | None = None) -> Exact:
    """Classes with an order, all listed; those given in all their orders."""
    n = len(tables)
    found = [z for z in ordered_partitions(n) if classes is None or _same(z, classes)]
    sums = _ClassSums(tables, rule)
    logs = np.array([sums.log_target(z) for z in found])
    total = float(logsumexp(logs))
    shares = np.exp(logs - total)
    edges = np.zeros((n, n))
    for z, share in zip(found, shares, strict=True):
        if share > 0:
            edges += share * sums.edges(z)
    return Exact(edges, total, np.array(found), shares)


def _same(z: np.ndarray, classes: np.ndarray) -> bool:
    return bool(((z[:, None] == z) == (classes[:, None] == classes)).all())


class _ClassSums:
    """Sums into the classes of ordered partitions, each found once."""

    def __init__(self, tables: np.ndarray, rule: BlockRule):
        self.tables, self.rule, self.n = tables, rule, len(tables)
        self.sums: dict[tuple, float] = {}
        self.shares: dict[tuple, np.ndarray] = {}

    def _steps(self, z: np.ndarray) -> Iterator[tuple[int, tuple[int, ...]]]:
        masks = [int(sum(1 << i for i in np.flatnonzero(z == k))) for k in range(int(z.max()) + 1)]
        return ((members, tuple(sorted(masks[:b]))) for b, members in enumerate(masks))

    def _sum(self, members: int, earlier: tuple[int, ...], hit: tuple[int, ...]) -> float:
        key = (members, earlier, hit)
        if key not in self.sums:
            within = np.full(self.n, sum(earlier), np.int32)
            wanted = np.array(hit if hit else (0,) * self.n, np.int32)
            before = np.array(earlier, np.int32)
            self.sums[key] = kernel.net_class_sum(self.tables, self.rule, 1.0, members, before, -1, within, wanted)
        return self.sums[key]

    def log_target(self, z: np.ndarray) -> float:
        sizes = np.bincount(z)
        orders = float(np.log(np.arange(1, len(sizes) + 1)).sum())
        return float(log_probability(sizes, self.rule.alpha)) - orders + sum(
            self._sum(members, earlier, ()) for members, earlier in self._steps(z)
        )  # fmt: skip

    def edges(self, z: np.ndarray) -> np.ndarray:
        """P(i -> j | classes): the sum in which j must have the parent i, over the whole sum."""
        edges = np.zeros((self.n, self.n))
        for key in self._steps(z):
            if key not in self.shares:
                self.shares[key] = self._edges_into(*key)
            edges += self.shares[key]
        return edges

    def _edges_into(self, members: int, earlier: tuple[int, ...]) -> np.ndarray:
        edges, whole = np.zeros((self.n, self.n)), self._sum(members, earlier, ())
        for i in range(self.n):
            for j in range(self.n):
                if sum(earlier) >> i & 1 and members >> j & 1 and whole > NO_SCORE / 10:
                    hit = tuple(1 << i if k == j else 0 for k in range(self.n))
                    edges[i, j] = np.exp(self._sum(members, earlier, hit) - whole)
        return edges


def block(tables: np.ndarray, rule: BlockRule, classes: np.ndarray | None = None) -> Exact:
    """Classes without an order: every partition, each with all acyclic graphs summed out."""
    n = len(tables)
    partitions = np.asarray(enumerate_partitions(n) if classes is None else classes[None, :], np.int32)
    logs, edges = np.zeros(len(partitions)), np.zeros((len(partitions), n, n))
    for k, z in enumerate(partitions):
        logs[k] = kernel.net_block_sum(tables, rule, z, edges[k])
        logs[k] += float(log_probability(np.bincount(z), rule.alpha))
    total = float(logsumexp(logs))
    shares = np.exp(logs - total)
    return Exact(np.tensordot(shares, edges, 1), total, partitions, shares)


def best_graph(weight: np.ndarray) -> np.ndarray:
    """The acyclic graph of the greatest modular log weight (n, 2^n), as bit masks: by the best last node of every
    set."""
    n = len(weight)
    best, chosen = np.array(weight), np.tile(np.arange(1 << n), (n, 1))
    for i in range(n):  # the best parents within every set
        with_i = np.flatnonzero(np.arange(1 << n) >> i & 1)
        less = with_i ^ 1 << i
        better = best[:, less] >= best[:, with_i]
        best[:, with_i] = np.where(better, best[:, less], best[:, with_i])
        chosen[:, with_i] = np.where(better, chosen[:, less], chosen[:, with_i])
    reached, last = np.full(1 << n, -np.inf), np.zeros(1 << n, int)
    reached[0] = 0.0
    sizes = sizes_of_sets(n)
    for size in range(1, n + 1):
        sets = np.flatnonzero(sizes == size)
        for j in range(n):
            inside = sets[sets >> j & 1 == 1]
            value = reached[inside ^ 1 << j] + best[j, inside ^ 1 << j]
            better = value > reached[inside]
            reached[inside] = np.where(better, value, reached[inside])
            last[inside] = np.where(better, j, last[inside])
    parents, left = np.zeros(n, np.int32), (1 << n) - 1
    while left:
        j = int(last[left])
        left ^= 1 << j
        parents[j] = chosen[j, left]
    return parents
