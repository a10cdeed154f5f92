"""Turn the factors so that each component can do without some of them.

Where all components use all factors the likelihood does not see a rotation R of s and G, but selection does: a
component whose factors have second moments <ss'> = diag(1, 1, 0) in some axes needs two of three in these and three in
all others. The axes sought are common to the components: they make all their <ss'> as diagonal as can be (Jacobi
angles, [1]).

[1] J.-F. Cardoso and A. Souloumiac (1996), Jacobi angles for simultaneous diagonalization, SIAM J. Matrix Anal. 17.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .problem import Array
from .state import FactorState
from .sums import Sums

_SWEEPS = 20


def turn(state: FactorState, sums: Sums) -> FactorState:
    """The state with G R and R' s in place of G and s, every factor used by every component again."""
    t = state.n_active
    moments = sums.ss / np.maximum(sums.count, 1e-12)[:, None, None]
    rotation = joint_axes(np.where(sums.count[:, None, None] > 1.0, moments, 0.0))
    both = np.eye(state.weight.shape[2])
    both[:t, :t] = rotation
    loading, covariance = state.loading @ rotation, rotation.T @ state.loading_cov @ rotation
    sizes = np.bincount(state.pattern, minlength=len(covariance))
    return replace(
        state,
        loading=loading,
        loading_cov=covariance,
        energy=(loading**2).sum(0) + np.einsum("u,utt->t", sizes, covariance),
        used=np.ones_like(state.used),
        weight=state.weight @ both,
        weight_cov=both.T @ state.weight_cov @ both,
        centre=state.centre @ both,
    )


def joint_axes(matrices: Array) -> Array:
    """An orthogonal R, (T, T), that makes all R' M_h R as diagonal as can be; matrices (H, T, T), symmetric."""
    a = np.array(matrices)
    t = a.shape[1]
    rotation = np.eye(t)
    for _ in range(_SWEEPS):
        largest: float = 0.0
        for p in range(t - 1):
            for q in range(p + 1, t):
                difference, mixed = a[:, p, p] - a[:, q, q], 2.0 * a[:, p, q]
                on = difference @ difference - mixed @ mixed
                off = 2.0 * difference @ mixed
                angle = 0.5 * np.arctan2(off, on + np.hypot(on, off))
                largest = max(largest, abs(float(angle)))
                c, s = np.cos(angle), np.sin(angle)
                plane = np.array([[c, -s], [s, c]])
                a[:, :, [p, q]] = a[:, :, [p, q]] @ plane
                a[:, [p, q], :] = plane.T @ a[:, [p, q], :]
                rotation[:, [p, q]] = rotation[:, [p, q]] @ plane
        if largest < 1e-8:
            break
    return rotation
