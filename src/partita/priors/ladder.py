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

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..kernels.net_contract import NodeSeats
from .grids import draw_index

Array = NDArray[np.float64]
LEAST = 1e-300  # log odds of this stand for edges that may not be


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
    @lru_cache(maxsize=128)
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


@dataclass
class Seated:
    """Classes in order and a graph, with what they count.

    z (n,) is the place of every node's class; `home` the data set of every node; sizes (T, K) count nodes; edges and
    pairs (K, K) are from class to class.
    """

    z: NDArray[np.intp]
    graph: NDArray[np.intp]
    home: NDArray[np.intp]
    sizes: NDArray[np.intp] = field(init=False)
    edges: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        self.recount()

    def recount(self) -> None:
        K = int(self.z.max()) + 1
        member = (self.z[:, None] == np.arange(K)).astype(np.intp)
        self.edges = member.T @ self.graph @ member
        self.sizes = (self.home[:, None] == np.arange(self.home[-1] + 1)).astype(np.intp).T @ member

    @property
    def pairs(self) -> NDArray[np.intp]:
        return self.sizes.T @ self.sizes - np.diag(self.sizes.sum(axis=0))


def kinds(K: int) -> NDArray[np.intp]:
    """(K, K): 0 where the column's class is later than the row's, else 1."""
    return np.tri(K, dtype=np.intp)


def log_edges(seated: Seated, law: Pairs) -> float:
    return float(law.log(kinds(len(seated.edges)), seated.edges, seated.pairs).sum())


def log_rung(seated: Seated, law: Pairs, rung: Rung) -> float:
    """What a rung says of classes and graph, up to what all rungs say alike."""
    with np.errstate(divide="ignore"):
        rooms = (len(seated.edges) - 1) * np.log(rung.room) if len(seated.edges) > 1 else 0.0
    return log_edges(seated, law) + float(rooms)


def move_nodes(rng: np.random.Generator, seated: Seated, law: Pairs, rung: Rung, seats: NodeSeats) -> None:
    """Every node's class given all others, in a random order: the classes there are, or one of its own at any place."""
    for i in rng.permutation(len(seated.z)):
        out, into = _unseat(seated, seats, i)
        here, K = seated.sizes[seated.home[i]], len(seated.edges)
        with np.errstate(divide="ignore"):
            joined = np.log(here + seats.alpha * seats.share[:K]) if K else np.zeros(0)
            opened = np.log(seats.alpha * seats.share[-1]) - np.log(K + 1.0) + (np.log(rung.room) if K else 0.0)
        weight = np.concatenate([
            joined + _gain_of_joining(seated, law, out, into, here), opened + _gain_of_opening(law, out, into, here)
        ])  # fmt: skip
        chosen = int(draw_index(weight, rng.random()))
        _seat(seated, seats, i, chosen if chosen < K else chosen - K, chosen >= K, out, into)


