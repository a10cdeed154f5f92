"""What the kernels of the Bayesian SVD's probit links and of its coordinate sampler take and give.

Symbols: m observed entries, in row order unless said otherwise; D numbers a row of one side (its factors, then its
offset); L levels. All arrays are C-contiguous float64 unless said otherwise. Kernels that treat every entry by itself
take slices of the entries; kernels over rows take the rows begin : end, which share no entry with others.

`svd_ordinal_masses(levels: Levels, log_mass)` gives the log probability of the level of every entry,
`svd_ordinal_latents(levels: Levels, uniform, latent)` draws the normal behind it.

`svd_binomial_sums(fitted, shift, successes, trials, out)` adds to out (3,) the log-likelihood (without binomial
coefficients) of successes with probability Phi(fitted + shift), its slope and its expected curvature in the shift;
`svd_binomial_working(fitted, successes, trials, weight, score)` gives curvature and slope of every entry;
`svd_binomial_rows(lines, rows: BinomialRows, begin, end)` makes one Metropolis step of every row.

`svd_coordinate_rows(lines, rows: CoordinateRows, begin, end)` draws every number of a row in turn,
`svd_component_sums(row, column, residual, u, v, out)` gives sum (u_i v_j)^2 and sum residual u_i v_j,
`svd_component_shift(row, column, residual, u, v, amount)` takes amount u_i v_j off the residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def _nowhere() -> np.ndarray:
    return np.empty(0, np.int64)


def _first_line() -> np.ndarray:
    return np.empty(0, np.int32)


@dataclass
class Levels:
    """Ordinal entries: level l holds where edges[l] < x <= edges[l + 1], x ~ N(fitted, 1 / scale^2)."""

    value: np.ndarray  # (m,) codes of the levels
    fitted: np.ndarray  # (m,)
    scale: np.ndarray  # (m,)
    edges: np.ndarray  # (n, L + 1) from -inf to inf
    line: np.ndarray = field(default_factory=_first_line)  # int32 (m,): which edges; empty: the first

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(m,) where the level of every entry begins and ends."""
        level, line = self.value.astype(np.intp), self.line if len(self.line) else 0
        return self.edges[line, level], self.edges[line, level + 1]


@dataclass
class Lines:
    """The entries of one side: row i holds p = first[i] : first[i + 1], which meet other[p] and stand at place[p]."""

    first: np.ndarray  # int64 (n + 1,)
    other: np.ndarray  # int32 (m,)
    place: np.ndarray = field(default_factory=_nowhere)  # int64 (m,); empty: p itself

    def at(self, i: int) -> np.ndarray:
        """Where the entries of row i stand."""
        here = np.arange(self.first[i], self.first[i + 1])
        return self.place[here] if len(self.place) else here


@dataclass
class BinomialRows:
    """Rows x ~ N(centre, diag(precision)^-1), successes ~ Binomial(trials, Phi(base_j + design_j'x)).

    The proposal is a Student t of df degrees of freedom around one Newton step from x.
    """

    successes: np.ndarray  # (m,)
    trials: np.ndarray  # (m,)
    base: np.ndarray  # (others,)
    design: np.ndarray  # (others, D)
    centre: np.ndarray  # (n, D)
    precision: np.ndarray  # (D,)
    df: float
    noise: np.ndarray  # (n, D) standard normal
    stretch: np.ndarray  # (n,) sqrt(df / chi-squared of df)
    uniform: np.ndarray  # (n,) in (0, 1)
    own: np.ndarray  # (n, D), changed
    accepted: np.ndarray  # uint8 (n,), written


@dataclass
class CoordinateRows:
    """Rows x ~ N(0, diag(precision)^-1), entries ~ N(sum_k weight_k x_k others_jk, 1 / alpha)."""

    weight: np.ndarray  # (D,): s_k z_k
    precision: np.ndarray  # (D,)
    alpha: float
    others: np.ndarray  # (others, D)
    noise: np.ndarray  # (n, D) standard normal
    own: np.ndarray  # (n, D), changed
    residual: np.ndarray  # (m,), kept up
