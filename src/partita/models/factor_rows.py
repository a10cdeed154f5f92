"""One pass over the rows: q(t_i, s_i | z_i) q(z_i), their share of the bound, and the sums that updates need.

Given z_i = h everything a row sees of s is quadratic, with precision Q = I + psi K_i o <bb'> + <(w o b)(w o b)'> where
K_i sums <g_p g_p'> over the observed cells. With two classes q(t, s | z) is exact: t is a truncated normal with s
integrated out (`two_classes`). With more, t and s are independent given z and a few rounds of their fixed point are
made (`many_classes`). Rows without a label have no t. No matrix is larger than T x T; rows go in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from .factor_cone import cone
from .factor_problem import Array, FactorProblem
from .factor_state import Expectations, FactorState, loading_moments

_BLOCK = 3_000_000  # numbers of the largest array of a block
_LOG_2PI = np.log(2.0 * np.pi)
ROUNDS = 3  # of the fixed point between t and s, with more than two classes


@dataclass
class Sums:
    """Sums over rows, each weighted by weight_i r_ih, of moments under q(s_i, t_i | z_i = h).

    log_rows            sum of weight_i ln Z_i; count (H,)
    labelled_count (H,), labelled_s (H, T), labelled_ss (H, T, T), latent (H, C), latent_s (H, C, T): labelled rows only
    ss (H, T, T) of ss'; fit (H, T) of s_t (X g)_it; energy (H, T, T) of K_i o ss'; squares (H,) of sum_p x_ip^2
    worth (H, T) of what factor t adds to ln Z_ih: see `_add`
    cell_count, cell_sum (H, P) of observed cells; cell_s (H, P, T) of seen_ip s_it
    precision (U, T, T), target (P, T)  what the loadings' update wants (only where `loadings` is asked for)
    """

    log_rows: float
    count: Array
    labelled_count: Array
    labelled_s: Array
    labelled_ss: Array
    latent: Array
    latent_s: Array
    ss: Array
    fit: Array
    energy: Array
    squares: Array
    worth: Array
    cell_count: Array
    cell_sum: Array
    cell_s: Array
    precision: Array
    target: Array

    @classmethod
    def zero(cls, state: FactorState, n_groups: int, loadings: bool) -> Sums:
        h, t, c, p = state.n_components, state.n_active, state.n_experts, len(state.loading)
        g = n_groups if loadings else 0
        shapes = [(h,), (h,), (h, t), (h, t, t), (h, c), (h, c, t), (h, t, t), (h, t), (h, t, t), (h,), (h, t)]
        shapes += [(h, p), (h, p), (h, p, t), (g, t, t), (p if loadings else 0, t)]  # type: ignore[list-item]
        return cls(0.0, *(np.zeros(shape) for shape in shapes))


@dataclass
class _Moments:
    """Of one block: ln of the unnormalised responsibilities (n, H), <s> (n, H, T), <ss'> (n, H, T, T), <t> (n, H, C),
    <t s> (n, H, C, T)."""

    log_z: Array
    s: Array
    ss: Array
    t: Array
    ts: Array


def sweep(
    problem: FactorProblem, state: FactorState, *, loadings: bool, assignment: Array | None = None
) -> tuple[Sums, Array]:
    """The sums over all rows, and the means of t where they are kept; `assignment` (n, H) fixes q(z)."""
    prior = problem.settings
    sticks = state.sticks(prior.concentration_shape, prior.concentration_rate)
    expected = Expectations.of(state, sticks.expected_log_weights())
    shared = _Shared.of(state)
    sums = Sums.zero(state, problem.group_seen.shape[1], loadings)
    latent = np.zeros_like(state.latent)
    h, t = state.n_components, max(1, state.n_active)
    size = max(8, _BLOCK // (h * t * t + h * t * state.n_experts))
    for start in range(0, problem.n_rows, size):
        rows = slice(start, start + size)
        moments, k = _block(problem, state, expected, shared, rows)
        if len(latent):
            latent[rows] = moments.t
        _add(sums, problem, expected, shared, state, rows, moments, k, loadings, assignment)
    return sums, latent


@dataclass(frozen=True)
class _Shared:
    """Products of the parameters that all blocks use: sums of <gg'> per pattern, m_h o g (P, H T), g."""

    moments: Array
    shifted: Array
    square_mean: Array

    @classmethod
    def of(cls, state: FactorState) -> _Shared:
        shifted = state.mean.T[:, :, None] * state.loading[:, None, :]
        return cls(loading_moments(state), shifted.reshape(len(state.loading), -1), (state.mean**2).T)


