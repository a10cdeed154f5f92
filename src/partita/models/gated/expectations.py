"""What rows need to know of components, from the posteriors of their gates, cells beside and experts.

The log weight that a row has in a component is written out in `expect`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import digamma

from ...families.normal_inverse_wishart import NormalInverseWishart
from .forms import GateForm
from .rows import View
from .state import GatedState

LOG_2PI = np.log(2 * np.pi)


@dataclass(eq=False)
class Expectations:
    """What rows need to know of a state, computed once for all blocks.

    weight     (H,) <ln pi> + 1/2 (<ln|Lambda|> - P/u - P ln 2 pi - m'<Lambda>m)
    pull       (H, P) <Lambda> m
    cells, tables   of every column beside the Gaussian block, its posterior and (H, L) expected log probabilities
    precision  (H, P, P) <Lambda>
    plain      forms of rows that no expert looks at, made where there are some; seen: of those that one does
    w, V       (H, K, F) mean and (H, F, F) covariance of the experts
    M          (H, F, F) sum over latents of <w w'>, for many classes and guesses
    """

    view: View
    weight: np.ndarray
    pull: np.ndarray
    cells: list[np.ndarray]
    tables: list[np.ndarray]
    precision: np.ndarray
    seen: GateForm | None
    owner: np.ndarray | None
    w: np.ndarray
    V: np.ndarray
    M: np.ndarray

    @cached_property
    def plain(self) -> GateForm | None:
        return GateForm.make(self.precision) if self.view.width else None

    @property
    def n_components(self) -> int:
        return len(self.weight)

    @property
    def n_latents(self) -> int:
        return self.w.shape[1]


def expectations(state: GatedState, view: View) -> Expectations:
    """From the posterior's parameters to what the updates of rows use."""
    n, experts = state.n_components, state.experts
    weight = state.sticks.expected_log_weights()[state.sticks.places(n)]
    w, V = np.zeros((n, 0, view.n_features)), np.zeros((n, 0, 0))
    if experts is not None:
        w, V = experts.mean, experts.covariance
    return expectations_of(view, weight, state.gates, state.cells, w, V, state.owner)


def expectations_of(
    view: View, log_weight: np.ndarray, gates: NormalInverseWishart, cells: list[np.ndarray], w: np.ndarray,
    V: np.ndarray, owner: np.ndarray | None = None,
) -> Expectations:  # fmt: skip
    """The same of any components, log_weight (H,); experts as w (H, K, F) and V (H, F, F), K = 0: none."""
    n, p, weight = len(log_weight), view.width, log_weight.copy()
    precision = gates.nu[:, None, None] * np.linalg.inv(gates.scale) if p else np.zeros((n, 0, 0))
    pull = np.einsum("hpq,hq->hp", precision, gates.mean)
    if p:
        log_det = digamma(0.5 * (gates.nu[:, None] - np.arange(p))).sum(axis=1) + p * np.log(2.0)
        log_det -= np.linalg.slogdet(gates.scale)[1]
        weight += 0.5 * (log_det - p / gates.kappa - p * LOG_2PI - (gates.mean * pull).sum(axis=1))
    tables = [column.expected_log_table(post) for column, post in zip(view.cells, cells, strict=True)]
    M, seen, n_latents = np.zeros((n, 0, 0)), None, w.shape[1]
    if n_latents:
        M = n_latents * V + np.einsum("hkf,hkg->hfg", w, w)
        if p:
            many = n_latents > 1
            seen = GateForm.make(precision + (M if many else V)[:, :p, :p], None if many else w[:, :, :p])
    return Expectations(view, weight, pull, cells, tables, precision, seen, owner, w, V, M)
