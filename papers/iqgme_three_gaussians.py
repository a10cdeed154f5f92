"""The synthetic example of the iQGME thesis: three Gaussians in the plane, each cut by a line of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from iqgme_thesis import Kept, one_model
from scipy.special import ndtr
from scipy.stats import multivariate_normal

CENTRES = np.array([[-3.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
COVARIANCES = np.array([[[0.52, -0.36], [-0.36, 0.73]], [[0.47, 0.19], [0.19, 0.7]], [[0.52, -0.36], [-0.36, 0.73]]])
LINES = np.array([[0.75, 2.25], [-0.58, 0.58], [0.75, -3.75]])  # slope and intercept of each boundary
ROWS = 300  # the thesis does not say how many
DEGREES = 4.0  # nu_0 = P + 2, as in the thesis; our own choice is P + 12, too much for gates as narrow as these
DOMINANT = 0.005  # mean weight above which a component counts, in the thesis
INK = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def make_rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and on which side of the line of their Gaussian they lie (1 above)."""
    rng = np.random.default_rng([32, seed])
    group = rng.integers(0, 3, n)
    X = np.array([rng.multivariate_normal(CENTRES[k], COVARIANCES[k]) for k in group])
    slope, intercept = LINES[group].T
    return X, (X[:, 1] > slope * X[:, 0] + intercept).astype(int)


def fitted(seed: int, n: int = ROWS) -> tuple[Kept, np.ndarray, np.ndarray]:
    X, y = make_rows(n, seed)
    return one_model(seed, nu_0=DEGREES, n_restarts=5).fit(X, y), X, y


def drawn_weights(model: Kept, size: int = 20_000) -> np.ndarray:
    """(size, N) weights of the components from the variational posterior of the sticks."""
    return model.sticks().sample_weights(np.random.default_rng(0), size)


def prior_weights(n_sticks: int, shape: float, rate: float, size: int = 20_000) -> np.ndarray:
    """(size, N) weights from the prior: the concentration first, then the sticks."""
    rng = np.random.default_rng(1)
    alpha = np.maximum(rng.gamma(shape, 1.0 / rate, (size, 1)), 1e-12)
    # V ~ Beta(1, alpha) by its quantiles, which hold for tiny alpha too
    stick = -np.expm1(np.log(rng.random((size, n_sticks))) / alpha)
    stick[:, -1] = 1.0
    rest = np.concatenate([np.ones((size, 1)), np.cumprod(1.0 - stick[:, :-1], axis=1)], axis=1)
    return stick * rest


def dominant(weights: np.ndarray) -> np.ndarray:
    """How many weights of each draw are above the thesis's threshold."""
    return (weights > DOMINANT).sum(axis=1)


def occupied(model: Kept) -> int:
    """The most probable number of components that hold a row."""
    return int(max(model.n_experts_posterior_, key=model.n_experts_posterior_.__getitem__))


def units(model: Kept) -> tuple[np.ndarray, np.ndarray]:
    """Centre and scale by which the columns were standardised."""
    columns = model.schema_.columns
    return np.array([c.centre for c in columns]), np.array([c.scale for c in columns])


def gates_of(model: Kept) -> list[tuple[np.ndarray, np.ndarray]]:
    """Posterior mean and expected covariance of every component, in the units of the rows."""
    centre, scale = units(model)
    gates = model.gated.gates
    spread = gates.scale / (gates.nu - 2 - 1)[:, None, None]
    return [(centre + scale * m, S * np.outer(scale, scale)) for m, S in zip(gates.mean, spread, strict=True)]


def by_means(model: Kept, X: np.ndarray) -> np.ndarray:
    """Probability of class 1 with posterior means in place of the parameters: Gaussian gates, experts Phi(w'x)."""
    centre, scale = units(model)
    Z, state = (X - centre) / scale, model.gated
    precision = state.gates.nu[:, None, None] * np.linalg.inv(state.gates.scale)
    gate = np.stack([
        w * multivariate_normal(m, np.linalg.inv(L)).pdf(Z)
        for w, m, L in zip(state.weight, state.gates.mean, precision, strict=True)
    ], axis=1)  # fmt: skip
    gate /= np.maximum(gate.sum(axis=1, keepdims=True), 1e-300)
    latent = np.column_stack([Z, np.ones(len(Z))]) @ state.experts.mean[:, 0].T
    return np.minimum((gate * ndtr(latent)).sum(axis=1), 1.0)


def grid(X: np.ndarray, steps: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points that cover the rows with a margin: the two axes, and all points in rows."""
    low, high = X.min(axis=0) - 1.5, X.max(axis=0) + 1.5
    a, b = np.linspace(low[0], high[0], steps), np.linspace(low[1], high[1], steps)
    return a, b, np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)


def ellipse(mean: np.ndarray, covariance: np.ndarray, radius: float = 2.0) -> np.ndarray:
    """(100, 2) points at `radius` standard deviations."""
    turn = np.linspace(0, 2 * np.pi, 100)
    return mean + radius * np.column_stack([np.cos(turn), np.sin(turn)]) @ np.linalg.cholesky(covariance).T


def draw_rows(panel: Any, X: np.ndarray, y: np.ndarray) -> None:
    for c, marker in ((0, "o"), (1, "x")):
        panel.scatter(*X[y == c].T, s=10, marker=marker, color=("#777777", "#222222")[c], linewidth=0.8,
                      label=f"class {c}")  # fmt: skip