def _block(
    problem: FactorProblem, state: FactorState, expected: Expectations, shared: _Shared, rows: slice
) -> tuple[_Moments, Array]:
    x, seen, label = problem.values[rows], problem.seen[rows], problem.label[rows]
    n, h, t = len(x), state.n_components, state.n_active
    k = (problem.group_seen[rows] @ shared.moments).reshape(n, t, t)
    pull = (x @ state.loading)[:, None, :] - (seen @ shared.shifted).reshape(n, h, t)
    far = problem.squares[rows, None] - 2.0 * x @ state.mean.T + seen @ shared.square_mean
    log_gate = 0.5 * problem.n_seen[rows, None] * (expected.log_noise - _LOG_2PI) + expected.log_weight
    log_gate -= 0.5 * (expected.noise * far + seen @ expected.mean_term.T)
    known = (label >= 0).astype(float)
    q = k[:, None] * (expected.noise[:, None, None] * expected.pairs)
    q += known[:, None, None, None] * expected.slope_square
    q[..., np.arange(t), np.arange(t)] += 1.0
    covariance = np.linalg.inv(q)
    log_det = 2.0 * np.log(np.diagonal(np.linalg.cholesky(q), axis1=-2, axis2=-1)).sum(-1)
    field = expected.noise[:, None] * state.used * pull - known[:, None, None] * expected.slope_constant
    log_gate -= 0.5 * log_det
    solve = two_classes if state.n_experts == 1 else many_classes
    latent = state.latent[rows] if len(state.latent) else state.latent
    return solve(expected, covariance, field, label, log_gate, latent), k


def two_classes(
    expected: Expectations, covariance: Array, field: Array, label: NDArray[np.int32], log_gate: Array, _: Array
) -> _Moments:
    """q(s, t | z) jointly: t is N(middle, 1 / tau) cut at zero, tau = 1 - slope' Q^-1 slope, and s is linear in it."""
    slope, constant = expected.slope[:, 0], expected.constant[:, 0]
    known = label >= 0
    sign = np.where(label == 1, 1.0, -1.0)[:, None]
    base = np.einsum("nhtu,nhu->nht", covariance, field)
    lever = np.einsum("nhtu,hu->nht", covariance, slope) * known[:, None, None]
    tau = 1.0 - np.einsum("nht,ht->nh", lever, slope)
    middle = (constant + np.einsum("nht,ht->nh", base, slope)) / tau
    kappa = sign * middle * np.sqrt(tau)
    log_tail = log_ndtr(kappa)
    mills = np.exp(-0.5 * (kappa**2 + _LOG_2PI) - log_tail)
    mean = np.where(known[:, None], middle + sign * mills / np.sqrt(tau), 0.0)
    variance = np.where(known[:, None], np.maximum(1.0 - mills * (mills + kappa), 1e-12) / tau, 0.0)
    log_z = log_gate + 0.5 * np.einsum("nht,nht->nh", field, base)
    log_label = 0.5 * tau * middle**2 - 0.5 * np.log(tau) + log_tail - 0.5 * expected.constant_square
    log_z += np.where(known[:, None], log_label, 0.0)
    s = base + lever * mean[..., None]
    ss = covariance + variance[..., None, None] * lever[..., :, None] * lever[..., None, :]
    ss += s[..., :, None] * s[..., None, :]
    ts = mean[..., None] * s + variance[..., None] * lever
    return _Moments(log_z, s, ss, mean[..., None], ts[:, :, None, :])


