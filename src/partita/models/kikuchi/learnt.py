"""Kikuchi-Bayes, learnt: the factors of every stage of the path, and what they say of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...data.telling import tell
from ...data.validate import DataWarning
from .missing import MOST_CELLS, log_products, summable
from .problem import Problem
from .regions import Region
from .search import Stage
from .tables import interaction_information, log_potential, normalised

LEAST_WEIGHT = 1e-17  # a stage that weighs less does not change a probability


@dataclass
class Factor:
    """The product of the potentials that a stage added: log values with one axis per attribute and the class last."""

    stage: int
    region: Region
    table: np.ndarray


@dataclass
class Kikuchi:
    """Stages of the path with their posterior weights.

    regions     region of each stage; () for the start.
    weights     (stages,) posterior weights, which sum to 1; for the hilltop alone, 1 there.
    factors     what the stages multiply in, in order: stage k is the product of all factors up to it.
    levels      (d,) int32 levels of the attributes.
    """

    regions: list[Region]
    weights: np.ndarray
    factors: list[Factor]
    levels: np.ndarray
    n_classes: int

    @classmethod
    def of(cls, problem: Problem, path: list[Stage], theta: float, averaging: bool) -> Kikuchi:
        """The path's factors, from all rows (eq. 4), and its weights."""
        weights = stage_weights([stage.log_posterior for stage in path], [s.log_likelihood for s in path], averaging)
        last = int(np.flatnonzero(weights > LEAST_WEIGHT)[-1])
        weights = np.where(weights > LEAST_WEIGHT, weights, 0.0)[: last + 1]
        factors = []
        for k, stage in enumerate(path[: last + 1]):
            factors += _factors(problem, k, stage, theta)
        regions = [stage.region for stage in path[: last + 1]]
        return cls(regions, weights / weights.sum(), factors, problem.rows.levels, problem.n_classes)

    def log_proba_by_stage(self, codes: np.ndarray) -> np.ndarray:
        """(stages, n, C) log P(y | x) of every stage; a code of -1 is summed out of the stage's product.

        Where that would need tables beyond `MOST_CELLS`, the row is answered by the last stage before, with a warning.
        """
        return self._log_proba(codes, np.arange(len(self.regions)))

    def _log_proba(self, codes: np.ndarray, stages: np.ndarray) -> np.ndarray:
        """(stages, n, C) log P(y | x) of some stages, ascending."""
        out = np.empty((len(stages), len(codes), self.n_classes))
        factors = [(f.stage, f.region, f.table) for f in self.factors]
        hole = codes < 0
        hole[:, ~self._acting()] = False
        holed = hole.any(axis=1)
        nothing = np.zeros(len(self.levels), bool)
        out[:, ~holed] = log_products(factors, stages, codes[~holed], nothing, self.levels, self.n_classes)
        patterns, group = np.unique(hole[holed], axis=0, return_inverse=True)
        short: list[tuple[int, int]] = []  # rows and last stage
        for g, missing in enumerate(patterns):
            rows = np.flatnonzero(holed)[group.reshape(-1) == g]
            last = summable(factors, missing, self.levels)
            kept, place = np.unique(np.minimum(stages, last), return_inverse=True)
            sums = log_products(factors, kept, codes[rows], missing, self.levels, self.n_classes)
            out[:, rows] = sums[place.reshape(-1)]
            if stages[-1] > last:
                short.append((len(rows), last))
        _tell_short(short)
        return normalised(out)

    def _acting(self) -> np.ndarray:
        """(d,) bool: attributes in a factor; whether any other is missing does not matter."""
        acting = np.zeros(len(self.levels), bool)
        for factor in self.factors:
            acting[list(factor.region)] = True
        return acting

    def proba(self, codes: np.ndarray) -> np.ndarray:
        """(n, C) average of the stages' predictions with their posterior weights (eq. 3)."""
        p = np.exp(self.log_proba(codes))
        return p / p.sum(axis=1, keepdims=True)

    def log_proba(self, codes: np.ndarray) -> np.ndarray:
        """(n, C) the logarithm of that; probabilities too small for a number keep theirs."""
        counted = np.flatnonzero(self.weights)
        by_stage = self._log_proba(codes, counted)
        return normalised(logsumexp(by_stage + np.log(self.weights[counted])[:, None, None], axis=0))

    def contributions(self, codes: np.ndarray) -> np.ndarray:
        """(n, stages, C) what each stage adds to the centred log probabilities of the classes.

        Let the prediction be cut off after stage k: stages beyond it predict as stage k does. The contribution of
        stage k is the change of log P(y | x), less its mean over classes, from the cut before it to the cut after it;
        they sum to that of the prediction. For the hilltop alone they are the logs of the factors themselves.
        """
        by_stage = self.log_proba_by_stage(codes)
        parts = np.log(np.maximum(self.weights, 1e-300))[:, None, None] + by_stage
        done = np.full(by_stage.shape[1:], -np.inf)
        before = np.zeros(by_stage.shape[1:])
        out = np.empty((by_stage.shape[1], len(self.regions), self.n_classes))
        rest = self.weights[::-1].cumsum()[::-1]
        for k in range(len(self.regions)):
            cut = np.logaddexp(done, np.log(max(rest[k], 1e-300)) + by_stage[k])
            cut = cut - cut.mean(axis=1, keepdims=True)
            out[:, k] = cut - before
            before = cut
            done = np.logaddexp(done, parts[k]) if self.weights[k] > 0 else done
        return out

    def to_tree(self) -> dict[str, Any]:
        return {
            "regions": [list(r) for r in self.regions],
            "weights": self.weights,
            "factors": [[f.stage, list(f.region), np.ascontiguousarray(f.table)] for f in self.factors],
            "levels": self.levels,
            "n_classes": self.n_classes,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Kikuchi:
        levels, n_classes = tree["levels"], int(tree["n_classes"])
        factors = [Factor(int(stage), tuple(region), table) for stage, region, table in tree["factors"]]
        regions, weights = [tuple(r) for r in tree["regions"]], tree["weights"]
        for f in factors:
            shape = tuple(int(levels[j]) for j in f.region)
            if not 0 <= f.stage < len(regions) or f.table.shape != (*shape, n_classes):
                raise ValueError("a factor whose table does not fit its region")
        if not factors or any(a.stage > b.stage for a, b in pairwise(factors)):
            raise ValueError("factors that are not in the order of their stages")
        if weights.shape != (len(regions),):
            raise ValueError("weights that do not fit the stages")
        return cls(regions, weights, factors, levels, n_classes)


def stage_weights(log_posterior: list[float], log_likelihood: list[float], averaging: bool) -> np.ndarray:
    """Posterior weights of the stages; where the prior of all is 0 (fewer rows than classes) the likelihood decides."""
    score = np.array(log_posterior)
    if not np.isfinite(score).any():
        score = np.array(log_likelihood)
    if not averaging:
        return (np.arange(len(score)) == int(score.argmax())).astype(float)
    weights = np.exp(score - score.max())
    return weights / weights.sum()


def _factors(problem: Problem, number: int, stage: Stage, theta: float) -> list[Factor]:
    """One factor over the stage's region; of a start from naive Bayes, one for each attribute."""
    if not stage.region:
        return [Factor(number, s, log_potential(problem.counts(s), theta)) for s in stage.new]
    counts = problem.counts(stage.region)
    total = np.zeros_like(counts)
    for s in stage.new:
        places = [stage.region.index(j) for j in s]
        away = tuple(k for k in range(len(stage.region)) if k not in places)
        own = log_potential(counts.sum(axis=away), theta)
        total += np.expand_dims(own, away)
    return [Factor(number, stage.region, total)]


def _tell_short(short: Sequence[tuple[int, int]]) -> None:
    """Warn of rows whose holes could not be summed over in all stages."""
    if short:
        tell(
            f"{sum(rows for rows, _ in short)} rows miss cells that hang together in so many regions that summing over "
            f"them would need tables of more than {MOST_CELLS} cells: they are predicted as if the path ended earlier "
            f"(for some after {min(last for _, last in short)} regions). Fill in some of these cells, or fit with a "
            "smaller max_order.",
            DataWarning,
        )


def interactions(problem: Problem, regions: list[Region], theta: float) -> dict[Region, float]:
    """Interaction information, in nats, of every region with the class."""
    return {region: interaction_information(problem.counts(region), theta) for region in regions}
