"""The scale of a factor: v = d^2 with d ~ N(0, 1 / beta), beta ~ Ga(c_0, d_0), and loadings N(0, v / P).

Unlike [1] neither d nor beta has a variational law: beta is integrated out (d is a Student variable) and d is absorbed
in the loadings, whose prior variance it becomes. Equal in law, and there is no product d A_t to be pulled apart by a
mean field. q(v) has no name, but it is one-dimensional and, in u = ln v, log-concave:

    q(u) = f(u) / C,  ln f(u) = ln p(u) - P u / 2 - P energy exp(-u) / 2,  energy = <sum_p G_pt^2>,

so the trapezoidal rule gives its moments to rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
_NODES, _DROP = 320, 45.0  # exp(-45) is below rounding error


@dataclass(frozen=True)
class Scales:
    """q(v) of every factor: <1 / v>, <ln v>, and ln C, each (T,); `energy` is what defines q(v)."""

    energy: Array
    precision: Array
    log: Array
    log_normaliser: Array
    n_columns: int

    def divergence(self) -> Array:
        """KL of q(v) from p(v), (T,)."""
        half = 0.5 * self.n_columns
        return -half * self.log - half * self.energy * self.precision - self.log_normaliser


def log_prior(u: Array, shape: float, rate: float) -> Array:
    """Log density of u = ln v."""
    constant = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * rate)
    return constant + 0.5 * u - (shape + 0.5) * np.logaddexp(0.0, u - np.log(2.0 * rate))


def scales(energy: Array, n_columns: int, shape: float, rate: float) -> Scales:
    """q(v) from the expected sums of squared loadings."""
    energy = np.asarray(energy, dtype=float)
    half = 0.5 * n_columns

    def log_density(u: Array) -> Array:
        return log_prior(u, shape, rate) - half * u - half * energy * np.exp(-u)

    mode = _mode(energy, half, shape, rate)
    peak = log_density(mode)
    low, high = (_reach(log_density, mode, peak, side) for side in (-1.0, 1.0))
    u = low + np.linspace(0.0, 1.0, _NODES)[:, None] * (high - low)
    mass = np.exp(log_density(u) - peak)
    total = mass.sum(0)
    step = (high - low) / (_NODES - 1)
    return Scales(
        energy=energy,
        precision=(mass * np.exp(-u)).sum(0) / total,
        log=(mass * u).sum(0) / total,
        log_normaliser=peak + np.log(total * step),
        n_columns=n_columns,
    )


def _mode(energy: Array, half: float, shape: float, rate: float) -> Array:
    """Where the slope is zero: a quadratic equation in v."""
    a, b, c = half + shape, rate * (1.0 - 2.0 * half) + half * energy, 2.0 * rate * half * energy
    root = np.sqrt(b**2 + 4.0 * a * c)
    # the form without a difference of equal numbers
    return np.log(np.where(b > 0, (b + root) / (2.0 * a), 2.0 * c / np.maximum(root - b, 1e-300)))


def _reach(log_density, mode: Array, peak: Array, side: float) -> Array:
    """Where the density has fallen to nothing, left or right of its mode."""
    near, far = np.zeros_like(mode), np.full_like(mode, 1e-3)
    for _ in range(40):
        with np.errstate(over="ignore"):
            short = log_density(mode + side * far) > peak - _DROP
        if not short.any():
            break
        near, far = np.where(short, far, near), np.where(short, 2.0 * far, far)
    for _ in range(12):
        middle = 0.5 * (near + far)
        with np.errstate(over="ignore"):
            short = log_density(mode + side * middle) > peak - _DROP
        near, far = np.where(short, middle, near), np.where(short, far, middle)
    return mode + side * far
