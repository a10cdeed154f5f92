"""The posterior mode of a log-linear model with Gaussian priors: L-BFGS, preconditioned.

In whitened coordinates u = w / s, s^2 being the prior variances, the objective is

    - sum over rows of a_i log P(y_i | x_i) + 1/2 |u|^2

with row weights a_i. The line search moves along logits, so it needs no product with the design. Two classes have one
logit (of class 1 against class 0), more have one each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...kernels import kernel
from ...kernels.modes_contract import Solver
from .design import DenseDesign

ENOUGH, SHRINKS = 1e-4, 12  # share of the linear decrease that a step must keep; how often it is shortened
ROUNDING = 1e-9  # of the objective, relative: what a step may seem to lose
ONE_CALL = 1e8  # multiplications that one call of a kernel may take, some tens of milliseconds


class Design(Protocol):
    def times(self, w: np.ndarray) -> np.ndarray: ...
    def transposed_times(self, r: np.ndarray) -> np.ndarray: ...


@dataclass
class Target:
    """The labels with the rows' weights."""

    label: np.ndarray  # int32 (n,)
    weight: np.ndarray  # float64 (n,)
    n_logits: int

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def take(self, rows: np.ndarray | slice) -> Target:
        return Target(self.label[rows], self.weight[rows], self.n_logits)

    def indicator(self) -> np.ndarray:
        """(n, K): one where the row has the logit's class."""
        if self.n_logits == 1:
            return (self.label == 1).astype(np.float64)[:, None]
        return np.eye(self.n_logits)[self.label]

    def loss(self, logits: np.ndarray, residual: np.ndarray) -> float:
        """Negative log-likelihood; residual[:] = a (p - y)."""
        return kernel.softmax_loss(logits, self.label, self.weight, residual)


@dataclass
class Mode:
    u: np.ndarray  # (columns, K) whitened parameters
    logits: np.ndarray  # (n, K)
    residual: np.ndarray  # (n, K): a (p - y)
    value: float  # the objective
    log_likelihood: float


def objective(design: Design, scale: np.ndarray, target: Target, u: np.ndarray) -> tuple[float, np.ndarray]:
    """The objective and its gradient."""
    logits = design.times(scale[:, None] * u)
    residual = np.empty_like(logits)
    value = target.loss(logits, residual) + 0.5 * float(np.vdot(u, u))
    return value, scale[:, None] * design.transposed_times(residual) + u


def evaluate(design: Design, target: Target, w: np.ndarray) -> Mode:
    """Logits, residuals and log-likelihood at parameters w; no scales are known, so neither are `u` and `value`."""
    logits = design.times(w)
    residual = np.empty_like(logits)
    loss = target.loss(logits, residual)
    return Mode(np.zeros((0, 0)), logits, residual, np.nan, -loss)


def find_mode(
    design: Design, scale: np.ndarray, target: Target, u: np.ndarray, solver: Solver, max_steps: int,
    tolerance: float, there: Mode | None = None,
) -> Mode:  # fmt: skip
    """Minimise from `u` until the Newton decrement, as the preconditioner sees it, is below `tolerance`.

    `there`: the model at `u`, where it is known; it may have been found at other scales. Small dense designs are left
    to one call of a kernel: there the steps below take longer than their sums."""
    there = there or evaluate(design, target, scale[:, None] * u)
    if isinstance(design, DenseDesign) and 2 * max_steps * design.matrix.size * target.n_logits <= ONE_CALL:
        return _find_mode_at_once(design.matrix, scale, target, u, solver, max_steps, tolerance, there)
    return _find_mode_by_steps(design, scale, target, u, solver, max_steps, tolerance, there)


def _find_mode_at_once(
    matrix: np.ndarray, scale: np.ndarray, target: Target, u: np.ndarray, solver: Solver, max_steps: int,
    tolerance: float, there: Mode,
) -> Mode:  # fmt: skip
    u, logits, residual = u.copy(), there.logits.copy(), there.residual.copy()
    loss = kernel.dense_mode(
        matrix, scale, target.label, target.weight, solver, max_steps, tolerance, -there.log_likelihood,
        u, logits, residual,
    )  # fmt: skip
    return Mode(u, logits, residual, loss + 0.5 * float(np.vdot(u, u)), -loss)


def _find_mode_by_steps(
    design: Design, scale: np.ndarray, target: Target, u: np.ndarray, solver: Solver, max_steps: int,
    tolerance: float, there: Mode,
) -> Mode:  # fmt: skip
    s = scale[:, None]
    logits, residual, loss = there.logits, there.residual, -there.log_likelihood
    value = loss + 0.5 * float(np.vdot(u, u))
    gradient = s * design.transposed_times(residual) + u
    history: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(max_steps):
        direction = _direction(gradient, history, solver)
        slope = float(np.vdot(gradient, direction))
        if not slope > tolerance:
            break
        along = design.times(s * direction)
        found = _line_search(target, logits, along, u, direction, value, slope)
        if found is None:
            target.loss(logits, residual)  # as it was before the steps that failed
            break
        step, logits, residual, loss, value = found
        moved = -step * direction
        u = u + moved
        gradient_there = s * design.transposed_times(residual) + u
        bend = gradient_there - gradient
        curvature = float(np.vdot(moved, bend))
        if curvature > 0:
            history.append((moved, bend, 1.0 / curvature))
        gradient = gradient_there
    return Mode(u, logits, residual, value, -loss)


def _direction(gradient: np.ndarray, history: list, solver: Solver) -> np.ndarray:
    """The two loops of L-BFGS around the preconditioner."""
    q = gradient.copy()
    shares = []
    for moved, bend, inverse in reversed(history):
        a = inverse * float(np.vdot(moved, q))
        q -= a * bend
        shares.append(a)
    out = np.empty_like(q)
    kernel.precondition(solver, q, out)
    for (moved, bend, inverse), a in zip(history, reversed(shares), strict=True):
        out += moved * (a - inverse * float(np.vdot(bend, out)))
    return out


def _line_search(target, logits, along, u, direction, value, slope):
    """(step, logits, residual, loss, value) of the first step that decreases enough; None if there is none."""
    uu, ud, dd = (float(np.vdot(a, b)) for a, b in ((u, u), (u, direction), (direction, direction)))
    residual = np.empty_like(logits)
    step = 1.0
    for _ in range(SHRINKS):
        there = logits - step * along
        loss = target.loss(there, residual)
        value_there = loss + 0.5 * (uu - 2 * step * ud + step * step * dd)
        if value_there <= value - ENOUGH * step * slope + ROUNDING * abs(value):
            return step, there, residual, loss, value_there
        parabola = 0.5 * slope * step * step / max(value_there - value + step * slope, 1e-30)
        step = max(0.15 * step, min(0.6 * step, parabola))
    return None
