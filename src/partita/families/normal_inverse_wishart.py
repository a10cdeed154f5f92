"""Normal vectors, mean and covariance unknown, with missing cells.

theta = (mu, Sigma); Sigma ~ InverseWishart(nu, scale), mu | Sigma ~ Normal(mean, Sigma / kappa), x | theta ~
Normal(mu, Sigma). The predictive is Student's t with v = nu - P + 1 degrees of freedom, and so is every margin of it
and every conditional, which is what missing cells need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, multigammaln

from .missing_blocks import Block, blocks
from .normal_inverse_gamma import LOG_PI
from .protocol import Array, Size, as_shape, grid_product, powers_of_two, require, weighted_sum


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Prior `mean` B + (P,) worth `kappa` rows; `scale` B + (P, P) is a prior sum of squares worth `nu` > P - 1 rows.

    Statistics, s = 1 + P + P * P: number of rows, sum, sum of outer products (flattened). They need complete rows; a
    row without any observed cell adds nothing, a row with some must first be completed by `draw_missing`.
    """

    mean: Array
    kappa: Array
    nu: Array
    scale: Array
    event_ndim: ClassVar[int] = 1

    def __post_init__(self) -> None:
        mean, kappa, nu, scale = (np.asarray(part, float) for part in (self.mean, self.kappa, self.nu, self.scale))
        if mean.ndim < 1 or scale.shape[-2:] != (mean.shape[-1], mean.shape[-1]):
            raise ValueError(
                f"NormalInverseWishart: mean has shape {mean.shape} and scale {scale.shape}; "
                "pass mean (..., P) and scale (..., P, P)."
            )
        width = mean.shape[-1]
        batch = np.broadcast_shapes(mean.shape[:-1], kappa.shape, nu.shape, scale.shape[:-2])
        for name, array, event, positive in (
            ("mean", mean, (width,), False),
            ("kappa", kappa, (), True),
            ("nu", nu, (), True),
            ("scale", scale, (width, width), False),
        ):
            require(self, name, array, positive)
            object.__setattr__(self, name, np.broadcast_to(array, batch + event))
        if not (nu > width - 1).all():
            raise ValueError(f"NormalInverseWishart: nu must be above P - 1 = {width - 1}, got {nu.min()}; raise nu.")

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.kappa.shape

    @property
    def width(self) -> int:
        """P, the number of cells of a vector."""
        return self.mean.shape[-1]

    @property
    def degrees(self) -> Array:
        """Degrees of freedom v = nu - P + 1 of the predictive."""
        return self.nu - self.width + 1

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        x = np.asarray(x, float)
        missing = np.isnan(x)
        complete = ~missing.any(axis=-1)
        if not (complete | missing.all(axis=-1)).all():
            raise ValueError(
                f"NormalInverseWishart.statistics: {int((~complete).sum())} rows have missing cells, but the "
                "statistics need complete rows; complete them by draw_missing(x, rng)."
            )
        x = np.where(missing, 0.0, x)
        squares = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], self.width**2)
        return weighted_sum(np.concatenate([complete[..., None], x, squares], axis=-1), weights)

    def posterior(self, statistics: ArrayLike) -> NormalInverseWishart:
        count, total, squares = self._parts(statistics)
        kappa = self.kappa + count
        average = np.divide(total, count[..., None], out=np.zeros_like(total), where=count[..., None] > 0)
        shift = average - self.mean
        within = squares - total[..., :, None] * average[..., None, :]
        between = (self.kappa * count / kappa)[..., None, None] * shift[..., :, None] * shift[..., None, :]
        scale = self.scale + within + between
        mean = (self.kappa[..., None] * self.mean + total) / kappa[..., None]
        return NormalInverseWishart(mean, kappa, self.nu + count, (scale + np.swapaxes(scale, -1, -2)) / 2)

    def log_marginal(self, statistics: ArrayLike) -> Array:
        count = np.asarray(statistics, float)[..., 0]
        change = self.posterior(statistics)._log_normaliser() - self._log_normaliser()
        return change - 0.5 * self.width * count * LOG_PI

    def log_predictive(self, x: ArrayLike) -> Array:
        """Return the log density of the observed cells of x: Student's t with the missing cells integrated out."""
        x, out = self._against(x)
        degrees, kappa = self.degrees.ravel(), self.kappa.ravel()
        for block in blocks(x, self.mean, self.scale):
            law, width = block.laws, int(block.seen.sum())
            v, k = degrees[law], kappa[law]
            constant = gammaln((v + width) / 2) - gammaln(v / 2) - 0.5 * width * (LOG_PI + np.log1p(1 / k))
            constant = (constant - 0.5 * block.log_determinant)[block.law_of]
            tail = 0.5 * (v + width)[block.law_of] * np.log1p(block.distance * (k / (k + 1))[block.law_of])
            out.flat[block.pairs] = constant - tail
        return out

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> tuple[Array, Array]:
        """Draw theta = (mu, Sigma), Sigma by Bartlett's decomposition of its inverse."""
        shape = as_shape(size) + self.batch_shape
        bartlett = np.tril(rng.standard_normal((*shape, self.width, self.width)), -1)
        diagonal = np.arange(self.width)
        bartlett[..., diagonal, diagonal] = np.sqrt(rng.chisquare(self.nu[..., None] - diagonal, (*shape, self.width)))
        # Sigma = R R' with R = L A'^-1, where scale = L L' and A is Bartlett's triangle.
        lower = np.broadcast_to(np.linalg.cholesky(self.scale), bartlett.shape)
        root = np.swapaxes(np.linalg.solve(bartlett, np.swapaxes(lower, -1, -2)), -1, -2)
        noise = np.einsum("...ij,...j->...i", root, rng.standard_normal((*shape, self.width)))
        return self.mean + noise / np.sqrt(self.kappa)[..., None], root @ np.swapaxes(root, -1, -2)

    def sample_values(self, parameters: tuple[Array, Array], rng: np.random.Generator, size: Size = ()) -> Array:
        mu, covariance = parameters
        noise = rng.standard_normal(as_shape(size) + np.shape(mu))
        return mu + np.einsum("...ij,...j->...i", np.linalg.cholesky(covariance), noise)

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        """Return E[log p(observed cells of x | theta)]; the margin of an inverse Wishart is one of fewer degrees."""
        x, out = self._against(x)
        degrees, kappa = self.degrees.ravel(), self.kappa.ravel()
        for block in blocks(x, self.mean, self.scale):
            width = int(block.seen.sum())
            nu = degrees[block.laws] + width - 1
            psi = digamma((nu[:, None] - np.arange(width)) / 2).sum(axis=-1)
            constant = width * (LOG_PI + 1 / kappa[block.laws]) + block.log_determinant - psi
            out.flat[block.pairs] = -0.5 * (constant[block.law_of] + nu[block.law_of] * block.distance)
        return out

    def divergence(self, other: NormalInverseWishart) -> Array:
        width, half = self.width, self.nu / 2
        psi = digamma(half[..., None] - np.arange(width) / 2).sum(axis=-1)
        trace = np.trace(np.linalg.solve(self.scale, other.scale), axis1=-2, axis2=-1)
        shift = (self.mean - other.mean)[..., None]
        distance = (shift * np.linalg.solve(self.scale, shift)).sum(axis=(-2, -1))
        log_scales = np.linalg.slogdet(self.scale)[1] - np.linalg.slogdet(other.scale)[1]
        of_precision = 0.5 * (other.nu * log_scales + self.nu * (trace - width) + (self.nu - other.nu) * psi)
        of_precision = of_precision + multigammaln(other.nu / 2, width) - multigammaln(half, width)
        ratio = other.kappa / self.kappa
        return of_precision + 0.5 * (width * (ratio - 1 - np.log(ratio)) + other.kappa * self.nu * distance)

    def predictive_mean(self) -> Array:
        """Return the centre of the predictive (its mean where nu > P)."""
        return self.mean

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Draw values of shape size + B + (P,), each under a theta of its own."""
        return self.draw_missing(np.full((*as_shape(size), *self.batch_shape, self.width), np.nan), rng)

    def draw_missing(self, x: ArrayLike, rng: np.random.Generator, least_degrees: float = 0.0) -> Array:
        """Return x, X broadcast against B, with missing cells drawn given the observed ones under the predictive.

        Each vector is completed on its own. The number of variates depends on the shapes alone. A conditional with
        fewer than `least_degrees` of freedom is drawn as if it had these, about the same centre on the same scale.
        """
        x, out = self._against(x)
        completed = np.array(np.broadcast_to(x, (*out.shape, self.width))).reshape(-1, self.width)
        noise = rng.standard_normal(completed.shape)
        n_seen = np.broadcast_to((~np.isnan(x)).sum(axis=-1), out.shape)
        degrees = np.asarray(self.degrees + n_seen)
        degrees = np.maximum(degrees, least_degrees)
        spread = np.sqrt(degrees / rng.chisquare(degrees)).ravel()
        for block in blocks(x, self.mean, self.scale):
            missing = ~block.seen
            centre, complement, inflation = self._conditional(block)
            root = np.linalg.cholesky(complement)[block.law_of]
            step = np.einsum("nij,nj->ni", root, noise[block.pairs][:, missing])
            step *= (np.sqrt(inflation) * spread[block.pairs])[:, None]
            completed[np.ix_(block.pairs, np.flatnonzero(missing))] = centre + step
        return completed.reshape(*out.shape, self.width)

    def predictive_moments(self, x: ArrayLike, least_degrees: float = 0.0) -> tuple[Array, Array]:
        """Return mean and covariance of each vector given its observed cells, (..., P) and (..., P, P).

        Observed cells stand as they are, with covariance 0. The covariance is infinite on the diagonal, and NaN off it,
        where the conditional has at most 2 degrees of freedom; `least_degrees` as in `draw_missing`.
        """
        x, out = self._against(x)
        mean = np.array(np.broadcast_to(x, (*out.shape, self.width))).reshape(-1, self.width)
        covariance = np.zeros((*mean.shape, self.width))
        for block in blocks(x, self.mean, self.scale):
            missing = np.flatnonzero(~block.seen)
            centre, complement, inflation = self._conditional(block)
            mean[np.ix_(block.pairs, missing)] = centre
            degrees = self.degrees.ravel()[block.laws][block.law_of] + block.seen.sum()
            degrees = np.maximum(degrees, least_degrees)
            factor = inflation * np.where(degrees > 2, degrees / np.maximum(degrees - 2, 1e-300), np.nan)
            filled = factor[:, None, None] * complement[block.law_of]
            diagonal = np.arange(missing.size)
            filled[:, diagonal, diagonal] = np.nan_to_num(filled[:, diagonal, diagonal], nan=np.inf)
            covariance[np.ix_(block.pairs, missing, missing)] = filled
        return mean.reshape(*out.shape, self.width), covariance.reshape(*out.shape, self.width, self.width)

    @classmethod
    def default_grid(cls, width: int) -> NormalInverseWishart:
        """Return the grid for `width` standardised columns as one family, B = (540,).

        kappa in 2^-6, ..., 2^2; nu - P + 1 in 2^0, ..., 2^5; scale = nu * sigma2 * identity with sigma2 in 2^-8, ...,
        2^1; mean 0. With width 1 it is the grid of the normal-inverse-chi-squared.
        """
        kappa, degrees, sigma2 = grid_product(powers_of_two(-6, 2), powers_of_two(0, 5), powers_of_two(-8, 1))
        nu = degrees + width - 1
        return cls(np.zeros((kappa.size, width)), kappa, nu, (nu * sigma2)[:, None, None] * np.eye(width))

    def _conditional(self, block: Block) -> tuple[Array, Array, Array]:
        """Return the Student's t of the missing cells given the observed ones, its degrees v + |o| left out.

        Centre per pair, Schur complement per law, and the factor per pair that turns the complement into the scale.
        """
        shift, complement = block.regression(self.scale.reshape(-1, self.width, self.width))
        law = block.laws[block.law_of]
        centre = self.mean.reshape(-1, self.width)[law][:, ~block.seen] + shift
        degrees = self.degrees.ravel()[law] + block.seen.sum()
        return centre, complement, (1 + 1 / self.kappa.ravel()[law] + block.distance) / degrees

    def _against(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return x as an array, and an empty array of X broadcast against B."""
        x = np.asarray(x, float)
        if x.ndim == 0 or x.shape[-1] != self.width:
            raise ValueError(f"x has shape {x.shape}; its last axis must hold the {self.width} cells of a vector.")
        return x, np.empty(np.broadcast_shapes(x.shape[:-1], self.batch_shape))

    def _parts(self, statistics: ArrayLike) -> tuple[Array, Array, Array]:
        """Split statistics into the number of rows, the sum and the matrix of products."""
        statistics = np.asarray(statistics, float)
        squares = statistics[..., 1 + self.width :]
        squares = squares.reshape(*squares.shape[:-1], self.width, self.width)
        return statistics[..., 0], statistics[..., 1 : 1 + self.width], squares

    def _log_normaliser(self) -> Array:
        """Return log of the integral of the unnormalised density, less factors that cancel in ratios."""
        log_determinant = np.linalg.slogdet(self.scale)[1]
        width = self.width
        return multigammaln(self.nu / 2, width) - 0.5 * (width * np.log(self.kappa) + self.nu * log_determinant)
