"""Updates of sticks, gates and experts from sums over rows, and their divergences from the priors.

Updates 3 to 7 of [1], section 3.4.2, with corrections: means of component h from the cells as they are expected in h;
products of missing cells fill the Gaussian block of an expert's products only; empty components leave the updates of
the experts' common prior, because integrated out they have none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import digamma, gammaln

from ...families.normal_inverse_wishart import NormalInverseWishart
from ...priors.sticks import Sticks, best_arrangement
from .rows import View
from .state import Experts, GatedState, Priors
from .sums import GatedSums

EMPTY = 1e-6  # expected rows below which a component is dropped: the bound is the same to about this much


def not_empty(count: np.ndarray) -> np.ndarray:
    """Places of the components with expected rows `count` (H,) that are not empty: of a table whose rows together weigh
    less than one row, those that hold that share of it, so that one is always left."""
    return np.flatnonzero(count > EMPTY * min(1.0, float(count.sum())))


def components_in_order(state: GatedState, sums: GatedSums, priors: Priors) -> tuple[np.ndarray, bool]:
    """The components that are not empty, in their best order, and whether the last takes the last stick."""
    kept = not_empty(sums.count)
    order, end = best_arrangement(sums.count[kept], state.sticks.mean_concentration, priors.n_sticks)
    return kept[order], end


def updated(state: GatedState, sums: GatedSums, view: View, priors: Priors) -> GatedState:
    """The posterior given the sums, empty components dropped, sticks in their best order."""
    order, end = components_in_order(state, sums, priors)
    counts = sums.count[order]
    gates = posterior_gates(priors.gate, counts, sums.first[order], sums.second[order])
    cells = [column.prior + sums.cells[j][order] for j, column in enumerate(view.cells)]
    experts = state.experts
    if experts is not None:
        experts = posterior_experts(experts, sums.products[order], sums.targets[order])
        experts = pooled_prior(experts, priors)
    moved = state
    if len(order) < state.n_components or (order != np.arange(len(order))).any():
        moved = state.reordered(order)
    return replace(
        moved, counts=counts, sticks=state.sticks.posterior(counts, end), gates=gates, cells=cells, experts=experts
    )


def posterior_gates(
    prior: NormalInverseWishart, counts: np.ndarray, first: np.ndarray, second: np.ndarray
) -> NormalInverseWishart:
    """Update 4; the family's own, from expected moments."""
    p = prior.width
    return prior.posterior(np.concatenate([counts[:, None], first, second.reshape(len(counts), p * p)], axis=1))


def posterior_experts(experts: Experts, products: np.ndarray, targets: np.ndarray) -> Experts:
    """Update 5: q(w_h) given the expected prior."""
    precision = experts.precision
    system = products + np.diag(precision)
    covariance = np.linalg.inv(system)
    covariance = 0.5 * (covariance + np.swapaxes(covariance, 1, 2))
    mean = np.einsum("hfg,hkg->hkf", covariance, targets + precision * experts.centre)
    return replace(experts, mean=mean, covariance=covariance, log_det=-np.linalg.slogdet(system)[1])


def pooled_prior(experts: Experts, priors: Priors) -> Experts:
    """Update 6: q(zeta, lambda) given the experts that there are; latents of many classes share lambda."""
    if not experts.pooled:
        return experts
    n, n_latents = experts.mean.shape[:2]
    strength = priors.gamma_0 + n
    centre = experts.mean.sum(axis=0) / strength
    squares = (experts.mean**2).sum(axis=(0, 1)) + n_latents * np.diagonal(experts.covariance, axis1=1, axis2=2).sum(0)
    rate = priors.b_0 + 0.5 * (squares - strength * (centre**2).sum(axis=0))
    return replace(experts, centre=centre, strength=strength, shape=priors.a_0 + 0.5 * n * n_latents, rate=rate)


def first_experts(n_components: int, n_latents: int, n_features: int, priors: Priors) -> Experts:
    """Experts before any row: nothing known, their prior N(0, I)."""
    eye = np.broadcast_to(np.eye(n_features), (n_components, n_features, n_features)).copy()
    centre = np.zeros((n_latents, n_features))
    strength = priors.gamma_0 if priors.experts == "pooled" else 0.0
    mean = np.zeros((n_components, n_latents, n_features))
    return Experts(mean, eye, np.zeros(n_components), centre, strength, 1.0, np.ones(n_features))


def divergence(state: GatedState, view: View, priors: Priors) -> float:
    """KL of everything but the rows from its prior, with all constants: what the bound takes off."""
    total = state.sticks.divergence()
    if view.width:
        total += float(state.gates.divergence(priors.gate).sum())
    total += sum(column.divergence(posterior) for column, posterior in zip(view.cells, state.cells, strict=True))
    return total + (0.0 if state.experts is None else experts_divergence(state.experts, priors))


def experts_divergence(experts: Experts, priors: Priors) -> float:
    """<KL(q(w_h) || p(w_h | zeta, lambda))> summed over components and latents, and KL(q(zeta, lambda))."""
    n, n_latents, n_features = experts.mean.shape
    lam = experts.precision
    variances = np.diagonal(experts.covariance, axis1=1, axis2=2)
    gaps = ((experts.mean - experts.centre) ** 2).sum(axis=(0, 1)) + n_latents * variances.sum(axis=0)
    total = 0.5 * (lam @ gaps - n * n_latents * n_features - n_latents * experts.log_det.sum())
    if not experts.pooled:
        return float(total)
    a, b, g = experts.shape, experts.rate, experts.strength
    total += 0.5 * n * n_latents * (n_features / g - (digamma(a) - np.log(b)).sum())
    ratio = priors.gamma_0 / g
    shift = priors.gamma_0 * (experts.centre**2 * lam).sum()
    total += 0.5 * (n_latents * n_features * (ratio - 1.0 - np.log(ratio)) + shift)
    a0, b0 = priors.a_0, priors.b_0
    total += ((a - a0) * digamma(a) - gammaln(a) + gammaln(a0) + a0 * np.log(b / b0) + a * (b0 - b) / b).sum()
    return float(total)


def first_sticks(priors: Priors) -> Sticks:
    return Sticks.begin(priors.n_sticks, priors.alpha_shape, priors.alpha_rate)
