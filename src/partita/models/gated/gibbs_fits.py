"""Rows of a chain as components see them that are fitted to these rows alone, variationally.

The gate of such a fit tells where missing cells probably are; its expert, with two classes, is fitted once more by
expectation propagation (`gibbs_probit`). Cells beside the Gaussian block, and the latents of many classes, stand as
they do in the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...families.normal_inverse_wishart import NormalInverseWishart
from .expect import by_gates, means, sums_by_gates, sums_of
from .expectations import LOG_2PI, Expectations, expectations_of
from .forms import LANES
from .gibbs_probit import probit_law
from .gibbs_scores import Scores, Sight, score
from .gibbs_state import GibbsState, Given, Parameters
from .rows import SEEN, UNSEEN, Block, blocks_of
from .sums import GatedSums
from .update import posterior_gates


@dataclass(eq=False)
class Expert:
    """The law N(centre (K, F), precision (F, F)) of a component's expert."""

    centre: np.ndarray
    precision: np.ndarray

    @classmethod
    def prior(cls, now: Parameters) -> Expert:
        return cls(now.centre, np.diag(now.spread))

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """(K, F)"""
        white = rng.standard_normal(self.centre.shape)
        if not len(white):
            return white
        return self.centre + np.linalg.solve(np.linalg.cholesky(self.precision).T, white.T).T

    def log_density(self, w: np.ndarray) -> float:
        if not len(w):
            return 0.0
        root, (k, f) = np.linalg.cholesky(self.precision), w.shape
        log_det = k * np.log(np.diagonal(root)).sum()
        return float(log_det - 0.5 * (((w - self.centre) @ root) ** 2).sum() - 0.5 * k * f * LOG_2PI)


@dataclass(eq=False)
class Part:
    """Some rows of a chain, in blocks that count them from 0; levels (D, m) and latent (m, K) as in the state."""

    given: Given
    blocks: list[Block]
    levels: np.ndarray
    latent: np.ndarray
    missing: float  # share of the Gaussian cells

    @classmethod
    def of(cls, given: Given, state: GibbsState, index: np.ndarray) -> Part:
        x, levels = given.cells_of(index), np.ascontiguousarray(state.levels[:, index])
        sort = np.where(given.looked_at[index], SEEN, UNSEEN)
        blocks = blocks_of(given.view, x, levels, sort, given.label[index], np.ones(len(index)), LANES)
        return cls(given, blocks, levels, state.latent[index], float(np.isnan(x).mean()) if x.size else 0.0)

    def sight(self, mean: np.ndarray, precision: np.ndarray, w: np.ndarray) -> Sight:
        """One gate (P,), (P, P) and one expert (K, F) as rows see them."""
        nothing = np.zeros(0)
        now = Parameters(
            1.0, np.zeros(1), mean[None], precision[None], [], w[None], nothing, nothing, nothing
        )
        return Sight.of(self.given.view, now)

    def scores(self, sight: Sight) -> Iterator[tuple[Block, Scores]]:
        """Every block, but for its cells beside the Gaussian block."""
        for block in self.blocks:
            yield block, score(block, sight, self.levels[:, block.index], self.latent[block.index])


@dataclass(eq=False)
class Fit:
    """A variational fit of G components to the rows of a part whose weights in them are given."""

    part: Part
    prior: Expert
    now: Expectations
    gates: NormalInverseWishart
    w: np.ndarray
    precision: np.ndarray

    @classmethod
    def begin(cls, part: Part, prior: Expert, n: int) -> Fit:
        gates = part.given.priors.gate.posterior(np.zeros((n, 1 + part.given.view.width * (1 + part.given.view.width))))
        cells = [np.broadcast_to(column.prior, (n, len(column.prior))) for column in part.given.view.cells]
        w, precision = np.repeat(prior.centre[None], n, axis=0), np.repeat(prior.precision[None], n, axis=0)
        return cls(part, prior, _known(part, np.zeros(n), gates, cells, w, precision), gates, w, precision)

    def passed(self, weight: np.ndarray) -> Fit:
        """The fit after an update of rows and then of components; weight (m, G)."""
        part, prior = self.part, self.prior
        sums = self._sums(weight)
        gates = self.gates
        if part.given.view.width:
            gates = posterior_gates(part.given.priors.gate, sums.count, sums.first, sums.second)
        cells = [column.prior + own for column, own in zip(part.given.view.cells, sums.cells, strict=True)]
        w, precision = self.w, self.precision
        if part.given.n_latents:
            precision = sums.products + prior.precision
            pull = np.swapaxes(sums.targets + prior.centre @ prior.precision, 1, 2)
            w = np.ascontiguousarray(np.swapaxes(np.linalg.solve(precision, pull), 1, 2))
        now = _known(part, np.log(sums.count), gates, cells, w, precision)
        return Fit(part, prior, now, gates, w, precision)

    def _sums(self, weight: np.ndarray) -> GatedSums:
        now, part = self.now, self.part
        total = GatedSums.nothing(now.view, now.n_components, now.n_latents)
        for block in part.blocks:
            own = weight[block.index]
            if block.sort == UNSEEN:
                total.add(sums_by_gates(block, now, own))
            else:
                total.add(sums_of(block, now, means(block, now, self._latent(block), known=True), own))
        return total

    def scores(self) -> np.ndarray:
        """(m, G): expected log probability of every row in every component, times its size."""
        out = np.empty((len(self.part.latent), self.now.n_components))
        for block in self.part.blocks:
            if block.sort == UNSEEN:
                out[block.index] = by_gates(block, self.now)
            else:
                out[block.index] = means(block, self.now, self._latent(block), known=True).log_weight
        return out

    def _latent(self, block: Block) -> np.ndarray:
        """(b, G, K)"""
        return np.repeat(self.part.latent[block.index][:, None], self.now.n_components, axis=1)

    def gate(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean (P,) and expected precision (P, P) of the only component."""
        return self.gates.mean[0], self.gates.nu[0] * np.linalg.inv(self.gates.scale[0])

    def expert(self) -> Expert:
        """The law of the only component's expert."""
        if self.part.given.n_latents != 1:
            share = 1.0 - self.part.missing  # as narrow as if the missing cells were known: made wider
            return Expert(self.w[0], self.prior.precision + share * (self.precision[0] - self.prior.precision))
        part, looks, sign, noise = self.part, [], [], []
        sight = part.sight(*self.gate(), self.w[0])
        for block, scores in part.scores(sight):
            if block.sort != UNSEEN:
                x = block.x if scores.cut is None else scores.cut.xhat[:, :, 0]
                looks.append(np.concatenate([x, scores.features], axis=1))
                sign.append(np.where(block.label == 1, 1.0, -1.0))
                noise.append(scores.variance[:, 0])
        if not looks:
            return self.prior
        centre, precision = probit_law(
            np.concatenate(looks), np.concatenate(sign), np.concatenate(noise), self.prior.centre[0],
            np.diagonal(self.prior.precision),
        )  # fmt: skip
        return Expert(centre[None], precision)


def _known(
    part: Part, log_weight: np.ndarray, gates: NormalInverseWishart, cells: list[np.ndarray], w: np.ndarray,
    precision: np.ndarray,
) -> Expectations:  # fmt: skip
    V = np.linalg.inv(precision) if part.given.n_latents else np.zeros((len(log_weight), 0, 0))
    return expectations_of(part.given.view, log_weight, gates, cells, w, V)
