"""Several predictors together: weights of a linear pool and a temperature, from leave-one-out predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from ..kernels import kernel

SMALLEST = 1e-12
PRIOR_ROWS = 20.0  # what the even split over members is worth when their weights are chosen


def pool_weights(
    own: np.ndarray, weight: np.ndarray | None = None, prior_rows: float = PRIOR_ROWS, rounds: int = 50,
    tolerance: float = 0.0, worth: Sequence[float] | None = None,
) -> np.ndarray:  # fmt: skip
    """Weights of a linear pool: EM on the members' leave-one-out probabilities (members, rows) of the true class,
    with a Dirichlet prior worth `prior_rows` rows, even or in proportion to `worth`. `weight`: of the rows; stops when
    no share moves by `tolerance`."""
    share = np.ones(len(own)) if worth is None else np.array(worth, float)
    share /= share.sum()
    prior = prior_rows * share
    weight = np.ones(own.shape[1]) if weight is None else np.ascontiguousarray(weight, float)
    kernel.pool_shares(np.ascontiguousarray(own + SMALLEST), weight, prior, rounds, tolerance, share)
    return share


def best_log_temperature(loss: Callable[[float], float], bounds: tuple[float, float], tolerance: float = 0.02) -> float:
    """log t that minimises a loss with one minimum."""
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"maxiter": 12, "xatol": tolerance})
    return float(best.x)


def best_exponent(
    logits: np.ndarray, label: np.ndarray, weight: np.ndarray, prior: float, bounds: tuple[float, float]
) -> float:
    """t of softmax(t logits), (n, C), with the least loss of the labels; its log prior is - prior (log t)^2."""
    logits, residual = np.ascontiguousarray(logits), np.empty(logits.shape)
    label, weight = np.ascontiguousarray(label, np.int32), np.ascontiguousarray(weight, float)

    def loss(log_t: float) -> float:
        return kernel.softmax_loss(np.exp(log_t) * logits, label, weight, residual) + prior * log_t**2

    return float(np.exp(best_log_temperature(loss, bounds)))
