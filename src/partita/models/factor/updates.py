"""Updates of q given sums over the rows, one coordinate at a time: each the maximum of the bound given the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from ...priors.sticks import best_order
from .problem import Array, FactorProblem
from .scale import Scales, scales
from .state import FactorState, second_moment, selection_pairs
from .sums import Sums

_HALVINGS = 9  # of the interval in which the best common scale of G and 1 / s is sought


def prior_use(problem: FactorProblem, most_factors: int) -> float:
    """P(b_ht = 1) with pi_ht integrated out: every pi_ht has one b_ht, so nothing is lost by it (unlike [1])."""
    prior = problem.settings
    return prior.used_a / (prior.used_a + prior.used_b * (most_factors - 1)) if most_factors else 0.0


def scales_of(problem: FactorProblem, energy: Array) -> Scales:
    prior = problem.settings
    return scales(energy, problem.n_columns, prior.scale_shape, prior.scale_rate)


def update_loadings(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """q(G), row by row of G, then q(v)."""
    noise = state.noise_shape / state.noise_rate
    target = sums.target - np.einsum("hp,hpt,ht->pt", state.mean, sums.cell_s, noise[:, None] * state.used)
    precision = sums.precision.copy()
    t = np.arange(state.n_active)
    precision[:, t, t] += problem.n_columns * scales_of(problem, state.energy).precision
    covariance = np.linalg.inv(precision)
    covariance = 0.5 * (covariance + covariance.transpose(0, 2, 1))
    loading = np.matmul(covariance[problem.pattern], target[:, :, None])[:, :, 0]
    state = replace(state, loading=loading, loading_cov=covariance)
    return replace(state, energy=loading_energy(state))


def loading_energy(state: FactorState) -> Array:
    """<sum_p G_pt^2>, (T_a,)."""
    sizes = np.bincount(state.pattern, minlength=len(state.loading_cov))
    return (state.loading**2).sum(0) + np.einsum("u,utt->t", sizes, state.loading_cov)


def rescale(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """Move along what the data cannot see: factor t times c in G and w, divided by c in s, with c at the maximum.

    G and s determine each other so well that taking turns would hardly move their common scale.
    """
    if not state.n_active:
        return state
    square, rows = np.diagonal(sums.ss.sum(0)), sums.count.sum()
    t = state.n_active
    lam = state.rate_shape / state.rate[:, :t]
    moment = (state.weight[..., :t] ** 2 + np.diagonal(state.weight_cov, axis1=2, axis2=3)[..., :t]).sum(0)
    quadratic, linear = (lam * moment).sum(0), (lam * state.centre[:, :t] * state.weight[..., :t].sum(0)).sum(0)
    logs = problem.n_columns - rows + state.n_components * state.n_experts

    def slope(c: Array) -> Array:
        pull = problem.n_columns * c**2 * state.energy * scales_of(problem, c**2 * state.energy).precision
        return logs - pull + square / c**2 - quadratic * c**2 + linear * c

    low, high = np.full(state.n_active, -1.0), np.full(state.n_active, 1.0)
    for _ in range(_HALVINGS):
        rising = slope(np.exp(0.5 * (low + high))) > 0
        low, high = np.where(rising, 0.5 * (low + high), low), np.where(rising, high, 0.5 * (low + high))
    # the end nearer to no change: the bound rises all the way to it
    c = np.exp(np.where(low > 0, low, np.where(high < 0, high, 0.0)))
    both = np.append(c, np.ones(state.weight.shape[2] - t))
    return replace(
        state,
        loading=state.loading * c,
        loading_cov=state.loading_cov * c[:, None] * c,
        energy=state.energy * c**2,
        weight=state.weight * both,
        weight_cov=state.weight_cov * both[:, None] * both,
    )


def update_selection(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """q(b_ht), one factor after another in all components at once."""
    chance = prior_use(problem, state.most_factors)
    if chance >= 1.0 or not state.n_active:
        return state
    noise, t = state.noise_shape / state.noise_rate, state.n_active
    square = second_moment(state.weight, state.weight_cov)
    shift = np.einsum("hp,pt,hpt->ht", state.mean, state.loading, sums.cell_s)
    linear = noise[:, None] * (sums.fit - shift)
    linear += np.einsum("hct,hct->ht", state.weight[..., :t], sums.latent_s)
    linear -= (square[:, :, t:, :t].sum(1) * sums.labelled_fs).sum(1)
    quadratic = noise[:, None, None] * sums.energy + square[:, :, :t, :t].sum(1) * sums.labelled_ss
    used = state.used.copy()
    odds = np.log(chance) - np.log1p(-chance)
    for j in range(t):
        others = np.einsum("hu,hu->h", quadratic[:, j], used) - quadratic[:, j, j] * used[:, j]
        used[:, j] = expit(odds + linear[:, j] - 0.5 * quadratic[:, j, j] - others)
    return replace(state, used=used)


def update_gates(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """q(mu_h, psi_h), jointly; and the columns beside."""
    prior = problem.settings
    explained = np.einsum("pt,ht,hpt->hp", state.loading, state.used, sums.cell_s)
    count = prior.mean_count + sums.cell_count
    mean = (sums.cell_sum - explained) / count
    left = sums.squares - 2.0 * (state.used * sums.fit).sum(1)
    left += (sums.energy * selection_pairs(state.used)).sum((1, 2)) - (count * mean**2).sum(1)
    return replace(
        state,
        mean=mean,
        mean_count=count,
        noise_shape=prior.noise_shape + 0.5 * sums.cell_count.sum(1),
        noise_rate=prior.noise_rate + 0.5 * np.maximum(left, 0.0),
        cells=[column.prior + sums.cells[j] for j, column in enumerate(problem.beside.columns)],
    )


def update_experts(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """q(w_hc), then q(zeta, lambda) from the experts of the occupied components; without labels there are none."""
    if not problem.labelled:
        return state
    prior, t = problem.settings, state.n_active
    lam = state.rate_shape / state.rate
    entries = np.arange(state.weight.shape[2])
    design = np.zeros((state.n_components, len(entries), len(entries)))
    design[:, :t, :t] = sums.labelled_ss * selection_pairs(state.used)
    design[:, t:, :t] = sums.labelled_fs * state.used[:, None]
    design[:, :t, t:] = np.swapaxes(design[:, t:, :t], 1, 2)
    design[:, t:, t:] = sums.labelled_ff
    precision = np.repeat(design[:, None], state.n_experts, axis=1)
    precision[..., entries, entries] += lam
    covariance = np.linalg.inv(precision)
    covariance = 0.5 * (covariance + covariance.swapaxes(2, 3))
    target = np.concatenate([sums.latent_s * state.used[:, None], sums.latent_f], axis=2)
    weight = np.matmul(covariance, (target + lam * state.centre)[..., None])[..., 0]
    count = prior.centre_count + state.n_components
    centre = weight.sum(0) / count
    square = (weight**2 + np.diagonal(covariance, axis1=2, axis2=3)).sum(0)
    return replace(
        state,
        weight=weight,
        weight_cov=covariance,
        centre=centre,
        centre_count=np.asarray(count),
        rate_shape=np.asarray(prior.weight_shape + 0.5 * state.n_components),
        rate=prior.weight_rate + 0.5 * square - 0.5 * count * centre**2,
    )


def update_sticks(problem: FactorProblem, state: FactorState, sums: Sums) -> FactorState:
    """Components in the order best for the sticks, then q(V) and q(alpha)."""
    return order_sticks(problem, replace(state, count=sums.count))


def order_sticks(problem: FactorProblem, state: FactorState) -> FactorState:
    """The same from the counts that the state has."""
    prior = problem.settings
    sticks = state.sticks(prior.concentration_shape, prior.concentration_rate)
    state = state.components(best_order(state.count, sticks.mean_concentration, sticks.n_sticks))
    return state.with_sticks(sticks.posterior(state.count))
