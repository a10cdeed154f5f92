"""How probable observed cells are under the draws together: logarithms of mixtures of their densities."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, log_ndtr, logsumexp

from .laws import Laws


def log_densities(laws: Laws, link: str, values: np.ndarray, trials: np.ndarray | None) -> np.ndarray:
    """(m,) log posterior predictive density of reals, codes of levels, or successes in trials."""
    if link == "gaussian":
        variance = laws.noise + laws.doubt
        terms = -0.5 * np.log(2 * np.pi * variance) - 0.5 * (values - laws.f) ** 2 / variance
        return logsumexp(terms, axis=0, b=laws.weight[:, None])
    if link == "ordinal":
        chance = np.take_along_axis(laws.level_chances(), values.astype(int)[None, :, None], axis=2)[:, :, 0]
        return np.log(np.maximum(laws.weight @ chance, 1e-300))
    assert trials is not None
    wide = laws.spread()
    ways = -np.log1p(trials) - betaln(values + 1, trials - values + 1)  # log of trials choose successes
    terms = values * log_ndtr(wide.f) + (trials - values) * log_ndtr(-wide.f)
    return ways + logsumexp(terms, axis=0, b=wide.weight[:, None])
