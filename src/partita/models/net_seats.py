"""Classes of nodes as seats: a plain restaurant for one table, a franchise for several.

With several tables `alpha` is the concentration of every restaurant and of the franchise above them. The chain holds
the shares of the classes; given them the tables are independent.
"""

from __future__ import annotations

import numpy as np

from ..kernels.net_contract import NodeSeats
from ..priors import franchise


class Seats:
    """`first`: the nodes of data set t are first[t] .. first[t + 1] - 1. A state's shares are (n + 1,), those of its
    classes first, what is left for others last."""

    def __init__(self, first: np.ndarray):
        self.first, self.n = np.asarray(first, np.int32), int(first[-1])
        self.shared = len(first) > 2

    def start(self, rng: np.random.Generator, z: np.ndarray, alpha: float) -> np.ndarray:
        share = np.append(np.zeros(self.n), 1.0)
        self.move(rng, share, (franchise.count(z, self.first) > 0).astype(int) if self.shared else None, alpha)
        return share

    def seating(self, rng: np.random.Generator, alpha: float, share: np.ndarray) -> NodeSeats:
        """What a kernel is given; it changes `share`."""
        stick = franchise.sample_sticks(rng, self.n, alpha) if self.shared else np.zeros(self.n)
        return NodeSeats(alpha, alpha if self.shared else 0.0, share, stick, self.first)

    def tables(self, rng: np.random.Generator, z: np.ndarray, alpha: float, share: np.ndarray) -> np.ndarray | None:
        """Tables of the restaurants, drawn; None for a plain one."""
        if not self.shared:
            return None
        return franchise.sample_tables(rng, franchise.count(z, self.first), alpha, share)

    def move(self, rng: np.random.Generator, share: np.ndarray, tables: np.ndarray | None, alpha: float) -> None:
        """Shares drawn anew given the tables."""
        if tables is not None:
            share[:] = 0.0
            share[: tables.shape[1]], share[-1] = franchise.sample_shares(rng, tables, alpha)

    def log_marginal(self, z: np.ndarray, seating: NodeSeats) -> float:
        """What to add to a log joint of classes and shares for that of the classes alone."""
        if not self.shared:
            return 0.0
        counts, alpha = franchise.count(z, self.first), seating.alpha
        shares = seating.share[: counts.shape[1]]
        return franchise.log_probability(counts, alpha, alpha) - franchise.log_density_of_shares(
            counts, alpha, alpha, shares, float(seating.share[-1])
        )
