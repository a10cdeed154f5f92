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
from scipy.special import gammaincinv, ndtr, ndtri

from .svd_draw import Draw
from .svd_levels import own_cuts

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
        spread = {}
        for side, irrational in (("row", 0.6180339887498949), ("column", 0.4142135623730951)):
            df = np.array([draw.row_df if side == "row" else draw.column_df for draw in self.draws])
            share = _scattered(len(self.draws), irrational)
            spread[side] = gammaincinv(df, share) / df if self.unequal_noise else np.ones(len(self.draws))
        return spread

    @cached_property
    def stranger_stretch(self) -> np.ndarray:
        """(S, L - 2) of the gaps between the cut points of a row that was not seen, spread in the same way."""
        spread = np.stack([draw.stretch_spread for draw in self.draws]).astype(float)
        shares = [_scattered(len(spread), np.sqrt(2.0 + 3.0 * gap) % 1.0) for gap in range(spread.shape[1])]
        return spread * ndtri(np.stack(shares, axis=1)) if shares else spread

    def cuts_of_rows(self, rows: np.ndarray | slice) -> np.ndarray:
        """(S, m, L - 1) cut points of rows, places beyond those of training being strangers; (S, 1, L - 1) where all
        rows are alike."""
        cuts = np.stack([draw.cuts for draw in self.draws]).astype(float)
        if not self.draws[0].row_stretch.shape[1]:
            return cuts[:, None, :]
        stretch = np.stack([_stretch_of(draw, rows, own) for draw, own in zip(self.draws, self.stranger_stretch)])
        return own_cuts(cuts, stretch)

    def strangers(self, side: str, n: int) -> Newcomers:
        """Rows or columns of which nothing is known, not even features."""
        factors = [draw.U if side == "row" else draw.V for draw in self.draws]
        return Newcomers(tuple(np.zeros((n, part.shape[1] + 1)) for part in factors))


def _scattered(n: int, irrational: float) -> np.ndarray:
    """(n,) evenly spread in (0, 1), in an order of its own for every irrational number."""
    return (np.argsort(np.argsort((np.arange(1, n + 1) * irrational) % 1.0)) + 0.5) / n


def _stretch_of(draw: Draw, rows: np.ndarray | slice, stranger: np.ndarray) -> np.ndarray:
    if isinstance(rows, slice):
        return draw.row_stretch[rows].astype(float)
    return np.concatenate([draw.row_stretch, stranger[None]])[np.minimum(rows, len(draw.row_stretch))].astype(float)


@dataclass(frozen=True, eq=False)
class Laws:
    """What S draws say of m cells, each an array (S, m).

    f           linear predictor; its mean, where there is doubt within a draw.
    doubt       variance of f within a draw.
    noise       variance of an observation around f (1 for a binomial link: the probit's latent).
    cuts        (S, m, L - 1) cut points of levels, or (S, 1, L - 1) where they are those of all cells.
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
            np.tile(self.cuts, (n, 1, 1)), np.outer(mass / mass.sum(), self.weight).ravel(),
        )  # fmt: skip

    def level_chances(self) -> np.ndarray:
        """(S, m, L) probability of every level."""
        sd = np.sqrt(self.noise + self.doubt)
        below = ndtr((self.cuts - self.f[:, :, None]) / sd[:, :, None])
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
    return Laws(f, doubt, noise, posterior.cuts_of_rows(rows), np.full(len(draws), 1 / len(draws)))


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
    cuts = posterior.cuts_of_rows(rows)
    cuts = cuts if cuts.shape[1] == 1 else np.repeat(cuts, shape[2], axis=1)
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
