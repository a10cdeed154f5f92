"""Ordered classes of more nodes than fit a table of all sets of parents: lists of small sets, graphs summed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import NO_SCORE, ORDERED_CLASSES, NetData, list_sets
from .chains import seed_of
from .hyper import HyperGrid
from .knowledge import Knowledge
from .large import GraphSampler, draw_template
from .rows import Sheets
from .seats import ROOMS
from .state import NetState, Schedule, after_sweep, before_sweep

FILL_EVERY = 4  # sweeps over classes between two draws of the missing cells, where the lists have to be made anew
LIST_CELLS = 5e6  # most numbers in the lists of all nodes: four parents of 41 nodes, three of 73, two of 215
ROOM = 300.0  # log of the heaviest weight of a list: leaves as much below as doubles have


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


def make_lists(rows: Sheets, data: Sequence[NetData], known: Knowledge, most: int) -> list[Lists]:
    """Of every data set."""
    return [Lists.of(one, known.part(rows.nodes(t)), most) for t, one in enumerate(data)]


@dataclass
class ListedSampler:
    """Ordered classes with edge probabilities; graphs of small sets of parents are summed out."""

    rows: Sheets
    known: Knowledge
    alpha: float
    beta1: float
    beta2: float
    schedule: Schedule
    number: int
    most: int
    lists: list[Lists] | None = None  # of every data set; shared by chains where no cell is missing
    grid: HyperGrid | None = None
    rooms: np.ndarray = field(default_factory=lambda: ROOMS)
    graphs: GraphSampler = field(init=False)
    made_for: bytes = b""

    def __post_init__(self) -> None:
        self.graphs = GraphSampler(
            self.rows, self.known, ORDERED_CLASSES, self.alpha, self.beta1, self.beta2, self.schedule, self.number,
            grid=self.grid, rooms=self.rooms,
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
            self.graphs.data = self.rows.data(state.cells)
            self.graphs.cache.forget()
            self.lists = make_lists(self.rows, self.graphs.data, self.known, self.most)
            self.made_for = state.cells.tobytes()
        elif self.graphs.data is None:
            self.graphs.data = self.rows.data(state.cells)

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
            [part.weight for part in self.lists], self.most, self.graphs.seats.seating(rng, state, self.alpha),
            z, eta, rng.beta(self.beta1, self.beta2, (n, n)), self.known.classes is None, max(n // 4, 1), seed_of(rng),
            state.edges, state.graph[0],
        )  # fmt: skip
        # edge probabilities integrated out: classes given the graph, and sets of parents given the classes
        joint = self.graphs.sweep(rng, state, min(self.most, self.known.max_parents))
        info = after_sweep(state, self.schedule, joint, joint) | self.graphs.move_seats(rng, state)
        self.beta1, self.beta2 = self.graphs.beta1, self.graphs.beta2
        drawn = np.triu(draw_template(rng, z, state.graph[0], self.beta1, self.beta2, self.rows.first), 1)
        state.template = drawn + drawn.T + np.eye(len(drawn)) / 2
        return state, info
