"""What is kept of a Gibbs chain, and how it answers: a mixture of experts at point parameters.

Given the observed cells, the latent labels of component h have mean w'<features> and covariance I + W Cov(features) W',
exact where only Gaussian cells are missing. States together make the posterior: average their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..qgme.cells import with_points
from ..qgme.model import NormalGates, QGMEModel, certain_experts
from .gibbs_state import GibbsState, Parameters
from .rows import View

LEAST_WEIGHT = 1e-12  # of a stick: a lighter one is left out of an answer
MOST_LOG_RATE = 40.0


@dataclass(eq=False)
class Kept:
    """What prediction needs of a state: the parameters, and how many rows each stick holds (N,)."""

    parameters: Parameters
    counts: np.ndarray

    @classmethod
    def of(cls, state: GibbsState) -> Kept:
        """Parameters are drawn anew in every step, so that there is nothing to copy."""
        return cls(state.parameters, state.counts)

    @property
    def n_components(self) -> int:
        return int((self.counts > 0).sum())

    def to_tree(self) -> dict[str, Any]:
        return {"parameters": self.parameters.to_tree(), "counts": self.counts}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Kept:
        return cls(Parameters.from_tree(tree["parameters"]), tree["counts"])


def model_of(kept: Kept, view: View, n_classes: int) -> QGMEModel:
    """The mixture of a kept state, its sticks in their order, the lightest left out."""
    now = kept.parameters
    used = np.flatnonzero((np.exp(now.log_weight) > LEAST_WEIGHT) | (kept.counts > 0))
    weight = np.exp(now.log_weight[used])
    covariance = np.linalg.inv(now.precision[used])
    gates = NormalGates(now.mean[used], 0.5 * (covariance + np.swapaxes(covariance, 1, 2)))
    cells = []
    for column, logs in zip(view.cells, now.cells, strict=True):
        if column.count:
            cells.append(np.exp(np.minimum(logs[used], MOST_LOG_RATE)))
        else:
            table = np.exp(logs[used] - logs[used].max(axis=1, keepdims=True)) + 1e-300
            cells.append(table / table.sum(axis=1, keepdims=True))
    experts = certain_experts(now.w[used]) if now.n_latents else None
    owner = None if now.n_latents else now.owner[used]
    return QGMEModel(with_points(view), n_classes, weight / weight.sum(), gates, cells, experts, owner)
