"""What a chain over a matrix with holes is given: its cells, the model, and the numbers of its priors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from .entries import Entries
from .features import Features

LINKS = ("gaussian", "ordinal", "binomial")
PRIORS = ("ard", "paper")
NOISE_DFS = np.geomspace(1.0, 1000.0, 31)  # from noise that differs a hundredfold to noise that is practically equal


@dataclass(frozen=True)
class Hyper:
    """Numbers of the priors; Gamma laws by shape and rate. Those marked * are in units of the values' spread.

    ard     theta_k ~ InvGamma(theta_shape, theta_rate*): the variance of component k in both sides, nearly log-uniform;
            at most theta_most where latents have unit noise (ordinal, binomial), see `bounds`
    noise   alpha ~ Gamma(noise_shape, noise_rate*), the common precision; g_i ~ Gamma(nu, nu), d_j likewise with a
            nu of their own: noise_df, or None: learnt, log-uniform on NOISE_DFS
    offsets b_i ~ N(prior mean, 1 / tau), tau ~ Gamma(offset_shape, offset_rate*), of rows and of columns
    mean    mu ~ N(centre, (mean_width*)^2)
    cuts    c_1 < .. < c_{L-1} of an ordinal link: each N(0, cut_width^2), given their order
    stretch of a row's own gaps between cut points: spread_l^2 ~ InvGamma(stretch_shape, stretch_rate)
    ridge   lambda of a block of features, of the factors and of the offsets apart: Gamma(ridge_shape, ridge_rate / mean
            of the squared singular values); coefficients ~ N(0, theta_k / lambda), of offsets N(0, 1 / (tau lambda))
    paper   pi_k ~ Beta(a / K, b (K - 1) / K); alpha ~ Gamma(c, d); alpha_s ~ Gamma(e, f), the precision of s
    effect  precision of what a feature does on the other side (coordinate sampler): Gamma(effect_shape, effect_rate*)
    """

    theta_shape: float = 0.05
    theta_rate: float = 1e-10
    theta_most: float = 1.0
    noise_shape: float = 1e-6
    noise_rate: float = 1e-6
    noise_df: float | None = None
    offset_shape: float = 1.0
    offset_rate: float = 0.1
    mean_width: float = 10.0
    cut_width: float = 10.0
    stretch_shape: float = 1.0
    stretch_rate: float = 0.01
    ridge_shape: float = 1.0
    ridge_rate: float = 0.3
    a: float = 1.0
    b: float = 1.0
    c: float = 1e-6
    d: float = 1e-6
    e: float = 1e-6
    f: float = 1e-6
    effect_shape: float = 1e-6
    effect_rate: float = 1e-6


@dataclass(frozen=True, eq=False)
class Problem:
    """One model of one matrix.

    link           "gaussian", "ordinal" (values are codes 0..n_levels-1) or "binomial" (successes of entries.trials)
    prior          "ard": scales free down to zero; "paper": s_k z_k u_k v_k' with z_k on or off
    offsets        whether mean, row and column offsets are in the model; without, the mean is 0
    unequal_noise  whether the precision of a cell is alpha g_i d_j, or alpha alone
    row_cuts       whether every row has cut points of its own (ordinal; see `levels`)
    max_rank       most components that stand above the noise edge
    centre, spread mean and standard deviation of the values, the units of the priors (0 and 1 for the other links)
    """

    entries: Entries
    link: str = "gaussian"
    n_levels: int = 0
    prior: str = "ard"
    offsets: bool = True
    unequal_noise: bool = True
    row_cuts: bool = False
    max_rank: int = 64
    row_features: Features = field(default_factory=lambda: Features(0))
    column_features: Features = field(default_factory=lambda: Features(0))
    hyper: Hyper = field(default_factory=Hyper)
    centre: float = 0.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        assert self.link in LINKS and self.prior in PRIORS and self.max_rank >= 1
        assert self.link != "ordinal" or self.n_levels >= 2, "levels of an ordinal link"
        assert self.link == "ordinal" or not self.row_cuts, "cut points of rows"
        assert self.link != "binomial" or self.entries.trials is not None, "trials of a binomial link"
        assert self.link != "binomial" or not self.unequal_noise, "noise of counts is that of counting"
        for features, n in ((self.row_features, self.n_rows), (self.column_features, self.n_columns)):
            assert not features.blocks or features.n == n, "features have one row per row of their side"

    @classmethod
    def of(cls, entries: Entries, **settings: object) -> Problem:
        """With centre and spread of the values where the link is Gaussian."""
        centre, spread = 0.0, 1.0
        if settings.get("link", "gaussian") == "gaussian" and len(entries):
            centre = float(entries.values.mean()) if settings.get("offsets", True) else 0.0
            spread = float(np.sqrt(np.mean((entries.values - centre) ** 2))) or abs(centre) or 1.0
        # Unlike [1], whose rates are numbers: in the units of the data, or small values would be all noise
        hyper = Hyper(d=Hyper.d * spread**2, f=Hyper.f * spread**2)
        return cls(entries, **{"centre": centre, "spread": spread, "hyper": hyper} | settings)  # type: ignore[arg-type]

    @property
    def most_theta(self) -> float:
        return np.inf if self.link == "gaussian" or self.prior == "paper" else self.hyper.theta_most

    @property
    def n_rows(self) -> int:
        return self.entries.n_rows

    @property
    def n_columns(self) -> int:
        return self.entries.n_columns

    @cached_property
    def df_constants(self) -> tuple[np.ndarray, np.ndarray]:
        """Of rows and of columns: sum_i log(Gamma(nu + n_i / 2) / Gamma(nu) nu^nu) for every nu of NOISE_DFS."""
        both = []
        for counts in (self.entries.row_counts, self.entries.column_counts):
            sizes, times = np.unique(counts, return_counts=True)
            nu = NOISE_DFS[:, None]
            both.append((gammaln(nu + 0.5 * sizes) - gammaln(nu) + nu * np.log(nu)) @ times)
        return both[0], both[1]
