"""Variational inference for mixtures of factor-analyser experts: `begin` and `step`, the whole algorithm in one place.

A step makes two passes over the rows. The first serves the loadings, the second the gates; experts and sticks are
brought up to date after both. The bound, with all its constants, is taken at the second pass and never falls.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .factor_bound import divergence
from .factor_problem import FactorProblem, FactorSettings
from .factor_rows import Sums, sweep
from .factor_start import begin
from .factor_state import FactorState
from .factor_updates import (
    order_sticks,
    rescale,
    update_experts,
    update_gates,
    update_loadings,
    update_selection,
    update_sticks,
)

__all__ = ["FactorProblem", "FactorSettings", "FactorState", "begin", "step"]

_EMPTY = 1e-6  # a component with fewer expected rows leaves
_UNUSED = 1e-9  # a factor less probable than this in every component leaves


def step(
    problem: FactorProblem, rng: np.random.Generator, state: FactorState
) -> tuple[FactorState, dict[str, float]]:
    """One iteration (`functools.partial(step, problem)` is what the loop runs); it draws nothing."""
    sums, latent = sweep(problem, state, loadings=True)
    state = update_loadings(problem, replace(state, latent=latent), sums)
    state = update_experts(problem, state, sums)
    state = update_sticks(problem, rescale(problem, state, sums), sums)
    state, sums, bound = _second_pass(problem, state)
    info = {
        "bound": bound,
        "n_components": float(state.n_components),
        "n_factors": float((1.0 - np.prod(1.0 - state.used, axis=0)).sum()),
    }
    state = update_selection(problem, state, sums)
    state = update_gates(problem, state, sums)
    state = update_experts(problem, state, sums)
    return _leave(problem, update_sticks(problem, state, sums)), info


def _second_pass(problem: FactorProblem, state: FactorState) -> tuple[FactorState, Sums, float]:
    """The pass for the gates, with or without the factors that seem to do nothing: whichever has the higher bound."""
    sums, latent = sweep(problem, state, loadings=False)
    bound = sums.log_rows - divergence(problem, state)
    kept = replace(state, latent=latent, wait=max(0, state.wait - 1))
    idle = _idle(state)
    if state.wait > 0 or not len(idle):
        return kept, sums, bound
    fewer = state.factors(np.setdiff1d(np.arange(state.n_active), idle))
    fewer_sums, fewer_latent = sweep(problem, fewer, loadings=False)
    fewer_bound = fewer_sums.log_rows - divergence(problem, fewer)
    if fewer_bound > bound:
        return replace(fewer, latent=fewer_latent, wait=0, failures=0), fewer_sums, fewer_bound
    failures = state.failures + 1
    return replace(kept, wait=min(2**failures, 32), failures=failures), sums, bound


def _idle(state: FactorState) -> NDArray[np.intp]:
    """Factors to try without: those hardly used or loaded; after failures only the weaker part of them."""
    own = (state.loading**2).sum(0) * state.used.max(0)
    share = own / np.maximum(state.energy, 1e-300)
    order = np.argsort(share, kind="stable")
    weak = order[: int((share < 0.5).sum())] if len(order) else order
    if not len(weak):
        return order[:1]
    return weak[: max(1, len(weak) >> state.failures)]


def _leave(problem: FactorProblem, state: FactorState) -> FactorState:
    """Without components that have no rows and factors that nobody uses: their posterior is the prior."""
    keep = np.flatnonzero(state.count >= _EMPTY)
    if 0 < len(keep) < state.n_components:
        state = order_sticks(problem, state.components(keep))
    active = np.flatnonzero((state.used > _UNUSED).any(0))
    return state if len(active) == state.n_active else state.factors(active)
