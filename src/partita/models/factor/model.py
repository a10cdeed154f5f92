"""Factor experts as one of the models that answer about tables: no matrix of all real columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...kernels.contract import Rows
from ..gated.answer import Answer, Around, Laws
from ..gated.rows import View
from .answer import Predictive, answer, fill, scores
from .beside import Beside
from .experts import begin, step
from .problem import FactorProblem
from .state import FactorState


@dataclass(eq=False)
class FactorFit:
    """A fit for the loop: `init` and `step`, starting from k clusters of each class, or from those in `cluster`."""

    problem: FactorProblem
    k: int
    cluster: np.ndarray | None = None

    def init(self, rng: np.random.Generator) -> FactorState:
        return begin(rng, self.problem, self.k, self.cluster)

    def step(self, rng: np.random.Generator, state: FactorState) -> tuple[FactorState, dict[str, float]]:
        return step(self.problem, rng, state)


@dataclass(frozen=True)
class LocalRule:
    """Weights of the experts on the standardised columns, the features beside and 1, (H, C, P + d): what their rules on
    the factors come to for a complete row."""

    mean: np.ndarray


@dataclass(frozen=True, eq=False)
class FactorGate:
    """The columns of one component: a factor analyser."""

    predictive: Predictive
    h: int

    def draw_missing(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        seen = ~np.isnan(x)
        found = scores(self.predictive, self.h, np.where(seen, x, 0.0), seen.astype(float))
        noise = rng.standard_normal((*found.mean.shape, 1))
        factor = found.mean + np.matmul(np.linalg.cholesky(found.covariance), noise)[:, :, 0]
        mean = self.predictive.mean[self.h] + factor @ self.predictive.loading[self.h].T
        return np.where(seen, x, mean + np.sqrt(self.predictive.noise[self.h]) * rng.standard_normal(x.shape))


@dataclass(frozen=True, eq=False)
class FactorLaw:
    """The columns of all components as single cells are asked for; normal, so that degrees (H,) are infinite."""

    predictive: Predictive
    degrees: np.ndarray

    def around(self, x: np.ndarray, seen: np.ndarray) -> Around:
        """By Woodbury's formula: with N the noise, G the loadings of the seen columns and B = I + G'N^-1 G, the inverse
        covariance is N^-1 - N^-1 G B^-1 G'N^-1."""
        noise, loading = self.predictive.noise[:, seen], self.predictive.loading[:, seen]
        away = x - self.predictive.mean[:, seen]
        scaled = loading / noise[:, :, None]
        system = np.eye(loading.shape[2]) + np.matmul(np.swapaxes(scaled, 1, 2), loading)
        back = np.matmul(scaled, np.linalg.inv(system))
        pull = away / noise - np.einsum("hkt,ht->hk", back, np.einsum("hkt,hk->ht", scaled, away))
        log_det = np.log(noise).sum(axis=1) + np.linalg.slogdet(system)[1]
        return Around(pull, 1.0 / noise - (back * scaled).sum(axis=2), (pull * away).sum(axis=1), log_det)


@dataclass(eq=False)
class FactorModel:
    """A fit of factor experts as it answers."""

    kind: ClassVar[str] = "factors"
    view: View
    n_classes: int
    state: FactorState

    @cached_property
    def predictive(self) -> Predictive:
        return Predictive.of(self.state)

    @property
    def weight(self) -> np.ndarray:
        return np.exp(self.predictive.log_weight)

    @property
    def cells(self) -> list[np.ndarray]:
        return self.state.cells

    @property
    def n_components(self) -> int:
        return self.state.n_components

    @cached_property
    def experts(self) -> LocalRule:
        given, state = self.predictive, self.state
        p, t = self.view.width, state.n_active
        out = np.zeros((self.n_components, state.n_experts, p + state.weight.shape[2] - t))
        for h in range(self.n_components):
            scaled = given.loading[h] / given.noise[h][:, None]
            system = np.eye(scaled.shape[1]) + scaled.T @ given.loading[h]
            slope = (state.weight[h, :, :t] * np.sqrt(state.used[h])) @ np.linalg.solve(system, scaled.T)
            out[h, :, :p], out[h, :, p:] = slope, state.weight[h, :, t:]
            out[h, :, -1] -= slope @ given.mean[h]
        return LocalRule(out)

    def _reals(self, rows: Rows) -> np.ndarray:
        return rows.reals[:, self.view.reals]

    def answer(self, rows: Rows) -> Answer:
        given = answer(self.state, self._reals(rows), Beside.of(self.view.cells, rows))
        if self.n_classes == 1:
            return Answer(given.log_gate, np.zeros((*given.log_gate.shape, 1)))
        return given

    def laws(self, rows: Rows) -> Laws:
        mean, variance = fill(self.state, self._reals(rows))
        share = self.answer(rows).shares()
        return Laws(share, mean, np.sqrt(variance), np.full(share.shape, np.inf))

    def gate_law(self) -> FactorLaw:
        return FactorLaw(self.predictive, np.full(self.n_components, np.inf))

    def gate(self, h: int) -> FactorGate:
        return FactorGate(self.predictive, h)

    def to_tree(self) -> dict[str, Any]:
        return self.state.to_tree()
