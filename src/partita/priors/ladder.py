"""Priors between ordered classes, classes without order, and one class: rungs of a ladder from one to the next.

Classes stand in an order on every rung. Edges to later classes have probability eta ~ Beta(beta1, beta2), as in both
priors; all others (to earlier classes and within a class) have Beta(fade * beta1, beta2) and count `price` each, and
every class but the first counts `room`:

* fade = price = room = 1 is the block prior, each of the K! orders of its classes as likely;
* fade = price = 0 leaves edges to later classes only: the ordered prior;
* room = 0 leaves one class only: the block prior's states that have one, one class with the probability that the block
  prior gives to it.

Everything is up to the acyclicity of the graph and the normaliser that goes with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
LEAST = 1e-300  # the least probability of an edge


@dataclass(frozen=True)
class Rung:
    fade: float = 1.0
    price: float = 1.0
    room: float = 1.0


@dataclass(frozen=True)
class Pairs:
    """Log of the integral of eta^e (1 - eta)^(m - e), [0] for pairs of classes forward, [1] for all others."""

    rise: Array  # (2, most + 1): log Gamma(beta1 + e) and what an edge counts
    rest: Array  # (most + 1,): log Gamma(beta2 + m - e)
    whole: Array  # (2, most + 1)

    @classmethod
    def of(cls, most: int, beta1: float, beta2: float, fade: float, price: float) -> Pairs:
        count = np.arange(most + 1)
        first = np.array([[beta1], [max(fade, LEAST) * beta1]])
        with np.errstate(divide="ignore"):
            cost = np.array([[0.0], [np.log(max(price, LEAST))]])
        rise = gammaln(first + count) + count * cost
        whole = gammaln(first + beta2 + count) + gammaln(first) + gammaln(beta2) - gammaln(first + beta2)
        if fade == 0:  # nothing is integrated: no edge
            rise[1], whole[1] = np.where(count > 0, -np.inf, 0.0), gammaln(beta2 + count)
        return cls(rise, gammaln(beta2 + count), whole)

    def log(self, kind: NDArray[np.intp], edges: NDArray[np.intp], pairs: NDArray[np.intp]) -> Array:
        return self.rise[kind, edges] + self.rest[pairs - edges] - self.whole[kind, pairs]


def kinds(K: int) -> NDArray[np.intp]:
    """(K, K): 0 where the column's class is later than the row's, else 1."""
    return np.tri(K, dtype=np.intp)


def log_rung(edges: NDArray[np.intp], pairs: NDArray[np.intp], law: Pairs, rung: Rung) -> float:
    """What a rung says of classes and graph, up to what all rungs say alike: (K, K) edges present and pairs of nodes
    from class to class."""
    K = len(edges)
    with np.errstate(divide="ignore"):
        rooms = (K - 1) * np.log(rung.room) if K > 1 else 0.0
    return float(law.log(kinds(K), edges, pairs).sum() + rooms)


def draw_chances(
    rng: np.random.Generator, z: NDArray[np.intp], edges: NDArray[np.intp], pairs: NDArray[np.intp], rung: Rung,
    beta1: float, beta2: float,
) -> Array:  # fmt: skip
    """(n, n) probabilities of edges that make the graph's edges independent: drawn given classes and graph."""
    kind = kinds(len(edges))
    eta = rng.beta(np.where(kind == 0, beta1, max(rung.fade, LEAST) * beta1) + edges, beta2 + pairs - edges)
    eta = np.clip(eta, LEAST, 1.0 - 1e-12)
    odds = eta / (1.0 - eta) * np.where(kind == 0, 1.0, rung.price)
    return np.asarray(np.clip(odds / (1.0 + odds), LEAST, 1.0 - 1e-12)[np.ix_(z, z)])
