"""Griddy Gibbs: a point of a grid drawn by one uniform from its log weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def draw_index(log_weights: ArrayLike, uniform: ArrayLike) -> NDArray[np.intp]:
    """Return an index of the last axis drawn in proportion to exp(log_weights), one uniform in [0, 1) for each draw.

    `uniform` broadcasts against the leading shape. Weights of -inf are never drawn.
    """
    log_weights = np.asarray(log_weights, float)
    peak = log_weights.max(axis=-1, keepdims=True)
    if not np.isfinite(peak).all():
        raise ValueError("log_weights has a row without a finite largest weight; one point at least must be possible.")
    cumulative = np.cumsum(np.exp(log_weights - peak), axis=-1)
    target = np.asarray(uniform, float)[..., None] * cumulative[..., -1:]
    # The last cumulative weight is left out, and the target is below it: the index stays within the points of weight.
    return np.asarray((target >= cumulative[..., :-1]).sum(axis=-1), dtype=np.intp)
