"""Classes of nodes as seats: a plain restaurant for one table, a franchise for several.

With several tables `alpha` is the concentration of the franchise: how many classes there are. Every table's own
restaurant has another, its room: how freely its classes depart from those of the others in how common they are, less
so the larger it is. The chain holds the shares of the classes; given them the tables are independent.
"""

from __future__ import annotations

import numpy as np

from ...kernels.net_contract import NodeSeats
from ...priors import franchise
from ...priors.grids import draw_index
from .state import NetState

ROOMS = np.geomspace(0.5, 32.0, 7)  # that are as likely beforehand where the room is learnt


class Seats:
    """`first`: the nodes of data set t are first[t] .. first[t + 1] - 1. A state's shares are (n + 1,), those of its
    classes first, what is left for others last."""

    def __init__(self, first: np.ndarray, rooms: np.ndarray = ROOMS):
        self.first, self.n, self.rooms = np.asarray(first, np.int32), int(first[-1]), rooms
        self.shared = len(first) > 2

    def start(self, rng: np.random.Generator, state: NetState, alpha: float) -> None:
        if self.shared:
            state.room = float(self.rooms[len(self.rooms) // 2])
            self._draw_shares(rng, state, (franchise.count(state.z[0], self.first) > 0).astype(int), alpha)

    def seating(self, rng: np.random.Generator, state: NetState, alpha: float) -> NodeSeats:
        """What a kernel is given; it changes the shares."""
        if not self.shared:
            return NodeSeats(alpha, 0.0, state.share, np.zeros(self.n), self.first)
        return NodeSeats(state.room, alpha, state.share, franchise.sample_sticks(rng, self.n, alpha), self.first)

    def tables(self, rng: np.random.Generator, state: NetState) -> np.ndarray | None:
        """Tables of the restaurants, drawn; None for a plain one."""
        if not self.shared:
            return None
        return franchise.sample_tables(rng, franchise.count(state.z[0], self.first), state.room, state.share)

    def move(self, rng: np.random.Generator, state: NetState, tables: np.ndarray | None, alpha: float) -> None:
        """Room and shares drawn anew given the tables."""
        if tables is None:
            return
        counts = franchise.count(state.z[0], self.first)
        logs = franchise.log_probability_of_tables(tables, counts, self.rooms, np.full(len(self.rooms), alpha))
        state.room = float(self.rooms[int(draw_index(logs, rng.random()))])
        self._draw_shares(rng, state, tables, alpha)

    def _draw_shares(self, rng: np.random.Generator, state: NetState, tables: np.ndarray, alpha: float) -> None:
        state.share[:] = 0.0
        state.share[: tables.shape[1]], state.share[-1] = franchise.sample_shares(rng, tables, alpha)

    def log_marginal(self, z: np.ndarray, seating: NodeSeats) -> float:
        """What to add to a log joint of classes and shares for that of the classes alone."""
        if not self.shared:
            return 0.0
        counts = franchise.count(z, self.first)
        shares, left = seating.share[: counts.shape[1]], float(seating.share[-1])
        known = seating.alpha, seating.top
        return franchise.log_probability(counts, *known) - franchise.log_density_of_shares(counts, *known, shares, left)
