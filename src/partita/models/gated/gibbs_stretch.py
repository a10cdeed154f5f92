"""The scale of the experts' weights moved as a whole and feature by feature, latents of two classes integrated out.

Rows that experts tell apart without a mistake hardly say how large their weights are, and neither does their prior,
whose own scale is as free. Given latents, and given the prior's precision, weights move by small steps, so a chain
takes thousands of sweeps from one size to another. Here weights of all experts, the prior's centre and its standard
deviation are multiplied by one factor, of all features or of one; the factor is drawn by a slice step from what it does
to the likelihood and to the law of the precision (a generalised Gibbs step [1]: the rest of the density and the change
of volume cancel). Latents of two classes are drawn anew afterwards. Those of many classes are stretched along where all
features are, and stand where one is.

[1] J. S. Liu and C. Sabatti (2000), Generalised Gibbs sampler and multigrid Monte Carlo for Bayesian computation,
Biometrika 87, 353-369.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from .gibbs_draws import MOST_PRECISE
from .gibbs_state import GibbsState, Given, features_of
from .gibbs_variates import above, slice_step
from .state import POOLED

WIDTH = 1.0  # of the first bracket of a step, in the logarithm of the factor


def stretch(rng: np.random.Generator, given: Given, state: GibbsState, features: int) -> GibbsState:
    """All features together, then up to `features` single ones."""
    now, priors = state.parameters, given.priors
    if not given.n_latents or priors.experts != POOLED:
        return state
    seen = np.flatnonzero(given.looked_at)
    looks = np.concatenate([state.x[seen], features_of(given.view, state.levels[:, seen])], axis=1)
    w, centre, spread, latent = now.w.copy(), now.centre.copy(), now.spread.copy(), state.latent.copy()
    part = looks[:, None] * w[state.z[seen]]  # (m, K, F)
    two, label = given.n_latents == 1, given.label[seen]
    sign = np.where(label == 1, 1.0, -1.0)
    t = latent[seen]

    def fit(f: slice) -> Callable[[float], float]:
        """Log likelihood of a factor, but for constants."""
        moved, rest = part[:, :, f].sum(axis=2), part.sum(axis=2) - part[:, :, f].sum(axis=2)
        if two:
            return lambda c: float(log_ndtr(sign * (rest[:, 0] + c * moved[:, 0])).sum())
        if f == slice(None):
            squares = 0.5 * float(((t - moved) ** 2).sum())
            return lambda c: t.size * np.log(c) - c * c * squares
        return lambda c: -0.5 * float(((t - rest - c * moved) ** 2).sum())

    some = rng.permutation(looks.shape[1])[:features]
    for f in [slice(None), *(slice(k, k + 1) for k in some.tolist())]:
        log_likelihood, own = fit(f), spread[f]

        def log_density(u: float, log_likelihood=log_likelihood, own=own) -> float:
            precision = own * np.exp(-2.0 * u)
            return log_likelihood(np.exp(u)) - 2.0 * priors.a_0 * len(own) * u - priors.b_0 * float(precision.sum())

        low, high = 0.5 * np.log(own.max() / MOST_PRECISE), 0.5 * np.log(own.min() / priors.least_precision)
        factor = np.exp(slice_step(rng, log_density, 0.0, WIDTH, low, high))
        w[:, :, f] *= factor
        centre[:, f] *= factor
        spread[f] /= factor**2
        part[:, :, f] *= factor
        if not two and f == slice(None):
            t = t * factor
    latent[seen] = t
    if two:
        latent[seen, 0] = sign * above(rng, sign * part.sum(axis=2)[:, 0], np.zeros(len(seen)))
    return replace(state, latent=latent, parameters=replace(now, w=w, centre=centre, spread=spread))
