"""The joint prior over classes, graph, hyper-parameters and table, and what Geweke's test compares of a draw.

Geweke (2004): draw everything from the joint prior, let the sampler under test move classes and graph given the table,
and nothing may have changed in law. Draws are independent of each other, so the changes of a statistic are
independent too and their mean over its standard error is nearly standard normal: no autocorrelation is to be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES
from partita.models.structure.hyper import HyperGrid
from partita.models.structure.normaliser import acyclic
from partita.priors.partition import sample_partition


@dataclass
class NetWorld:
    """A prior, a score, the shape of the table and its holes; fixed classes, or hyper-parameters that are drawn."""

    prior: int
    bdeu: bool = False
    grid: HyperGrid | None = None
    classes: tuple[int, ...] | None = None
    levels: tuple[int, ...] = (2, 2, 3, 2)
    n_rows: int = 7
    holes: bool = False
    alpha: float = 0.8
    beta1: float = 0.7
    beta2: float = 1.5
    pseudo: float = 0.6

    @property
    def n(self) -> int:
        return len(self.levels)


@dataclass
class NetDraw:
    z: np.ndarray
    graph: np.ndarray
    eta: np.ndarray
    X: np.ndarray
    at: np.ndarray
    mask: np.ndarray  # which cells are missing


def draw_joint(rng: np.random.Generator, world: NetWorld) -> NetDraw:
    """Everything from the prior; graphs with a cycle are drawn again, with all that they came from."""
    n = world.n
    while True:
        at, (alpha, beta1, beta2, pseudo) = np.zeros(3, int), (world.alpha, world.beta1, world.beta2, world.pseudo)
        if world.grid is not None:
            at = np.array([rng.integers(len(g)) for g in (world.grid.alpha, world.grid.beta, world.grid.gamma)])
            values = world.grid.values(at)
            alpha, beta1, beta2, pseudo = (values[k] for k in ("alpha", "beta1", "beta2", "gamma"))
        z = np.array(world.classes) if world.classes is not None else sample_partition(rng, n, alpha)
        K = int(z.max()) + 1
        eta = rng.beta(beta1, beta2, (K, K))
        if world.prior == GIVEN_ODDS:
            eta[:] = 0.5
        if world.prior == ORDERED_CLASSES:
            z = rng.permutation(K)[z]
            eta = np.triu(eta, 1)
        graph = (rng.random((n, n)) < eta[np.ix_(z, z)]).astype(np.uint8)
        np.fill_diagonal(graph, 0)
        if acyclic(graph[None] > 0)[0]:
            mask = rng.random((world.n_rows, n)) < (0.15 if world.holes else 0.0)
            return NetDraw(z.astype(np.int32), graph, eta, draw_table(rng, world, graph, pseudo), at, mask)


def draw_table(rng: np.random.Generator, world: NetWorld, graph: np.ndarray, pseudo: float) -> np.ndarray:
    n, levels = world.n, np.array(world.levels)
    X, left = np.zeros((world.n_rows, n), np.int32), list(range(n))
    while left:
        j = next(j for j in left if not any(graph[i, j] for i in left))
        left.remove(j)
        parents = np.flatnonzero(graph[:, j])
        size = int(np.prod(levels[parents])) * int(levels[j])
        tables = rng.dirichlet([pseudo / size if world.bdeu else pseudo] * int(levels[j]), size // int(levels[j]))
        row = np.ravel_multi_index(tuple(X[:, parents].T), levels[parents]) if len(parents) else np.zeros(len(X), int)
        X[:, j] = (rng.random(len(X))[:, None] > tables[row].cumsum(axis=1)[:, :-1]).sum(axis=1)
    return X


def statistics(world: NetWorld, z: np.ndarray, graph: np.ndarray, X: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Numbers that a wrong move would shift: of the graph, of the classes, and of both against the table."""
    alike = (X[:, :, None] == X[:, None, :]).mean(axis=0)
    same = z[:, None] == z
    values = [
        graph.sum(), graph[0, 1], graph[1, 0], graph[2, 0], graph.sum(axis=0).max(), (graph * alike).sum(),
        graph[1, 3] * alike[1, 3], graph.sum(axis=1) @ (X == 0).mean(axis=0),
    ]  # fmt: skip
    if world.prior != GIVEN_ODDS and world.classes is None:
        values += [len(np.unique(z)), same.sum(), same[0, 1], same[1, 3], (same * graph).sum(), (same * alike).sum()]
    if world.prior == ORDERED_CLASSES:
        values += [z[0] < z[1], z[2] == 0, (z[:, None] < z)[X[0] == 0].sum()]
    if world.grid is not None:
        values += [*at, at[0] * len(np.unique(z)), at[1] * graph.sum()]
    if world.holes:
        values += [X[:, 0].sum(), X[:, 2].sum(), alike.sum()]
    return np.array(values, float)


def shifts(rng: np.random.Generator, world: NetWorld, move, n_draws: int) -> np.ndarray:
    """Mean change of every statistic over its standard error; `move(rng, draw)` changes a draw in place."""
    change = []
    for _ in range(n_draws):
        draw = draw_joint(rng, world)
        before = statistics(world, draw.z, draw.graph, draw.X, draw.at)
        move(rng, draw)
        change.append(statistics(world, draw.z, draw.graph, draw.X, draw.at) - before)
    change = np.array(change)
    spread = change.std(axis=0) / np.sqrt(n_draws)
    return np.where(spread > 0, change.mean(axis=0) / np.maximum(spread, 1e-300), 0.0)


__all__ = ["CLASSES", "NetDraw", "NetWorld", "draw_joint", "shifts"]
