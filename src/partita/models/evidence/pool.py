"""The stages of the path as one answer: p = softmax(t log sum over stages of weight p_stage)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..pooling import best_exponent, pool_weights
from .settings import Settings

LEAST = 1e-9  # no class is less probable in a stage's answer when logarithms are taken
LOG_TEMPERATURES = (-1.2, 1.6)
EM_ROUNDS, EM_TOLERANCE = 200, 1e-4


def full_logits(logits: np.ndarray) -> np.ndarray:
    """One logit per class: a single one is that of class 1 against class 0."""
    return np.hstack([np.zeros((len(logits), 1)), logits]) if logits.shape[1] == 1 else logits


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax(logits: np.ndarray) -> np.ndarray:
    """Class probabilities (n, C) from one logit per class, or from a single one."""
    if logits.shape[1] == 1:
        e = np.exp(-np.abs(logits))
        near, far = 1.0 / (1.0 + e), e / (1.0 + e)
        return np.where(np.hstack([logits < 0, logits >= 0]), near, far)
    out = np.exp(logits - logits.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def pooled(p: Sequence[np.ndarray], share: np.ndarray) -> np.ndarray:
    """log of the linear pool of class probabilities (n, C)."""
    out = np.zeros(p[0].shape)
    for a, stage in zip(share, p, strict=True):
        out += a * stage
    return np.log(out + LEAST)


def choose_pool(
    left_out: Sequence[np.ndarray], label: np.ndarray, weight: np.ndarray, settings: Settings,
    worth: Sequence[float] | None = None,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Stage weights and the temperature, from leave-one-out probabilities (stages, n, C); `worth`: of the stages
    before anything is known of them.

    Without averaging all weight is on the stage with the least leave-one-out loss, the first of equals."""
    rows = np.arange(len(label))
    own = np.array([stage[rows, label] + LEAST for stage in left_out])
    share = np.ones(1)
    if not settings.averaging:
        share = (np.arange(len(own)) == int((np.log(own) @ weight).argmax())).astype(float)
    elif len(own) > 1:
        share = pool_weights(own, weight, settings.prior_rows, EM_ROUNDS, EM_TOLERANCE, worth)
    log_p = pooled(left_out, share)
    return share, best_exponent(log_p, label, weight, settings.temperature_prior, LOG_TEMPERATURES)
