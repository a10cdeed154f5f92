"""The cone of a class label: which of several normal variables is the largest.

t_c exceeds all others with probability E_u prod_{j != c} Phi((s_c u + m_c - m_j) / s_j), u standard normal: an integral
in one dimension, taken by Gauss-Hermite quadrature (`nodes`, `log_weights`) around the mode of its integrand.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def _ratio(a: np.ndarray, log_phi: np.ndarray) -> np.ndarray:
    """phi(a) / Phi(a), of the order of -a far in the left tail."""
    return np.exp(-0.5 * a * a - HALF_LOG_2PI - log_phi)


def _mode(gap: np.ndarray, own: float, scale: np.ndarray) -> tuple[float, float]:
    """Mode and spread of phi(u) prod_j Phi((own u + gap_j) / scale_j) by Newton's steps; the logarithm is concave."""
    u, slope = 0.0, own / scale
    for _ in range(8):
        a = (own * u + gap) / scale
        ratio = _ratio(a, log_ndtr(a))
        first, second = (slope * ratio).sum() - u, 1.0 + (slope**2 * ratio * (ratio + a)).sum()
        u += np.clip(first / second, -3.0, 3.0)
    return u, 1.0 / np.sqrt(second)


def _terms(
    gap: np.ndarray, own: float, scale: np.ndarray, nodes: np.ndarray, log_weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(nodes,) logarithms of the quadrature's terms, and (others, nodes) phi / Phi."""
    centre, spread = _mode(gap, own, scale)
    u = centre + spread * nodes
    a = (own * u + gap[:, None]) / scale[:, None]
    logs = log_ndtr(a)
    return logs.sum(axis=0) - 0.5 * u * u - HALF_LOG_2PI + np.log(spread) + log_weights, _ratio(a, logs)


def cone(
    mean: np.ndarray, label: np.ndarray, nodes: np.ndarray, log_weights: np.ndarray, log_p: np.ndarray,
    expected: np.ndarray,
) -> None:  # fmt: skip
    """Of rows t ~ N(mean, I), (n, K): log P(t_label is the largest) to `log_p` (n,), E[t] given so to `expected`."""
    for i, (m, c) in enumerate(zip(mean, label, strict=True)):
        others = np.arange(len(m)) != c
        terms, ratio = _terms(m[c] - m[others], 1.0, np.ones(len(m) - 1), nodes, log_weights)
        log_p[i] = np.logaddexp.reduce(terms)
        drop = ratio @ np.exp(terms - log_p[i])  # m_j - E[t_j] of the others
        expected[i, others] = m[others] - drop
        expected[i, c] = m[c] + drop.sum()


def cone_probabilities(
    mean: np.ndarray, sd: np.ndarray, nodes: np.ndarray, log_weights: np.ndarray, log_p: np.ndarray
) -> None:
    """Of rows with independent t_c ~ N(mean_c, sd_c^2), (n, K): log P(t_c is the largest) to `log_p`, normalised."""
    for m, s, out in zip(mean, sd, log_p, strict=True):
        for c in range(len(m)):
            others = np.arange(len(m)) != c
            out[c] = np.logaddexp.reduce(_terms(m[c] - m[others], s[c], s[others], nodes, log_weights)[0])
        out -= np.logaddexp.reduce(out)
