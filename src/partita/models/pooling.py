"""Several predictors together: weights of a linear pool, a temperature and offsets of classes, from predictions of rows
that the predictors have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize, minimize_scalar

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


def best_exponent_and_offsets(
    logits: np.ndarray, label: np.ndarray, weight: np.ndarray, exponent_prior: float, offset_prior: float,
    base: np.ndarray | None = None, reach: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:  # fmt: skip
    """t and b (C,) of softmax(base + t logits + reach b), (n, C), with the least loss of the labels; log priors are
    - exponent_prior (log t)^2 and - offset_prior b'b. `base` (C,) is 0 where it is not given, `reach` (n,) 1."""
    logits, residual = np.ascontiguousarray(logits), np.empty(logits.shape)
    label, weight = np.ascontiguousarray(label, np.int32), np.ascontiguousarray(weight, float)
    base = np.zeros(logits.shape[1]) if base is None else base
    reach = np.ones(len(logits)) if reach is None else reach

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        t, b = np.exp(at[0]), at[1:]
        value = kernel.softmax_loss(base + t * logits + reach[:, None] * b, label, weight, residual)
        slope = np.concatenate([[t * (residual * logits).sum() + 2 * exponent_prior * at[0]],
                                reach @ residual + 2 * offset_prior * b])  # fmt: skip
        return value + exponent_prior * at[0] ** 2 + offset_prior * (b @ b), slope

    best = minimize(loss, np.zeros(1 + logits.shape[1]), jac=True, method="L-BFGS-B")
    return float(np.exp(best.x[0])), best.x[1:]
