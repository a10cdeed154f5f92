"""Chains over networks of any size: a graph edge by edge and set by set, and ordered classes with lists of small sets.

[1] Mansinghka (2009), chapter 2, resamples one edge and one node's class at a time; that kernel is `single_edges`.
Unlike [1], edges are also reversed, and sets of parents drawn together, without which chains of twelve nodes are far
from their posterior after thousands of sweeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb

import numpy as np

from ..kernels import kernel
from ..kernels.net_contract import GIVEN_ODDS, NO_SCORE, ORDERED_CLASSES, GraphTask, HashedValues, NetData, list_sets
from .net_chains import random_classes, seed_of
from .net_hyper import HyperGrid
from .net_knowledge import Knowledge
from .net_state import NetState, Schedule, after_sweep, before_sweep

CACHE_BITS = 18  # local scores that are remembered
FILL_EVERY = 4  # sweeps over classes between two draws of the missing cells, where the lists have to be made anew
LIST_CELLS = 5e6  # most numbers in the lists of all nodes: four parents of 41 nodes, three of 73, two of 215
ROOM = 300.0  # log of the heaviest weight of a list: leaves as much below as doubles have


@dataclass
class Rows:
    """The table: codes (N, n), -1 where a cell is missing."""

    codes: np.ndarray
    levels: np.ndarray
    bdeu: bool
    pseudo: float
    holes: np.ndarray = field(init=False)  # int32 (m, 2), row and column of every missing cell

    def __post_init__(self) -> None:
        self.holes = np.argwhere(self.codes < 0).astype(np.int32)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Missing cells drawn from the observed ones of their column."""
        cells = np.zeros(len(self.holes), np.int32)
        for j in np.unique(self.holes[:, 1]):
            seen, here = self.codes[self.codes[:, j] >= 0, j], self.holes[:, 1] == j
            drawn = rng.integers(0, self.levels[j], int(here.sum()))
            cells[here] = rng.choice(seen, int(here.sum())) if len(seen) else drawn
        return cells

    def filled(self, cells: np.ndarray) -> np.ndarray:
        codes = self.codes.copy()
        codes[self.holes[:, 0], self.holes[:, 1]] = cells
        return codes

    def refill(self, rng: np.random.Generator, cells: np.ndarray, graph: np.ndarray) -> np.ndarray:
        """The missing cells drawn anew given the graph; all of the table is returned, `cells` changed."""
        codes = self.filled(cells)
        order = rng.permutation(len(cells))
        kernel.net_fill(
            codes, self.levels, np.ascontiguousarray(graph), self.bdeu, self.pseudo,
            np.ascontiguousarray(self.holes[order]), rng.random(len(cells)),
        )  # fmt: skip
        cells[:] = codes[self.holes[:, 0], self.holes[:, 1]]
        return codes

    def data(self, codes: np.ndarray) -> NetData:
        return NetData.of(codes, self.levels, self.bdeu, self.pseudo)


@dataclass
class GraphSampler:
    """Classes and a graph, or a graph alone (GIVEN_ODDS: all graphs alike, or a template)."""

    rows: Rows
    known: Knowledge
    prior: int
    alpha: float
    beta1: float
    beta2: float
    schedule: Schedule
    number: int
    single_edges: bool = False
    cache: HashedValues = field(default_factory=lambda: HashedValues.room(CACHE_BITS))
    data: NetData | None = None
    grid: HyperGrid | None = None  # where alpha or beta is learnt

    def init(self, rng: np.random.Generator) -> NetState:
        ordered = self.prior == ORDERED_CLASSES
        z = random_classes(rng, self.known, self.number, ordered)
        if self.prior == GIVEN_ODDS:
            z = np.zeros(self.known.n, np.int32) if self.known.classes is None else self.known.classes
        cells = self.rows.start(rng)
        hyper = np.zeros((1, 3)) if self.grid is None else self.grid.start()[None]
        return NetState.begin(z[None], self.known.required[None], self.schedule.n_kept, cells, hyper)

    def use(self, at: np.ndarray) -> None:
        """Take the hyper-parameters at these places of their grids."""
        if self.grid is not None:
            values = self.grid.values(at)
            self.alpha, self.beta1, self.beta2 = values["alpha"], values["beta1"], values["beta2"]

    def move_hyper(self, rng: np.random.Generator, state: NetState) -> dict[str, float]:
        """Hyper-parameters drawn given classes and graph, if they are learnt; their values."""
        if self.grid is None:
            return {}
        self.grid.move(rng, state.hyper[0], state.z[0], state.graph[0], self.prior == ORDERED_CLASSES)
        return self.grid.values(state.hyper[0])

    def task(self, max_parents: int | None = None) -> GraphTask:
        known = self.known
        return GraphTask(
            known.allowed.astype(np.uint8), known.required.astype(np.uint8),
            known.max_parents if max_parents is None else max_parents, self.prior,
            self.prior != GIVEN_ODDS and known.classes is None, self.alpha, self.beta1, self.beta2,
            np.ascontiguousarray(known.log_odds()), self.single_edges,
        )  # fmt: skip

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        before_sweep(state, self.schedule)
        if len(state.cells):
            self.data = self.rows.data(self.rows.refill(rng, state.cells, state.graph[0]))
            self.cache.forget()
        elif self.data is None:
            self.data = self.rows.data(self.rows.codes)
        self.use(state.hyper[0])
        joint = kernel.net_graph_sweep(self.data, self.task(), self.cache, state.z[0], state.graph[0], seed_of(rng))
        state.edges += state.graph[0]
        return state, after_sweep(state, self.schedule, joint, joint) | self.move_hyper(rng, state)


