"""Convergence of chains and quality of weights: R-hat, effective sample sizes, Monte Carlo standard error.

[1] Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021). Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC. Bayesian Analysis 16(2).

Draws are arrays (chains, draws) or (chains, draws, ...); the result is a float or an array of the remaining shape.
Fewer than 4 draws, or a draw that is not finite, give NaN (cut interrupted chains first: `Outcome.common_infos`). Draws
that never change give R-hat NaN, since nothing can be said, an effective size of all the draws, and an error of 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

_MIN_DRAWS = 4


def r_hat(draws: Any) -> Any:
    """Rank-normalised split R-hat, the larger of the bulk's and the tails'. Below 1.01 is good.

    One chain is allowed: its two halves are compared.
    """

    def one(chains: np.ndarray) -> float:
        halves = _split(chains)
        folded = np.abs(halves - np.median(halves))
        return max(_r_hat(_normal_scores(halves)), _r_hat(_normal_scores(folded)))

    return _each(one, draws)


def ess_bulk(draws: Any) -> Any:
    """Effective sample size of the rank-normalised draws: how well the centre is known."""
    return _each(lambda chains: _ess(_normal_scores(_split(chains))), draws)


def ess_tail(draws: Any) -> Any:
    """The smaller effective sample size of the 5 % and the 95 % quantile."""

    def one(chains: np.ndarray) -> float:
        return min(_ess(_split((chains <= np.quantile(chains, p)).astype(float))) for p in (0.05, 0.95))

    return _each(one, draws)


def mcse_mean(draws: Any) -> Any:
    """Monte Carlo standard error of the mean: standard deviation over the root of the effective sample size."""
    return _each(lambda chains: float(np.std(chains, ddof=1) / np.sqrt(_ess(_split(chains)))), draws)


def effective_sample_size(log_weights: Any) -> Any:
    """Effective number of importance weights, (sum w)^2 / sum w^2, over the last axis; 0 if all weights are 0.

    Weights are given by their logarithms, up to a constant; -inf is a weight of 0.
    """
    log_weights = np.asarray(log_weights, dtype=float)
    if log_weights.ndim == 0 or log_weights.shape[-1] == 0:
        raise ValueError(f"log_weights has the shape {log_weights.shape}; give at least one weight along the last axis")
    if np.isnan(log_weights).any() or np.isposinf(log_weights).any():
        raise ValueError("log_weights holds NaN or +inf; only finite values and -inf (a weight of 0) are weights")
    top = log_weights.max(axis=-1, keepdims=True)
    weights = np.exp(log_weights - np.where(np.isfinite(top), top, 0.0))
    total, squares = weights.sum(axis=-1), (weights**2).sum(axis=-1)
    size = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return float(size) if size.ndim == 0 else size


def _each(statistic: Callable[[np.ndarray], float], draws: Any) -> Any:
    """The statistic of every quantity, each an array (chains, draws)."""
    draws = np.asarray(draws, dtype=float)
    if draws.ndim < 2:
        raise ValueError(f"draws has the shape {draws.shape}; give an array (chains, draws) or (chains, draws, ...)")
    flat = draws.reshape(*draws.shape[:2], -1)
    valid = np.isfinite(flat).all(axis=(0, 1)) & (draws.shape[0] > 0) & (draws.shape[1] >= _MIN_DRAWS)
    values = [statistic(flat[:, :, i]) if ok else np.nan for i, ok in enumerate(valid)]
    return values[0] if draws.ndim == 2 else np.array(values, dtype=float).reshape(draws.shape[2:])


def _split(chains: np.ndarray) -> np.ndarray:
    """Every chain as two: its first and its second half (the middle draw of an odd number is left out)."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def _normal_scores(chains: np.ndarray) -> np.ndarray:
    """Normal quantiles of the ranks over all chains, with Blom's offset of 3/8 as in [1]."""
    ranks = rankdata(chains, method="average").reshape(chains.shape)
    return ndtri((ranks - 3 / 8) / (chains.size + 1 / 4))


def _r_hat(chains: np.ndarray) -> float:
    """Split R-hat of [1]: the root of the pooled over the within-chain variance."""
    n = chains.shape[1]
    between = n * np.var(chains.mean(axis=1), ddof=1)
    within = np.mean(np.var(chains, axis=1, ddof=1))
    if within == 0:
        return np.nan if between == 0 else np.inf
    return float(np.sqrt((between / within + n - 1) / n))


def _ess(chains: np.ndarray) -> float:
    """Effective sample size of [1] from the combined autocorrelations, cut by Geyer's initial monotone sequence."""
    m, n = chains.shape
    if np.ptp(chains) < np.finfo(float).resolution:
        return float(chains.size)
    covariance = _autocovariance(chains).mean(axis=0)
    within = covariance[0] * n / (n - 1)
    pooled = covariance[0] + (np.var(chains.mean(axis=1), ddof=1) if m > 1 else 0.0)
    rho = 1 - (within - covariance) / pooled
    rho[0] = 1.0
    # Sums of neighbouring pairs of a reversible chain are positive and fall; from the first that is not, all is noise.
    n_pairs = 1 + len(range(1, n - 3, 2))
    even = rho[0 : 2 * n_pairs : 2]
    pairs = even + rho[1 : 2 * n_pairs : 2]
    last = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else n_pairs - 1
    rest = even[last] if pairs[last] >= 0 else max(even[last], 0.0)
    tau = -1 + 2 * np.minimum.accumulate(pairs[:last]).sum() + rest
    # The bound on antithetic chains: an effective size of at most S log10(S), as in [1].
    return float(chains.size / max(tau, 1 / np.log10(chains.size)))


def _autocovariance(chains: np.ndarray) -> np.ndarray:
    """Autocovariance (divided by n at every lag) of each chain, through the Fourier transform."""
    n = chains.shape[1]
    length = next_fast_len(2 * n, real=True)
    spectrum = rfft(chains - chains.mean(axis=1, keepdims=True), n=length, axis=1)
    return irfft(np.abs(spectrum) ** 2, n=length, axis=1)[:, :n] / n
