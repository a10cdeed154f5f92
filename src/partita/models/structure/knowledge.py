"""What is known of a network before the data: edges that must and must not be, how many parents, classes, a
template."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import NO_SCORE, NetData


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Matrices are (n, n) bool, parent row and child column.

    allowed      edges that may be, the required ones among them.
    required     edges that must be.
    max_parents  of a node.
    classes      (n,) int, the class of every node where it is known, numbered 0, 1, ...; None: to be learnt.
    template     (K, K) probabilities of an edge from class a to class b where they are known; needs `classes`.
    """

    allowed: np.ndarray
    required: np.ndarray
    max_parents: int
    classes: np.ndarray | None = None
    template: np.ndarray | None = None

    @property
    def n(self) -> int:
        return len(self.allowed)

    def part(self, nodes: slice) -> Knowledge:
        """Of some of the nodes: those of one table among several."""
        classes = None if self.classes is None else self.classes[nodes]
        return Knowledge(
            self.allowed[nodes, nodes], self.required[nodes, nodes], self.max_parents, classes, self.template
        )

    def log_odds(self) -> np.ndarray:
        """(n, n) log odds of every edge under the template; zeros (all graphs alike) without one."""
        if self.template is None:
            return np.zeros((self.n, self.n))
        assert self.classes is not None
        eta = self.template[np.ix_(self.classes, self.classes)]
        return np.log(eta) - np.log1p(-eta)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Nodes in a random order that respects the required edges."""
        left, order = list(rng.permutation(self.n)), []
        while left:
            node = next(j for j in left if not any(self.required[i, j] for i in left))
            left.remove(node)
            order.append(node)
        return np.array(order)


def score_tables(codes: np.ndarray, levels: np.ndarray, bdeu: bool, pseudo: float, known: Knowledge) -> np.ndarray:
    """(n, 2^n) log scores of all sets of parents, NO_SCORE for those that are not allowed; n is at most 16."""
    data = NetData.of(codes, levels, bdeu, pseudo)
    tables = np.empty((known.n, 1 << known.n))
    for j in range(known.n):
        kernel.net_score_table(data, j, known.max_parents, tables[j])
    return restrict(tables, known)


def restrict(tables: np.ndarray, known: Knowledge) -> np.ndarray:
    """Tables with NO_SCORE for all sets that are not allowed."""
    n, sets = known.n, np.arange(1 << known.n)
    bits = 1 << np.arange(n)
    for j in range(n):
        may, must = int(bits @ known.allowed[:, j]), int(bits @ known.required[:, j])
        wrong = (sets & ~may != 0) | (must & ~sets != 0)
        wrong |= (sets[:, None] & bits != 0).sum(axis=1) > known.max_parents
        tables[j, wrong] = NO_SCORE
    return tables


def to_masks(graph: np.ndarray) -> np.ndarray:
    """Parents of every node as bit masks, int32 (..., n), from graphs (..., n, n)."""
    bits = 1 << np.arange(graph.shape[-1], dtype=np.int64)
    return np.ascontiguousarray(np.einsum("...ij,i->...j", graph.astype(np.int64), bits), np.int32)


def to_graph(masks: np.ndarray) -> np.ndarray:
    """The graphs (..., n, n), uint8, of bit masks (..., n)."""
    n = masks.shape[-1]
    return np.ascontiguousarray(masks[..., None, :] >> np.arange(n)[:, None] & 1, np.uint8)
