"""What draws say of cells: means, doubt, probabilities, intervals, from their laws (`matrices.laws`)."""

from __future__ import annotations

import numpy as np

from .laws import Laws
from .quantiles import binomial_mixture_quantile, level_quantile, normal_mixture_quantile


def expectation(laws: Laws, link: str, levels: np.ndarray, noise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean of an observation, (m,), and the standard deviation of its expected value, or with `noise` of itself."""
    if link == "gaussian":
        mean = laws.weight @ laws.f
        inner = laws.doubt + laws.noise if noise else laws.doubt
        return mean, np.sqrt(laws.weight @ ((laws.f - mean) ** 2 + inner))
    mean = expected_values(laws, link, levels)
    mean = laws.weight @ mean
    if noise:
        square = laws.weight @ expected_values(laws, link, levels**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
    wide = laws.spread()
    values = expected_values(wide, link, levels)
    return mean, np.sqrt(wide.weight @ (values - mean) ** 2)


def expected_values(laws: Laws, link: str, levels: np.ndarray) -> np.ndarray:
    """(S, m) mean of an observation in every draw: of a real, of a level, or of success (0 or 1)."""
    if link == "gaussian":
        return laws.f
    return laws.level_chances() @ levels if link == "ordinal" else laws.chances()


def level_probabilities(laws: Laws) -> np.ndarray:
    """(m, L) posterior predictive probability of every level."""
    return np.tensordot(laws.weight, laws.level_chances(), axes=1)


def median(laws: Laws, link: str, levels: np.ndarray) -> np.ndarray:
    """(m,) median of an observation: the least level with at least half of the probability below or at it."""
    if link == "ordinal":
        return level_quantile(0.5, level_probabilities(laws), levels)
    if link == "binomial":
        return (laws.weight @ laws.chances() > 0.5).astype(float)
    return normal_mixture_quantile(0.5, laws.f, np.sqrt(laws.doubt + laws.noise))


def quantile(
    p: float, laws: Laws, link: str, levels: np.ndarray, noise: bool = True, trials: np.ndarray | None = None
) -> np.ndarray:
    """(m,) p-quantile of a new observation, or without `noise` of its expected value.

    A new observation of a binomial link is the number of successes in `trials` trials.
    """
    if noise and link == "gaussian":
        return normal_mixture_quantile(p, laws.f, np.sqrt(laws.doubt + laws.noise))
    if noise and link == "ordinal":
        return level_quantile(p, level_probabilities(laws), levels)
    if noise:
        return binomial_mixture_quantile(p, laws.spread().chances(), trials)  # type: ignore[arg-type]
    wide = laws.spread()
    return _weighted_quantile(p, expected_values(wide, link, levels), wide.weight)


def _weighted_quantile(p: float, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(m,) of values (S, m): linear between draws, each at the middle of its share."""
    order = np.argsort(values, axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    place = np.cumsum(weight[order], axis=0) - weight[order] / 2
    return np.array([np.interp(p, place[:, k], ranked[:, k]) for k in range(values.shape[1])])
