"""Chains over networks of at most 16 nodes: ordered classes with graphs summed out, and classes with a graph, tempered.

[1] Mansinghka (2009), chapter 2. Unlike [1], which resamples one edge at a time, graphs and edge probabilities are
summed out or drawn afresh as a whole, since single edges do not get from one order of the nodes to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import BlockRule, HashedValues, ScoreWeights
from ...priors.graph import log_joint
from .hyper import SmallModel
from .knowledge import Knowledge, to_graph, to_masks
from .state import NetState, Schedule, after_sweep, before_sweep

# Of the copies of a block chain: scores count 1 / T times. All those at one count. Modes of so few nodes differ by how
# much they leave open as much as by their scores, so that a warm copy helps less than one more at one.
TEMPERATURES = np.concatenate([np.ones(10), np.geomspace(1.0, 3.2, 4)[1:]])
CACHE_BITS = 18  # class sums that are remembered: 4 MB for each chain
N_DRAWS, N_SPLITS = 3, 10  # graphs by orders, and splits or merges, in a sweep of the block chain


@dataclass
class LinearScores:
    """Tables of scores on a linear scale at every heat, made when first wanted and shared by chains."""

    made: dict[tuple[int, float], tuple[np.ndarray, ScoreWeights]] = field(default_factory=dict)

    def of(self, tables: np.ndarray, heat: float) -> ScoreWeights:
        key = (id(tables), heat)
        if key not in self.made:
            self.made[key] = tables, ScoreWeights.of(tables, heat)  # holding the table keeps its id its own
        return self.made[key][1]


def seed_of(rng: np.random.Generator) -> int:
    """64 bits for a kernel's own stream."""
    return int(rng.integers(2**64, dtype=np.uint64))


def score_of(tables: np.ndarray, masks: np.ndarray) -> float:
    """The log likelihood of a graph."""
    return float(tables[np.arange(len(tables)), masks].sum())


def random_classes(rng: np.random.Generator, known: Knowledge, number: int, ordered: bool) -> np.ndarray:
    """Where a chain begins, far from where the next one does: all nodes in one class, or every node by itself."""
    n = known.n
    if known.classes is not None:
        if not ordered:
            return known.classes.astype(np.int32)
        # an order of the given classes that allows the required edges
        first = [int(np.flatnonzero(known.classes[known.start(rng)] == k)[0]) for k in range(known.classes.max() + 1)]
        return np.argsort(np.argsort(first)).astype(np.int32)[known.classes]
    if number % 2 == 0 and not (ordered and known.required.any()):
        return np.zeros(n, np.int32)
    return np.argsort(known.start(rng)).astype(np.int32)


def start_of(model: SmallModel | None, n: int) -> np.ndarray:
    """(n, 3) places in the grids of hyper-parameters; zeros where none is learnt."""
    return np.zeros((n, 3)) if model is None else np.tile(model.grid.start(), (n, 1))


def move_hyper(
    rng: np.random.Generator, model: SmallModel | None, at: np.ndarray, z: np.ndarray, graph: np.ndarray, ordered: bool,
    heat: float,
) -> dict[str, float]:  # fmt: skip
    """Hyper-parameters drawn given classes and graph, if they are learnt; their values."""
    if model is None:
        return {}
    masks = to_masks(graph)

    def log_likelihood(k: int) -> float:
        return score_of(model.tables(np.array([0, 0, k])), masks)

    model.grid.move(rng, at, z, graph, ordered, log_likelihood, heat)
    return model.grid.values(at)


