"""What a fit of factor experts is given: the rows, their labels and weights, and every prior ([1], 3.2.3).

x_i | z_i = h ~ N(mu_h + G (b_h o s_i), I / psi_h), s_i ~ N(0, I_T), t_i | z_i = h ~ N(w_h' [b_h o s_i; 1], 1). The page
docs/factor_experts.md derives every update. G = A diag(d) of [1]; its column t is N(0, v_t I / P) with v_t = d_t^2.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .beside import Beside

Array = NDArray[np.float64]
MOST_FACTORS = 50  # of "auto", as in [1], 3.5.4


@dataclass(frozen=True)
class FactorSettings:
    """Priors, by their letter in docs/factor_experts.md, and the truncations. Columns are taken to be standardised."""

    n_sticks: int = 20  # N, the truncation of the sticks
    n_factors: int | str = "auto"  # T, the most factors there can be; "auto": min(50, n - 1, P)
    merge: bool = True  # try fits with fewer components; False: components leave only as their rows do
    rotate: bool = True  # try factors turned to the axes of the components
    concentration_shape: float = 0.05  # tau_1 of alpha ~ Ga(tau_1, tau_2)
    concentration_rate: float = 0.05  # tau_2
    scale_shape: float = 1.0  # c_0 of d_t ~ N(0, 1 / beta_t), beta_t ~ Ga(c_0, d_0)
    scale_rate: float = 1.0  # d_0
    used_a: float = 1.0  # a of b_ht ~ Bern(pi_ht), pi_ht ~ Beta(a / T, b (T - 1) / T)
    used_b: float = 1.0  # b
    mean_count: float = 1.0  # u_0 of mu_h | psi_h ~ N(0, I / (u_0 psi_h)); unlike [1], whose 0.1 belongs to a full
    # covariance: means that spread ten times the noise do not fit into columns of variance one
    noise_shape: float = 1.0  # e_0 of psi_h ~ Ga(e_0, f_0)
    noise_rate: float = 1.0  # f_0
    centre_count: float = 0.1  # gamma_0 of zeta_p | lambda_p ~ N(0, 1 / (gamma_0 lambda_p))
    weight_shape: float = 0.01  # a_0 of lambda_p ~ Ga(a_0, b_0), with w_hp ~ N(zeta_p, 1 / lambda_p)
    weight_rate: float = 0.01  # b_0

    def most_factors(self, n_rows: int, n_columns: int) -> int:
        """T for a table of this shape."""
        if self.n_factors == "auto":
            return max(0, min(MOST_FACTORS, n_rows - 1, n_columns))
        return int(self.n_factors)


@dataclass(frozen=True)
class FactorProblem:
    """Rows as matrix products want them.

    values      (n, P) the cells, 0 where missing; seen (n, P) 1 where observed, else 0
    label       (n,) class, -1 = none; n_classes; weight (n,) how many times a row counts
    pattern     (P,) which columns are observed in the same rows: they share the covariance of their loadings
    group_seen  (n, U) `seen` of one column of each pattern
    beside      columns of levels and counts
    """

    values: Array
    seen: Array
    label: NDArray[np.int32]
    n_classes: int
    weight: Array
    settings: FactorSettings
    pattern: NDArray[np.int64]
    group_seen: Array
    squares: Array = field(repr=False)  # (n,) sum of the squared cells of a row
    n_seen: Array = field(repr=False)  # (n,) number of observed cells
    beside: Beside = field(repr=False)

    @classmethod
    def of(
        cls,
        reals: Array,
        label: NDArray[np.integer],
        n_classes: int,
        weight: Array | None = None,
        settings: FactorSettings | None = None,
        beside: Beside | None = None,
    ) -> FactorProblem:
        """From standardised cells with NaN where missing; `label` is -1 for rows without one."""
        reals = np.ascontiguousarray(reals, dtype=float)
        seen = ~np.isnan(reals)
        values = np.where(seen, reals, 0.0)
        first, pattern = _patterns(seen)
        mask = seen.astype(float)
        return cls(
            values=values,
            seen=mask,
            label=np.asarray(label, dtype=np.int32),
            n_classes=n_classes,
            weight=np.ones(len(reals)) if weight is None else np.asarray(weight, dtype=float),
            settings=settings if settings is not None else FactorSettings(),
            pattern=pattern,
            group_seen=np.ascontiguousarray(mask[:, first]),
            squares=(values**2).sum(1),
            n_seen=mask.sum(1),
            beside=Beside.nothing(len(reals)) if beside is None else beside,
        )

    @property
    def n_rows(self) -> int:
        return self.values.shape[0]

    @property
    def n_columns(self) -> int:
        return self.values.shape[1]

    @property
    def labelled(self) -> bool:
        """Whether any row that counts has a label."""
        return bool(np.any((self.label >= 0) & (self.weight > 0)))

    @property
    def n_experts(self) -> int:
        """Latent variables t of a row: one for two classes, else one per class."""
        return 1 if self.n_classes <= 2 else self.n_classes


def _patterns(seen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Columns with the same rows observed: the first column of each set, and the set of every column."""
    packed = np.packbits(seen, axis=0)
    numbers: dict[bytes, int] = {}
    pattern = np.array([numbers.setdefault(column.tobytes(), len(numbers)) for column in packed.T], dtype=np.int64)
    first = np.unique(pattern, return_index=True)[1] if len(pattern) else np.zeros(0, np.intp)
    return first, pattern
