"""The laws of cells under all draws together.

A draw gives a cell the linear predictor f with a doubt of its own (0, but for rows and columns that training did not
see: there f is normal under their prior) and, for reals and levels, noise. All answers are mixtures over draws of these
normal laws; nothing else is approximated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import gammaincinv, ndtr

from .svd_draw import Draw

_AT_ONCE = 2_000_000  # numbers of one array of draws by cells
_NODES = 21  # of the quadrature over the doubt within a draw


@dataclass(frozen=True, eq=False)
class Newcomers:
    """Rows (or columns) that training did not see, known by their prior alone.

    means   per draw, (n, K + 1): prior means of factors and offset.
    """

    means: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.means[0]) if self.means else 0


@dataclass(frozen=True, eq=False)
class Posterior:
    """All kept draws of one model.

    levels      (L,) values of the levels of an ordinal link, else empty.
    offsets     whether rows and columns have offsets.
    """

    draws: tuple[Draw, ...]
    levels: np.ndarray
    offsets: bool

    @property
    def link(self) -> str:
        return self.draws[0].link

    @property
    def unequal_noise(self) -> bool:
        """Whether noise differs by row and column."""
        return not np.isnan(self.draws[0].row_df)

    @cached_property
    def stranger_noise(self) -> dict[str, np.ndarray]:
        """(S,) g of a row, and d of a column, that was not seen, in every draw.

        They are spread over their priors Gamma(nu, nu): quantiles in an order that has nothing to do with the draws',
        for rows and columns another.
        """
        n = len(self.draws)
        spread = {}
        for side, irrational in (("row", 0.6180339887498949), ("column", 0.4142135623730951)):
            df = np.array([draw.row_df if side == "row" else draw.column_df for draw in self.draws])
            scattered = np.argsort(np.argsort((np.arange(1, n + 1) * irrational) % 1.0))
            spread[side] = gammaincinv(df, (scattered + 0.5) / n) / df if self.unequal_noise else np.ones(n)
        return spread

    def strangers(self, side: str, n: int) -> Newcomers:
        """Rows or columns of which nothing is known, not even features."""
        factors = [draw.U if side == "row" else draw.V for draw in self.draws]
        return Newcomers(tuple(np.zeros((n, part.shape[1] + 1)) for part in factors))


@dataclass(frozen=True, eq=False)
class Laws:
    """What S draws say of m cells, each an array (S, m).

    f           linear predictor; its mean, where there is doubt within a draw.
    doubt       variance of f within a draw.
    noise       variance of an observation around f (1 for a binomial link: the probit's latent).
    cuts        (S, L - 1) cut points of levels.
    weight      (S,) shares of the draws.
    """

    f: np.ndarray
    doubt: np.ndarray
    noise: np.ndarray
    cuts: np.ndarray
    weight: np.ndarray

    def spread(self) -> Laws:
        """The same with doubt within draws turned into more draws (Gauss-Hermite nodes), for what is not linear."""
        if not self.doubt.any():
            return self
        node, mass = hermegauss(_NODES)
        f = self.f + node[:, None, None] * np.sqrt(self.doubt)
        n = len(node)
        return Laws(
            f.reshape(-1, f.shape[2]), np.zeros((n * len(self.f), f.shape[2])), np.tile(self.noise, (n, 1)),
            np.tile(self.cuts, (n, 1)), np.outer(mass / mass.sum(), self.weight).ravel(),
        )  # fmt: skip

    def level_chances(self) -> np.ndarray:
        """(S, m, L) probability of every level."""
        sd = np.sqrt(self.noise + self.doubt)
        below = ndtr((self.cuts[:, None, :] - self.f[:, :, None]) / sd[:, :, None])
        edge = np.zeros((*self.f.shape, 1))
        return np.diff(np.concatenate([edge, below, edge + 1.0], axis=2), axis=2)

    def chances(self) -> np.ndarray:
        """(S, m) probability of success."""
        return ndtr(self.f / np.sqrt(1.0 + self.doubt))


# ---- laws of cells ----


def laws_at(
    posterior: Posterior, rows: np.ndarray, columns: np.ndarray, new_rows: Newcomers | None = None,
    new_columns: Newcomers | None = None,
) -> Laws:  # fmt: skip
    """Laws of the cells (rows[p], columns[p]); places beyond those of training are newcomers."""
    draws, m = posterior.draws, len(rows)
    f, doubt, noise = np.empty((len(draws), m)), np.zeros((len(draws), m)), np.ones((len(draws), m))
    strange = (rows >= len(draws[0].U), columns >= len(draws[0].V))
    for s, draw in enumerate(draws):
        u, b, g = _side(draw, "row", rows, new_rows, s, posterior)
        v, c, d = _side(draw, "column", columns, new_columns, s, posterior)
        f[s] = draw.mean + b + c + np.einsum("pk,pk->p", u, v, dtype=np.float64)
        if strange[0].any() or strange[1].any():
            doubt[s] = _doubt(draw, u, v, strange, posterior.offsets)
        if draw.link != "binomial":
            noise[s] = 1.0 / (draw.alpha * g * d)
    cuts = np.stack([draw.cuts for draw in draws]).astype(float)
    return Laws(f, doubt, noise, cuts, np.full(len(draws), 1 / len(draws)))


def laws_of_rows(posterior: Posterior, rows: slice) -> Laws:
    """Laws of all cells of some rows, row by row: as `laws_at`, by matrix products."""
    draws = posterior.draws
    shape = (len(draws), len(range(*rows.indices(len(draws[0].U)))), len(draws[0].V))
    f, noise = np.empty(shape), np.ones(shape)
    for s, draw in enumerate(draws):
        np.matmul(draw.U[rows].astype(float), draw.V.T.astype(float), out=f[s])
        f[s] += draw.row_offset[rows, None].astype(float) + (draw.column_offset.astype(float) + draw.mean)
        if draw.link != "binomial":
            precision = draw.alpha * draw.row_noise[rows, None].astype(float)
            np.divide(1.0, precision * draw.column_noise, out=noise[s])
    cuts = np.stack([draw.cuts for draw in draws]).astype(float)
    flat = (shape[0], shape[1] * shape[2])
    weight = np.full(len(draws), 1 / len(draws))
    return Laws(f.reshape(flat), np.broadcast_to(0.0, flat), noise.reshape(flat), cuts, weight)


def row_parts(posterior: Posterior) -> Iterator[slice]:
    """All rows, in parts whose cells' laws stay small."""
    n, p = len(posterior.draws[0].U), len(posterior.draws[0].V)
    size = max(1, _AT_ONCE // (len(posterior.draws) * p * max(len(posterior.levels), 1)))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _side(
    draw: Draw, side: str, index: np.ndarray, new: Newcomers | None, s: int, posterior: Posterior
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors (m, K), offsets (m,) and noise precisions (m,) of the rows or columns at these places."""
    row = side == "row"
    factors, offset, noise = (
        (draw.U, draw.row_offset, draw.row_noise) if row else (draw.V, draw.column_offset, draw.column_noise)
    )
    if new is None or not len(new):
        return factors[index], offset[index].astype(float), noise[index].astype(float)
    mean = new.means[s]
    factors = np.concatenate([factors, mean[:, :-1]])
    offset = np.concatenate([offset, mean[:, -1] * posterior.offsets])
    noise = np.concatenate([noise, np.full(len(mean), posterior.stranger_noise[side][s])])
    return factors[index], offset[index].astype(float), noise[index].astype(float)


def _doubt(
    draw: Draw, u: np.ndarray, v: np.ndarray, strange: tuple[np.ndarray, np.ndarray], offsets: bool
) -> np.ndarray:
    """Variance of f within the draw: u_i ~ N(mean, theta) where row i is strange, v_j likewise."""
    theta, other = draw.theta.astype(float), draw.column_theta.astype(float)
    own = (1.0 / draw.tau_row, 1.0 / draw.tau_column) if offsets else (0.0, 0.0)
    doubt = strange[0] * (v.astype(float) ** 2 @ theta + own[0])
    doubt = doubt + strange[1] * (u.astype(float) ** 2 @ other + own[1])
    return doubt + (strange[0] & strange[1]) * float(theta @ other)


def parts(posterior: Posterior, m: int, strangers: bool) -> Iterator[slice]:
    """The m cells cut so that arrays of draws by cells (by levels, by nodes) stay small."""
    deep = max(len(posterior.levels), 1) * (_NODES if strangers else 1)
    size = max(1, _AT_ONCE // (len(posterior.draws) * deep))
    for start in range(0, m, size):
        yield slice(start, min(start + size, m))


def thinned(posterior: Posterior, n: int) -> Posterior:
    """At most n of the draws, evenly spread."""
    if len(posterior.draws) <= n:
        return posterior
    chosen = np.unique(np.linspace(0, len(posterior.draws) - 1, n).astype(int))
    return replace(posterior, draws=tuple(posterior.draws[k] for k in chosen))
