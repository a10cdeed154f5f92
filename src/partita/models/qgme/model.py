"""Finitely many gated experts as they answer: normal gates and experts at point parameters.

The same rules as for variational fits (`gated.predict`), with Student's t of infinitely many degrees of freedom and
experts without doubt. With two classes and holes in real columns only, the probability of a class is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...families.missing_blocks import blocks
from ..gated.answer import GateLaw
from ..gated.forms import GateForm
from ..gated.predict import GatedModel
from ..gated.rows import View
from ..gated.state import Experts
from .state import QGMEState


@dataclass(frozen=True, eq=False)
class NormalGates:
    """Normal laws with means (..., P) and covariances (..., P, P)."""

    mean: np.ndarray
    covariance: np.ndarray

    def draw_missing(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows x (n, P) with missing cells drawn given the observed ones, by the one law without batch."""
        out, noise = x.copy(), rng.standard_normal(x.shape)
        for block in blocks(x, self.mean, self.covariance):
            missing = np.flatnonzero(~block.seen)
            if missing.size:
                shift, complement = block.regression(self.covariance[None])
                step = noise[block.pairs][:, missing] @ np.linalg.cholesky(complement[0]).T
                out[np.ix_(block.pairs, missing)] = self.mean[missing] + shift + step
        return out


@dataclass(eq=False)
class QGMEModel(GatedModel):
    """A fit by EM: `gates` are normal, `cells` as of `PointColumn`, experts have no covariance."""

    kind: ClassVar[str] = "point"

    @classmethod
    def at(cls, view: View, n_classes: int, state: QGMEState) -> QGMEModel:
        """The model of a state, components sorted by weight."""
        state = state.taking(np.argsort(-state.weight, kind="stable"))
        gates, owner, experts = NormalGates(state.mean, state.covariance), None, None
        if n_classes == 1:
            owner = np.zeros(state.n_components, np.int64)
        else:
            experts = certain_experts(state.w)
        return cls(view, n_classes, state.weight, gates, state.cells, experts, owner)

    def gate_form(self) -> tuple[GateForm, np.ndarray]:
        w = None if self.experts is None else self.experts.mean[:, :, : self.view.width]
        return GateForm.make(np.linalg.inv(self.gates.covariance), w), np.full(self.n_components, np.inf)

    def gate_law(self) -> GateLaw:
        return GateLaw(self.gates.mean, self.gates.covariance, np.full(self.n_components, np.inf))

    def gate(self, h: int) -> NormalGates:
        return NormalGates(self.gates.mean[h], self.gates.covariance[h])


def certain_experts(w: np.ndarray) -> Experts:
    """Experts whose weights (H, K, F) are known."""
    n, n_latents, n_features = w.shape
    nothing = np.zeros((n, n_features, n_features))
    return Experts(w, nothing, np.zeros(n), np.zeros((n_latents, n_features)), 0.0, 1.0, np.ones(n_features))
