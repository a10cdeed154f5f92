"""Normal variables cut by a class label: the probit of two classes, and the cone of many.

Two classes: t ~ N(m, v), known to be of one sign. Many: t_k ~ N(m_k, 1) independently, known to have its largest
coordinate at the label [1]; the normaliser is E_u prod_{j != y} Phi(u + m_y - m_j) with u standard normal, an integral
in one dimension, taken by Gauss-Hermite quadrature around the mode of its integrand.

[1] M. Girolami and S. Rogers (2006), Variational Bayesian multinomial probit regression with Gaussian process priors,
Neural Computation 18, 1790-1817.
[2] A. Genz (1992), Numerical computation of multivariate normal probabilities, Journal of Computational and Graphical
Statistics 1, 141-149.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ...kernels import kernel

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
_LOG_WEIGHTS = np.log(_WEIGHTS) + 0.5 * _NODES**2
HOPELESS = 40.0
LATTICE = 600  # points for all classes together, where latents share factors
PART = 20_000  # variables that a kernel is handed at once
TIED = 0.1  # of a variance of differences: matched ones that are nearer do


def _ratio(a: np.ndarray, log_phi: np.ndarray) -> np.ndarray:
    """phi(a) / Phi(a), of the order of -a far in the left tail."""
    return np.exp(-0.5 * a * a - HALF_LOG_2PI - log_phi)


def cut_at_zero(mean: np.ndarray, variance: np.ndarray, sign: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log P(sign t > 0), E[t] and Var[t] given that sign; in the far tail by series, where ratios cancel."""
    sd = np.sqrt(variance)
    a = sign * mean / sd
    log_phi = log_ndtr(a)
    far = a < -30.0
    near = np.where(far, 0.0, a)
    ratio = _ratio(near, np.where(far, np.log(0.5), log_phi))
    excess = ratio + near  # E[sign t] / sd
    shrunk = 1.0 - ratio * excess  # Var[t] / variance
    if far.any():
        inverse = 1.0 / np.where(far, a * a, 1.0)
        excess = np.where(far, (1.0 - 2.0 * inverse) / np.where(far, -a, 1.0), excess)
        shrunk = np.where(far, inverse * (1.0 - 6.0 * inverse), shrunk)
    return log_phi, sign * sd * excess, variance * np.clip(shrunk, 1e-12, 1.0)


