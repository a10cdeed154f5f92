"""Parameters given rows: sticks and their concentration, gates, laws of cells beside them, experts and their prior.

All conjugate. The concentration is drawn with the sticks integrated out, because those behind the last occupied one
know of it only what it told them; the experts' common prior likewise without the experts that see no row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import betaln

from .gibbs_state import GibbsState, Given, Parameters, features_of
from .gibbs_variates import LEAST_LOG, MOST_LOG, gamma_above, log_dirichlet, log_gamma, slice_step
from .state import POOLED
from .sums import GatedSums
from .update import posterior_gates

MOST_PRECISE = 1e12  # precisions of the experts' prior stay below it: beyond, a weight has no digit left


def log_sticks(counts: np.ndarray, alpha: float) -> np.ndarray:
    """log p(z | alpha), the sticks integrated out: sum of ln B(1 + n_h, alpha + n_>h) / B(1, alpha), h = 1 .. N - 1.

    counts (..., N) may hold several orders of the sticks: (...).
    """
    behind = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1] - counts
    terms = betaln(1.0 + counts, alpha + behind) + np.log(alpha)
    return terms[..., :-1].sum(axis=-1)


def draw_alpha(rng: np.random.Generator, given: Given, counts: np.ndarray, alpha: float) -> float:
    """The concentration given z, sticks integrated out: a slice step in its logarithm."""
    priors = given.priors

    def log_density(u: float) -> float:
        value = np.exp(u)
        return priors.alpha_shape * u - priors.alpha_rate * value + float(log_sticks(counts, value))

    return float(np.exp(slice_step(rng, log_density, float(np.log(alpha)), 2.0, LEAST_LOG, MOST_LOG)))


def draw_log_weights(rng: np.random.Generator, counts: np.ndarray, alpha: float) -> np.ndarray:
    """(N,) log pi given z and alpha; logarithms throughout, since 1 - V may be smaller than any number."""
    behind = counts[::-1].cumsum()[::-1] - counts
    first, second = log_gamma(rng, 1.0 + counts[:-1]), log_gamma(rng, alpha + behind[:-1])
    both = np.logaddexp(first, second)
    log_stick = np.append(first - both, 0.0)
    return log_stick + np.concatenate([[0.0], np.cumsum(second - both)])


def sums_of_sticks(given: Given, state: GibbsState) -> GatedSums:
    """Sums of the rows of every stick, as they stand in the state."""
    view, n_sticks = given.view, given.priors.n_sticks
    sums = GatedSums.nothing(view, n_sticks, given.n_latents)
    sums.count = np.bincount(state.z, minlength=n_sticks).astype(float)
    features = features_of(view, state.levels) if given.n_latents else np.zeros((given.n_rows, 0))
    seen = given.looked_at
    for h in np.flatnonzero(sums.count):
        mine = np.flatnonzero(state.z == h)
        x = state.x[mine]
        sums.first[h] = x.sum(axis=0)
        sums.second[h] = x.T @ x
        for j, column in enumerate(view.cells):
            sums.cells[j][h] = column.statistics(np.ones((len(mine), 1)), state.levels[j, mine])[0]
        if given.n_latents:
            known = mine[seen[mine]]
            both = np.concatenate([state.x[known], features[known]], axis=1)
            sums.products[h] = both.T @ both
            sums.targets[h] = state.latent[known].T @ both
    return sums


def draw_gates(rng: np.random.Generator, given: Given, sums: GatedSums) -> tuple[np.ndarray, np.ndarray]:
    """Means (N, P) and precisions (N, P, P)."""
    n, p = given.priors.n_sticks, given.view.width
    if not p:
        return np.zeros((n, 0)), np.zeros((n, 0, 0))
    gates = posterior_gates(given.priors.gate, sums.count, sums.first, sums.second)
    mean, covariance = gates.sample_parameters(rng)
    precision = np.linalg.inv(covariance)
    return mean, 0.5 * (precision + np.swapaxes(precision, 1, 2))


def draw_cells(rng: np.random.Generator, given: Given, sums: GatedSums) -> list[np.ndarray]:
    """Of every column beside the block (N, L) log probabilities of levels, or (N, 1) log rates."""
    out = []
    for column, counts in zip(given.view.cells, sums.cells, strict=True):
        posterior = column.prior + counts
        if column.count:
            out.append((log_gamma(rng, posterior[:, 0]) - np.log(posterior[:, 1]))[:, None])
        else:
            out.append(log_dirichlet(rng, posterior))
    return out


def draw_weights(
    rng: np.random.Generator, products: np.ndarray, targets: np.ndarray, centre: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Experts (N, K, F) given latents and features of their rows, and their prior N(centre, 1 / spread)."""
    root = np.linalg.cholesky(products + np.diag(spread))  # lower, of the posterior precision
    pull = np.swapaxes(targets + spread * centre, 1, 2)  # (N, F, K)
    white = np.linalg.solve(root, pull) + rng.standard_normal(pull.shape)
    return np.ascontiguousarray(np.swapaxes(np.linalg.solve(np.swapaxes(root, 1, 2), white), 1, 2))


def draw_pool(rng: np.random.Generator, given: Given, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """zeta (K, F) and lambda (F,) given the experts w (m, K, F) that see rows."""
    priors, n = given.priors, len(w)
    strength = priors.gamma_0 + n
    centre = w.sum(axis=0) / strength
    rate = priors.b_0 + 0.5 * ((w**2).sum(axis=(0, 1)) - strength * (centre**2).sum(axis=0))
    shape = np.full(len(rate), priors.a_0 + 0.5 * n * w.shape[1])
    spread = np.minimum(gamma_above(rng, shape, rate, priors.least_precision), MOST_PRECISE)
    return centre + rng.standard_normal(centre.shape) / np.sqrt(strength * spread), spread


def draw_experts(
    rng: np.random.Generator, given: Given, sums: GatedSums, centre: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """w, zeta and lambda: first the experts, then their prior given those that see rows, then the others anew."""
    w = draw_weights(rng, sums.products, sums.targets, centre, spread)
    if given.priors.experts != POOLED:
        return w, centre, spread
    busy = sums.products[:, -1, -1] > 0
    centre, spread = draw_pool(rng, given, w[busy])
    idle = int((~busy).sum())
    w[~busy] = centre + rng.standard_normal((idle, *centre.shape)) / np.sqrt(spread)
    return w, centre, spread


def draw_owners(rng: np.random.Generator, given: Given, z: np.ndarray) -> np.ndarray:
    """The class of every stick: that of its labelled rows, else any."""
    owner = rng.integers(given.n_classes, size=given.priors.n_sticks)
    known = given.label >= 0
    owner[z[known]] = given.label[known]
    return owner


def draw_parameters(rng: np.random.Generator, given: Given, state: GibbsState, alpha: float | None) -> GibbsState:
    """The state with all parameters drawn given its rows; the concentration only if it is not fixed."""
    before = state.parameters
    sums = sums_of_sticks(given, state)
    new = draw_alpha(rng, given, sums.count, before.alpha) if alpha is None else alpha
    log_weight = draw_log_weights(rng, sums.count, new)
    mean, precision = draw_gates(rng, given, sums)
    cells = draw_cells(rng, given, sums)
    w, centre, spread, owner = before.w, before.centre, before.spread, before.owner
    if given.n_latents:
        w, centre, spread = draw_experts(rng, given, sums, centre, spread)
    else:
        owner = draw_owners(rng, given, state.z)
    parameters = Parameters(new, log_weight, mean, precision, cells, w, centre, spread, owner)
    return replace(state, parameters=parameters)
