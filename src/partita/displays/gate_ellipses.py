"""Gates in two columns as ellipses, from nothing but the log densities that a model gives to points.

Whatever a gate is (Student's t, normal, a factor analyser), its density in two columns is a function of a quadratic
form. The mode is its centre, the curvature there the form, and the mass along a ray tells which ellipse holds how much.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LogDensity = Callable[[np.ndarray], np.ndarray]
"""Points (n, 2) to log densities (n, G) in every gate, up to a constant of each."""

STEPS = 60
FARTHEST, N_RADII = 40.0, 200  # of the ray, in the units in which the curvature is 1
_STENCIL = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)], float)


def half_axes(log_density: LogDensity, start: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Centres (G, 2) and half axes (G, 2, 2) of the ellipses centre + half_axes @ (cos, sin) that hold `coverage`.

    start       (G, 2) points near the modes.
    """
    centre, curvature = _modes(log_density, start)
    value, vector = np.linalg.eigh(curvature)
    axes = vector / np.sqrt(value)[:, None, :]  # in these units the curvature at the mode is 1
    radii = FARTHEST * np.linspace(0, 1, N_RADII) ** 3  # close together where the mass is
    along = _own(log_density, centre[:, None, :] + radii[:, None] * axes[:, None, :, 0])
    slope = radii * np.exp(along - along[:, :1])  # the mass of a thin ring
    mass = np.concatenate([np.zeros((len(centre), 1)), np.cumsum(_middles(slope) * np.diff(radii), axis=1)], axis=1)
    radius = np.array([np.interp(coverage, own / own[-1], radii) for own in mass])
    return centre, radius[:, None, None] * axes


def _modes(log_density: LogDensity, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The modes and minus the second derivatives there, by Newton's steps that are damped until they rise."""
    at, damping = start.copy(), np.full(len(start), 1e-2)
    width = np.full(len(start), 1e-3)  # of the stencil: a hundredth of the gate's, once that is known
    for _ in range(STEPS):
        here, slope, curvature = _derivatives(log_density, at, width)
        least, most = np.linalg.eigvalsh(curvature).T
        extra = damping + np.maximum(0.0, 1e-3 - least)
        step = np.linalg.solve(curvature + extra[:, None, None] * np.eye(2), slope[:, :, None])[:, :, 0]
        rises = _own(log_density, (at + step)[:, None])[:, 0] >= here
        at = np.where(rises[:, None], at + step, at)
        damping = np.where(rises, damping / 10, damping * 10)
        width = np.clip(1e-2 / np.sqrt(np.maximum(most, 1e-4)), 1e-6, 1e-2)
        if (np.linalg.norm(slope, axis=1) * width < 1e-8).all() and (least > 0).all():
            break
    return at, _derivatives(log_density, at, width)[2]


def _derivatives(
    log_density: LogDensity, at: np.ndarray, width: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log density (G,), its gradient (G, 2) and minus its second derivatives (G, 2, 2), by differences."""
    f = _own(log_density, at[:, None, :] + width[:, None, None] * _STENCIL).T
    slope = np.stack([f[1] - f[2], f[3] - f[4]], axis=1) / (2 * width[:, None])
    mixed = (f[5] + f[6] - f[7] - f[8]) / 4
    second = np.array([[f[1] + f[2] - 2 * f[0], mixed], [mixed, f[3] + f[4] - 2 * f[0]]]) / width**2
    return f[0], slope, -np.moveaxis(second, 2, 0)


def _own(log_density: LogDensity, points: np.ndarray) -> np.ndarray:
    """Log densities (G, m) of each gate at its own points (G, m, 2)."""
    n, m = points.shape[:2]
    values = log_density(points.reshape(-1, 2)).reshape(n, m, n)
    return values[np.arange(n), :, np.arange(n)]


def _middles(values: np.ndarray) -> np.ndarray:
    return 0.5 * (values[:, 1:] + values[:, :-1])
