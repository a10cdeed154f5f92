"""Beta prior, Bernoulli values: theta ~ Beta(a, b), x | theta ~ Bernoulli(theta), codes 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, digamma

from .protocol import Array, Size, as_shape, grid_product, observed_codes, powers_of_two, settle, weighted_sum


@dataclass(frozen=True, eq=False)
class BetaBernoulli:
    """Pseudo-counts of ones (a) and zeros (b). Statistics, s = 2: number of ones, number of zeros."""

    a: Array
    b: Array
    event_ndim: ClassVar[int] = 0

    def __post_init__(self) -> None:
        settle(self, positive=("a", "b"))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.a.shape

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        seen, codes = observed_codes(x, 2)
        return np.stack([weighted_sum(seen & (codes == level), weights) for level in (1, 0)], axis=-1)

    def posterior(self, statistics: ArrayLike) -> BetaBernoulli:
        ones, zeros = np.moveaxis(np.asarray(statistics, float), -1, 0)
        return BetaBernoulli(self.a + ones, self.b + zeros)

    def log_marginal(self, statistics: ArrayLike) -> Array:
        ones, zeros = np.moveaxis(np.asarray(statistics, float), -1, 0)
        return betaln(self.a + ones, self.b + zeros) - betaln(self.a, self.b)

    def log_predictive(self, x: ArrayLike) -> Array:
        seen, codes = observed_codes(x, 2)
        log_total = np.log(self.a + self.b)
        return np.where(seen, np.where(codes == 1, np.log(self.a), np.log(self.b)) - log_total, 0.0)

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw theta, the probability of a one."""
        return np.asarray(rng.beta(self.a, self.b, as_shape(size) + self.batch_shape))

    def sample_values(self, parameters: Array, rng: np.random.Generator, size: Size = ()) -> NDArray[np.int32]:
        shape = as_shape(size) + np.shape(parameters)
        return np.asarray(rng.random(shape) < parameters).astype(np.int32)

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        seen, codes = observed_codes(x, 2)
        total = digamma(self.a + self.b)
        return np.where(seen, np.where(codes == 1, digamma(self.a), digamma(self.b)) - total, 0.0)

    def divergence(self, other: BetaBernoulli) -> Array:
        more_a, more_b = self.a - other.a, self.b - other.b
        return (
            betaln(other.a, other.b)
            - betaln(self.a, self.b)
            + more_a * digamma(self.a)
            + more_b * digamma(self.b)
            - (more_a + more_b) * digamma(self.a + self.b)
        )

    def predictive_mean(self) -> Array:
        """Return the probability of a one."""
        return self.a / (self.a + self.b)

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> NDArray[np.int32]:
        """Draw values of shape size + B, each under a theta of its own."""
        return self.sample_values(self.predictive_mean(), rng, size)

    @classmethod
    def default_grid(cls) -> BetaBernoulli:
        """Return the grid of hyper-parameters as one family, B = (100,): a and b each in 2^-4, ..., 2^5."""
        return cls(*grid_product(powers_of_two(-4, 5), powers_of_two(-4, 5)))