def most_listed(n: int, max_parents: int) -> int:
    """The largest sets of parents that lists of n nodes have room for; at most four."""
    fitting = [most for most in range(5) if n * sum(comb(n, size) for size in range(most + 1)) <= LIST_CELLS]
    return min(max_parents, max(fitting))


@dataclass
class Lists:
    """Scores of all sets of at most `most` parents."""

    most: int
    weight: np.ndarray  # (n, sets) on a linear scale, each row shifted
    fits: bool  # whether even the least of the sets that every order allows has a weight that doubles can hold

    @classmethod
    def of(cls, data: NetData, known: Knowledge, most: int) -> Lists:
        n, sets = known.n, list_sets(known.n, most)
        score = np.empty((n, len(sets)))
        inside = np.zeros((len(sets), n), bool)
        for k, nodes in enumerate(sets):
            inside[k, list(nodes)] = True
        for j in range(n):
            kernel.net_score_lists(data, j, most, score[j])
            wrong = (inside & ~known.allowed[:, j]).any(axis=1) | (known.required[:, j] & ~inside).any(axis=1)
            score[j, wrong] = NO_SCORE
        shift = score.max(axis=1, keepdims=True) - ROOM
        least = np.array([score[j, np.flatnonzero((inside == known.required[:, j]).all(axis=1))[0]] for j in range(n)])
        with np.errstate(under="ignore"):
            return cls(most, np.exp(score - shift), bool((least - shift[:, 0] > -690.0).all()))


@dataclass
class ListedSampler:
    """Ordered classes with edge probabilities; graphs of small sets of parents are summed out."""

    rows: Rows
    known: Knowledge
    alpha: float
    beta1: float
    beta2: float
    schedule: Schedule
    number: int
    most: int
    lists: Lists | None = None  # shared by chains where no cell is missing
    grid: HyperGrid | None = None
    graphs: GraphSampler = field(init=False)
    made_for: bytes = b""

    def __post_init__(self) -> None:
        self.graphs = GraphSampler(
            self.rows, self.known, ORDERED_CLASSES, self.alpha, self.beta1, self.beta2, self.schedule, self.number,
            grid=self.grid,
        )  # fmt: skip

    def init(self, rng: np.random.Generator) -> NetState:
        state = self.graphs.init(rng)
        k = int(state.z.max()) + 1
        eta = np.triu(rng.beta(self.beta1, self.beta2, (k, k)), 1)
        state.template = eta + eta.T + np.eye(k) / 2
        return state

    def _prepare(self, rng: np.random.Generator, state: NetState) -> None:
        """Scores of the table as it now stands."""
        if len(state.cells) and state.done % FILL_EVERY == 0:
            self.rows.refill(rng, state.cells, state.graph[0])
        if self.lists is None or (len(state.cells) and self.made_for != state.cells.tobytes()):
            self.graphs.data = self.rows.data(self.rows.filled(state.cells))
            self.graphs.cache.forget()
            self.lists = Lists.of(self.graphs.data, self.known, self.most)
            self.made_for = state.cells.tobytes()
        elif self.graphs.data is None:
            self.graphs.data = self.rows.data(self.rows.filled(state.cells))

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        before_sweep(state, self.schedule)
        self._prepare(rng, state)
        assert self.lists is not None
        self.graphs.use(state.hyper[0])
        self.alpha, self.beta1, self.beta2 = self.graphs.alpha, self.graphs.beta1, self.graphs.beta2
        n, k, z = self.known.n, len(state.template), state.z[0]
        eta = np.full((n, n), 0.5)
        eta[:k, :k] = state.template
        kernel.net_listed_sweep(
            self.lists.weight, self.most, self.alpha, z, eta, rng.beta(self.beta1, self.beta2, (n, n)),
            self.known.classes is None, max(n // 4, 1), seed_of(rng), state.edges, state.graph[0],
        )  # fmt: skip
        # edge probabilities integrated out: classes given the graph, and sets of parents given the classes
        task = self.graphs.task(min(self.most, self.known.max_parents))
        joint = kernel.net_graph_sweep(self.graphs.data, task, self.graphs.cache, z, state.graph[0], seed_of(rng))
        info = after_sweep(state, self.schedule, joint, joint)
        info |= self.graphs.move_hyper(rng, state)
        self.graphs.use(state.hyper[0])
        self.beta1, self.beta2 = self.graphs.beta1, self.graphs.beta2
        state.template = self._draw_template(rng, z, state.graph[0])
        return state, info

    def _draw_template(self, rng: np.random.Generator, z: np.ndarray, graph: np.ndarray) -> np.ndarray:
        """Edge probabilities given classes and graph, of the earlier and the later of every two classes."""
        member = np.eye(int(z.max()) + 1)[z]
        sizes, present = member.sum(axis=0), member.T @ graph @ member
        pairs = np.outer(sizes, sizes)
        drawn = np.triu(rng.beta(self.beta1 + present, self.beta2 + np.maximum(pairs - present, 0.0)), 1)
        drawn = np.clip(drawn, 1e-12, 1.0 - 1e-12)
        return np.triu(drawn, 1) + np.triu(drawn, 1).T + np.eye(len(sizes)) / 2
