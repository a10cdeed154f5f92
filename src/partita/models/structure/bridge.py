"""The evidence of one prior over networks over another's, by chains on the rungs of a ladder between them.

Block chains hardly ever meet a state that ordered classes allow, and often none of one class, so counting visits bounds
the evidence at best. On a ladder (`priors/ladder`) neighbours overlap. Every rung has a chain, neighbours change
places, and the two ends are not run: their states are drawn from the posteriors that are known already, so that both
come in anew all the time. Bennett's acceptance ratio [1] bridges every two neighbours from both sides.

[1] Bennett (1976), Efficient estimation of free energy differences from Monte Carlo data, J. Comput. Phys. 22.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ...kernels import kernel
from ...priors.graph import pair_counts
from ...priors.ladder import Pairs, Rung, draw_chances, log_rung
from .chains import seed_of
from .posterior import NetPosterior
from .seats import Seats
from .state import NetState

PRICE, ROOM = 8.0, 8.0  # nats by which an edge against the order, or a class, counts less just before it must not be
PLACES = np.array([0.0, 0.05, 0.12, 0.22, 0.35, 0.5, 0.7, 0.9, 1.0])  # of the first rungs, which say where more belong
FIRST_ROUNDS = 24  # of these
STEP, LEAST_RUNGS, MOST_RUNGS = 1.0, 5, 20  # nats (root of the divergence) between neighbours; rungs
DECIDED = 20.0  # nats of evidence that need not be known better
END = 400  # states of the low end that are looked at
BURN_IN = 0.15  # of the rounds


def to_order(place: float) -> Rung:
    """From block (0) to ordered (1)."""
    return Rung(1.0 - place, float(np.exp(-PRICE * place)) if place < 1 else 0.0)


def to_one_class(place: float) -> Rung:
    """From block (0) to one class (1)."""
    return Rung(room=float(np.exp(-ROOM * place)) if place < 1 else 0.0)


class GraphMoves(Protocol):
    def __call__(self, rng: np.random.Generator, state: NetState, chances: np.ndarray) -> None:
        """Graph and missing cells of the state moved, edges independent beforehand with these probabilities."""


@dataclass
class Ladder:
    """`values` of alpha, beta1 and beta2 for places in the grids of hyper-parameters; `most` parents that the high end
    allows; `free`: whether classes move."""

    low: NetPosterior
    high: NetPosterior
    rung: Callable[[float], Rung]
    values: Callable[[np.ndarray], tuple[float, float, float]]
    graphs: GraphMoves
    seats: Seats
    most: int
    free: bool
    laws: dict[tuple[float, ...], Pairs] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.seats.n

    # ---- states ----

    def _draw(self, rng: np.random.Generator, part: NetPosterior, ordered: bool) -> NetState:
        """A state of a posterior; where its classes have no order, in a random one."""
        k = int(rng.integers(len(part.graphs)))
        _, z = np.unique(part.graph_z[k], return_inverse=True)
        z = z if ordered else rng.permutation(int(z.max()) + 1)[z]
        graph, cells, hyper = part.graphs[k][None].copy(), part.graph_cells[k].copy(), part.graph_hyper[k][None].copy()
        state = NetState.begin(z[None], graph, 0, cells, hyper)
        alpha = self.values(state.hyper[0])[0]
        self.seats.start(rng, state, alpha)
        for _ in range(3 if self.seats.shared else 0):
            self.seats.move(rng, state, self.seats.tables(rng, state), alpha)
        return state

    def _counts(self, state: NetState) -> tuple[np.ndarray, np.ndarray]:
        edges, pairs = pair_counts(state.z[0], state.graph[0], self.seats.first)
        return edges.astype(np.intp), pairs.astype(np.intp)

    def _law(self, state: NetState, rung: Rung) -> Pairs:
        _, beta1, beta2 = self.values(state.hyper[0])
        key = beta1, beta2, rung.fade, rung.price
        if key not in self.laws:
            self.laws[key] = Pairs.of(self.n * self.n, *key)
        return self.laws[key]

    def _move(self, rng: np.random.Generator, state: NetState, rung: Rung) -> None:
        alpha, beta1, beta2 = self.values(state.hyper[0])
        law, seating = self._law(state, rung), self.seats.seating(rng, state, alpha)
        kernel.net_bridge_sweep(
            law.rise, law.rest, law.whole, float(np.log(rung.room)), seating, state.graph[0], self.free, state.z[0],
            seed_of(rng),
        )  # fmt: skip
        self.seats.move(rng, state, self.seats.tables(rng, state), alpha)
        self.graphs(rng, state, draw_chances(rng, state.z[0], *self._counts(state), rung, beta1, beta2))

    def _log_step(self, state: NetState, low: Rung, high: Rung, last: bool) -> float:
        """Log of what the higher of two neighbouring rungs says of the state, over what the lower says."""
        if last and state.graph[0].sum(axis=0).max() > self.most:
            return -np.inf
        edges, pairs = self._counts(state)
        return log_rung(edges, pairs, self._law(state, high), high) - log_rung(edges, pairs, self._law(state, low), low)

    # ---- rounds ----

    def run(self, rng: np.random.Generator, places: np.ndarray, rounds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """For every step the log steps of states at its lower rung, and of those at its higher."""
        rungs, top = [self.rung(float(place)) for place in places], len(places) - 1
        ends = ((self.low, False), (self.high, True))
        states = [self._draw(rng, *ends[2 * r > top]) for r in range(top + 1)]
        found = np.zeros((rounds, top, 2))
        for turn in range(rounds):
            states[0], states[top] = self._draw(rng, *ends[0]), self._draw(rng, *ends[1])
            for r in range(1, top):
                self._move(rng, states[r], rungs[r])
            for r in range(top):
                for k in (0, 1):
                    found[turn, r, k] = self._log_step(states[r + k], rungs[r], rungs[r + 1], r + 1 == top)
            for r in range(turn % 2, top, 2):
                if np.log(rng.random()) < found[turn, r, 0] - found[turn, r, 1]:
                    states[r], states[r + 1] = states[r + 1], states[r]
        late = found[int(BURN_IN * rounds) :]
        steps = [(late[:, r, 0], late[:, r, 1]) for r in range(top)]
        more = [self._log_step(self._draw(rng, *ends[0]), rungs[0], rungs[1], top == 1) for _ in range(END)]
        steps[0] = np.array(more), steps[0][1]
        return steps

    def log_ratio(self, rng: np.random.Generator, rounds: int, beside: float = 0.0) -> float:
        """Log of the sum over the states of the high end over that of the low end. Where it and `beside` together are
        far from 0 after the first rounds, those do."""
        first = self.run(rng, PLACES, FIRST_ROUNDS)
        roughly = _total(first)
        if abs(roughly + beside) > DECIDED:
            return roughly
        return _total(self.run(rng, respaced(PLACES, first), rounds))


def _total(steps: list[tuple[np.ndarray, np.ndarray]]) -> float:
    return float(sum(bennett(low, high) for low, high in steps))


def respaced(places: np.ndarray, steps: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Places as far from each other as neighbours that diverge alike: by the mean difference of the log steps of both
    sides."""
    apart = np.array([high.mean() - np.maximum(low, -100.0).mean() for low, high in steps])
    length = np.append(0.0, np.cumsum(np.sqrt(np.maximum(apart, 0.0)) + 0.1))
    rungs = int(np.clip(np.ceil(length[-1] / STEP), LEAST_RUNGS, MOST_RUNGS))
    return np.interp(np.linspace(0.0, length[-1], rungs + 1), length, places)


def bennett(low: np.ndarray, high: np.ndarray) -> float:
    """Log of the ratio of two normalisers from the log ratios of their densities, higher over lower, at states of the
    lower and of the higher."""
    known, odds = np.concatenate([low[np.isfinite(low)], high]), np.log(len(high) / len(low))

    def excess(c: float) -> float:
        return float(expit(low - c + odds).sum() - expit(c - high - odds).sum())

    least, most = known.min() - 50.0, known.max() + 50.0
    if excess(least) <= 0.0:  # no state of the lower is possible for the higher
        return float(least)
    return float(brentq(excess, least, most)) if excess(most) < 0.0 else float(most)