def _unseat(seated: Seated, seats: NodeSeats, i: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Take node i from its class, and the class away if it was alone; its edges to and from the classes left."""
    k, K = int(seated.z[i]), len(seated.edges)
    seated.z[i] = -1
    out = np.bincount(seated.z[(seated.graph[i] > 0) & (seated.z >= 0)], minlength=K)
    into = np.bincount(seated.z[(seated.graph[:, i] > 0) & (seated.z >= 0)], minlength=K)
    seated.edges[k] -= out
    seated.edges[:, k] -= into
    seated.sizes[seated.home[i], k] -= 1
    if not seated.sizes[:, k].any():
        seated.z[seated.z > k] -= 1
        seated.edges = np.delete(np.delete(seated.edges, k, 0), k, 1)
        seated.sizes = np.delete(seated.sizes, k, 1)
        seats.share[-1] += seats.share[k]
        seats.share[k : K - 1], seats.share[K - 1] = seats.share[k + 1 : K].copy(), 0.0
        out, into = np.delete(out, k), np.delete(into, k)
    return out, into


def _seat(
    seated: Seated, seats: NodeSeats, i: int, k: int, fresh: bool, out: NDArray[np.intp], into: NDArray[np.intp]
) -> None:
    K = len(seated.edges)
    if fresh:
        seated.z[seated.z >= k] += 1
        seated.edges = np.insert(np.insert(seated.edges, k, 0, 0), k, 0, 1)
        seated.sizes = np.insert(seated.sizes, k, 0, 1)
        out, into = np.insert(out, k, 0), np.insert(into, k, 0)
        part = seats.stick[i] * seats.share[-1]
        seats.share[k + 1 : K + 1] = seats.share[k:K].copy()
        seats.share[k], seats.share[-1] = part, seats.share[-1] - part
    seated.z[i] = k
    seated.sizes[seated.home[i], k] += 1
    seated.edges[k] += out
    seated.edges[:, k] += into


def _gain_of_joining(
    seated: Seated, law: Pairs, out: NDArray[np.intp], into: NDArray[np.intp], here: NDArray[np.intp]
) -> Array:
    """(K,) what the edges and non-edges of a node that joins a class add."""
    edges, pairs, K = seated.edges, seated.pairs, len(seated.edges)
    if not K:
        return np.zeros(0)
    kind, own = kinds(K), np.arange(K)
    with np.errstate(invalid="ignore"):
        now = law.log(kind, edges, pairs)
        as_source = law.log(kind, edges + out, pairs + here) - now
        as_target = law.log(kind, edges + into[:, None], pairs + here[:, None]) - now
        within = law.log(np.ones(K, np.intp), edges[own, own] + out + into, pairs[own, own] + 2 * here) - now[own, own]
    as_source[own, own] = as_target[own, own] = 0.0
    return np.asarray(as_source.sum(axis=1) + as_target.sum(axis=0) + within)


def _gain_of_opening(law: Pairs, out: NDArray[np.intp], into: NDArray[np.intp], here: NDArray[np.intp]) -> Array:
    """(K + 1,) the same of a class of its own before class 0, 1, ..., K."""
    forward, other = np.zeros(len(here), np.intp), np.ones(len(here), np.intp)
    after = law.log(forward, into, here) + law.log(other, out, here)  # where the class is later than the other
    before = law.log(forward, out, here) + law.log(other, into, here)
    return np.append(0.0, np.cumsum(after)) + np.append(np.cumsum(before[::-1])[::-1], 0.0)


def move_classes(rng: np.random.Generator, seated: Seated, law: Pairs, seats: NodeSeats) -> None:
    """The place of a class in the order given the order of the others, as many times as there are classes."""
    K = len(seated.edges)
    for _ in range(K if K > 1 else 0):
        k, pairs = int(rng.integers(K)), seated.pairs
        others = np.delete(np.arange(K), k)
        weight = _gain_of_opening(law, seated.edges[k, others], seated.edges[others, k], pairs[k, others])
        gap = int(draw_index(weight, rng.random()))
        order = np.insert(others, gap, k)
        place = np.argsort(order)
        seated.z = place[seated.z]
        seated.edges, seated.sizes = seated.edges[np.ix_(order, order)], seated.sizes[:, order]
        seats.share[:K] = seats.share[order]


def draw_chances(rng: np.random.Generator, seated: Seated, rung: Rung, beta1: float, beta2: float) -> Array:
    """(n, n) probabilities of edges that make the graph's edges independent: drawn given classes and graph."""
    edges, pairs, kind = seated.edges, seated.pairs, kinds(len(seated.edges))
    first = np.where(kind == 0, beta1, max(rung.fade, LEAST) * beta1)
    eta = np.clip(rng.beta(first + edges, beta2 + pairs - edges), LEAST, 1.0 - 1e-12)
    odds = eta / (1.0 - eta) * np.where(kind == 0, 1.0, rung.price)
    return np.asarray(np.clip(odds / (1.0 + odds), LEAST, 1.0 - 1e-12)[np.ix_(seated.z, seated.z)])
