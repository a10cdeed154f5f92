"""Priors over networks weighed against each other, for any number of columns and tables, and where hyper-parameters are
learnt: by ladders from classes without order to ordered ones and to one class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from .bridge import GraphMoves, Ladder, to_one_class, to_order
from .normaliser import ClassPrior, log_acyclic
from .posterior import NetPosterior, mixture
from .seats import Seats


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
            beside = normaliser - normalisers[name]
            ratio = 0.0 if name == "block" else ladder.log_ratio(rng, self.rounds, beside)
            part.log_evidence = ratio + beside
        weights = softmax([part.log_evidence for part in parts.values()])
        together = mixture(list(parts.values()), weights, [normalisers[name] for name in parts])
        return (
            replace(together, log_evidence=float("nan")), dict(zip(parts, weights.tolist(), strict=True)), normalisers
        )  # fmt: skip

    def _ladder(self, block: NetPosterior, other: NetPosterior, name: str, free: bool) -> Ladder:
        rung, most = (to_order, self.most) if name == "ordered-block" else (to_one_class, self.seats.n)
        return Ladder(block, other, rung, self.values, self.graphs, self.seats, most, free)
