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

from ..gated.truncated_normal import cone
from .beside import Hidden
from .problem import Array, FactorProblem
from .state import Expectations, FactorState, loading_moments
from .sums import Moments, Sums, add

Labels = NDArray[np.int32]
_BLOCK = 3_000_000  # numbers of the largest array of a block
_LOG_2PI = np.log(2.0 * np.pi)
ROUNDS = 3  # of the fixed point between t and s, with more than two classes


def sweep(
    problem: FactorProblem, state: FactorState, *, loadings: bool, assignment: Array | None = None
) -> tuple[Sums, Array]:
    """The sums over all rows, and the means of t where they are kept; `assignment` (n, H) fixes q(z)."""
    prior = problem.settings
    sticks = state.sticks(prior.concentration_shape, prior.concentration_rate)
    tables = problem.beside.tables(state.cells)
    expected = Expectations.of(state, sticks.expected_log_weights(), tables)
    shared = _Shared.of(state)
    sums = Sums.zero(state, problem.group_seen.shape[1], loadings)
    latent = np.zeros_like(state.latent)
    h, t = state.n_components, max(1, state.n_active)
    size = max(8, _BLOCK // (h * t * t + h * t * state.n_experts))
    for start in range(0, problem.n_rows, size):
        rows = slice(start, start + size)
        hidden = Hidden(problem.beside, rows, sums.guesses, expected.now, state.n_active)
        moments = _block(problem, state, expected, shared, rows, hidden)
        if hidden.guesses is not None:  # what t and s look like, for the guesses to follow; then again
            hidden.update(moments.t, moments.s)
            moments = _block(problem, state, expected, shared, rows, hidden, moments.t)
            moments.log_z += hidden.log_weight()
        if len(latent):
            latent[rows] = moments.t
        log_total = np.logaddexp.reduce(moments.log_z, axis=1)
        r = np.exp(moments.log_z - log_total[:, None]) if assignment is None else assignment[rows]
        sums.log_rows += float(problem.weight[rows] @ log_total)
        add(sums, problem, state, expected, rows, moments, r * problem.weight[rows, None], loadings)
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
    problem: FactorProblem, state: FactorState, expected: Expectations, shared: _Shared, rows: slice, hidden: Hidden,
    before: Array | None = None,
) -> Moments:  # fmt: skip
    x, seen, label = problem.values[rows], problem.seen[rows], problem.label[rows]
    n, h, t = len(x), state.n_components, state.n_active
    k = (problem.group_seen[rows] @ shared.moments).reshape(n, t, t)
    pull = (x @ state.loading)[:, None, :] - (seen @ shared.shifted).reshape(n, h, t)
    far = problem.squares[rows, None] - 2.0 * x @ state.mean.T + seen @ shared.square_mean
    log_gate = 0.5 * problem.n_seen[rows, None] * (expected.log_noise - _LOG_2PI) + expected.log_weight
    log_gate -= 0.5 * (expected.noise * far + seen @ expected.mean_term.T)
    if problem.beside.columns:
        log_gate += problem.beside.log_gate(state.cells, expected.now.tables, rows)
    offset = Offsets.of(expected, hidden.looks)
    known = (label >= 0).astype(float)
    q = k[:, None] * (expected.noise[:, None, None] * expected.pairs)
    q += known[:, None, None, None] * expected.slope_square
    q[..., np.arange(t), np.arange(t)] += 1.0
    covariance = np.asarray(np.linalg.inv(q), dtype=np.float64)
    log_det = 2.0 * np.log(np.diagonal(np.linalg.cholesky(q), axis1=-2, axis2=-1)).sum(-1)
    field = expected.noise[:, None] * state.used * pull - known[:, None, None] * offset.cross
    log_gate -= 0.5 * log_det
    solve = two_classes if state.n_experts == 1 else many_classes
    latent = state.latent[rows] if len(state.latent) else state.latent
    latent = latent if before is None else before
    log_z, s, ss, mean, ts = solve(expected, offset, covariance, field, label, log_gate, latent)
    return Moments(log_z, s, ss, mean, ts, k, hidden)


@dataclass(frozen=True)
class Offsets:
    """What experts make of the features f of rows: <w_f>'f (n, H, C), <(w o b) w_f'> f (n, H, T) and f'<w_f w_f'>f
    (n, H)."""

    constant: Array
    cross: Array
    square: Array

    @classmethod
    def of(cls, expected: Expectations, looks: Array) -> Offsets:
        """looks (H, n, d) or (1, n, d)."""
        constant = np.matmul(looks, np.swapaxes(expected.constant, 1, 2))
        cross = np.matmul(looks, expected.slope_constant)
        square = (np.matmul(looks, expected.constant_square) * looks).sum(2)
        return cls(np.swapaxes(constant, 0, 1), np.swapaxes(cross, 0, 1), square.T)


def two_classes(
    expected: Expectations, offset: Offsets, covariance: Array, field: Array, label: Labels, log_gate: Array, _: Array
) -> tuple[Array, ...]:
    """q(s, t | z) jointly: t is N(middle, 1 / tau) cut at zero, tau = 1 - slope' Q^-1 slope, and s is linear in it."""
    slope, constant = expected.slope[:, 0], offset.constant[:, :, 0]
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
    log_label = 0.5 * tau * middle**2 - 0.5 * np.log(tau) + log_tail - 0.5 * offset.square
    log_z += np.where(known[:, None], log_label, 0.0)
    s = base + lever * mean[..., None]
    ss = covariance + variance[..., None, None] * lever[..., :, None] * lever[..., None, :]
    ss += s[..., :, None] * s[..., None, :]
    ts = mean[..., None] * s + variance[..., None] * lever
    return log_z, s, ss, mean[..., None], ts[:, :, None, :]


def many_classes(
    expected: Expectations, offset: Offsets, covariance: Array, field: Array, label: Labels, log_gate: Array,
    latent: Array,
) -> tuple[Array, ...]:  # fmt: skip
    """q(s | z) q(t | z): s normal, t normal with unit variances in the cone of the row's class."""
    known = np.flatnonzero(label >= 0)
    base = np.einsum("nhtu,nhu->nht", covariance, field)
    lever = np.einsum("nhtu,hcu->nhct", covariance[known], expected.slope)
    gain = np.einsum("nhct,hdt->nhcd", lever, expected.slope)
    start = offset.constant[known] + np.einsum("nht,hct->nhc", base[known], expected.slope)
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
    log_z[known] += log_top + 0.5 * (middle**2).sum(-1) - 0.5 * offset.square[known]
    ss = covariance + s[..., :, None] * s[..., None, :]
    all_t = np.zeros((*log_gate.shape, expected.slope.shape[1]))
    all_t[known] = t
    return log_z, s, ss, all_t, all_t[..., None] * s[:, :, None, :]
