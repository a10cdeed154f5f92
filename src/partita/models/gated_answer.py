"""What a model of gated experts says of rows, before components and members are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..kernels.contract import Rows
from .gated_rows import View


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


@dataclass(frozen=True)
class Widths:
    """Laws of missing Gaussian cells as rows set aside want them: their scales times `scale`, and `degrees` of freedom
    in place of the model's."""

    scale: float
    degrees: float


@dataclass(eq=False)
class Laws:
    """Missing cells of rows in every component of one model.

    share         (n, H)
    location, scale   (n, H, P) of the Gaussian cells, standard deviations where `degrees` are infinite
    degrees       (n, H)
    """

    share: np.ndarray
    location: np.ndarray
    scale: np.ndarray
    degrees: np.ndarray

    def variance(self) -> np.ndarray:
        """(n, H, P); at two degrees of freedom or fewer there is none, and that at two and a half stands for it."""
        degrees = np.maximum(self.degrees, 2.5)[:, :, None]
        factor = degrees / np.where(np.isinf(degrees), 1.0, degrees - 2.0)
        return self.scale**2 * np.where(np.isinf(degrees), 1.0, factor)


@dataclass(frozen=True, eq=False)
class GateLaw:
    """Student's t over the Gaussian columns in every component: mean (H, P), form covariance (H, P, P), degrees of
    freedom (H,), infinite where it is normal."""

    mean: np.ndarray
    covariance: np.ndarray
    degrees: np.ndarray


class Gate(Protocol):
    """The Gaussian columns of one component."""

    def draw_missing(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows x (n, P) with missing cells drawn given the observed ones."""


class Speaker(Protocol):
    """A fit as it answers.

    weight (H,) of the components; cells: what is known of each column beside the Gaussian ones; experts: their weights,
    or None
    """

    view: View
    n_classes: int

    @property
    def weight(self) -> np.ndarray: ...

    @property
    def cells(self) -> list[np.ndarray]: ...

    @property
    def experts(self) -> Any: ...

    @property
    def n_components(self) -> int: ...

    def answer(self, rows: Rows) -> Answer: ...

    def laws(self, rows: Rows) -> Laws: ...

    def gate(self, h: int) -> Gate: ...

    def gate_law(self) -> GateLaw: ...
