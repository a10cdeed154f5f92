"""Gamma prior, Poisson counts: theta ~ Gamma(shape, rate), x | theta ~ Poisson(theta)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, digamma, gammaln, nbdtrik

from .protocol import Array, Size, as_shape, grid_product, observed_reals, powers_of_two, require, settle, weighted_sum


def gamma_divergence(shape: Array, rate: Array, other_shape: Array, other_rate: Array) -> Array:
    """Return KL(Gamma(shape, rate) || Gamma(other_shape, other_rate))."""
    return (
        (shape - other_shape) * digamma(shape)
        - gammaln(shape)
        + gammaln(other_shape)
        + other_shape * np.log(rate / other_rate)
        + shape * (other_rate - rate) / rate
    )


@dataclass(frozen=True, eq=False)
class GammaPoisson:
    """Prior sum (`shape`) of prior exposure (`rate`). Statistics, s = 3: number of cells, sum, sum of log x!."""

    shape: Array
    rate: Array
    event_ndim: ClassVar[int] = 0

    def __post_init__(self) -> None:
        settle(self, positive=("shape", "rate"))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.shape.shape

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        seen, x = observed_reals(x)
        return np.stack([weighted_sum(cells, weights) for cells in (seen, x, gammaln(x + 1))], axis=-1)

    def posterior(self, statistics: ArrayLike) -> GammaPoisson:
        count, total, _ = np.moveaxis(np.asarray(statistics, float), -1, 0)
        return GammaPoisson(self.shape + total, self.rate + count)

    def log_marginal(self, statistics: ArrayLike) -> Array:
        count, total, log_factorials = np.moveaxis(np.asarray(statistics, float), -1, 0)
        return (
            gammaln(self.shape + total)
            - gammaln(self.shape)
            - self.shape * np.log1p(count / self.rate)
            - total * np.log(self.rate + count)
            - log_factorials
        )

    def log_predictive(self, x: ArrayLike) -> Array:
        """Return the log negative binomial probability of counts x."""
        seen, x = observed_reals(x)
        value = (
            gammaln(self.shape + x)
            - gammaln(self.shape)
            - gammaln(x + 1)
            - self.shape * np.log1p(1 / self.rate)
            - x * np.log1p(self.rate)
        )
        return np.where(seen, value, 0.0)

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw theta, the mean count."""
        return np.asarray(rng.standard_gamma(self.shape, as_shape(size) + self.batch_shape)) / self.rate

    def sample_values(self, parameters: Array, rng: np.random.Generator, size: Size = ()) -> Array:
        return np.asarray(rng.poisson(parameters, as_shape(size) + np.shape(parameters)), dtype=float)

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        seen, x = observed_reals(x)
        value = x * (digamma(self.shape) - np.log(self.rate)) - self.shape / self.rate - gammaln(x + 1)
        return np.where(seen, value, 0.0)

    def divergence(self, other: GammaPoisson) -> Array:
        return gamma_divergence(self.shape, self.rate, other.shape, other.rate)

    def predictive_mean(self) -> Array:
        return self.shape / self.rate

    def predictive_quantile(self, q: ArrayLike) -> Array:
        """Return the least count whose cumulative probability reaches q, q broadcast against B."""
        q = np.asarray(q, float)
        success = self.rate / (1 + self.rate)
        count = np.nan_to_num(np.ceil(nbdtrik(q, self.shape, success)), nan=0.0).clip(min=0.0)
        # The inverse is real-valued and rounded: step back where the count below is already enough, on where it is not.
        enough = betainc(self.shape, np.maximum(count, 1), success) >= q
        count = np.where(enough & (count > 0), count - 1, count)
        count = np.where(betainc(self.shape, count + 1, success) < q, count + 1, count)
        return np.where(q < 1, count, np.inf)

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw values of shape size + B, each under a theta of its own."""
        return self.sample_values(self.sample_parameters(rng, size), rng)

    @classmethod
    def default_grid(cls, mean: ArrayLike) -> GammaPoisson:
        """Return the grid as one family, B = mean.shape + (70,).

        The shape is 2^-4, ..., 2^5 and the prior mean, shape / rate, is 2^-3, ..., 2^3 times the column's `mean`, which
        must be positive: for a column that may be all zeros pass (sum + 1/2) / (n + 1).
        """
        mean = np.asarray(mean, float)
        shape, scale = grid_product(powers_of_two(-4, 5), powers_of_two(-3, 3))
        family = cls(np.ones(()), np.ones(()))
        require(family, "mean", mean, positive=True)
        return cls(shape, shape / (mean[..., None] * scale))
