"""The correlated block: P real columns that in every group are jointly normal, mean and covariance unknown.

Sigma ~ InverseWishart(nu, Psi_0), mu | Sigma ~ Normal(m_0, Sigma / kappa), with h = kappa, nu, sigma^2, mean; every
coordinate of m_0 is `mean`, and Psi_0 = sigma^2 (nu - P - 1) I. Given a group's rows these become kappa_n, nu_n, m_n,
Psi_n, and the predictive is Student's t with nu_n - P + 1 degrees of freedom, as is every margin and conditional of it.

A row of the block is a pair (x, seen): its P cells as they are now, and which of them are observed; two empty arrays
stand for a row without any observed cell, which adds nothing. Missing cells are part of the state: a row is scored by
its observed cells, and its missing ones are drawn when it is seated. Here everything comes from the sums; the factor is
only written down.
"""

from __future__ import annotations

from math import cos, log, pi, sqrt

import numpy as np
from scipy.special import gammaln, multigammaln

from ..contract import CORRELATED, Layout, Rows
from .draw import Stream

Row = tuple[np.ndarray, np.ndarray]
NO_ROW: Row = (np.zeros(0), np.zeros(0, bool))


def block_of(layout: Layout) -> int:
    """The column of the block."""
    return int(np.flatnonzero(layout.kind == CORRELATED)[0])


def cells_of(layout: Layout, rows: Rows, d: int) -> np.ndarray:
    """The block's cells, (rows, P), NaN where missing."""
    first = int(layout.source[d])
    return rows.reals[:, first : first + int(layout.levels[d])]


def row_of(cells: np.ndarray, current: np.ndarray | None, whole: bool) -> Row:
    """A row of the block. `current`, where the chain keeps its cells, is written into, now and when cells are drawn.

    With `whole` missing cells count as observed, at their current values.
    """
    seen = ~np.isnan(cells)
    if not seen.any():
        return NO_ROW
    x = cells.copy() if current is None else current
    x[seen] = cells[seen]
    return x, seen | whole


def fill(cells: np.ndarray, filled: np.ndarray, mean: float) -> None:
    """Bring the current values (n, P) up to date: cells never drawn start at the mean, a row without any is all NaN."""
    seen = ~np.isnan(cells)
    filled[np.isnan(filled)] = mean
    filled[seen] = cells[seen]
    filled[~seen.any(axis=1)] = np.nan


def statistics_of_rows(x: np.ndarray) -> np.ndarray:
    """What each row (n, P) adds to the statistics of its group: nothing where it is NaN, no factor ever."""
    there = ~np.isnan(x).any(axis=1, keepdims=True)
    x = np.where(there, x, 0.0)
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    return np.concatenate([there, x, products, np.zeros_like(products)], axis=1)


