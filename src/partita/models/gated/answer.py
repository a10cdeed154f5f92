"""What a model of gated experts says of rows, before components and members are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...kernels.contract import Rows
from .rows import View


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
    """Laws of missing Gaussian cells as cells of known truth want them: their scales times `scale`, `degrees` of
    freedom in place of the model's, and what share of the truths intervals so made have held (`gated.held`; None: what
    they promise)."""

    scale: float
    degrees: float
    held: tuple[float, ...] | None = None


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
class Around:
    """Observed cells of a row in every component: with A the inverse of their covariance and d their distances from the
    mean, pull = Ad (H, k), own = the diagonal of A (H, k), distance = d'Ad (H,), log_det = log|covariance| (H,)."""

    pull: np.ndarray
    own: np.ndarray
    distance: np.ndarray
    log_det: np.ndarray


class CellLaw(Protocol):
    """Gaussian columns of all components as single cells are asked for; degrees (H,)."""

    @property
    def degrees(self) -> np.ndarray: ...

    def around(self, x: np.ndarray, seen: np.ndarray) -> Around:
        """Cells x (k,) of the columns `seen`."""


@dataclass(frozen=True, eq=False)
class GateLaw:
    """Student's t over the Gaussian columns in every component: mean (H, P), form covariance (H, P, P), degrees of
    freedom (H,), infinite where it is normal."""

    mean: np.ndarray
    covariance: np.ndarray
    degrees: np.ndarray

    def around(self, x: np.ndarray, seen: np.ndarray) -> Around:
        covariance = self.covariance[:, seen[:, None], seen]
        A = np.linalg.inv(covariance)
        away = x - self.mean[:, seen]
        pull = np.einsum("hij,hj->hi", A, away)
        own = np.diagonal(A, axis1=1, axis2=2)
        return Around(pull, own, (pull * away).sum(axis=1), np.linalg.slogdet(covariance)[1])


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

    def gate_law(self) -> CellLaw: ...
