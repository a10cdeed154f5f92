"""The synthetic tasks of the accuracy bars, and what could be reached on them at best."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

MODES = (4, 10, 5, 20)


def coins(rng: np.random.Generator, k: int, n_columns: int) -> np.ndarray:
    return rng.beta(0.5, 0.5, (k, n_columns))


def rows_of(rng: np.random.Generator, theta: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    group = rng.integers(0, len(theta), n)
    return (rng.random((n, theta.shape[1])) < theta[group]).astype(float), group


def punch(rng: np.random.Generator, x: np.ndarray, fraction: float) -> np.ndarray:
    return np.where(rng.random(x.shape) < fraction, np.nan, x)


def classes(seed: int, n: int, missing: float, n_test: int = 500) -> dict:
    """Four classes of 4, 10, 5 and 20 modes over 100 coins (A75: 1000 rows, 75 %; B50: 200 rows, 50 %)."""
    rng = np.random.default_rng([1, seed])
    theta = [coins(rng, k, 100) for k in MODES]

    def make(m: int):
        y = rng.integers(0, len(MODES), m)
        x, g = np.empty((m, 100)), np.empty(m, int)
        for c in range(len(MODES)):
            x[y == c], g[y == c] = rows_of(rng, theta[c], int((y == c).sum()))
        return punch(rng, x, missing), y, g

    xt, yt, _ = make(n_test)
    x, y, g = make(n)
    return {"x": x, "y": y, "groups": g, "xt": xt, "yt": yt, "theta": theta}


def digits(seed: int, missing: float) -> dict:
    """Odd against even digits, 30 binarised principal components (D0, D25)."""
    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng([2, seed])
    order = rng.permutation(len(x))
    x = punch(rng, (PCA(30, random_state=0).fit_transform(x) > 0).astype(float), missing)
    test, train = order[:500], order[500:]
    return {"x": x[train], "y": y[train] % 2, "xt": x[test], "yt": y[test] % 2}


def density(seed: int) -> dict:
    """K: a density of 30 groups over 50 coins, 1000 rows, half of the cells missing."""
    rng = np.random.default_rng([3, seed])
    theta = coins(rng, 30, 50)
    xt, _ = rows_of(rng, theta, 2000)
    x, g = rows_of(rng, theta, 1000)
    return {"x": punch(rng, x, 0.5), "groups": g, "xt": xt, "truth": coin_log_density(xt, theta), "theta": [theta]}


def coin_log_density(x: np.ndarray, theta: np.ndarray, log_weight: np.ndarray | None = None) -> np.ndarray:
    s = (x == 1) @ np.log(theta).T + (x == 0) @ np.log1p(-theta).T
    w = np.full(len(theta), -np.log(len(theta))) if log_weight is None else log_weight
    return logsumexp(s + w, axis=1)


def told_groups(x: np.ndarray, groups: np.ndarray, k: int, xt: np.ndarray) -> np.ndarray:
    """log density when every training row's group is known: posterior predictive under the true Beta(1/2, 1/2)
    prior.
    """
    theta = np.empty((k, x.shape[1]))
    for g in range(k):
        ones, zeros = (x[groups == g] == 1).sum(0), (x[groups == g] == 0).sum(0)
        theta[g] = (ones + 0.5) / (ones + zeros + 1.0)
    return coin_log_density(xt, theta)


def true_prior(
    x: np.ndarray,
    groups: np.ndarray,
    k: int,
    xt: np.ndarray,
    rng: np.random.Generator,
    chains: int = 4,
    sweeps: int = 30,
) -> np.ndarray:
    """log density when the true prior is known (k equal weights, Beta(1/2, 1/2)): Gibbs on the groups, parameters
    drawn.

    Chains begin at the true groups: a limit should not suffer from a bad start.
    """
    one, nil = (x == 1).astype(float), (x == 0).astype(float)
    kept = []
    for _ in range(chains):
        z = groups.copy()
        for s in range(sweeps):
            a, b = np.full((k, x.shape[1]), 0.5), np.full((k, x.shape[1]), 0.5)
            np.add.at(a, z, one)
            np.add.at(b, z, nil)
            theta = np.clip(rng.beta(a, b), 1e-9, 1 - 1e-9)
            logp = one @ np.log(theta).T + nil @ np.log1p(-theta).T
            z = (logp + rng.gumbel(size=logp.shape)).argmax(1)
            if s >= sweeps // 2:
                kept.append(coin_log_density(xt, a / (a + b)))
    return logsumexp(kept, axis=0) - np.log(len(kept))


def loss(p: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """0-1 loss and log-loss."""
    q = np.clip(p / p.sum(1, keepdims=True), 1e-15, 1)
    return float((p.argmax(1) != y).mean()), float(-np.log(q[np.arange(len(y)), y]).mean())
