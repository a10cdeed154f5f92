"""The greedy path of Kikuchi-Bayes: best region first, all 2-way, then 3-way, ..., and on past the hilltop.

Every step adds the region with the largest posterior P(M | D) (eqs. 6 to 8) among all candidates of the current order.
No region graph is rebuilt: a region multiplies P(y | x) by the potentials of those of its subsets that are new.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..evidence.screen import best_pair_of_each
from ..evidence.search import Field
from .candidates import Candidates
from .freedom import Freedom
from .moments import Summer
from .problem import Choices, Problem
from .regions import Region, log_prior, subsets
from .tables import log_potential, normalised, submodel
from .work import Work

SAME = 1e-9  # scores nearer than this (relative) are a tie, which the first region in lexicographic order wins
FIRST_BATCH = 16
MOST_CELLS = 100_000  # of a pair that is looked at while screening


@dataclass(frozen=True)
class Stage:
    """One step of the path: the region added, its subsets that were new, and the model after it."""

    region: Region
    new: tuple[Region, ...]
    log_likelihood: float
    df: float
    log_posterior: float
    phase: str


@dataclass(frozen=True)
class Found:
    """The best candidate of a step."""

    index: int
    gain: float
    df: float
    log_posterior: float


class Search:
    """The model on its way up: P(y | x) of every row, the family D of subsets in it, and the path behind it."""

    def __init__(self, problem: Problem, choices: Choices, work: Work) -> None:
        self.problem, self.choices, self.work = problem, choices, work
        self.freedom = Freedom(problem, choices.prior_cells)
        self.summer = Summer(problem)
        self.candidates: dict[int, Candidates] = {}
        self.attributes: dict[int, np.ndarray] = {}
        useful = np.flatnonzero(problem.rows.levels > 1)  # the potential of a constant attribute is 1
        self.attributes[0] = useful
        start: list[Region] = [()]
        if choices.singles == "all":
            start += [(int(j),) for j in useful]
        self.inside: set[Region] = set()
        self.log_proba = np.zeros((problem.n_rows, problem.n_classes))
        self.df = 0.0
        self.path: list[Stage] = []
        self.unfinished: list[int] = []  # orders that a stop left without an end, or without a beginning
        self.scored = self.bounded = 0
        self._grow((), start, "start")

    # ---- the model ----

    @property
    def proba(self) -> np.ndarray:
        return np.maximum(np.exp(self.log_proba), 1e-300)

    def log_prior(self, df: float) -> float:
        return log_prior(df, self.problem.total)

    def add(self, region: Region, phase: str) -> None:
        """Put a region with all its new subsets into the model: the next stage of the path."""
        self._grow(region, [s for s in subsets(region) if s not in self.inside], phase)

    def _grow(self, region: Region, new: list[Region], phase: str) -> None:
        theta = self.choices.theta
        for s in new:
            table = log_potential(self.problem.counts(s), theta).reshape(-1, self.problem.n_classes)
            self.log_proba = self.log_proba + table[self.problem.cells(s)]
            self.df += self.freedom.of(s)
        self.log_proba = normalised(self.log_proba)
        self.inside.update(new)
        for candidates in self.candidates.values():
            candidates.absorb(new)
        own = self.log_proba[np.arange(self.problem.n_rows), self.problem.label]
        likelihood = float(self.problem.weight @ own)  # eq. 8
        posterior = likelihood + self.log_prior(self.df)
        self.path.append(Stage(region, tuple(new), likelihood, self.df, posterior, phase))

    # ---- one step ----

    def prepare(self, order: int) -> Candidates:
        """The candidates of an order, made when first needed; too many are cut to the most promising attributes."""
        if order not in self.candidates:
            if order not in self.attributes:  # a search taken up again knows them
                self.attributes[order] = self._screen(order)
            self.candidates[order] = Candidates(
                self.problem, self.attributes[order], order, self.inside, self.freedom.of_subsets, self.choices.theta,
                self.summer,
            )  # fmt: skip
        return self.candidates[order]

    def _screen(self, order: int) -> np.ndarray:
        """As many attributes as max_candidates allows, those first that promise most: as single ones for order 1, by
        their best pair for order 2 (some act only together), else in the candidates one order below; attributes in the
        model come first, and of equal ones those that gain most as single ones."""
        before = self.attributes[order - 1]
        room = len(before)
        while room > order and math.comb(room, order) > self.choices.max_candidates:
            room -= 1
        if room == len(before):
            return before
        alone = self._single_gains(before)
        pair = self._best_pairs(before, alone) if order == 2 else alone
        promise = self._promise(order - 1, before) if order > 2 else pair
        inside = np.isin(before, [j for region in self.inside for j in region]) & (order > 1)
        best = np.lexsort((-alone, -pair, -promise, ~inside))[:room]
        return np.sort(before[best])

    def _single_gains(self, attributes: np.ndarray) -> np.ndarray:
        """Gain in log posterior (eqs. 6 and 8) of each attribute alone over the class alone, but for what is the same
        in all of them."""
        out = np.empty(len(attributes))
        for k, j in enumerate(attributes.tolist()):
            self.work.check()
            counts = self.problem.counts((j,))
            joint = submodel(counts, self.choices.theta)
            likelihood = float((counts * np.log(joint / joint.sum(axis=-1, keepdims=True))).sum())
            out[k] = likelihood + self.log_prior(self.freedom.of(()) + self.freedom.of((j,)))
        return out

    def _best_pairs(self, attributes: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """For every attribute the evidence gain of its best pair over the present model, in some of the rows."""
        first = 1 if self.problem.n_classes == 2 else 0  # two classes have one logit
        p, weight = self.proba[:, first:], self.problem.weight[:, None]
        moments = np.hstack([self.problem.class_weights()[:, first:] - weight * p, weight * p * (1 - p)])
        rows = self.problem.rows

        def never() -> bool:
            self.work.check()  # leaves by an exception of its own
            return False

        field = Field(rows.codes, rows.levels, moments, 1, never)
        rng = np.random.default_rng(0)  # the same rows for any search of the same table
        return best_pair_of_each(field, attributes, alone, MOST_CELLS, self.choices.max_candidates, rng)

    def _promise(self, order: int, attributes: np.ndarray) -> np.ndarray:
        """For every attribute the largest bound on posterior gain among candidates of this order that contain it."""
        candidates = self.prepare(order)
        index = np.flatnonzero(candidates.open)
        promise = np.full(self.problem.n_attributes, -np.inf)
        if len(index):
            candidates.build(index, self.work)
            score = candidates.bounds(index, self.proba, self.work) - candidates.df[index]
            for place in range(order):
                np.maximum.at(promise, candidates.members[index, place], score)
        return promise[attributes]

    def best(self, order: int, floor: float) -> Found | None:
        """The candidate of this order with the largest log posterior, if that is above `floor`."""
        candidates = self.prepare(order)
        df = self.df + candidates.df
        prior = np.full(len(df), -np.inf)
        allowed = candidates.open & (df < self.problem.total - 1)
        m = self.problem.total
        prior[allowed] = -m * df[allowed] / (m - df[allowed] - 1)
        index = np.flatnonzero(allowed & (prior > floor) if self.choices.prune else allowed)  # bound 1
        if not len(index):
            return None
        candidates.build(index, self.work)
        if not self.choices.prune:
            gain = candidates.gains(index, self.proba, self.work)
            return self._winner(candidates, index, gain, prior, floor)
        return self._score_in_order(candidates, index, prior, floor)

    def _score_in_order(
        self, candidates: Candidates, index: np.ndarray, prior: np.ndarray, floor: float
    ) -> Found | None:
        """Exact scores from the largest bound down, until no bound reaches the best score (or the floor)."""
        proba, now = self.proba, self.path[-1].log_likelihood
        bound = np.minimum(now + candidates.bounds(index, proba, self.work), 0.0) + prior[index]
        gain = np.full(len(index), -np.inf)
        left, best, batch = np.flatnonzero(bound >= floor), floor, FIRST_BATCH
        self.bounded += len(index)
        while len(left):
            top = np.argpartition(-bound[left], min(batch, len(left)) - 1)[:batch]
            some = left[top]
            gain[some] = candidates.gains(index[some], proba, self.work)
            best = max(best, float((now + gain[some] + prior[index[some]]).max()))
            left = np.delete(left, top)
            left = left[bound[left] >= best - SAME * (1.0 + abs(best))]
            self.scored, batch = self.scored + len(some), min(2 * batch, 4096)
        return self._winner(candidates, index, gain, prior, floor)

    def _winner(
        self, candidates: Candidates, index: np.ndarray, gain: np.ndarray, prior: np.ndarray, floor: float
    ) -> Found | None:
        score = self.path[-1].log_likelihood + gain + prior[index]
        top = float(score.max())
        if not top > floor:
            return None
        k = int(np.argmax(score >= top - SAME * (1.0 + abs(top))))
        j = int(index[k])
        return Found(j, float(gain[k]), float(self.df + candidates.df[j]), float(score[k]))

    def screened(self) -> dict[int, list[int]]:
        """Order to the attributes that max_candidates left out of its regions, though not of those one order below."""
        out = {}
        for order in range(1, len(self.attributes)):
            left = np.setdiff1d(self.attributes[order - 1], self.attributes[order])
            if len(left):
                out[order] = left.tolist()
        return out

    # ---- the path ----

    def climb(self, order: int) -> bool:
        """One step up within an order; False at its top."""
        found = self.best(order, self.path[-1].log_posterior + SAME)
        if found is None:
            return False
        self.add(self.candidates[order].region(found.index), f"{order + 1}-way")
        return True

    def descend(self, order: int) -> bool:
        """One step past the hilltop; False once the likelihood no longer rises."""
        found = self.best(order, -math.inf)
        if found is None or found.gain <= SAME:
            return False
        cut = self.choices.weight_cut
        top = max(stage.log_posterior for stage in self.path)
        if cut is not None and found.log_posterior < top - cut:
            return False
        self.add(self.candidates[order].region(found.index), "beyond")
        return True

    def phases(self) -> list[tuple[str, int]]:
        """What is done one after the other: climb each order, and where to go on past the hilltop."""
        top = min(self.choices.max_order - 1, len(self.attributes[0])) if self.problem.n_classes > 1 else 0
        out: list[tuple[str, int]] = []
        for order in range(1, top + 1):
            out.append(("climb", order))
            if self.choices.beyond == "each":
                out.append(("descend", order))
        if self.choices.beyond == "end" and top:
            out.append(("descend", top))
        return out


def regions_in(path: Iterable[Stage]) -> list[Region]:
    """The regions of a path, without the start."""
    return [stage.region for stage in path if stage.region]
