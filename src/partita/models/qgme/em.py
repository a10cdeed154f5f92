"""Finitely many gated experts by expectation-maximisation [1, section 3.2.1], missing cells integrated out.

Component h has weight pi_h, a Gaussian (mu_h, Sigma_h) over real columns, laws of the columns beside it and a linear
probit expert w_h. The E-step is that of variational inference (`gated.expect`) at point parameters: Cov(w) = 0 and
<Lambda> = Sigma^-1. With two classes q(t, x_missing, z) is then the exact posterior, and what the responsibilities sum
to is the likelihood of the observed cells and labels. Two things make it a lower bound instead, and the algorithm
variational EM: more than two classes (q(t | z) q(x_missing | z) is a product), and labelled rows that miss a cell
beside the Gaussian block (q(cell | z) of its own). Likelihood, or bound, plus the regulariser's log prior never falls.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...kernels.contract import Rows
from ..gated.expect import expect
from ..gated.expectations import LOG_2PI, Expectations
from ..gated.forms import GateForm
from ..gated.guess import Guesses, first_guesses
from ..gated.rows import GUESSED, Block, View, make_blocks
from ..gated.start import look_of_rows
from ..gated.sums import GatedSums
from ..gated.update import EMPTY, not_empty
from .cells import points
from .start import clusters, first_parameters
from .state import QGMEState, Regulariser


@dataclass(eq=False)
class QGMEProblem:
    """What fits of k components are given; x (n, P) and levels are the rows once more, as a start wants them."""

    view: View
    regulariser: Regulariser
    blocks: list[Block]
    x: np.ndarray
    levels: list[np.ndarray]
    label: np.ndarray
    weight: np.ndarray
    n_classes: int
    k: int

    @classmethod
    def make(
        cls, view: View, rows: Rows, label: np.ndarray, weight: np.ndarray, n_classes: int, k: int,
        regulariser: Regulariser,
    ) -> QGMEProblem:  # fmt: skip
        blocks = make_blocks(view, rows, label, weight, k, n_classes > 1)
        x = np.ascontiguousarray(rows.reals[:, view.reals])
        levels = [column.cells(rows) for column in view.cells]
        return cls(view, regulariser, blocks, x, levels, label, weight, n_classes, k)

    def init(self, rng: np.random.Generator, within: bool) -> QGMEState:
        """Parameters from clusters, of single classes if `within`."""
        look = look_of_rows(self.blocks, self.view, len(self.label))
        return self.begin(clusters(look, self.label, self.weight, self.n_classes, self.k, within, rng))

    def begin(self, cluster: np.ndarray) -> QGMEState:
        """Parameters from the cluster of every row."""
        state = first_parameters(
            self.view, self.x, self.levels, self.label, self.weight, self.n_classes, cluster, self.regulariser
        )
        tables = point_expectations(state, self.view).tables
        guesses = [table for b in self.blocks if b.sort == GUESSED for table in first_guesses(self.view, b, tables)]
        return replace(state, guesses=guesses)

    def step(self, state: QGMEState) -> tuple[QGMEState, Mapping[str, float]]:
        """M-step, if there was an E-step before, then E-step: what is told is of the parameters that come back."""
        if state.sums is not None:
            state = maximised(state, state.sums, self.view, self.regulariser)
        state = self.expect(state)
        assert state.sums is not None
        likelihood = state.sums.log_evidence
        objective = likelihood + log_prior(state, self.view, self.regulariser)
        return state, {"log_likelihood": likelihood, "objective": objective, "n_experts": float(state.n_components)}

    def expect(self, state: QGMEState) -> QGMEState:
        """The state with its rows as its parameters see them, and their sums."""
        now = point_expectations(state, self.view)
        sums = GatedSums.nothing(self.view, now.n_components, now.n_latents)
        latent = None if state.latent is None else np.empty_like(state.latent)
        tables, place = [table.copy() for table in state.guesses], 0
        for block in self.blocks:
            guesses = None
            if block.sort == GUESSED:
                guesses = Guesses(self.view, block, tables[place : place + len(block.holes)])
                place += len(block.holes)
            before = None if state.latent is None else state.latent[block.index]
            part, _, after = expect(block, now, before, guesses)
            if latent is not None:
                latent[block.index] = before if after is None else after
            sums.add(part)
        return replace(state, latent=latent, guesses=tables, sums=sums)


def point_expectations(state: QGMEState, view: View) -> Expectations:
    """What rows need to know, every expectation at the parameters themselves."""
    n, p, f = state.n_components, view.width, view.n_features
    weight = np.log(state.weight)
    precision = np.linalg.inv(state.covariance) if p else np.zeros((n, 0, 0))
    pull = np.einsum("hpq,hq->hp", precision, state.mean)
    if p:
        weight -= 0.5 * (np.linalg.slogdet(state.covariance)[1] + p * LOG_2PI + (state.mean * pull).sum(axis=1))
    tables = [column.expected_log_table(theta) for column, theta in zip(view.cells, state.cells, strict=True)]
    w, n_latents = state.w, state.w.shape[1]
    if not n_latents:  # one class: nothing to decide, all components are of that class
        nothing, owner = np.zeros((n, 0, 0)), np.zeros(n, np.int64)
        return Expectations(view, weight, pull, state.cells, tables, precision, None, owner, w, nothing, nothing)
    V, M = np.zeros((n, f, f)), np.einsum("hkf,hkg->hfg", w, w)
    seen = None
    if p:
        many = n_latents > 1
        seen = GateForm.make(precision + M[:, :p, :p] if many else precision, None if many else w[:, :, :p])
    return Expectations(view, weight, pull, state.cells, tables, precision, seen, None, w, V, M)


def maximised(state: QGMEState, sums: GatedSums, view: View, regulariser: Regulariser) -> QGMEState:
    """The M-step: parameters of greatest expected log likelihood and log prior; empty components are dropped."""
    kept = not_empty(sums.count)
    if len(kept) < state.n_components:
        state = state.taking(kept)
    count, p = sums.count[kept], view.width
    mean = sums.first[kept] / count[:, None]
    scatter = sums.second[kept] - count[:, None, None] * mean[:, :, None] * mean[:, None, :]
    scatter = 0.5 * (scatter + np.swapaxes(scatter, 1, 2)) + regulariser.covariance_rows * regulariser.covariance
    w, latent = state.w, state.latent
    if w.shape[1]:
        w, scale = maximised_experts(w, sums.products[kept], sums.targets[kept], regulariser.ridge)
        latent = None if latent is None else latent / scale[:, None]
    return replace(
        state,
        weight=count / count.sum(),
        mean=mean,
        covariance=scatter / (count + regulariser.covariance_rows)[:, None, None] if p else state.covariance,
        cells=[column.fitted(sums.cells[j][kept]) for j, column in enumerate(points(view))],
        w=w,
        latent=latent,
        sums=None,
    )


def maximised_experts(
    w: np.ndarray, products: np.ndarray, targets: np.ndarray, ridge: float
) -> tuple[np.ndarray, np.ndarray]:
    """New weights (H, K, F), and the scale (H,) in which the latents of each component were measured.

    Plain EM takes v = (products + ridge I)^-1 targets and is slow where classes part well. Here the noise of t has a
    variance s^2 of its own, which no label can tell from 1 (only v / s matters) and which is estimated, then divided
    out [2]; log likelihood and log prior of the new w = v / s together still never fall. <|t|^2> = K + <t'(w x)> in
    each row, because labels cut t by a cone with its apex at 0.

    [2] C. Liu, D. B. Rubin and Y. N. Wu (1998), Parameter expansion to accelerate EM: the PX-EM algorithm, Biometrika
    85, 755-770.
    """
    system = products + ridge * np.eye(products.shape[1])
    v = np.swapaxes(np.linalg.solve(system, np.swapaxes(targets, 1, 2)), 1, 2)
    n = w.shape[1] * products[:, -1, -1]  # latents of labelled rows
    left = n + ((w - v) * targets).sum(axis=(1, 2))
    scale = np.ones(len(w))
    known = (n > EMPTY) & (left > 0)
    scale[known] = np.sqrt(left[known] / n[known])
    return np.ascontiguousarray(v / scale[:, None, None]), scale


def log_prior(state: QGMEState, view: View, regulariser: Regulariser) -> float:
    """The regulariser's log prior of the parameters, 0 for a component that knows nothing of its own."""
    total = -0.5 * regulariser.ridge * float((state.w**2).sum())
    total += sum(column.penalty(theta) for column, theta in zip(points(view), state.cells, strict=True))
    if view.width:
        gain = np.linalg.slogdet(state.covariance)[1] - np.linalg.slogdet(regulariser.covariance)[1]
        gain += np.trace(np.linalg.solve(state.covariance, regulariser.covariance), axis1=1, axis2=2) - view.width
        total -= 0.5 * regulariser.covariance_rows * float(gain.sum())
    return total


def n_parameters(state: QGMEState, problem: QGMEProblem) -> int:
    """Free parameters: H - 1 weights, and for each component a mean, a covariance, L - 1 probabilities of each column
    with L levels, one rate of each count column, and F weights of an expert for each class but one. Real columns
    without any observed cell do not count."""
    p = int((~np.isnan(problem.x)).any(axis=0).sum())
    beside = sum(1 if column.count else column.n_levels - 1 for column in problem.view.cells)
    features = problem.view.n_features - problem.view.width + p
    each = p + p * (p + 1) // 2 + beside + (problem.n_classes - 1) * features
    return state.n_components * (each + 1) - 1