def cone(mean: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log P(t_y is the largest) and E[t] given so, for t ~ N(mean, I): (...) and (..., K); label broadcasts (...)."""
    mean = np.ascontiguousarray(mean, dtype=float)
    label = np.ascontiguousarray(np.broadcast_to(label, mean.shape[:-1]), dtype=np.int64)
    log_p, expected = np.empty(label.shape), np.empty(mean.shape)
    for part in _parts(mean):
        rows, moved = mean.reshape(-1, mean.shape[-1])[part], expected.reshape(-1, mean.shape[-1])[part]
        kernel.cone(rows, label.reshape(-1)[part], _NODES, _LOG_WEIGHTS, log_p.reshape(-1)[part], moved)
    return log_p, expected


def _parts(mean: np.ndarray) -> list[slice]:
    """Rows of (..., K) in parts that a kernel is done with soon."""
    k = mean.shape[-1]
    return [slice(first, first + PART // k + 1) for first in range(0, mean.size // k, PART // k + 1)]


def hopeful_cone(mean: np.ndarray, label: np.ndarray, log_most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`cone` of the rows (b,) in those components (b, H) that may hold them, mean (b, H, K): log_most (b, H) is what
    the log weight of a component comes to if it is sure of the label. Elsewhere the label is taken for sure, and t for
    free: there a weight, even so, is less than exp(-`HOPELESS`) of the row's largest."""
    log_label, expected = np.zeros(log_most.shape), mean.copy()
    todo = log_most > log_most.max(axis=1, keepdims=True) - 0.25 * HOPELESS
    done = np.zeros_like(todo)
    while todo.any():
        row, component = np.nonzero(todo)
        log_label[todo], expected[todo] = cone(mean[row, component], label[row])
        done |= todo
        best = np.where(done, log_most + log_label, -np.inf).max(axis=1, keepdims=True)
        todo = ~done & (log_most > best - HOPELESS)
    return log_label, expected


def cone_probabilities(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """log P(t_c is the largest) for every c, t_c ~ N(mean_c, variance_c) independent: (..., K), normalised."""
    k = mean.shape[-1]
    out, rows = np.empty(mean.shape), np.ascontiguousarray(mean, dtype=float).reshape(-1, k)
    sd = np.ascontiguousarray(np.sqrt(np.broadcast_to(variance, mean.shape)), dtype=float).reshape(-1, k)
    for part in _parts(rows):
        kernel.cone_probabilities(rows[part], sd[part], _NODES, _LOG_WEIGHTS, out.reshape(-1, k)[part])
    return out


def tied_cone_probabilities(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """log P(t_c is the largest) for every c, t ~ N(mean, covariance): (n, K), normalised.

    For every c the integral over the K - 1 differences t_j - t_c < 0 is taken one difference after another, each cut
    given those before it [2], over the points of a lattice that are the same for all rows.
    """
    n, k = mean.shape
    points, out = _lattice(k - 2, max(LATTICE // k, 16)), np.empty(mean.shape)
    for c in range(k):
        others = _others(k)[c]
        gap = mean[:, others] - mean[:, [c]]
        spread = covariance[:, others[:, None], others] + covariance[:, c, c][:, None, None]
        spread = spread - covariance[:, others, c][:, :, None] - covariance[:, c, others][:, None, :]
        # the likeliest to be larger than t_c first: what is left then varies least over the points
        order = np.argsort(-gap / np.sqrt(np.diagonal(spread, axis1=1, axis2=2)), axis=1, kind="stable")
        gap = np.take_along_axis(gap, order, axis=1)
        spread = spread[np.arange(n)[:, None, None], order[:, :, None], order[:, None, :]]
        out[:, c] = _log_orthant(gap, np.linalg.cholesky(spread), points)
    return out - np.logaddexp.reduce(out, axis=1, keepdims=True)


def _log_orthant(mean: np.ndarray, root: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) log P(all coordinates of N(mean, root root') < 0); points (N, d - 1) in the unit cube."""
    n, d = mean.shape
    total, drawn = np.zeros((n, len(points))), np.zeros((n, len(points), d))
    for j in range(d):
        edge = -(mean[:, j, None] + np.matmul(drawn[:, :, :j], root[:, j, :j, None])[:, :, 0]) / root[:, j, j, None]
        log_share = log_ndtr(edge)
        total += log_share
        if j < d - 1:
            drawn[:, :, j] = ndtri_exp(np.log(points[:, j]) + log_share)
    return np.logaddexp.reduce(total, axis=1) - np.log(len(points))


def _lattice(d: int, n: int) -> np.ndarray:
    """(n, d) points that fill the unit cube evenly: multiples of roots of primes, folded [2]."""
    primes = [p for p in range(2, 40 + 8 * d) if all(p % q for q in range(2, int(p**0.5) + 1))][:d]
    places = np.mod((np.arange(n)[:, None] + 0.5) * np.sqrt(np.array(primes, float)), 1.0)
    return np.clip(np.abs(2.0 * places - 1.0), 1e-6, 1.0 - 1e-6)


def strongly_tied(covariance: np.ndarray) -> np.ndarray:
    """Whether (...) the matched variances of `independent_variances` could be off: more than three classes, and a
    difference t_c - t_j whose variance they do not meet."""
    if covariance.shape[-1] <= 3:
        return np.zeros(covariance.shape[:-2], bool)
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    wanted = own[..., :, None] + own[..., None, :] - 2.0 * covariance
    matched = independent_variances(covariance)
    got = matched[..., :, None] + matched[..., None, :]
    off = np.abs(got - wanted) * (1.0 - np.eye(covariance.shape[-1]))
    return (off > TIED * wanted.mean(axis=(-2, -1), keepdims=True)).any(axis=(-2, -1))


def independent_variances(covariance: np.ndarray) -> np.ndarray:
    """Variances (..., K) whose sums come nearest to the variances of all differences t_c - t_j.

    Only differences decide which coordinate is the largest. With at most three classes their variances are met
    exactly; with more, in least squares. No variance falls below a twentieth of the noise's.
    """
    k = covariance.shape[-1]
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    of_differences = own[..., :, None] + own[..., None, :] - 2.0 * covariance
    row = of_differences.sum(axis=-1)
    if k == 2:
        return row / 2.0 + np.zeros_like(own)
    return np.maximum((row - row.sum(axis=-1, keepdims=True) / (2.0 * (k - 1))) / (k - 2), 0.05)


def _others(k: int) -> np.ndarray:
    """(k, k - 1): for every class, all the others."""
    return np.array([[j for j in range(k) if j != c] for c in range(k)], np.intp).reshape(k, k - 1)
