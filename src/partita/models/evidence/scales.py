"""Prior variances by evidence: modes, curvatures and updates in turn, for one stage of the path.

MacKay's update, partially pooled: with gamma_g = sum over the group of (1 - S_jj / v_g) its number of well-determined
parameters and |w_g|^2 their sum of squares,

    v_o = (sum |w_g|^2 + v_0) / (sum gamma_g + 1)             over the groups of one order o,
    v_g = (|w_g|^2 + nu v_o) / (gamma_g + nu).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.modes_contract import Solver
from .curvature import Curvature, scaled_information
from .design import DenseDesign
from .map import Mode, Target, evaluate, find_mode
from .settings import Settings

BOUNDS = (1e-6, 1e4)
HASTE = 1.5  # updates that creep are taken further, in log v; after a change of direction v would oscillate
LEAST_SHARE = 1e-3  # of a group's parameters that count as determined
CHEAP = 2e7  # multiplications of one factorisation below which more rounds cost little
ROUNDS, CHEAP_ROUNDS, FREE_ROUNDS = 2, 7, 12
SETTLED = 0.1  # nats that the last update could still be worth
MID_STEPS, LAST_STEPS, MID_TOLERANCE, LAST_TOLERANCE = 15, 25, 1e-4, 3e-5  # tolerances per row
LEAST_LEFT = 0.02  # of 1 - h W, which is the share of a row's pull that is left without it


@dataclass
class Groups:
    """Which group each column (the intercept apart) belongs to, and which order each group."""

    of_column: np.ndarray
    order: np.ndarray  # (G,) 0, 1, ..

    def sums(self, per_column: np.ndarray) -> np.ndarray:
        return np.bincount(self.of_column, per_column, len(self.order))

    def scale(self, variance: np.ndarray, intercept_variance: float) -> np.ndarray:
        return np.sqrt(np.concatenate([[intercept_variance], variance[self.of_column]]))


@dataclass
class StageFit:
    """One stage on the rows that variances are learnt from."""

    w: np.ndarray  # (1 + columns, K)
    variance: np.ndarray  # (G,)
    scale: np.ndarray  # (1 + columns,)
    mode: Mode
    curvature: Curvature
    evidence: float  # Laplace's log marginal likelihood
    residual: np.ndarray  # (n, K): p - y
    spread: np.ndarray  # (n, K): p (1 - p)

    def left_out(self, design: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """(n, K) leave-one-out logits; the design and the weights are those of the fit."""
        return leave_one_out(self.mode.logits, self.residual, self.spread, self.curvature.leverage(design), weight)


def updated_variance(
    variance: np.ndarray, squares: np.ndarray, determined: np.ndarray, groups: Groups, settings: Settings, n_logits: int
) -> np.ndarray:
    """The update above, in full."""
    v0 = settings.prior_variance * (2.0 if n_logits == 1 else 1.0)  # one logit is the difference of two
    n_orders = int(groups.order.max()) + 1
    total, count = (np.bincount(groups.order, x, n_orders) for x in (squares, determined))
    of_order = (total + v0) / (count + 1)
    nu = settings.order_strength
    return (squares + nu * of_order[groups.order]) / (determined + nu)


def leave_one_out(
    logits: np.ndarray, residual: np.ndarray, spread: np.ndarray, leverage: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Logits of every row without one unit of its weight: f_i - h_i (y_i - p_i) / (1 - h_i p_i (1 - p_i))."""
    h = np.minimum(weight, 1.0)[:, None] * leverage
    return logits + h * residual / np.maximum(1.0 - h * spread, LEAST_LEFT)


def fit_scales(
    design: np.ndarray, groups: Groups, target: Target, variance: np.ndarray, w: np.ndarray,
    earlier: Curvature | None, settings: Settings, rounds: int | None = None,
) -> StageFit:  # fmt: skip
    """Learn the variances, beginning at `variance`, `w`; `earlier`: curvature of a stage with the first columns.

    `rounds`: exactly so many; None: as many as the size of the table allows, fewer if the variances settle."""
    product, indicator = DenseDesign(design), target.indicator()
    work = target.total * design.shape[1] * min(target.total, design.shape[1]) * target.n_logits
    settled_at = SETTLED if rounds is None else 0.0
    cheap = work <= CHEAP
    rounds = rounds or (ROUNDS if work > CHEAP else CHEAP_ROUNDS if work > 0.1 * CHEAP else FREE_ROUNDS)
    curvature, settled, before = earlier, len(variance) == 0, np.zeros(len(variance))
    mode = evaluate(product, target, w)
    residual, spread = row_moments(mode.residual, target, indicator)
    for r in range(rounds):
        last = settled or r == rounds - 1
        scale = groups.scale(variance, settings.intercept_variance)
        mode = find_mode(
            product, scale, target, w / scale[:, None], _preconditioner(curvature, design, scale, spread, target),
            LAST_STEPS if last else MID_STEPS,
            (LAST_TOLERANCE if last or (cheap and r) else MID_TOLERANCE) * target.total, mode,
        )  # fmt: skip
        w = scale[:, None] * mode.u
        residual, spread = row_moments(mode.residual, target, indicator)
        curvature = Curvature(design, scale, spread, residual, target.weight)
        if last:
            break
        squares = groups.sums((w[1:] ** 2).sum(axis=1))
        size = groups.sums(np.ones(len(w) - 1))
        determined = np.maximum(groups.sums((1 - curvature.variance[1:]).sum(axis=1)), LEAST_SHARE * size)
        step = np.log(updated_variance(variance, squares, determined, groups, settings, target.n_logits) / variance)
        settled = 0.25 * float((determined * step**2).sum()) < settled_at
        if settled and cheap:
            break
        variance = np.clip(variance * np.exp(np.where(step * before > 0, HASTE, 1.0) * step), *BOUNDS)
        before = step
    assert curvature is not None
    evidence = -mode.value - 0.5 * curvature.log_determinant
    return StageFit(w, variance, scale, mode, curvature, evidence, residual, spread)


def row_moments(weighted_residual: np.ndarray, target: Target, indicator: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p - y and p (1 - p) of a row of weight one."""
    residual = weighted_residual / target.weight[:, None]
    p = residual + indicator
    return residual, p * (1 - p) + 1e-10


def _preconditioner(curvature: Curvature | None, design: np.ndarray, scale, spread, target: Target) -> Solver:
    """By the last curvature; by the diagonal for columns it does not know."""
    known = 0 if curvature is None else len(curvature.scale)
    tail = np.zeros((0, target.n_logits))
    if known < len(scale):
        tail = 1.0 + scaled_information(design, scale, target.weight[:, None] * spread)[known:]
    if curvature is None:
        return Solver(np.ones(len(scale)), tail, np.zeros((0, target.n_logits)), [])
    return curvature.preconditioner(scale, tail)
