"""What a model of gated experts says of rows, before components and members are put together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Answer:
    """Of n rows in H components.

    log_gate   (n, H) log probability of the component and density of the row's observed cells in it
    log_class  (n, H, C) log probability of every class there
    """

    log_gate: np.ndarray
    log_class: np.ndarray

    def shares(self) -> np.ndarray:
        """(n, H) probability of each component given the observed cells."""
        gate = np.exp(self.log_gate - self.log_gate.max(axis=1, keepdims=True))
        return gate / gate.sum(axis=1, keepdims=True)

    def log_density(self) -> np.ndarray:
        """(n,) log density of the observed cells."""
        top = self.log_gate.max(axis=1)
        return top + np.log(np.exp(self.log_gate - top[:, None]).sum(axis=1))

    def probabilities(self) -> np.ndarray:
        """(n, C) probability of every class."""
        proba = np.einsum("nh,nhc->nc", self.shares(), np.exp(self.log_class))
        return proba / proba.sum(axis=1, keepdims=True)
