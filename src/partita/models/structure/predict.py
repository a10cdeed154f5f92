"""The probability of new rows, averaged over networks that were drawn, each with its Dirichlet posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import logsumexp

from ..networks.network import LARGEST_TABLE, Net, family_shapes
from ..networks.rows import joint_cells, log_probability


def parents_of(graph: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Sorted parents of every node of a graph (n, n), parent row and child column."""
    return tuple(tuple(np.flatnonzero(column).tolist()) for column in graph.T)


def table_of(
    codes: np.ndarray, levels: np.ndarray, node: int, parents: Sequence[int], bdeu: bool, pseudo: float
) -> np.ndarray:
    """Posterior mean of a node's table, (levels of the parents ..., its own), from rows without holes."""
    shape = tuple(int(levels[k]) for k in (*parents, node))
    cells = int(np.prod([float(size) for size in shape]))
    if cells > LARGEST_TABLE:
        raise ValueError(f"a node with {len(parents)} parents has a table of {cells:.3g} cells; set max_parents lower")
    at = np.ravel_multi_index(tuple(codes[:, [*parents, node]].T), shape)
    counts = np.bincount(at, minlength=cells).reshape(shape) + (pseudo / cells if bdeu else pseudo)
    return counts / counts.sum(axis=-1, keepdims=True)


class Networks:
    """Networks with the rows they learn their tables from; equal families are looked up once."""

    def __init__(
        self, codes: np.ndarray, levels: np.ndarray, bdeu: bool, pseudo: float, graphs: np.ndarray, weight: np.ndarray,
        cells: np.ndarray,
    ):  # fmt: skip
        self.codes, self.levels, self.bdeu, self.pseudo = codes, levels, bdeu, pseudo
        self.graphs, self.weight, self.cells = graphs, weight, cells
        self.missing = codes < 0

    def filled(self, k: int) -> np.ndarray:
        """The training rows as network k saw them."""
        if not self.missing.any():
            return self.codes
        rows = self.codes.copy()
        rows[self.missing] = self.cells[k]
        return rows

    def net(self, k: int) -> Net:
        """Network k with its posterior mean tables."""
        rows, parents = self.filled(k), parents_of(self.graphs[k])
        tables = [table_of(rows, self.levels, j, p, self.bdeu, self.pseudo) for j, p in enumerate(parents)]
        assert [t.shape for t in tables] == family_shapes(parents, self.levels.tolist())
        return Net(parents, tuple(int(size) for size in self.levels), tuple(tables))

    def log_density(self, codes: np.ndarray) -> np.ndarray:
        """(rows,) log of the weighted mean over networks of the probability of the seen cells."""
        complete = (codes >= 0).all(axis=1)
        logs = np.empty((len(self.graphs), len(codes)))
        known: dict[tuple, np.ndarray] = {}
        shared = not self.missing.any()
        for k in range(len(self.graphs)):
            logs[k, complete] = self._complete(k, codes[complete], known if shared else {})
            if not complete.all():
                logs[k, ~complete] = log_probability(self.net(k), codes[~complete])
        return logsumexp(logs, axis=0, b=self.weight[:, None])

    def joint(self, nodes: Sequence[int], evidence: np.ndarray, forced: Mapping[int, int]) -> np.ndarray:
        """The law of these nodes given a row of evidence (-1: not seen), p(nodes, evidence) averaged over the networks,
        in a world where the nodes of `forced` are set from outside; NaN where no network allows the evidence."""
        rows = joint_cells(nodes, self.levels, evidence)
        logs = np.full(len(rows), -np.inf)
        drawn, which = np.unique(self.graphs.reshape(len(self.graphs), -1), axis=0, return_inverse=True)
        alike = not self.missing.any()  # equal graphs are then equal networks
        first = np.array([np.flatnonzero(which.ravel() == g)[0] for g in range(len(drawn))])
        weight = np.bincount(which.ravel(), self.weight, len(drawn)) if alike else self.weight
        for k, share in zip(first if alike else range(len(self.graphs)), weight, strict=True):
            with np.errstate(divide="ignore"):
                logs = np.logaddexp(logs, np.log(share) + log_probability(self.net(int(k)).cut(forced), rows))
        shape = [int(self.levels[v]) for v in nodes]
        if np.isneginf(logs).all():
            return np.full(shape, np.nan)
        law = np.exp(logs - logs.max())
        return (law / law.sum()).reshape(shape)

    def _complete(self, k: int, codes: np.ndarray, known: dict[tuple, np.ndarray]) -> np.ndarray:
        total, rows = np.zeros(len(codes)), self.filled(k)
        for node, parents in enumerate(parents_of(self.graphs[k])):
            if (node, *parents) not in known:
                known[(node, *parents)] = self._family(rows, codes, node, list(parents))
            total += known[(node, *parents)]
        return total

    def _family(self, rows: np.ndarray, codes: np.ndarray, node: int, parents: list[int]) -> np.ndarray:
        """Log predictive probability of a node's cells: only configurations that occur are counted."""
        n = len(rows)
        both = np.concatenate([rows[:, parents], codes[:, parents]]) if parents else np.zeros((n + len(codes), 1), int)
        _, number = np.unique(both, axis=0, return_inverse=True)
        number = number.ravel()
        size = int(self.levels[node])
        counts = np.zeros((number.max(initial=0) + 1, size))
        np.add.at(counts, (number[:n], rows[:, node]), 1.0)
        cells = float(np.prod([float(self.levels[p]) for p in parents])) * size
        counts += self.pseudo / cells if self.bdeu else self.pseudo
        counts /= counts.sum(axis=1, keepdims=True)
        return np.log(counts[number[n:], codes[:, node]])
