"""KL of the posterior of factor experts from its prior, with all constants, of all but the rows' own variables."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, rel_entr

from .problem import Array, FactorProblem
from .state import FactorState
from .updates import loading_energy, prior_use, scales_of


def divergence(problem: FactorProblem, state: FactorState) -> float:
    """KL of q from the prior, of everything but the rows' own variables, with all constants."""
    prior = problem.settings
    sticks = state.sticks(prior.concentration_shape, prior.concentration_rate)
    total = sticks.divergence() + _of_loadings(problem, state) + _of_selection(problem, state)
    experts = _of_experts(problem, state) if problem.labelled else 0.0
    cells = sum(c.divergence(post) for c, post in zip(problem.beside.columns, state.cells, strict=True))
    return float(total + _of_gates(problem, state) + experts + cells)


def _of_loadings(problem: FactorProblem, state: FactorState) -> float:
    q, p = scales_of(problem, state.energy), problem.n_columns
    sizes = np.bincount(state.pattern, minlength=len(state.loading_cov))
    log_det = np.linalg.slogdet(state.loading_cov)[1]
    energy = loading_energy(state)
    expected = 0.5 * p * (np.log(2.0 * np.pi / p) + q.log + q.precision * energy)
    entropy = 0.5 * sizes @ log_det + 0.5 * p * state.n_active * (1.0 + np.log(2.0 * np.pi))
    return float(expected.sum() - entropy + q.divergence().sum())


def _of_selection(problem: FactorProblem, state: FactorState) -> float:
    chance = prior_use(problem, state.most_factors)
    active = rel_entr(state.used, chance).sum() + rel_entr(1.0 - state.used, 1.0 - chance).sum()
    absent = state.most_factors - state.n_active
    return float(active - (absent * state.n_components * np.log1p(-chance) if absent else 0.0))


def _of_gates(problem: FactorProblem, state: FactorState) -> float:
    prior = problem.settings
    noise = state.noise_shape / state.noise_rate
    ratio = prior.mean_count / state.mean_count
    means = 0.5 * (ratio - 1.0 - np.log(ratio)).sum() + 0.5 * prior.mean_count * (noise @ (state.mean**2).sum(1))
    noises = _gamma(state.noise_shape, state.noise_rate, prior.noise_shape, prior.noise_rate).sum()
    return float(means + noises)


def _of_experts(problem: FactorProblem, state: FactorState) -> float:
    prior = problem.settings
    lam, log_lam = state.rate_shape / state.rate, digamma(state.rate_shape) - np.log(state.rate)
    second = state.weight**2 + np.diagonal(state.weight_cov, axis1=2, axis2=3)
    gap = lam * (second - 2.0 * state.weight * state.centre + state.centre**2) + 1.0 / state.centre_count
    log_det = np.linalg.slogdet(state.weight_cov)[1]
    weights = 0.5 * (gap - log_lam - 1.0).sum() - 0.5 * log_det.sum()
    ratio = prior.centre_count / state.centre_count
    centres = 0.5 * (ratio - 1.0 - np.log(ratio) + prior.centre_count * lam * state.centre**2).sum()
    rates = _gamma(np.full_like(state.rate, state.rate_shape), state.rate, prior.weight_shape, prior.weight_rate).sum()
    return float(weights + centres + rates)


def _gamma(shape: Array, rate: Array, shape0: float, rate0: float) -> Array:
    """KL of Gamma(shape, rate) from Gamma(shape0, rate0)."""
    kl = (shape - shape0) * digamma(shape) - gammaln(shape) + gammaln(shape0)
    return kl + shape0 * np.log(rate / rate0) + shape / rate * (rate0 - rate)