def many_classes(
    expected: Expectations, covariance: Array, field: Array, label: NDArray[np.int32], log_gate: Array, latent: Array
) -> _Moments:
    """q(s | z) q(t | z): s normal, t normal with unit variances in the cone where the class of the row is the largest."""
    known = np.flatnonzero(label >= 0)
    base = np.einsum("nhtu,nhu->nht", covariance, field)
    lever = np.einsum("nhtu,hcu->nhct", covariance[known], expected.slope)
    gain = np.einsum("nhct,hdt->nhcd", lever, expected.slope)
    start = expected.constant + np.einsum("nht,hct->nhc", base[known], expected.slope)
    top = np.broadcast_to(label[known, None], start.shape[:2])
    t = latent[known]
    for _ in range(ROUNDS):
        before = t
        middle = start + np.einsum("nhcd,nhd->nhc", gain, before)
        log_top, t = cone(middle, top)
    s = base.copy()
    s[known] += np.einsum("nhct,nhc->nht", lever, before)
    pulled = field.copy()
    pulled[known] += np.einsum("hct,nhc->nht", expected.slope, before)
    # - s' Q s / 2 + s' field, with Q s = pulled
    log_z = log_gate + np.einsum("nht,nht->nh", field - 0.5 * pulled, s)
    log_z[known] += log_top + 0.5 * (middle**2).sum(-1) - 0.5 * expected.constant_square
    ss = covariance + s[..., :, None] * s[..., None, :]
    all_t = np.zeros((*log_gate.shape, expected.slope.shape[1]))
    all_t[known] = t
    return _Moments(log_z, s, ss, all_t, all_t[..., None] * s[:, :, None, :])


def _add(
    sums: Sums,
    problem: FactorProblem,
    expected: Expectations,
    shared: _Shared,
    state: FactorState,
    rows: slice,
    moments: _Moments,
    k: Array,
    loadings: bool,
    assignment: Array | None,
) -> None:
    """Responsibilities of a block, and its part of every sum."""
    x, seen, weight = problem.values[rows], problem.seen[rows], problem.weight[rows]
    log_total = np.logaddexp.reduce(moments.log_z, axis=1)
    r = np.exp(moments.log_z - log_total[:, None]) if assignment is None else assignment[rows]
    sums.log_rows += float(weight @ log_total)
    r = r * weight[:, None]
    rs = r[..., None] * moments.s
    n, h, t = rs.shape
    lab = r * (problem.label[rows] >= 0)[:, None]
    sums.count += r.sum(0)
    sums.labelled_count += lab.sum(0)
    sums.labelled_s += np.einsum("nh,nht->ht", lab, moments.s)
    sums.labelled_ss += _weighted(lab, moments.ss)
    sums.latent += np.einsum("nh,nhc->hc", lab, moments.t)
    sums.latent_s += np.einsum("nh,nhct->hct", lab, moments.ts)
    sums.ss += _weighted(r, moments.ss)
    sums.fit += np.einsum("nht,nt->ht", rs, x @ state.loading)
    if loadings:
        spread = np.einsum("nh,htu,nhtu->ntu", r * expected.noise, expected.pairs, moments.ss, optimize=True)
        sums.precision += (problem.group_seen[rows].T @ spread.reshape(n, -1)).reshape(sums.precision.shape)
        sums.target += x.T @ np.einsum("nht,ht->nt", rs, expected.noise[:, None] * state.used)
    else:
        sums.energy += _weighted(r, moments.ss * k[:, None])
        sums.squares += r.T @ problem.squares[rows]
        # a normal exp(f's - s'Qs / 2) integrates to less by this where s_t is fixed at 0
        variance = np.diagonal(moments.ss, axis1=2, axis2=3) - moments.s**2
        sums.worth += 0.5 * np.einsum("nh,nht->ht", r, moments.s**2 / variance + np.log(variance))
        sums.cell_count += r.T @ seen
        sums.cell_sum += r.T @ x
    sums.cell_s += (seen.T @ rs.reshape(n, h * t)).reshape(seen.shape[1], h, t).transpose(1, 0, 2)


def _weighted(weight: Array, matrices: Array) -> Array:
    """sum_i weight_ih M_ih, as one small product per component."""
    n, h, t, _ = matrices.shape
    return np.stack([(weight[:, j] @ matrices[:, j].reshape(n, t * t)).reshape(t, t) for j in range(h)])
