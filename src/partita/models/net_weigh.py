"""Priors over networks weighed against each other, for any number of columns and tables, and where hyper-parameters are
learnt: by ladders from classes without order to ordered ones and to one class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, softmax

from ..priors import franchise
from .net_evidence import acyclic
from .net_ladder import GraphMoves, Ladder, to_one_class, to_order
from .net_posterior import NetPosterior, mixture
from .net_seats import Seats

DRAWS = 10_000  # partitions from which the normaliser of a prior is found
GRAPHS = 4  # of each of them: about 1 % where a twentieth are acyclic


@dataclass(frozen=True)
class ClassPrior:
    """Nodes of the data sets, and the values of alpha, of (beta1, beta2) and, where there are several data sets, of
    their room that are as likely beforehand: one of each where they are given."""

    first: tuple[int, ...]
    alphas: tuple[float, ...]
    betas: tuple[tuple[float, float], ...]
    rooms: tuple[float, ...] = (1.0,)

    @property
    def sizes(self) -> list[int]:
        return [b - a for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def log_one_class(self) -> float:
        """Log probability that all nodes are of one class."""
        z = np.zeros(self.first[-1], int)
        logs = [log_classes(z, self.first, alpha, room) for alpha in self.alphas for room in self.rooms]
        return float(logsumexp(logs) - np.log(len(logs)))


def log_classes(z: np.ndarray, first: Sequence[int], alpha: float, room: float) -> float:
    counts = franchise.count(z, first)
    if len(first) > 2:
        return franchise.log_probability(counts, room, alpha)
    return float(franchise.log_restaurant(counts[0], alpha))


@lru_cache(maxsize=64)
def log_acyclic(prior: ClassPrior, one_class: bool) -> float:
    """Log of the probability that graphs of the block prior, or of one class, are acyclic before cyclic ones are ruled
    out: its normaliser. By drawing, always the same draws."""
    rng, hits, n = np.random.default_rng(0), 0, prior.first[-1]
    home = np.repeat(np.arange(len(prior.sizes)), prior.sizes)
    apart = (home[:, None] == home) & ~np.eye(n, dtype=bool)
    for _ in range(0, DRAWS, 1000):
        alphas, rooms = rng.choice(prior.alphas, 1000), rng.choice(prior.rooms, 1000)
        z = np.zeros((1000, n), int)
        if not one_class and len(prior.sizes) > 1:
            z = franchise.sample_groups(rng, prior.sizes, rooms, alphas)
        elif not one_class:
            z = franchise.sample_groups(rng, prior.sizes, alphas, np.inf)
        K = int(z.max()) + 1
        for _ in range(GRAPHS):
            beta = np.array(prior.betas)[rng.integers(0, len(prior.betas), 1000)]
            eta = rng.beta(beta[:, 0, None, None], beta[:, 1, None, None], (1000, K, K))
            chance = eta[np.arange(1000)[:, None, None], z[:, :, None], z[:, None, :]]
            hits += int(acyclic((rng.random((1000, n, n)) < chance) & apart).sum())
    return float(np.log(max(hits, 1) / (DRAWS * GRAPHS)))


@dataclass(frozen=True)
class Weigher:
    """Weighs posteriors under different priors, by ladders between them. `most` parents are what ordered chains allow;
    `rounds` of a ladder."""

    prior: ClassPrior
    values: Callable[[np.ndarray], tuple[float, float, float]]  # alpha, beta1 and beta2 at places of their grids
    graphs: GraphMoves
    seats: Seats
    most: int
    rounds: int

    def weigh(
        self, rng: np.random.Generator, parts: Mapping[str, NetPosterior]
    ) -> tuple[NetPosterior, dict[str, float], dict[str, float]]:
        """Ordered classes, classes without order and one class (where classes are not given) together, their weights,
        all as likely beforehand, and the normalisers of their best states."""
        free, normaliser = "sparse" in parts, log_acyclic(self.prior, False)
        # in best states one class counts the probability that the block prior gives to it
        normalisers = {"ordered-block": 0.0, "block": normaliser}
        if free:
            normalisers["sparse"] = log_acyclic(self.prior, True) + self.prior.log_one_class()
        for name, part in parts.items():
            ladder = self._ladder(parts["block"], part, name, free)
            ratio = 0.0 if name == "block" else ladder.log_ratio(rng, self.rounds)
            part.log_evidence = ratio + normaliser - normalisers[name]
        weights = softmax([part.log_evidence for part in parts.values()])
        together = mixture(list(parts.values()), weights, [normalisers[name] for name in parts])
        return (
            replace(together, log_evidence=float("nan")), dict(zip(parts, weights.tolist(), strict=True)), normalisers
        )  # fmt: skip

    def _ladder(self, block: NetPosterior, other: NetPosterior, name: str, free: bool) -> Ladder:
        rung, most = (to_order, self.most) if name == "ordered-block" else (to_one_class, self.seats.n)
        return Ladder(block, other, rung, self.values, self.graphs, self.seats, most, free)
