"""Small matrices with holes, and settings that end soon."""

import numpy as np

QUICK = {"burn_in": 30, "n_samples": 30, "n_chains": 2, "max_rank": 6, "random_state": 0}


def low_rank(n=30, p=20, rank=2, noise=0.1, observed=0.6, seed=0):
    """The matrix with holes (NaN), and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) + rng.normal(size=(n, 1)) + 2.0
    X = truth + noise * rng.normal(size=truth.shape)
    X[rng.random(X.shape) > observed] = np.nan
    return X, truth


def triplets(X):
    """Rows, columns and values of the cells that are there."""
    row, column = np.nonzero(~np.isnan(X))
    return row, column, X[row, column]


def stars(n=40, p=25, seed=0):
    """Levels 1 to 5 with holes."""
    X, _ = low_rank(n, p, 2, 0.5, 0.7, seed)
    cut = np.nanquantile(X, [0.2, 0.4, 0.6, 0.8])
    return np.where(np.isnan(X), np.nan, 1.0 + np.searchsorted(cut, np.nan_to_num(X)))
