"""The variational posterior of factor experts: all its parameters as arrays, and the expectations rows need of it.

H occupied components and T_a active factors are kept; components without rows and factors no component uses have the
prior as their posterior and need no arrays. Letters as in docs/factor_experts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from ...priors.sticks import Sticks
from .beside import make_now
from .problem import Array


@dataclass(frozen=True)
class FactorState:
    """q of everything but the rows' own s, t and z, which follow from it.

    loading         (P, T_a) means of G; loading_cov (U, T_a, T_a) covariances of its rows, one per pattern of columns
    pattern         (P,) the pattern of a column
    energy          (T_a,) what defines q(v), see `factor.scale`
    used            (H, T_a) probability that b_ht = 1
    mean, mean_count    (H, P) mu_hp | psi_h ~ N(mean, 1 / (mean_count psi_h))
    noise_shape, noise_rate  (H,) of q(psi_h)
    weight          (H, C, T_a + d) means of w: factors, then the d features beside, the constant last; weight_cov
                    (H, C, T_a + d, T_a + d)
    centre, centre_count    (C, T_a + d), () zeta | lambda ~ N(centre, 1 / (centre_count lambda))
    rate_shape, rate        (), (C, T_a + d) of q(lambda)
    stick_first, stick_second, concentration    q(V), (N,) each, and (shape, rate) of q(alpha)
    count           (H,) expected rows of each component
    latent          (n, H, C) means of t with more than two classes, else (0, H, 1): where their fixed point is sought
    most_factors    T; n_classes
    cells           of each column beside the real ones, (H, L) pseudo-counts or (H, 2)
    guesses         (H, cells, G) probabilities of groups of levels that labelled rows miss, of columns with such cells
    wait, failures  steps until factors are next tried without, and how often in a row that was no gain
    merge_wait, merge_failures   the same for components
    turn_wait, turn_failures     the same for turns of the factors
    bound           of the step before
    """

    loading: Array
    loading_cov: Array
    pattern: NDArray[np.int64]
    energy: Array
    used: Array
    mean: Array
    mean_count: Array
    noise_shape: Array
    noise_rate: Array
    weight: Array
    weight_cov: Array
    centre: Array
    centre_count: Array
    rate_shape: Array
    rate: Array
    stick_first: Array
    stick_second: Array
    concentration: Array
    count: Array
    latent: Array
    most_factors: int
    n_classes: int
    wait: int = 2
    failures: int = 0
    merge_wait: int = 6
    merge_failures: int = 0
    turn_wait: int = 5
    turn_failures: int = 0
    bound: float = float("-inf")
    cells: list[Array] = field(default_factory=list)
    guesses: list[Array] = field(default_factory=list)

    @property
    def n_components(self) -> int:
        return len(self.noise_shape)

    @property
    def n_active(self) -> int:
        return self.loading.shape[1]

    @property
    def n_experts(self) -> int:
        return self.weight.shape[1]

    def to_tree(self) -> dict[str, Any]:
        return {name.name: getattr(self, name.name) for name in fields(self)}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> FactorState:
        return cls(**tree)

    def sticks(self, prior_shape: float, prior_rate: float) -> Sticks:
        shape, rate = (float(value) for value in self.concentration)
        return Sticks(self.stick_first, self.stick_second, shape, rate, prior_shape, prior_rate)

    def with_sticks(self, sticks: Sticks) -> FactorState:
        return replace(
            self,
            stick_first=sticks.first,
            stick_second=sticks.second,
            concentration=np.array([sticks.shape, sticks.rate]),
        )

    def components(self, which: NDArray[np.integer]) -> FactorState:
        """These components, in this order; the sticks stay as they are."""
        per_component = ("used", "mean", "mean_count", "noise_shape", "noise_rate", "weight", "weight_cov", "count")
        chosen: dict[str, Any] = {name: getattr(self, name)[which] for name in per_component}
        cells, guesses = ([part[which] for part in parts] for parts in (self.cells, self.guesses))
        return replace(self, latent=self.latent[:, which], cells=cells, guesses=guesses, **chosen)

    def factors(self, which: NDArray[np.integer]) -> FactorState:
        """These factors alone: the others at their priors, used by no component."""
        entries = np.concatenate([which, np.arange(self.n_active, self.weight.shape[2])]).astype(np.intp)
        return replace(
            self,
            loading=self.loading[:, which],
            loading_cov=self.loading_cov[:, which][:, :, which],
            energy=self.energy[which],
            used=self.used[:, which],
            weight=self.weight[:, :, entries],
            weight_cov=self.weight_cov[:, :, entries][:, :, :, entries],
            centre=self.centre[:, entries],
            rate=self.rate[:, entries],
        )

    def n_factors_posterior(self) -> Array:
        """P(k factors are used by some occupied component), k = 0 .. T, (T + 1,)."""
        chance = 1.0 - np.prod(1.0 - self.used, axis=0)
        law = np.zeros(self.most_factors + 1)
        law[0] = 1.0
        for p in chance:
            law[1:] = law[1:] * (1.0 - p) + law[:-1] * p
            law[0] *= 1.0 - p
        return law


@dataclass(frozen=True)
class Expectations:
    """What a row meets of q: psi, ln psi (H,); <b b'> (H, T, T); per expert c <w o b> and the weights w_f of the d
    features, and summed over the experts <(w o b)(w o b)'> (H, T, T), <w_f (w o b)'> (H, d, T), <w_f w_f'> (H, d, d);
    all of w as guesses want it; ln pi (H,)."""

    noise: Array
    log_noise: Array
    pairs: Array
    slope: Array
    constant: Array
    slope_square: Array
    slope_constant: Array
    constant_square: Array
    now: Any
    log_weight: Array
    mean_term: Array  # (H, P) 1 / mean_count

    @classmethod
    def of(cls, state: FactorState, log_weight: Array, tables: list[Array] | None = None) -> Expectations:
        pairs = selection_pairs(state.used)
        square = second_moment(state.weight, state.weight_cov)
        t = state.n_active
        return cls(
            noise=state.noise_shape / state.noise_rate,
            log_noise=digamma(state.noise_shape) - np.log(state.noise_rate),
            pairs=pairs,
            slope=state.weight[:, :, :t] * state.used[:, None, :],
            constant=state.weight[:, :, t:],
            slope_square=square[:, :, :t, :t].sum(1) * pairs,
            slope_constant=square[:, :, t:, :t].sum(1) * state.used[:, None],
            constant_square=square[:, :, t:, t:].sum(1),
            now=make_now(state.weight, square.sum(1), state.used, pairs, tables or [], state.cells),
            log_weight=log_weight[: state.n_components],
            mean_term=1.0 / state.mean_count,
        )


def selection_pairs(used: Array) -> Array:
    """<b_t b_u> of independent Bernoulli variables, (H, T, T)."""
    pairs = used[:, :, None] * used[:, None, :]
    t = np.arange(used.shape[1])
    pairs[:, t, t] = used
    return pairs


def second_moment(mean: Array, covariance: Array) -> Array:
    return covariance + mean[..., :, None] * mean[..., None, :]


def loading_moments(state: FactorState) -> Array:
    """sum over the columns p of one pattern of <g_p g_p'>, (U, T * T): what the observed cells of a row add up."""
    n_groups, t = state.loading_cov.shape[0], state.n_active
    sizes = np.bincount(state.pattern, minlength=n_groups)
    order = np.argsort(state.pattern, kind="stable")
    sorted_loading = state.loading[order]
    starts: Sequence[int] = np.concatenate([[0], np.cumsum(sizes)])  # type: ignore[assignment]
    total = state.loading_cov * sizes[:, None, None]
    if n_groups == len(order):
        total += sorted_loading[:, :, None] * sorted_loading[:, None, :]
    else:
        for group in range(n_groups):
            part = sorted_loading[starts[group] : starts[group + 1]]
            total[group] += part.T @ part
    return total.reshape(n_groups, t * t)
