"""Priors over acyclic graphs whose nodes fall into classes.

[1] Mansinghka (2009), Natively Probabilistic Computation, chapter 2 (also UAI 2006). Nodes are parted by a Chinese
restaurant of concentration alpha (2.1); an edge from a node of class a to one of class b has probability eta_ab ~
Beta(beta1, beta2), integrated out (2.5).

* ordered block: classes carry an order, each of the K! as likely (2.2), and edges go from earlier to later classes
  only;
* block: any two classes, acyclic graphs only. P(z, G) is proportional to P(z) times the Beta ratios on acyclic
  graphs, as [1] has it: the normaliser over graphs is that of the pair (z, G), not of the graphs of each z;
* sparse: the block prior of one class;
* uniform: all acyclic graphs alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.special import betaln, roots_jacobi

from ..kernels.net_contract import BlockRule
from . import franchise
from .partition import enumerate_partitions, log_probability


@lru_cache(maxsize=64)
def _rules(most: int, beta1: float, beta2: float) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.full((most + 1, most), 0.5), np.zeros((most + 1, most))
    for size in range(1, most + 1):
        nodes[size, :size], weights[size, :size] = edge_rule(size, beta1, beta2)
    return nodes, weights


def block_rule(n: int, alpha: float, beta1: float, beta2: float) -> BlockRule:
    """The prior of n nodes with the Gauss-Jacobi rules that integrate eta exactly: at most n (n - 1) pairs share one
    eta."""
    nodes, weights = _rules(n * (n - 1) // 2 + 1, float(beta1), float(beta2))
    return BlockRule(float(alpha), float(beta1), float(beta2), nodes, weights)


def edge_rule(points: int, beta1: float, beta2: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gauss-Jacobi rule of so many points for one probability eta ~ Beta(beta1, beta2)."""
    x, w = roots_jacobi(points, beta2 - 1.0, beta1 - 1.0)
    return (1.0 + x) / 2.0, w / w.sum()


def log_template(edges: np.ndarray, pairs: np.ndarray, beta1: float, beta2: float) -> np.ndarray:
    """Log of (2.5) summed over the last two axes: `edges` present of `pairs` between every two classes."""
    return (betaln(beta1 + edges, beta2 + pairs - edges) - betaln(beta1, beta2)).sum(axis=(-2, -1))


def pair_counts(z: np.ndarray, graph: np.ndarray, first: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(K, K) edges from class a to class b, and pairs of nodes that could have one. Of several data sets that share
    classes (data set t has the nodes first[t] .. first[t + 1] - 1) both add up."""
    K = int(z.max()) + 1
    edges, pairs = np.zeros((K, K)), np.zeros((K, K))
    bounds = [0, len(z)] if first is None else np.asarray(first).tolist()
    for start, end in zip(bounds[:-1], bounds[1:], strict=True):
        member = np.eye(K)[z[start:end]]
        sizes = member.sum(axis=0)
        edges += member.T @ graph[start:end, start:end] @ member
        pairs += np.outer(sizes, sizes) - np.diag(sizes)
    return edges, pairs


def log_joint(
    z: np.ndarray, graph: np.ndarray, alpha: float, beta1: float, beta2: float, ordered: bool,
    first: np.ndarray | None = None, room: float = 1.0,
) -> float:  # fmt: skip
    """Log of P(z) P(G | z), in the ordered case with P(order) and classes numbered in order; -inf where the order
    forbids an edge. In the block case up to the normaliser over acyclic graphs. `graph` is (n, n), parent row and child
    column. Of several data sets (`first`, see `pair_counts`) P(z) is a franchise of concentration alpha, `room` that of its
    restaurants."""
    sizes = np.bincount(z)
    edges, pairs = pair_counts(z, graph, first)
    if first is not None and len(first) > 2:
        value = franchise.log_probability(franchise.count(z, first), room, alpha)
    else:
        value = float(log_probability(sizes, alpha))
    if not ordered:
        return value + float(log_template(edges, pairs, beta1, beta2))
    if np.tril(edges).any():
        return -np.inf
    upper = np.triu(np.ones_like(pairs, dtype=bool), 1)
    lowest = float(np.cumsum(np.log(np.arange(1, len(sizes) + 1)))[-1])
    return value - lowest + float(log_template(np.where(upper, edges, 0), np.where(upper, pairs, 0), beta1, beta2))


def ordered_partitions(n: int) -> Iterator[np.ndarray]:
    """All partitions of n nodes into classes with an order, as the place of every node's class: 4,683 of 6 nodes."""
    for z in enumerate_partitions(n):
        k = int(z.max()) + 1
        for order in _permutations(k):
            yield order[z]


@lru_cache(maxsize=16)
def _permutations(k: int) -> np.ndarray:
    from itertools import permutations

    return np.array(list(permutations(range(k))))
