"""Step 2 of a sweep: coefficients of the features given the factors, block by block, and the precision of each block.

Column k of the factors (the offset is one of them) is x = sum over blocks of A S gamma + noise of precision p_k, with
gamma ~ N(0, 1 / (p_k lambda)). Given the other blocks, the coefficients of a block are independent: precision
p_k (S^2 + lambda), mean S A'(x - other blocks) / (S^2 + lambda).
"""

from __future__ import annotations

import numpy as np

from .features import Features
from .problem import Problem
from .sides import Side
from .state import Regression, State


def start_regression(features: Features, n_components: int) -> Regression:
    """No coefficients yet; precisions at which features say little."""
    return Regression(
        [np.zeros((len(block), n_components + 1)) for block in features.blocks],
        [np.full(2, 3.0 * float(np.mean(block.size**2))) for block in features.blocks],
    )


def draw_regression(problem: Problem, rng: np.random.Generator, state: State, side: Side) -> None:
    """New coefficients, precisions and prior means of one side; nothing where it has no features."""
    features = side.features(problem)
    if not features.blocks:
        return
    k, regression = state.n_components, side.regression(state)
    x = np.column_stack([side.matrix(state), side.offset(state)])
    precision = side.precision(problem, state)
    projected = features.left.T @ x  # A'x of all blocks at once
    scaled = features.size[:, None] * np.concatenate(regression.coefficients)  # S gamma
    for b, (block, part) in enumerate(zip(features.blocks, features.parts, strict=True)):
        # A'(x - other blocks): A'A of a block with itself is the identity, so its own share is added back
        rest = projected[part] - features.overlap[part] @ scaled + scaled[part]
        ridge = np.append(np.full(k, regression.ridge[b][0]), regression.ridge[b][1])
        total = (block.size**2)[:, None] + ridge
        drawn = block.size[:, None] * rest / total + rng.standard_normal(total.shape) / np.sqrt(total * precision)
        if not problem.offsets:
            drawn[:, k] = 0.0
        regression.coefficients[b] = drawn
        scaled[part] = block.size[:, None] * drawn
        regression.ridge[b] = _draw_ridge(problem, rng, block.size, drawn, precision)
    setattr(state, f"{side.name}_mean", features.left @ scaled)


def _draw_ridge(
    problem: Problem, rng: np.random.Generator, size: np.ndarray, drawn: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    """lambda of the factors and of the offset given the coefficients."""
    hyper, n, k = problem.hyper, len(size), drawn.shape[1] - 1
    rate = hyper.ridge_rate / float(np.mean(size**2))
    squares = precision * (drawn**2).sum(axis=0)
    counts = np.array([n * k, n if problem.offsets else 0])
    sums = np.array([squares[:k].sum(), squares[k]])
    return rng.standard_gamma(hyper.ridge_shape + 0.5 * counts) / (rate + 0.5 * sums)


def coefficient_gram(regression: Regression, n_components: int) -> np.ndarray:
    """(K, K) sum over blocks of lambda gamma'gamma: what the coefficients add to the squares of the factors."""
    total = np.zeros((n_components, n_components))
    for coefficients, ridge in zip(regression.coefficients, regression.ridge, strict=True):
        total += ridge[0] * coefficients[:, :-1].T @ coefficients[:, :-1]
    return total


def offset_squares(regression: Regression) -> float:
    """The same of the offsets' coefficients."""
    pairs = zip(regression.coefficients, regression.ridge, strict=True)
    return sum(float(ridge[1] * (coefficients[:, -1] @ coefficients[:, -1])) for coefficients, ridge in pairs)
