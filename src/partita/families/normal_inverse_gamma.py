"""Normal values, both parameters unknown, in the normal-inverse-chi-squared parametrisation.

theta = (mu, variance); variance ~ nu * sigma2 / chi-squared(nu), mu | variance ~ Normal(mean, variance / kappa),
x | theta ~ Normal(mu, variance). The same law as a normal-inverse-gamma with shape nu / 2 and rate nu * sigma2 / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, stdtrit

from .gamma_poisson import gamma_divergence
from .protocol import Array, Size, as_shape, grid_product, observed_reals, powers_of_two, settle, weighted_sum

LOG_PI = float(np.log(np.pi))


@dataclass(frozen=True, eq=False)
class NormalInverseChiSquared:
    """Prior `mean` worth `kappa` rows, prior variance `sigma2` worth `nu` rows.

    Statistics, s = 3: number of cells, sum, sum of squares. Raw sums lose the variance of a column whose mean is far
    from 0 in units of its standard deviation: centre columns first (the encoding does).
    """

    mean: Array
    kappa: Array
    nu: Array
    sigma2: Array
    event_ndim: ClassVar[int] = 0

    def __post_init__(self) -> None:
        settle(self, positive=("kappa", "nu", "sigma2"), real=("mean",))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.mean.shape

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        seen, x = observed_reals(x)
        return np.stack([weighted_sum(cells, weights) for cells in (seen, x, x * x)], axis=-1)

    def posterior(self, statistics: ArrayLike) -> NormalInverseChiSquared:
        count, total, squares = np.moveaxis(np.asarray(statistics, float), -1, 0)
        kappa, nu = self.kappa + count, self.nu + count
        average = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
        # Three terms, none negative, so rounding can never push the scale below the prior's nu * sigma2.
        within = np.maximum(squares - total * average, 0.0)
        between = self.kappa * count / kappa * (average - self.mean) ** 2
        mean = (self.kappa * self.mean + total) / kappa
        return NormalInverseChiSquared(mean, kappa, nu, (self.nu * self.sigma2 + within + between) / nu)

    def log_marginal(self, statistics: ArrayLike) -> Array:
        count = np.asarray(statistics, float)[..., 0]
        return self.posterior(statistics)._log_normaliser() - self._log_normaliser() - 0.5 * count * LOG_PI

    def log_predictive(self, x: ArrayLike) -> Array:
        """Return the log density of Student's t with nu degrees of freedom, variance scale sigma2 (1 + 1 / kappa)."""
        seen, x = observed_reals(x)
        spread = self.nu * self.sigma2 * (1 + 1 / self.kappa)
        value = (
            gammaln((self.nu + 1) / 2)
            - gammaln(self.nu / 2)
            - 0.5 * (LOG_PI + np.log(spread))
            - 0.5 * (self.nu + 1) * np.log1p((x - self.mean) ** 2 / spread)
        )
        return np.where(seen, value, 0.0)

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> tuple[Array, Array]:
        """Draw theta = (mu, variance)."""
        shape = as_shape(size) + self.batch_shape
        variance = self.nu * self.sigma2 / np.asarray(rng.chisquare(self.nu, shape))
        return self.mean + np.sqrt(variance / self.kappa) * rng.standard_normal(shape), variance

    def sample_values(self, parameters: tuple[Array, Array], rng: np.random.Generator, size: Size = ()) -> Array:
        mu, variance = parameters
        return mu + np.sqrt(variance) * rng.standard_normal(as_shape(size) + np.shape(mu))

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        seen, x = observed_reals(x)
        log_variance = np.log(self.nu * self.sigma2 / 2) - digamma(self.nu / 2)
        square = (x - self.mean) ** 2 / self.sigma2 + 1 / self.kappa
        return np.where(seen, -0.5 * (np.log(2 * np.pi) + log_variance + square), 0.0)

    def divergence(self, other: NormalInverseChiSquared) -> Array:
        of_precision = gamma_divergence(
            self.nu / 2, self.nu * self.sigma2 / 2, other.nu / 2, other.nu * other.sigma2 / 2
        )
        ratio = other.kappa / self.kappa
        shift = other.kappa * (self.mean - other.mean) ** 2 / self.sigma2
        return of_precision + 0.5 * (ratio - 1 - np.log(ratio) + shift)

    def predictive_mean(self) -> Array:
        """Return the centre of the predictive (its mean where nu > 1, its median always)."""
        return self.mean

    def predictive_quantile(self, q: ArrayLike) -> Array:
        """Return the quantile of Student's t, q broadcast against B."""
        return self.mean + np.sqrt(self.sigma2 * (1 + 1 / self.kappa)) * stdtrit(self.nu, np.asarray(q, float))

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw values of shape size + B, each under a theta of its own."""
        return self.sample_values(self.sample_parameters(rng, size), rng)

    @classmethod
    def default_grid(cls) -> NormalInverseChiSquared:
        """Return the grid for a standardised column as one family, B = (540,).

        kappa in 2^-6, ..., 2^2; nu in 2^0, ..., 2^5; sigma2 in 2^-8, ..., 2^1; mean 0.
        """
        kappa, nu, sigma2 = grid_product(powers_of_two(-6, 2), powers_of_two(0, 5), powers_of_two(-8, 1))
        return cls(np.zeros_like(kappa), kappa, nu, sigma2)

    def _log_normaliser(self) -> Array:
        """Return log of the integral of the unnormalised density, less factors that cancel in ratios."""
        return gammaln(self.nu / 2) - 0.5 * np.log(self.kappa) - 0.5 * self.nu * np.log(self.nu * self.sigma2)
