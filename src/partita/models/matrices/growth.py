"""A state for a matrix that has grown: more cells, rows or columns, other features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .effects import start_effects
from .problem import Problem
from .regression import draw_regression, start_regression
from .sides import SIDES, Side
from .state import State


def grow(problem: Problem, state: State, rng: np.random.Generator) -> State:
    """A copy of the state that fits `problem`; what it held of old rows and columns stays.

    The basis of the features may be another, so their coefficients are drawn anew, given the factors of old rows; new
    rows stand at their prior mean until the next sweep draws them. Latents are left to the link.
    """
    grown = replace(state, latent=None)
    for side in SIDES:
        n = side.size(problem)
        assert n >= len(side.matrix(state)), "rows and columns come after those of before"
        for name in (side.factors, f"{side.name}_offset", f"{side.name}_noise", f"{side.name}_mean"):
            setattr(grown, name, _padded(getattr(state, name), n, 1.0 if name.endswith("noise") else 0.0))
    grown.row_stretch = _padded(state.row_stretch, problem.n_rows, 0.0)
    for side in SIDES:
        _renew_features(problem, rng, grown, side, len(side.matrix(state)))
    if state.row_effects is not None:
        start_effects(problem, grown)
    return grown


def _renew_features(problem: Problem, rng: np.random.Generator, state: State, side: Side, old: int) -> None:
    features, k = side.features(problem), state.n_components
    setattr(state, f"{side.name}_regression", start_regression(features, k))
    setattr(state, f"{side.name}_mean", np.zeros((side.size(problem), k + 1)))
    if not features.blocks:
        return
    for _ in range(2):  # once for the coefficients at precisions of no account, once at their own
        draw_regression(problem, rng, state, side)
        matrix, offset = side.matrix(state), side.offset(state)
        mean = side.prior_mean(state)
        matrix[old:], offset[old:] = mean[old:, :k], mean[old:, k]


def _padded(x: np.ndarray, n: int, by: float) -> np.ndarray:
    """A copy with n rows, new ones holding `by`."""
    out = np.full((n, *x.shape[1:]), by)
    out[: len(x)] = x
    return out