def posterior(h: np.ndarray, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """kappa_n, nu_n (...), m_n (..., P), Psi_n (..., P, P); h (4, ...) broadcasts against the groups of stats."""
    width = _width(stats)
    n, sums = stats[..., 0], stats[..., 1 : 1 + width]
    products = stats[..., 1 + width : 1 + width + width * width].reshape(*n.shape, width, width)
    kappa, nu, sigma2, mean = (np.asarray(part)[..., None] for part in h)
    centre = (kappa * mean + sums) / (kappa + n[..., None])
    squares = kappa[..., None] * mean[..., None] ** 2 - (kappa + n[..., None])[..., None] * (
        centre[..., :, None] * centre[..., None, :]
    )
    scale = (sigma2 * (nu - width - 1.0))[..., None] * np.eye(width) + products + squares
    return h[0] + n, h[1] + n, centre, scale


def log_predictive(h: np.ndarray, stats: np.ndarray, row: Row) -> np.ndarray:
    """log p(observed cells | the rows in the group) for every group, stats (groups, s)."""
    x, seen = row
    kappa, nu, centre, scale = posterior(h, stats)
    degrees, m = nu - len(x) + 1.0, int(seen.sum())
    residual, scale = (x - centre)[:, seen], scale[:, seen][:, :, seen]
    distance = (residual * np.linalg.solve(scale, residual[..., None])[..., 0]).sum(axis=1)
    constant = gammaln(0.5 * (degrees + m)) - gammaln(0.5 * degrees) - 0.5 * m * np.log(np.pi * (1.0 + 1.0 / kappa))
    tail = 0.5 * (degrees + m) * np.log1p(distance * kappa / (kappa + 1.0))
    return constant - 0.5 * np.linalg.slogdet(scale)[1] - tail


def log_marginal(h: np.ndarray, stats: np.ndarray) -> np.ndarray:
    """log p(the rows in a group); h (4, ...) broadcasts against the groups of stats (..., s)."""
    width = _width(stats)
    n = stats[..., 0]
    kappa, nu, _, scale = posterior(h, stats)
    result = multigammaln(0.5 * nu, width) - multigammaln(0.5 * (nu - n), width) + 0.5 * width * np.log(h[0] / kappa)
    prior = width * np.log(h[2] * (h[1] - width - 1.0))
    change = 0.5 * h[1] * prior - 0.5 * nu * np.linalg.slogdet(scale)[1]
    return result + change - 0.5 * n * width * np.log(np.pi)


def write_factor(h: np.ndarray, stats: np.ndarray) -> None:
    """Write U of U'U = Psi_n into the statistics (..., s)."""
    width = _width(stats)
    lower = np.linalg.cholesky(posterior(h, stats)[3])
    stats[..., 1 + width + width * width :] = np.swapaxes(lower, -1, -2).reshape(*lower.shape[:-2], width * width)


def has_holes(row: Row) -> bool:
    """Whether there are missing cells to be drawn."""
    return not row[1].all()


def draw_missing(h: np.ndarray, stats: np.ndarray, row: Row, uniform: float, i: int) -> None:
    """Draw the missing cells of row i given the observed ones, in a group (s,) that does not hold it, into the row.

    The random numbers are a stream of their own for each row, counted from the uniform that drew its seat.
    """
    if not has_holes(row):
        return
    x, seen = row
    kappa, nu, centre, scale = posterior(h, stats)
    gain = np.linalg.solve(scale[np.ix_(seen, seen)], scale[np.ix_(seen, ~seen)]).T
    residual = (x - centre)[seen]
    complement = scale[np.ix_(~seen, ~seen)] - gain @ scale[np.ix_(seen, ~seen)]
    distance = residual @ np.linalg.solve(scale[np.ix_(seen, seen)], residual)
    stream = row_stream(uniform, i)
    spread = sqrt((1.0 + 1.0 / kappa + distance) / _chi_square(stream, nu - len(x) + 1.0 + seen.sum()))
    noise = np.array([_normal(stream) for _ in range(int((~seen).sum()))])
    x[~seen] = centre[~seen] + gain @ residual + spread * (np.linalg.cholesky(complement) @ noise)


def row_stream(uniform: float, i: int) -> Stream:
    return Stream(int(np.float64(uniform).view(np.uint64)) ^ ((int(i) + 1) * 0xD1342543DE82EF95 & (2**64 - 1)))


def _normal(stream: Stream) -> float:
    """Box and Muller, one of the two."""
    radius = sqrt(-2.0 * log(1.0 - stream.uniform()))
    return radius * cos(2.0 * pi * stream.uniform())


def _chi_square(stream: Stream, degrees: float) -> float:
    """Marsaglia and Tsang (2000), for two degrees of freedom or more."""
    d = 0.5 * degrees - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = _normal(stream)
        t, log_u = 1.0 + c * x, log(1.0 - stream.uniform())
        if t > 0 and log_u < 0.5 * x * x + d - d * t**3 + d * log(t**3):
            return 2.0 * d * t**3


def _width(stats: np.ndarray) -> int:
    """P, from s = 1 + P + 2 P^2."""
    return (int(sqrt(8 * stats.shape[-1] - 7) + 0.5) - 1) // 4
