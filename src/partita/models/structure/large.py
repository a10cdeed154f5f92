"""Chains over networks of any size, of one table or several: a graph edge by edge and set by set.

[1] Mansinghka (2009), chapter 2, resamples one edge and one node's class at a time; that kernel is `single_edges`.
Unlike [1], edges are also reversed, sets of parents drawn together, classes split and merged, nodes given another class
and other edges at once (the edges of a node hold it in its class), and whole graphs redrawn by orders of their nodes,
without which chains of twelve nodes are far from their posterior after thousands of sweeps. Edge probabilities average
the chance of every edge given all else, not what was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import GIVEN_ODDS, ORDERED_CLASSES, GraphTask, HashedValues, NetData
from ...priors.graph import log_template, pair_counts
from .chains import random_classes, seed_of
from .hyper import HyperGrid
from .knowledge import Knowledge, to_graph, to_masks
from .rows import Sheets
from .seats import ROOMS, Seats
from .state import NetState, Schedule, after_sweep, before_sweep
from .walk import EVERY, Walks

CACHE_BITS = 18  # local scores that are remembered
N_SPLITS, N_NODES = 8, 15  # splits or merges of classes, and nodes that change class with their edges, in a sweep
NOT_WANTED = np.zeros((0, 0))
ORDER_TRIES = 3  # graphs by orders of the nodes in a sweep, where scores of all sets of parents are at hand


@dataclass
class GraphSampler:
    """Classes and a graph, or a graph alone (GIVEN_ODDS: all graphs alike, or a template)."""

    rows: Sheets
    known: Knowledge
    prior: int
    alpha: float
    beta1: float
    beta2: float
    schedule: Schedule
    number: int
    single_edges: bool = False
    tables: Sequence[np.ndarray | None] = ()  # of every data set: scores of all sets of parents, where there are such
    grid: HyperGrid | None = None  # where alpha or beta is learnt
    cache: HashedValues = field(default_factory=lambda: HashedValues.room(CACHE_BITS))
    data: list[NetData] | None = None
    heat: float = 1.0
    rooms: np.ndarray = field(default_factory=lambda: ROOMS)  # of several tables, see `structure.seats`
    walks: Walks | None = None  # where graphs are also redrawn by orders of their nodes

    def __post_init__(self) -> None:
        self.seats = Seats(self.rows.first, self.rooms)

    @property
    def ordered(self) -> bool:
        return self.prior == ORDERED_CLASSES

    def init(self, rng: np.random.Generator) -> NetState:
        z = random_classes(rng, self.known, self.number, self.ordered)
        if self.prior == GIVEN_ODDS:
            z = np.zeros(self.known.n, np.int32) if self.known.classes is None else self.known.classes
        cells = self.rows.start(rng)
        hyper = np.zeros((1, 3)) if self.grid is None else self.grid.start()[None]
        state = NetState.begin(z[None], self.known.required[None], self.schedule.n_kept, cells, hyper)
        self.seats.start(rng, state, self.alpha)
        if self.walks is not None:
            self.walks.begin(state)
        return state

    def use(self, at: np.ndarray) -> None:
        """Take the hyper-parameters at these places of their grids."""
        if self.grid is not None:
            values = self.grid.values(at)
            self.alpha, self.beta1, self.beta2 = values["alpha"], values["beta1"], values["beta2"]

    def move_seats(self, rng: np.random.Generator, state: NetState) -> dict[str, float]:
        """Hyper-parameters drawn given classes and graph, if they are learnt; shares of the classes. The values."""
        tables = self.seats.tables(rng, state)
        values: dict[str, float] = {}
        if self.grid is not None:
            self.grid.move(
                rng, state.hyper[0], state.z[0], state.graph[0], self.ordered, first=self.rows.first, tables=tables
            )
            values = self.grid.values(state.hyper[0])
            self.use(state.hyper[0])
        self.seats.move(rng, state, tables, self.alpha)
        return values | ({} if tables is None else {"room": state.room})

    def task(self, rng: np.random.Generator, state: NetState, max_parents: int | None = None) -> GraphTask:
        known = self.known
        free = self.prior != GIVEN_ODDS and known.classes is None
        return GraphTask(
            known.allowed.astype(np.uint8), known.required.astype(np.uint8),
            known.max_parents if max_parents is None else max_parents, self.prior, free,
            self.seats.seating(rng, state, self.alpha), self.beta1, self.beta2,
            np.ascontiguousarray(known.log_odds()), self.single_edges, self.heat,
            *((0, 0) if self.single_edges else (N_SPLITS, N_NODES)),
        )  # fmt: skip

    def sweep(
        self, rng: np.random.Generator, state: NetState, max_parents: int | None = None,
        chances: np.ndarray = NOT_WANTED,
    ) -> float:  # fmt: skip
        """Edges, sets and classes once; the log joint. The chances of edges given all else are added to `chances`."""
        task, z = self.task(rng, state, max_parents), state.z[0]
        joint = kernel.net_graph_sweep(self.data, task, self.cache, z, state.graph[0], seed_of(rng), chances)
        if self.prior == GIVEN_ODDS:
            return joint
        return joint + self.seats.log_marginal(z, task.seating)

    def prepare(self, rng: np.random.Generator, state: NetState) -> None:
        """Missing cells drawn anew given the graph, and the table with them."""
        if len(state.cells):
            self.rows.refill(rng, state.cells, state.graph[0])
            self.data = None
            self.cache.forget()
        if self.data is None:
            self.data = self.rows.data(state.cells)

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        before_sweep(state, self.schedule)
        self.prepare(rng, state)
        self.use(state.hyper[0])
        if not self.ordered and not self.single_edges:
            self._by_orders(rng, state)
        joint = self.sweep(rng, state, chances=state.edges)
        return state, after_sweep(state, self.schedule, joint, joint) | self.move_seats(rng, state)

    def _by_orders(self, rng: np.random.Generator, state: NetState) -> None:
        """Graphs exchanged with a ladder; then edge probabilities drawn given classes and graphs, and graphs by orders
        of their nodes given them: as a whole where scores of all sets of parents are at hand, else by walks."""
        walks = self.walks if state.done % EVERY == 0 and self.heat == 1.0 else None
        if walks is None and not any(table is not None for table in self.tables):
            return
        assert self.data is not None
        if walks is not None:
            walks.climb(rng, state, self.data, lambda graph: self._log_prior(state.z[0], graph))
        odds = self._log_odds(rng, state)
        for t, table in enumerate(self.tables):
            if table is not None:
                nodes = self.rows.nodes(t)
                masks = to_masks(state.graph[0, nodes, nodes])[None].copy()
                mine = np.ascontiguousarray(odds[nodes, nodes])
                kernel.net_order_draws(table, mine, masks, ORDER_TRIES, seed_of(rng))
                state.graph[0, nodes, nodes] = to_graph(masks[0])
        if walks is not None:
            walks.turn(rng, state, self.data, odds)

    def _log_prior(self, z: np.ndarray, graph: np.ndarray) -> float:
        """Of a graph given classes, up to a constant."""
        if self.prior == GIVEN_ODDS:
            return float((graph * self.known.log_odds()).sum())
        return float(log_template(*pair_counts(z, graph, self.rows.first), self.beta1, self.beta2))

    def _log_odds(self, rng: np.random.Generator, state: NetState) -> np.ndarray:
        """(n, n) log odds of edges, which are independent given them."""
        if self.prior == GIVEN_ODDS:
            return self.known.log_odds()
        z = state.z[0]
        eta = draw_template(rng, z, state.graph[0], self.beta1, self.beta2, self.rows.first)[np.ix_(z, z)]
        return np.log(eta) - np.log1p(-eta)


def draw_template(
    rng: np.random.Generator, z: np.ndarray, graph: np.ndarray, beta1: float, beta2: float, first: np.ndarray
) -> np.ndarray:
    """(K, K) probabilities of edges between classes given classes and graph, each direction for itself."""
    present, pairs = pair_counts(z, graph, first)
    drawn = rng.beta(beta1 + present, beta2 + np.maximum(pairs - present, 0.0))
    return np.clip(drawn, 1e-12, 1.0 - 1e-12)
