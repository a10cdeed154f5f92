"""A discrete Bayesian network: a graph and one table of probabilities per node; counts, estimates, interventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from ..soundness import Unsound
from .graph import topological_order

LARGEST_TABLE = 1 << 26  # cells of one node's table: half a gigabyte


@dataclass(frozen=True, eq=False)
class Net:
    """parents[j]: positions of node j's parents; tables[j]: (levels of each parent ..., levels of j) probabilities."""

    parents: tuple[tuple[int, ...], ...]
    arities: tuple[int, ...]
    tables: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.parents)

    def cut(self, levels: Mapping[int, int]) -> Net:
        """The network in which these nodes are set from outside: no parent moves them, they have their level."""
        parents, tables = list(self.parents), list(self.tables)
        for node, level in levels.items():
            parents[node] = ()
            tables[node] = np.eye(self.arities[node])[level]
        return replace(self, parents=tuple(parents), tables=tuple(tables))

    def to_tree(self) -> dict[str, Any]:
        parents = [list(of) for of in self.parents]
        return {"parents": parents, "arities": list(self.arities), "tables": list(self.tables)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Net:
        net = cls(tuple(map(tuple, tree["parents"])), tuple(tree["arities"]), tuple(tree["tables"]))
        try:
            topological_order(net.parents)
        except (ValueError, IndexError) as error:
            raise Unsound("a network whose graph has a cycle or names nodes that are not there") from error
        for table, shape in zip(net.tables, family_shapes(net.parents, net.arities), strict=True):
            if table.shape != shape or not np.allclose(table.sum(axis=-1), 1.0, atol=1e-6) or (table < 0).any():
                raise Unsound("a network with a table that is no probability distribution of its node")
        return net


def family_shapes(parents: Sequence[Sequence[int]], arities: Sequence[int]) -> list[tuple[int, ...]]:
    """The shape of every node's table."""
    return [tuple(int(arities[k]) for k in (*of, node)) for node, of in enumerate(parents)]


def family_counts(
    codes: np.ndarray, parents: Sequence[Sequence[int]], arities: Sequence[int], weight: np.ndarray
) -> list[np.ndarray]:
    """How often every node had each level with each combination of its parents' levels, over rows that show all."""
    counts = []
    for node, shape in enumerate(family_shapes(parents, arities)):
        family = codes[:, [*parents[node], node]]
        seen = (family >= 0).all(axis=1)
        cell = np.ravel_multi_index(tuple(family[seen].T), shape)
        counts.append(np.bincount(cell, weight[seen], int(np.prod(shape))).reshape(shape))
    return counts


def pseudo_counts(shapes: Sequence[tuple[int, ...]], prior: str, amount: float) -> list[float]:
    """Prior count per cell of every table: the same everywhere ("dirichlet"), or `amount` spread over it ("bdeu")."""
    return [amount if prior == "dirichlet" else amount / float(np.prod(shape)) for shape in shapes]


def normalised(values: np.ndarray) -> np.ndarray:
    """Rows of a table as probabilities; a row of zeros, of which nothing is known, as equal ones."""
    total = values.sum(axis=-1, keepdims=True)
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, values / safe, 1.0 / values.shape[-1])


def point_tables(counts: Sequence[np.ndarray], prior: Sequence[float], estimate: str) -> list[np.ndarray]:
    """Tables from counts: maximum likelihood, mode of the Dirichlet posterior ("map"), or its mean ("bayes").

    The mean is the exact probability of the next row: every family's parameters stand in its product once.
    """
    added = {"ml": [0.0] * len(prior), "map": [a - 1.0 for a in prior], "bayes": list(prior)}[estimate]
    return [normalised(count + a) for count, a in zip(counts, added)]


def expected_logs(counts: Sequence[np.ndarray], prior: Sequence[float]) -> list[np.ndarray]:
    """exp(E[log theta]) under the Dirichlet posteriors: tables whose rows sum to less than one."""
    logs = []
    for count, a in zip(counts, prior):
        posterior = count + a
        logs.append(np.exp(digamma(posterior) - digamma(posterior.sum(axis=-1, keepdims=True))))
    return logs


def log_marginal(counts: Sequence[np.ndarray], prior: Sequence[float]) -> float:
    """Log probability of complete rows with the tables integrated out: the Dirichlet-multinomial of every family."""
    total = 0.0
    for count, a in zip(counts, prior):
        levels = count.shape[-1]
        rows = count.sum(axis=-1)
        total += float((gammaln(levels * a) - gammaln(levels * a + rows)).sum())
        total += float((gammaln(a + count) - gammaln(a)).sum())
    return total


def divergence(counts: Sequence[np.ndarray], prior: Sequence[float]) -> float:
    """KL divergence of the Dirichlet posteriors from their prior, all families together."""
    total = 0.0
    for count, a in zip(counts, prior):
        levels = count.shape[-1]
        posterior = count + a
        rows = posterior.sum(axis=-1)
        logs = digamma(posterior) - digamma(rows)[..., None]
        total += float((gammaln(rows) - gammaln(levels * a)).sum())
        total += float((gammaln(a) - gammaln(posterior) + count * logs).sum())
    return total
