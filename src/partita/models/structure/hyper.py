"""Hyper-parameters of networks that are learnt: drawn from grids given classes and graph, which a chain has after
every sweep.

Each grid has equal weights: alpha and gamma even on the scale of logarithms, beta1 and beta2 apart from each other,
so that sparse templates can be told from even ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from ...kernels.net_contract import BlockRule, HashedValues
from ...priors import franchise
from ...priors.graph import block_rule, log_template, pair_counts
from ...priors.partition import log_probability

ALPHAS = np.geomspace(0.1, 10.0, 9)
BETAS = np.array(list(product((0.25, 0.5, 1.0, 2.0, 4.0), repeat=2)))
GAMMAS = np.geomspace(0.1, 4.0, 7)
SAMPLE_SIZES = np.array([0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0])  # of BDeu


@dataclass(frozen=True, eq=False)
class HyperGrid:
    """Values of alpha (a,), beta (b, 2) and the pseudo-count (g,); one value where it is not learnt."""

    alpha: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray

    @classmethod
    def of(cls, alpha: float | str, beta: float | str, gamma: float | str, bdeu: bool) -> HyperGrid:
        """From what a user says: numbers, or "infer"."""
        return cls(
            ALPHAS if isinstance(alpha, str) else np.array([float(alpha)]),
            BETAS if isinstance(beta, str) else np.full((1, 2), float(beta)),
            (SAMPLE_SIZES if bdeu else GAMMAS) if isinstance(gamma, str) else np.array([float(gamma)]),
        )

    @property
    def learnt(self) -> bool:
        return max(len(self.alpha), len(self.beta), len(self.gamma)) > 1

    def start(self) -> np.ndarray:
        """int64 (3,): places in the middle of the grids."""
        return np.array([len(self.alpha) // 2, len(self.beta) // 2, len(self.gamma) // 2])

    def values(self, at: np.ndarray) -> dict[str, float]:
        b1, b2 = self.beta[at[1]]
        return {"alpha": float(self.alpha[at[0]]), "beta1": float(b1), "beta2": float(b2), "gamma":
        float(self.gamma[at[2]])}

    def move(
        self, rng: np.random.Generator, at: np.ndarray, z: np.ndarray, graph: np.ndarray, ordered: bool,
        log_likelihood: Callable[[int], float] | None = None, heat: float = 1.0, first: np.ndarray | None = None,
        tables: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Draw every place anew given classes and graph; `log_likelihood` of the graph for a place in the grid of
        gamma. Of several data sets: where the nodes of each begin, and the tables of their restaurants."""
        if len(self.alpha) > 1 and (tables is None or first is None):
            at[0] = _draw(rng, log_probability(np.bincount(z), self.alpha))
        elif len(self.alpha) > 1:
            assert tables is not None and first is not None
            counts = franchise.count(z, first)
            at[0] = _draw(rng, franchise.log_probability_of_tables(tables, counts, 1.0, self.alpha))
        if len(self.beta) > 1:
            present, pairs = pair_counts(z, graph, first)
            used = np.triu(np.ones_like(pairs), 1) if ordered else np.ones_like(pairs)
            at[1] = _draw(rng, np.array([log_template(present * used, pairs * used, b1, b2) for b1, b2 in self.beta]))
        if len(self.gamma) > 1 and log_likelihood is not None:
            at[2] = _draw(rng, heat * np.array([log_likelihood(k) for k in range(len(self.gamma))]))


def _draw(rng: np.random.Generator, logs: np.ndarray) -> int:
    weight = np.exp(logs - logs.max())
    return int(rng.choice(len(weight), p=weight / weight.sum()))


@dataclass
class SmallModel:
    """Score tables, rules and caches of class sums for every place in the grids; each made when it is first wanted."""

    grid: HyperGrid
    n: int
    make_tables: Callable[[float], np.ndarray]
    made: dict[int, np.ndarray] = field(default_factory=dict)
    sums: dict[tuple[int, int], HashedValues] = field(default_factory=dict)

    def tables(self, at: np.ndarray) -> np.ndarray:
        k = int(at[2])
        if k not in self.made:
            self.made[k] = self.make_tables(float(self.grid.gamma[k]))
        return self.made[k]

    def rule(self, at: np.ndarray) -> BlockRule:
        return block_rule(self.n, self.grid.alpha[at[0]], *self.grid.beta[at[1]])

    def cache(self, at: np.ndarray, bits: int) -> HashedValues:
        """Class sums of these beta and gamma; alpha has no part in them."""
        return self.sums.setdefault((int(at[1]), int(at[2])), HashedValues.room(bits))

    def alone(self) -> SmallModel:
        """The same tables with caches of its own: chains run at the same time."""
        return SmallModel(self.grid, self.n, self.make_tables, self.made)
