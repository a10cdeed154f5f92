"""The laws of cells under all draws together.

A draw gives a cell the linear predictor f with a doubt of its own (0, but for rows and columns that training did not
see: there f is normal under their prior) and, for reals and levels, noise. All answers are mixtures over draws of these
normal laws; nothing else is approximated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr

from .draw import Draw
from .posterior import Newcomers, Posterior

_AT_ONCE = 2_000_000  # numbers of one array of draws by cells
_NODES = 21  # of the quadrature over the doubt within a draw


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
