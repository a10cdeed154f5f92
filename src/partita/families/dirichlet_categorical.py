"""Dirichlet prior, categorical values: theta ~ Dirichlet(concentration), x | theta ~ theta, codes 0..L-1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from .protocol import Array, Size, as_shape, observed_codes, powers_of_two, weighted_sum


@dataclass(frozen=True, eq=False)
class DirichletCategorical:
    """Pseudo-counts `concentration` of shape B + (L,). Statistics, s = L: number of rows at each level.

    A level of concentration 0 does not exist (its probability is 0), so columns with fewer levels than the others can
    share one array: pad them with zeros.
    """

    concentration: Array
    event_ndim: ClassVar[int] = 0

    def __post_init__(self) -> None:
        concentration = np.asarray(self.concentration, float)
        if concentration.ndim == 0 or not (np.isfinite(concentration) & (concentration >= 0)).all():
            raise ValueError(
                "DirichletCategorical: concentration must be an array (..., levels) of finite numbers, "
                f"none negative, got {self.concentration!r}; pass one pseudo-count per level."
            )
        if not (concentration > 0).any(axis=-1).all():
            raise ValueError(
                "DirichletCategorical: concentration has a row of zeros; give every row a level above 0 "
                "(a column of unknown levels needs at least one)."
            )
        object.__setattr__(self, "concentration", concentration)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.concentration.shape[:-1]

    @property
    def n_levels(self) -> int:
        return self.concentration.shape[-1]

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        seen, codes = observed_codes(x, self.n_levels)
        counts = [weighted_sum(seen & (codes == level), weights) for level in range(self.n_levels)]
        return np.stack(counts, axis=-1)

    def posterior(self, statistics: ArrayLike) -> DirichletCategorical:
        # A count at a level that does not exist is a contradiction, and log_marginal says so with -inf.
        return DirichletCategorical(self.concentration + np.asarray(statistics, float))

    def log_marginal(self, statistics: ArrayLike) -> Array:
        counts = np.asarray(statistics, float)
        exists, prior = self._existing()
        impossible = np.where(counts > 0, -np.inf, 0.0)
        rises = np.where(exists, gammaln(prior + counts) - gammaln(prior), impossible).sum(axis=-1)
        total = self.concentration.sum(axis=-1)
        return rises + gammaln(total) - gammaln(total + counts.sum(axis=-1))

    def log_predictive(self, x: ArrayLike) -> Array:
        with np.errstate(divide="ignore"):
            table = np.log(self.concentration) - np.log(self.concentration.sum(axis=-1, keepdims=True))
        return self._look_up(table, x)

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw theta, the probabilities of the levels, on a last axis of length L."""
        shape = as_shape(size) + self.concentration.shape
        exists, prior = self._existing()
        # log Gamma(c) = log Gamma(c + 1) + log(uniform) / c: tiny concentrations do not underflow to 0 / 0.
        log_gamma = np.log(rng.standard_gamma(prior + 1, shape)) + np.log1p(-rng.random(shape)) / prior
        log_gamma = np.where(exists, log_gamma, -np.inf)
        weights = np.exp(log_gamma - log_gamma.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True)

    def sample_values(self, parameters: Array, rng: np.random.Generator, size: Size = ()) -> NDArray[np.int32]:
        shape = as_shape(size) + np.shape(parameters)[:-1]
        cumulative = np.cumsum(parameters, axis=-1)
        # Scaled by the last sum, not by 1: rounding can never pick a padded level behind the last real one.
        uniform = rng.random((*shape, 1)) * cumulative[..., -1:]
        return np.asarray((uniform >= cumulative[..., :-1]).sum(axis=-1), dtype=np.int32)

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        exists, prior = self._existing()
        table = np.where(exists, digamma(prior), -np.inf) - digamma(self.concentration.sum(axis=-1, keepdims=True))
        return self._look_up(table, x)

    def divergence(self, other: DirichletCategorical) -> Array:
        (exists, mine), (allowed, theirs) = self._existing(), other._existing()
        total, other_total = self.concentration.sum(axis=-1), other.concentration.sum(axis=-1)
        slope = digamma(mine) - digamma(total)[..., None]
        terms = np.where(exists, gammaln(theirs) - gammaln(mine) + (mine - theirs) * slope, 0.0)
        terms = np.where(exists == allowed, terms, np.inf)
        return gammaln(total) - gammaln(other_total) + terms.sum(axis=-1)

    def predictive_mean(self) -> Array:
        """Return the probabilities of the levels, B + (L,)."""
        return self.concentration / self.concentration.sum(axis=-1, keepdims=True)

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> NDArray[np.int32]:
        """Draw values of shape size + B, each under a theta of its own."""
        return self.sample_values(self.predictive_mean(), rng, size)

    @classmethod
    def default_grid(cls, base: ArrayLike) -> DirichletCategorical:
        """Return the grid as one family, B = base.shape[:-1] + (11,): strength 2^-2, ..., 2^8 times the base measure.

        `base` (..., L) holds the probabilities of the levels of each column: uniform, or the column's frequencies.
        """
        return cls(powers_of_two(-2, 8)[:, None] * np.asarray(base, float)[..., None, :])

    def _existing(self) -> tuple[NDArray[np.bool_], Array]:
        """Return which levels exist, and the concentration with 1 in place of the others."""
        exists = self.concentration > 0
        return exists, np.where(exists, self.concentration, 1.0)

    def _look_up(self, table: Array, x: ArrayLike) -> Array:
        """Return table[..., x], x broadcast against B; missing cells give 0."""
        seen, codes = observed_codes(x, self.n_levels)
        shape = np.broadcast_shapes(codes.shape, self.batch_shape)
        table = np.broadcast_to(table, (*shape, self.n_levels))
        index = np.broadcast_to(codes, shape)[..., None]
        return np.where(seen, np.take_along_axis(table, index, axis=-1)[..., 0], 0.0)