@dataclass
class OrderedSampler:
    """Ordered classes; the graph is summed out and only drawn to be shown."""

    tables: np.ndarray
    rule: BlockRule
    known: Knowledge
    schedule: Schedule
    number: int
    cache: HashedValues = field(default_factory=lambda: HashedValues.room(CACHE_BITS))
    model: SmallModel | None = None  # where hyper-parameters are learnt: tables and rules of all their values
    linear: LinearScores = field(default_factory=LinearScores)

    def init(self, rng: np.random.Generator) -> NetState:
        z = random_classes(rng, self.known, self.number, ordered=True)
        graph = np.zeros((1, self.known.n, self.known.n))
        return NetState.begin(z[None], graph, self.schedule.n_kept, np.zeros(0), start_of(self.model, 1))

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        before_sweep(state, self.schedule)
        at, parents = state.hyper[0], np.zeros(self.known.n, np.int32)
        if self.model is not None:
            self.tables, self.rule = self.model.tables(at), self.model.rule(at)
            self.cache = self.model.cache(at, CACHE_BITS)
        value = kernel.net_ordered_sweep(
            self.tables,
            self.rule,
            self.cache,
            state.z[0],
            self.known.classes is None,
            seed_of(rng),
            state.edges,
            parents,
            self.linear.of(self.tables, 1.0),
        )
        state.graph[0] = to_graph(parents)
        prior = log_joint(state.z[0], state.graph[0], self.rule.alpha, self.rule.beta1, self.rule.beta2, True)
        info = after_sweep(state, self.schedule, value, score_of(self.tables, parents) + prior)
        return state, info | move_hyper(rng, self.model, at, state.z[0], state.graph[0], True, 1.0)


@dataclass
class BlockSampler:
    """Classes and a graph: copies at several temperatures, of which those at one count."""

    tables: np.ndarray
    rule: BlockRule
    known: Knowledge
    schedule: Schedule
    number: int
    temperatures: np.ndarray = field(default_factory=lambda: TEMPERATURES)
    model: SmallModel | None = None
    linear: LinearScores = field(default_factory=LinearScores)
    single: np.ndarray | None = None  # exact edge probabilities of one class: taken where a copy has one

    def init(self, rng: np.random.Generator) -> NetState:
        z = np.array([random_classes(rng, self.known, self.number + r, False) for r in range(len(self.temperatures))])
        graph = np.repeat(self.known.required[None], len(z), axis=0)
        return NetState.begin(z, graph, self.schedule.n_kept, np.zeros(0), start_of(self.model, len(z)))

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        before_sweep(state, self.schedule)
        n, R = self.known.n, len(self.temperatures)
        seeds = rng.integers(2**64, size=R, dtype=np.uint64)
        masks, priors, scores = to_masks(state.graph), np.zeros(R), np.zeros(R)
        edges, unused = np.zeros((n, n)), np.zeros((n, n))
        for r, temperature in enumerate(self.temperatures):
            if self.model is not None:
                self.tables, self.rule = self.model.tables(state.hyper[r]), self.model.rule(state.hyper[r])
            counts = temperature == 1.0
            if counts and self.single is not None and state.z[r].max() == 0:
                edges += self.single
                counts = False
            priors[r] = kernel.net_block_sweep(
                self.tables, self.rule, 1.0 / temperature, state.z[r], masks[r], self.known.classes is None, N_DRAWS,
                N_SPLITS, int(seeds[r]), edges if counts else unused, self.linear.of(self.tables, 1.0 / temperature),
            )  # fmt: skip
            if self.model is not None:
                at, graph = state.hyper[r], to_graph(masks[r])
                move_hyper(rng, self.model, at, state.z[r], graph, False, 1.0 / temperature)
                scores[r] = score_of(self.model.tables(at), masks[r])
        state.graph[:] = to_graph(masks)
        state.edges += edges / (self.temperatures == 1.0).sum()
        if self.model is None:
            scores = self.tables[np.arange(n), masks].sum(axis=1)
        order = self._exchange(rng, scores)
        for array in (state.z, state.graph, state.hyper):
            array[:] = array[order]
        joint = float(scores[order[0]] + priors[order[0]])
        info = after_sweep(state, self.schedule, joint, joint)
        return state, info if self.model is None else info | self.model.grid.values(state.hyper[0])

    def _exchange(self, rng: np.random.Generator, scores: np.ndarray) -> list[int]:
        """Neighbours change places: which copy stands where. At one temperature they always do, so that each is the
        first in its turn."""
        order = list(range(len(scores)))
        heats, logs = 1.0 / self.temperatures, np.log(rng.random(len(scores) - 1))
        for r, log_uniform in enumerate(logs):
            gain = (scores[order[r]] - scores[order[r + 1]]) * (heats[r + 1] - heats[r])
            if log_uniform <= gain:
                order[r], order[r + 1] = order[r + 1], order[r]
        return order
