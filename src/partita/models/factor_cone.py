"""Normal vectors whose largest entry is known: probabilities and means by one-dimensional quadrature.

t_c ~ N(m_c, sd_c^2) independently; P(t_y is the largest) is the integral of
N(u) prod_{c != y} Phi((sd_y u + m_y - m_c) / sd_c),
whose integrand is log-concave in u with curvature at least 1 ([1]): the trapezoidal rule around its mode is exact to
rounding error.

[1] M. Girolami and S. Rogers (2006), Variational Bayesian multinomial probit regression, Neural Computation 18.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Array = NDArray[np.float64]
_REACH = 8.5  # exp(-_REACH^2 / 2) is rounding error
_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)


def cone(mean: Array, top: NDArray[np.integer]) -> tuple[Array, Array]:
    """ln P(t_top is the largest) and the mean of t given that, for unit variances.

    mean (..., C); top (...,) which entry is the largest. Returns (...,) and (..., C).
    """
    n_classes = mean.shape[-1]
    flat, y = mean.reshape(-1, n_classes), np.broadcast_to(top, mean.shape[:-1]).reshape(-1)
    gap, others = _gaps(flat, y)
    log_top, mills = _integrate(gap, np.ones_like(gap))
    moved = flat.copy()
    rows = np.arange(len(flat))[:, None]
    moved[rows, others] -= mills
    moved[rows[:, 0], y] += mills.sum(1)
    return log_top.reshape(mean.shape[:-1]), moved.reshape(mean.shape)


def log_top_probability(mean: Array, variance: Array) -> Array:
    """ln P(t_c is the largest) for every c and unequal variances, normalised; (..., C)."""
    shape = mean.shape
    flat, sd = mean.reshape(-1, shape[-1]), np.sqrt(variance.reshape(-1, shape[-1]))
    columns = []
    for c in range(shape[-1]):
        y = np.full(len(flat), c)
        gap, others = _gaps(flat, y)
        other = np.take_along_axis(sd, others, 1)
        columns.append(_integrate(gap / other, sd[:, c, None] / other)[0])
    logs = np.stack(columns, 1)
    return (logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)).reshape(shape)


def independent_variances(covariance: Array) -> Array:
    """Variances of independent entries whose differences t_c - t_j vary as those of `covariance`, (..., C).

    Least squares over all pairs, exact for three entries; only differences decide which entry is the largest.
    """
    n_classes = covariance.shape[-1]
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    differences = own[..., :, None] + own[..., None, :] - 2.0 * covariance
    rows = differences.sum(-1)
    total = rows.sum(-1, keepdims=True) / (2.0 * n_classes - 2.0)
    if n_classes == 2:
        return np.repeat(total / 2.0, 2, axis=-1)
    variances = (rows - total) / (n_classes - 2.0)
    return np.maximum(variances, 1e-2 * differences.max((-2, -1))[..., None])


def _gaps(mean: Array, y: NDArray[np.integer]) -> tuple[Array, NDArray[np.intp]]:
    n_classes = mean.shape[1]
    others = np.arange(n_classes - 1)[None, :]
    others = others + (others >= y[:, None])
    return mean[np.arange(len(mean)), y][:, None] - np.take_along_axis(mean, others, 1), others


def _integrate(gap: Array, slope: Array) -> tuple[Array, Array]:
    """ln of the integral of N(u) prod_j Phi(slope_j u + gap_j), and the means of phi / Phi of each factor under it."""
    if not len(gap):
        return np.zeros(0), np.zeros_like(gap)
    mode = _mode(gap, slope)
    steepest = float(np.sqrt(1.0 + (slope**2).sum(1).max()))
    n_nodes = int(np.ceil(22.0 * min(steepest, 60.0)))
    offsets = np.linspace(-_REACH, _REACH, n_nodes)
    u = mode[:, None] + offsets
    inner = slope[:, None, :] * u[:, :, None] + gap[:, None, :]
    log_phi = log_ndtr(inner)
    log_mass = -0.5 * u**2 + log_phi.sum(2)
    peak = log_mass.max(1)
    mass = np.exp(log_mass - peak[:, None])
    total = mass.sum(1)
    step = offsets[1] - offsets[0]
    mills = np.exp(-0.5 * inner**2 - _LOG_SQRT_2PI - log_phi)
    return peak + np.log(total * step) - _LOG_SQRT_2PI, np.einsum("nu,nuj->nj", mass / total[:, None], mills)


def _mode(gap: Array, slope: Array) -> Array:
    """Where the integrand is largest: its log slope - u + sum_j slope_j phi / Phi falls, so bisection finds it."""
    low = np.zeros(len(gap))
    # at u = 0 the slope is positive; each factor pulls at most to where its argument is positive, and a little beyond
    high = np.maximum(-gap / slope, 0.0).max(1) + slope.sum(1) + 1.0
    for _ in range(30):
        u = 0.5 * (low + high)
        inner = slope * u[:, None] + gap
        mills = np.exp(-0.5 * inner**2 - _LOG_SQRT_2PI - log_ndtr(inner))
        rising = (slope * mills).sum(1) > u
        low, high = np.where(rising, u, low), np.where(rising, high, u)
    return 0.5 * (low + high)
