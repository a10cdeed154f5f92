"""Variational inference for mixtures of factor-analyser experts: `begin` and `step`, the whole algorithm in one place.

A step makes two passes over the rows. The first serves the loadings, the second the gates; experts and sticks are
brought up to date after both. The bound, with all its constants, is taken at the second pass and never falls.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .bound import divergence
from .problem import FactorProblem, FactorSettings
from .rotation import turn
from .rows import sweep
from .start import begin
from .state import FactorState
from .sums import Sums
from .updates import (
    order_sticks,
    prior_use,
    rescale,
    update_experts,
    update_gates,
    update_loadings,
    update_selection,
    update_sticks,
)

__all__ = ["FactorProblem", "FactorSettings", "FactorState", "begin", "step"]

_EMPTY = 1e-6  # a component with fewer expected rows leaves
_TRIAL_STEPS = 5  # that a changed fit has to become the better one
_UNUSED = 1e-9  # a factor less probable than this in every component leaves


def step(problem: FactorProblem, rng: np.random.Generator, state: FactorState) -> tuple[FactorState, dict[str, float]]:
    """One iteration (`functools.partial(step, problem)` is what the loop runs); it draws nothing.

    Now and then it is tried whether the rows are better off with fewer components, or with the factors turned: a
    mean field leaves a component only where rows leave it one by one, and turns factors hardly at all.
    """
    prior = problem.settings
    state, bound = _ascend(problem, state)
    state = replace(state, merge_wait=max(0, state.merge_wait - 1), turn_wait=max(0, state.turn_wait - 1))
    gain = bound - state.bound
    if prior.rotate and state.n_components > 1 and state.n_active > 1 and state.turn_wait == 0:
        state, bound = _turned(problem, state, bound)
    if prior.merge and state.n_components > 1 and state.merge_wait == 0:
        state, bound = _with_fewer(problem, state, bound, gain)
    state = replace(state, bound=bound)
    info = {"bound": bound, "n_components": float(state.n_components), "n_factors": n_factors(state)}
    return state, info


def n_factors(state: FactorState) -> float:
    """Expected number of factors that some component uses."""
    return float((1.0 - np.prod(1.0 - state.used, axis=0)).sum())


def _ascend(problem: FactorProblem, state: FactorState) -> tuple[FactorState, float]:
    """All updates once, and the bound before the last of them."""
    sums, latent = sweep(problem, state, loadings=True)
    state = update_loadings(problem, replace(state, latent=latent, guesses=sums.guesses), sums)
    state = update_experts(problem, state, sums)
    state = update_sticks(problem, rescale(problem, state, sums), sums)
    state, sums, bound = _second_pass(problem, state)
    state = update_selection(problem, state, sums)
    state = update_gates(problem, state, sums)
    state = update_experts(problem, state, sums)
    return _leave(problem, update_sticks(problem, state, sums)), bound


def _with_fewer(problem: FactorProblem, state: FactorState, bound: float, gain: float) -> tuple[FactorState, float]:
    """Take components away and go on a little: the smaller half, after failures fewer, in the end one in turn.

    Kept if the bound is then higher than what it would be here after as many steps, each with the last one's gain.
    """
    h = state.n_components
    n_away = (h // 2) >> state.merge_failures
    away = np.arange(h - n_away, h) if n_away > 1 else h - 1 - state.merge_failures % h
    fewer = order_sticks(problem, state.components(np.delete(np.arange(h), away)))
    for _ in range(_TRIAL_STEPS):
        fewer, fewer_bound = _ascend(problem, fewer)
    if fewer_bound > bound + _TRIAL_STEPS * gain:
        return replace(fewer, merge_wait=1, merge_failures=0), fewer_bound
    failures = state.merge_failures + 1
    return replace(state, merge_wait=min(2 ** (failures + 1), 64), merge_failures=failures), bound


def _turned(problem: FactorProblem, state: FactorState, bound: float) -> tuple[FactorState, float]:
    """Turn the factors to the axes of the components, and go on a little: kept if the bound is then higher."""
    sums, _ = sweep(problem, state, loadings=False)
    turned = replace(turn(state, sums), wait=0, failures=0)
    for _ in range(_TRIAL_STEPS):
        turned, turned_bound = _ascend(problem, turned)
    if turned_bound > bound:
        return replace(turned, turn_wait=8, turn_failures=0), turned_bound
    failures = state.turn_failures + 1
    return replace(state, turn_wait=min(2 ** (failures + 2), 64), turn_failures=failures), bound


def _second_pass(problem: FactorProblem, state: FactorState) -> tuple[FactorState, Sums, float]:
    """The pass for the gates, with or without the uses of factors that do not pay: whichever has the higher bound."""
    sums, latent = sweep(problem, state, loadings=False)
    bound = sums.log_rows - divergence(problem, state)
    kept = replace(state, latent=latent, guesses=sums.guesses, wait=max(0, state.wait - 1))
    if state.wait > 0 or not state.n_active or prior_use(problem, state.most_factors) >= 1.0:
        return kept, sums, bound
    fewer = _without_idle(problem, state, sums)
    fewer_sums, fewer_latent = sweep(problem, fewer, loadings=False)
    fewer_bound = fewer_sums.log_rows - divergence(problem, fewer)
    if fewer_bound > bound:
        fewer = replace(fewer, latent=fewer_latent, guesses=fewer_sums.guesses, wait=0, failures=0)
        return fewer, fewer_sums, fewer_bound
    failures = state.failures + 1
    return replace(kept, wait=min(2**failures, 32), failures=failures), sums, bound


def _without_idle(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """b_ht = 0 where a factor adds less to the rows of a component than it costs; after failures only the worst.

    Given q(s) fitted with it, a factor looks useful even where it fits noise; its worth is what it adds when s is
    integrated out. Where all seem to pay, the least is tried.
    """
    chance = prior_use(problem, state.most_factors)
    worth = sums.worth + np.log(chance) - np.log1p(-chance)
    worth = np.where(state.used > _UNUSED, worth, np.inf)
    order = np.argsort(worth, axis=None, kind="stable")
    n_idle = max(1, int((worth < 0).sum()) >> state.failures)
    used = state.used.copy()
    used.flat[order[:n_idle]] = 0.0
    return replace(state, used=used).factors(np.flatnonzero(used.any(0)))


def _leave(problem: FactorProblem, state: FactorState) -> FactorState:
    """Without components that have no rows and factors that nobody uses: their posterior is the prior."""
    keep = np.flatnonzero(state.count >= _EMPTY)
    if 0 < len(keep) < state.n_components:
        state = order_sticks(problem, state.components(keep))
    active = np.flatnonzero((state.used > _UNUSED).any(0))
    return state if len(active) == state.n_active else state.factors(active)
