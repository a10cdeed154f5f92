"""Submodels with predictive consistency, their potentials, and what they tell of interaction."""

from __future__ import annotations

import numpy as np


def submodel(counts: np.ndarray, theta: float) -> np.ndarray:
    """P(x_S, y | D), posterior predictive of a Dirichlet with theta / cells in every cell (eq. 4).

    counts has one axis per attribute of S and the class last. Whatever S, theta is the total pseudo-count, so that
    summing an attribute out gives exactly the submodel without it: all submodels are consistent.
    """
    return (counts + theta / counts.size) / (counts.sum() + theta)


def log_potential(counts: np.ndarray, theta: float) -> np.ndarray:
    """log phi_S = sum over T in S of (-1)^(|S| - |T|) log P(x_T, y), in the shape of counts  (eq. 2 unrolled)."""
    joint = submodel(counts, theta)
    order = counts.ndim - 1
    out = np.zeros_like(joint)
    for part in range(1 << order):
        away = tuple(k for k in range(order) if not part >> k & 1)
        sign = -1 if len(away) % 2 else 1
        out += sign * np.log(joint.sum(axis=away, keepdims=True))
    return out


def normalised(log_p: np.ndarray) -> np.ndarray:
    """Log probabilities over the last axis."""
    shifted = log_p - log_p.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def interaction_information(counts: np.ndarray, theta: float) -> float:
    """Interaction information of the attributes of S and the class, in nats: mutual information for one attribute,
    I(A, B; Y) - I(A; Y) - I(B; Y) for two (positive: synergy, negative: redundancy), and so on (McGill's sign such
    that k-way synergy is positive)."""
    joint = submodel(counts, theta)
    total = 0.0
    for part in range(1 << joint.ndim):
        away = tuple(k for k in range(joint.ndim) if not part >> k & 1)
        sign = -1 if len(away) % 2 else 1
        total += sign * float((joint * np.log(joint.sum(axis=away, keepdims=True))).sum())
    return total
