"""Stick-breaking weights of a truncated Dirichlet process, their variational posterior and that of the concentration.

pi_h = V_h prod_{l < h} (1 - V_l) with V_h ~ Beta(1, alpha) for h < N and V_N = 1; alpha ~ Gamma(shape, rate). Given
expected counts n_h of the components in the order of the sticks, q(V_h) = Beta(1 + n_h, <alpha> + sum_{l > h} n_l) and
q(alpha) = Gamma(shape + N - 1, rate - sum_h <ln(1 - V_h)>): [1] with a prior on alpha.

[1] D. M. Blei and M. I. Jordan (2006), Variational inference for Dirichlet process mixtures, Bayesian Analysis 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, digamma, gammaln

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sticks:
    """q(V) and q(alpha).

    first, second           (N,) parameters of the Beta laws; those of the last stick, which is 1, do not count
    shape, rate             of q(alpha)
    prior_shape, prior_rate of p(alpha)
    end                     whether the last component takes the last stick, empty ones before it
    """

    first: Array
    second: Array
    shape: float
    rate: float
    prior_shape: float
    prior_rate: float
    end: bool = False

    @classmethod
    def begin(cls, n_sticks: int, prior_shape: float, prior_rate: float) -> Sticks:
        """Nothing seen: alpha at its prior, V at theirs under its mean."""
        alpha = prior_shape / prior_rate
        return cls(np.ones(n_sticks), np.full(n_sticks, alpha), prior_shape, prior_rate, prior_shape, prior_rate)

    @property
    def n_sticks(self) -> int:
        return len(self.first)

    @property
    def mean_concentration(self) -> float:
        return self.shape / self.rate

    def places(self, n_components: int) -> NDArray[np.intp]:
        """The sticks of the components: the first ones, but for the last component where it takes the last."""
        return _places(n_components, self.n_sticks, self.end)

    def posterior(self, counts: ArrayLike, end: bool = False) -> Sticks:
        """Update q(V) from expected counts of the components in their order (other sticks are empty), then q(alpha)."""
        counts = np.asarray(counts, float)
        n = np.zeros(self.n_sticks)
        n[_places(len(counts), self.n_sticks, end)] = counts
        behind = n[::-1].cumsum()[::-1] - n
        first, second = 1.0 + n, self.mean_concentration + np.maximum(behind, 0.0)
        rest = (digamma(second) - digamma(first + second))[:-1].sum()
        return Sticks(
            first,
            second,
            self.prior_shape + self.n_sticks - 1,
            self.prior_rate - rest,
            self.prior_shape,
            self.prior_rate,
            end,
        )

    def expected_log_weights(self) -> Array:
        """<ln pi_h>, (N,)."""
        both = digamma(self.first + self.second)
        log_stick, log_rest = digamma(self.first) - both, digamma(self.second) - both
        log_stick[-1] = 0.0
        return log_stick + np.concatenate([[0.0], np.cumsum(log_rest[:-1])])

    def expected_weights(self) -> Array:
        """<pi_h>, (N,); they sum to 1."""
        stick = self.first / (self.first + self.second)
        stick[-1] = 1.0
        return stick * np.concatenate([[1.0], np.cumprod(1.0 - stick[:-1])])

    def sample_weights(self, rng: np.random.Generator, size: int) -> Array:
        """Draws of pi, (size, N)."""
        stick = rng.beta(self.first, self.second, (size, self.n_sticks))
        stick[:, -1] = 1.0
        rest = np.concatenate([np.ones((size, 1)), np.cumprod(1.0 - stick[:, :-1], axis=1)], axis=1)
        return stick * rest

    def divergence(self) -> float:
        """KL of q(V) q(alpha) from p(V | alpha) p(alpha), with all constants."""
        first, second = self.first[:-1], self.second[:-1]
        both = digamma(first + second)
        log_stick, log_rest = digamma(first) - both, digamma(second) - both
        mean, mean_log = self.mean_concentration, digamma(self.shape) - np.log(self.rate)
        of_sticks = (first - 1.0) * log_stick + (second - mean) * log_rest - betaln(first, second) - mean_log
        s0, r0 = self.prior_shape, self.prior_rate
        of_alpha = (self.shape - s0) * digamma(self.shape) - gammaln(self.shape) + gammaln(s0)
        of_alpha += s0 * np.log(self.rate / r0) + mean * (r0 - self.rate)
        return float(of_sticks.sum() + of_alpha)


def best_order(counts: ArrayLike, concentration: float, n_sticks: int) -> NDArray[np.intp]:
    """The order of components on the first sticks that gives the highest bound at this concentration."""
    return best_arrangement(counts, concentration, n_sticks, (False,))[0]


def best_arrangement(
    counts: ArrayLike, concentration: float, n_sticks: int, ends: tuple[bool, ...] = (False, True)
) -> tuple[NDArray[np.intp], bool]:
    """Order of the components, and whether the last takes the last stick, with the highest bound at this concentration.

    The bound is sum_h ln B(1 + n_h, concentration + sum_{l > h} n_l). Exchanging neighbours shows that falling counts
    are best on all sticks but the last, which is 1 and costs nothing: any component may be better off there, behind
    empty ones. The given order is among those compared, so that a rearrangement is never a loss.
    """
    counts = np.asarray(counts, float)
    order = np.argsort(-counts, kind="stable")
    orders = np.stack([np.arange(len(counts)), order, *_each_last(order)])
    bounds = np.stack([_bounds(counts[orders], concentration, n_sticks, end) for end in ends], axis=1)
    best, end = divmod(int(bounds.argmax()), len(ends))
    return orders[best], ends[end]


def _each_last(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """(n - 1, n): the order with each of its members but the last put behind all others."""
    n = len(order)
    if n < 2:
        return np.zeros((0, n), np.intp)
    place, at = np.arange(n - 1)[:, None], np.arange(n)
    return order[np.where(at == n - 1, place, at + (at >= place))]


def _places(n_components: int, n_sticks: int, end: bool) -> NDArray[np.intp]:
    places = np.arange(n_components)
    if end and n_components:
        places[-1] = n_sticks - 1
    return places


def _bounds(counts: Array, concentration: float, n_sticks: int, end: bool) -> Array:
    """Of every row of counts (orders, components)."""
    n = np.zeros((len(counts), n_sticks))
    n[:, _places(counts.shape[1], n_sticks, end)] = counts
    behind = n[:, ::-1].cumsum(axis=1)[:, ::-1] - n
    return betaln(1.0 + n, concentration + np.maximum(behind, 0.0))[:, :-1].sum(axis=1)
