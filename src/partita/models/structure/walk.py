"""Graphs redrawn by walks over the orders of their nodes: what such walks are given and the chains of a fit share.

Edges and sets of parents that change one by one do not get from one order of the nodes to another where rows are many.
A walk moves the nodes of an order while graphs are summed out, by tables of all sums over sets of a few candidates for
every node, and then draws a graph (as Friedman and Koller 2003; unlike theirs it gives every graph its own weight,
not one for every order that it fits). A ladder of such walks at many temperatures stands beside the chain.

Nodes whose parents are no set of candidates keep them, so what a walk leaves as it is is the posterior over all graphs,
whatever the candidates; other moves change the parents of such nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import GIVEN_ODDS, CandidateSets, NetData
from .candidates import candidate_sets, choose_candidates
from .chains import seed_of
from .knowledge import Knowledge
from .pilots import seen_edges
from .rows import Sheets
from .state import NetState
from .tempered import Ladder, heats_of

WIDTH, CELLS = 12, 1 << 18  # most candidates of a node, and most sets of all nodes together
MOST, MOST_HOLED = 5, 3  # largest sets that are known; with holes their scores have to be found again and again
EVERY, TURNS, ROUNDS = 4, 2, 2  # sweeps from one walk to the next, its turns, and rounds of the ladder


@dataclass
class Walk:
    """One table: candidates (n, width); their sets where no cell is missing, else every chain has its own; a ladder
    where there is one law for it."""

    known: Knowledge
    nodes: np.ndarray
    sets: CandidateSets | None = None
    ladder: Ladder | None = None

    @classmethod
    def of(cls, rng: np.random.Generator, data: NetData, known: Knowledge, prior: int, holes: bool) -> Walk:
        n = known.n
        width = min(WIDTH, n - 1, int(np.log2(CELLS / n)))
        seen = seen_edges(rng, data, known)
        if width < n - 1:  # chains that walk by what others took get to modes that those did not see
            pilot = cls(known, choose_candidates(data, known, seen, width))
            pilot.sets, odds = candidate_sets(data, known, pilot.nodes, MOST), np.full((n, n), log_odds_of(seen))

            def walk(heat: float, graph: np.ndarray) -> None:
                pilot.turn(rng, data, odds, graph, heat)

            seen = (seen + seen_edges(rng, data, known, walk)) / 2.0
        nodes = choose_candidates(data, known, seen, width)
        if holes:
            return cls(known, nodes)
        sets = candidate_sets(data, known, nodes, MOST)
        if (np.diff(sets.first) == 0).any():
            return cls(known, nodes, sets)
        odds = known.log_odds() if prior == GIVEN_ODDS else np.full((n, n), log_odds_of(seen))
        return cls(known, nodes, sets, Ladder(known.required, sets, odds, heats_of(n, data.cells.shape[1])))

    def turn(
        self, rng: np.random.Generator, data: NetData, odds: np.ndarray, graph: np.ndarray, heat: float = 1.0
    ) -> None:
        """The graph changes in place; `odds` (n, n) are log odds of edges, independent given them. The joint counts
        `heat` times."""
        sets = self.sets or candidate_sets(data, self.known, self.nodes, MOST_HOLED)
        kernel.net_order_walk(sets, np.ascontiguousarray(heat * odds), heat, graph, TURNS, seed_of(rng))


def log_odds_of(seen: np.ndarray) -> float:
    """Of an edge, as often as they were seen on average."""
    present, pairs = max(float(seen.sum()), 0.5), len(seen) * (len(seen) - 1)
    return float(np.log(present / max(pairs - present, 0.5)))


@dataclass
class Walks:
    """All tables; None where scores of all sets of parents are at hand, or where there is one column."""

    first: np.ndarray
    parts: list[Walk | None]

    @classmethod
    def of(
        cls, rng: np.random.Generator, rows: Sheets, known: Knowledge, prior: int,
        tables: Sequence[np.ndarray | None] = (),
    ) -> Walks:  # fmt: skip
        """Missing cells are filled once for the choice of the candidates."""
        data, parts = rows.data(rows.start(rng)), list[Walk | None]()
        for t, part in enumerate(rows.parts):
            mine = known.part(rows.nodes(t))
            whole = (bool(tables) and tables[t] is not None) or mine.n < 2
            parts.append(None if whole else Walk.of(rng, data[t], mine, prior, len(part.holes) > 0))
        return cls(rows.first, parts)

    def begin(self, state: NetState) -> None:
        begun = [part.ladder.begin() for part in self.parts if part is not None and part.ladder is not None]
        state.ladder = np.concatenate([np.zeros(0, np.uint8), *(graphs.ravel() for graphs in begun)])

    def climb(
        self, rng: np.random.Generator, state: NetState, data: Sequence[NetData],
        log_prior: Callable[[np.ndarray], float],
    ) -> None:  # fmt: skip
        """Ladders move, and the chain's graphs change places with those at their feet; `log_prior` of all tables'
        graphs together."""
        begin = 0
        for part, one, nodes in self._all(data):
            if part.ladder is None:
                continue
            end = begin + int(np.prod(part.ladder.shape))
            graphs, begin = state.ladder[begin:end].reshape(part.ladder.shape), end
            part.ladder.move(rng, graphs, ROUNDS)

            def prior_of(mine: np.ndarray, at: slice = nodes) -> float:
                whole = state.graph[0].copy()
                whole[at, at] = mine
                return log_prior(whole)

            part.ladder.exchange(rng, one, part.known.max_parents, state.graph[0, nodes, nodes], graphs[0], prior_of)

    def turn(self, rng: np.random.Generator, state: NetState, data: Sequence[NetData], odds: np.ndarray) -> None:
        """Graphs redrawn given log odds (n, n) of all edges."""
        for part, one, nodes in self._all(data):
            graph = np.ascontiguousarray(state.graph[0, nodes, nodes])
            part.turn(rng, one, odds[nodes, nodes], graph)
            state.graph[0, nodes, nodes] = graph

    def _all(self, data: Sequence[NetData]) -> Iterator[tuple[Walk, NetData, slice]]:
        for t, part in enumerate(self.parts):
            if part is not None:
                yield part, data[t], slice(int(self.first[t]), int(self.first[t + 1]))
