"""A ladder of graphs at growing temperatures under fixed laws: how a chain over graphs gets from mode to mode.

Edges of the ladder's graphs are independent beforehand, their scores count less on every rung. All that a rung needs is
a table of sums that never changes, so all of them together cost as much as a few sweeps. Neighbours change places, and
the chain changes graphs with the foot of the ladder by how well each fits the classes: the posterior stays as it is
whatever the laws of the ladder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import CandidateSets, NetData
from .chains import seed_of
from .normaliser import acyclic

HOTTEST = 20.0  # over the number of rows: the power of the scores on the last rung
CLOSE = 1.5  # rungs for every unit of sqrt(n) log(power)


@dataclass
class Ladder:
    """`log_odds` (n, n) of edges on all rungs; `heats` (R,) the powers of the scores, from 1 down."""

    required: np.ndarray
    sets: CandidateSets
    log_odds: np.ndarray
    heats: np.ndarray
    prior: np.ndarray = field(init=False)  # log odds of every listed set
    sums: np.ndarray = field(init=False)  # (R, n, 2^width) log sums over listed sets within any set of candidates
    place: np.ndarray = field(init=False)  # (n, n) the bit of a node in the sets of another, 0 where it is in none
    listed: np.ndarray = field(init=False)  # bool (n, 2^width)

    def __post_init__(self) -> None:
        n, width = self.sets.nodes.shape
        self.prior, self.sums = np.zeros(len(self.sets.sets)), np.zeros((len(self.heats), n, 1 << width))
        kernel.net_set_sums(self.sets, np.ascontiguousarray(self.log_odds), self.heats, self.prior, self.sums)
        self.place, self.listed = np.zeros((n, n), np.int64), np.zeros((n, 1 << width), bool)
        for j, nodes in enumerate(self.sets.nodes):
            self.place[nodes[nodes >= 0], j] = 1 << np.flatnonzero(nodes >= 0)
            self.listed[j, self.sets.sets[self.sets.first[j] : self.sets.first[j + 1]]] = True

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.heats), *self.required.shape

    def begin(self) -> np.ndarray:
        """A graph of required edges alone on every rung."""
        return np.repeat(self.required[None].astype(np.uint8), len(self.heats), axis=0)

    def move(self, rng: np.random.Generator, graphs: np.ndarray, n_rounds: int) -> None:
        kernel.net_graph_ladder(self.sets, self.prior, self.sums, self.heats, graphs, n_rounds, seed_of(rng))

    def exchange(
        self, rng: np.random.Generator, data: NetData, most: int, graph: np.ndarray, foot: np.ndarray,
        log_prior: Callable[[np.ndarray], float],
    ) -> bool:  # fmt: skip
        """The chain's graph changes places with the foot's; whether it did. `log_prior` is that of the chain's graphs,
        `most` how many parents a node has at most."""
        found = self.propose(data, most, graph, foot, log_prior)
        if found is None or not np.log(rng.random()) < found[2]:
            return False
        graph[:], foot[:], _ = found
        return True

    def propose(
        self, data: NetData, most: int, graph: np.ndarray, foot: np.ndarray, log_prior: Callable[[np.ndarray], float]
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        """Both graphs after an exchange, and how much the log joint of both would grow. Edges that have no place in the
        ladder stay with the chain."""
        core = graph * (self.place > 0)
        kept, masks = graph - core, (core * self.place).sum(axis=0)
        other, held = foot | kept, np.flatnonzero(kept.any(axis=0))
        if not self.listed[np.arange(len(masks)), masks].all() or other.sum(axis=0).max() > most:
            return None
        if len(held) and not acyclic(other[None])[0]:
            return None
        gain = log_prior(other) - log_prior(graph) + float(((core - foot.astype(float)) * self.log_odds).sum())
        if len(held):  # the scores of all other nodes only change hands
            gain += log_scores(data, other, held) - log_scores(data, foot, held)
            gain -= log_scores(data, graph, held) - log_scores(data, core, held)
        return other, core, gain


def log_scores(data: NetData, graph: np.ndarray, nodes: np.ndarray) -> float:
    """Of these nodes together."""
    parents = [np.flatnonzero(graph[:, j]).astype(np.int32) for j in nodes]
    first, out = np.cumsum([0, *map(len, parents)]), np.zeros(len(nodes))
    kernel.net_scores(data, nodes.astype(np.int32), first, np.concatenate(parents), out)
    return float(out.sum())


def heats_of(n: int, n_rows: int) -> np.ndarray:
    """Powers from 1 down, spaced so that neighbours change places in most rounds."""
    least = min(HOTTEST / max(n_rows, 1), 0.3)
    return np.geomspace(1.0, least, max(int(np.ceil(CLOSE * np.sqrt(n) * -np.log(least))), 2))
