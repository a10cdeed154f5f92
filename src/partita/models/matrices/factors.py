"""Factors that can be looked at: the singular value decomposition of the posterior mean of the products.

Factors of single draws may be turned against each other without a change of any cell; the mean of their products is one
matrix, and its decomposition is as unique as a matrix allows. Directions in which the draws disagree shrink.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from .posterior import Posterior


def mean_factors(posterior: Posterior, n_factors: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (I, r), singular values (r,) descending and columns (J, r) of the mean of U V' over the draws.

    Signs: the entry of largest size in each column of the columns' part is positive.
    """
    draws = posterior.draws
    n, p = len(draws[0].U), len(draws[0].V)

    def times(x: np.ndarray) -> np.ndarray:
        return sum(draw.U @ (draw.V.T @ x) for draw in draws) / len(draws)

    def back(y: np.ndarray) -> np.ndarray:
        return sum(draw.V @ (draw.U.T @ y) for draw in draws) / len(draws)

    r = min(n_factors, n, p)
    if r < min(n, p) and n * p > 250_000:
        product = LinearOperator(
            (n, p), matvec=lambda x: times(x.ravel()), rmatvec=lambda y: back(y.ravel()), dtype=float
        )
        left, size, right = svds(product, k=r, v0=np.ones(min(n, p)))
    else:
        left, size, right = np.linalg.svd(times(np.eye(p)), full_matrices=False)
    order = np.argsort(-size, kind="stable")[:r]
    left, size, right = left[:, order], size[order], right[order].T
    sign = np.sign(right[np.abs(right).argmax(axis=0), np.arange(r)]) if r else np.ones(0)
    return left * sign, size, right * sign
