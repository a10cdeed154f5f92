"""New rows without refitting: in every draw, a draw of the row's factors and offset given its cells.

The other side and everything else stay as they are, so what is new does not change what was learnt. Per draw this is
the conditional of one row in the sampler: exact where the noise is equal (a normal law); with noise of the row's own,
and with levels, short Gibbs chains of (row, noise, latents); with successes and trials, a sample from the normal law at
the mode, chosen among candidates by importance. New columns are the same with the sides exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from .draw import Draw
from .fold_in_levels import FoldedLevels
from .posterior import Posterior

NOISE_ROUNDS, LATENT_ROUNDS = 10, 30
_NEWTON, _CANDIDATES = 20, 20


@dataclass(frozen=True, eq=False)
class NewRow:
    """Cells of one new row: places on the other side, values (reals, codes of levels or successes), trials."""

    partners: np.ndarray
    values: np.ndarray
    trials: np.ndarray | None
    stream: np.random.Generator


@dataclass(frozen=True, eq=False)
class _Stacked:
    """One new row in all S draws; K is the largest number of components, others are padded.

    x (S, n, K + 1)     factors of the partners and a 1 for the offset
    base (S, n)         what the rest of the model says of the cells
    precision, mean     (S, K + 1) of the row's normal prior
    noise (S, n)        precision of a cell less the row's own g
    cuts                of levels: of a new column (S, n, L - 1), those of its partners; of a new row (S, 1, L - 1),
                        those of all rows, which it stretches
    spread (S, L - 2)   of the stretches of a new row; (S, 0): rows are alike, or it is a column
    df (S,)             nu of g ~ Gamma(nu, nu)
    """

    x: np.ndarray
    base: np.ndarray
    precision: np.ndarray
    mean: np.ndarray
    noise: np.ndarray
    cuts: np.ndarray
    spread: np.ndarray
    df: np.ndarray


def fold_in(posterior: Posterior, side: str, rows: list[NewRow], means: list[np.ndarray]) -> Posterior:
    """The posterior with these rows (or columns, side="column") after those it has.

    means   per draw, (n, K + 1): prior means of the new rows' factors and offset.
    """
    width = max(draw.U.shape[1] for draw in posterior.draws)
    drawn = []
    for k, row in enumerate(rows):
        stacked = _stack(posterior, side, row.partners, [mean[k] for mean in means], width)
        beta, g, stretch = _draw_row(stacked, row, posterior)
        beta[:, -1] *= posterior.offsets
        drawn.append((beta, g, stretch))
    grown = [_grow(draw, side, [(b[s], g[s], r[s]) for b, g, r in drawn]) for s, draw in enumerate(posterior.draws)]
    return replace(posterior, draws=tuple(grown))


def _stack(posterior: Posterior, side: str, partners: np.ndarray, means: list[np.ndarray], width: int) -> _Stacked:
    draws, n = posterior.draws, len(partners)
    x, mean = np.zeros((len(draws), n, width + 1)), np.zeros((len(draws), width + 1))
    base, noise = np.empty((len(draws), n)), np.empty((len(draws), n))
    precision = np.ones((len(draws), width + 1))  # padding: a standard normal that no cell knows of
    for s, draw in enumerate(draws):
        row = side == "row"
        other = (draw.V, draw.column_offset, draw.column_noise) if row else (draw.U, draw.row_offset, draw.row_noise)
        k = other[0].shape[1]
        x[s, :, :k] = other[0][partners]
        x[s, :, -1] = posterior.offsets
        base[s] = draw.mean + other[1][partners]
        noise[s] = draw.alpha * other[2][partners] if draw.link != "binomial" else 1.0
        precision[s, :k] = 1.0 / np.maximum(draw.theta if row else draw.column_theta, 1e-30)
        precision[s, -1] = draw.tau_row if row else draw.tau_column
        mean[s, :k], mean[s, -1] = means[s][:-1], means[s][-1]
    if side == "row":
        cuts = np.stack([draw.cuts for draw in draws]).astype(float)[:, None, :]
        spread = np.stack([draw.stretch_spread for draw in draws]).astype(float)
    else:
        cuts, spread = posterior.cuts_of_rows(partners), np.zeros((len(draws), 0))
    df = np.array([draw.row_df if side == "row" else draw.column_df for draw in draws])
    return _Stacked(x, base, precision, mean, noise, cuts, spread, df)


def _draw_row(stacked: _Stacked, row: NewRow, posterior: Posterior) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factors and offset (S, K + 1), noise g (S,) and stretches (S, L - 2), one draw of each given every draw of the
    rest.
    """
    link, rng, n_draws = posterior.link, row.stream, len(stacked.base)
    if link == "binomial":
        return _binomial(stacked, row), np.ones(n_draws), stacked.spread
    n, unequal, nu = len(row.values), posterior.unequal_noise, stacked.df
    g = rng.gamma(nu) / nu if unequal else np.ones(n_draws)
    rounds = LATENT_ROUNDS if link == "ordinal" and n else NOISE_ROUNDS if unequal and n else 1
    beta, stretch = stacked.mean, stacked.spread * rng.standard_normal(stacked.spread.shape)
    y = np.broadcast_to(row.values, (n_draws, n))
    for _ in range(rounds):
        if link == "ordinal":
            f = stacked.base + np.einsum("snk,sk->sn", stacked.x, beta)
            levels = FoldedLevels(row.values.astype(int), f, np.sqrt(stacked.noise * g[:, None]), stacked.cuts)
            stretch = levels.move_stretch(stretch, stacked.spread, rng)
            y = levels.latents(stretch, rng)
        weight = stacked.noise * g[:, None]
        beta = _normal_row(stacked, weight, y - stacked.base, rng)
        if unequal:
            error = y - stacked.base - np.einsum("snk,sk->sn", stacked.x, beta)
            g = rng.gamma(nu + n / 2) / (nu + 0.5 * (stacked.noise * error**2).sum(axis=1))
    return beta, g, stretch


def _normal_row(stacked: _Stacked, weight: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(S, K + 1) from N(P^-1 (p0 m0 + x'wy), P^-1), P = diag(p0) + x'wx."""
    precision = np.einsum("snk,sn,snl->skl", stacked.x, weight, stacked.x)
    precision[:, np.arange(precision.shape[1]), np.arange(precision.shape[1])] += stacked.precision
    target = stacked.precision * stacked.mean + np.einsum("snk,sn->sk", stacked.x, weight * y)
    return _from_precision(precision, target, rng.standard_normal(target.shape))


def _from_precision(precision: np.ndarray, target: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """P^-1 target + P^-1/2 noise for a stack of precision matrices; scaled first, since precisions differ widely."""
    scale = 1.0 / np.sqrt(np.einsum("skk->sk", precision))
    root = np.linalg.cholesky(precision * scale[:, :, None] * scale[:, None, :])
    half = np.linalg.solve(root, (target * scale)[:, :, None])[:, :, 0] + noise
    return scale * np.linalg.solve(np.swapaxes(root, 1, 2), half[:, :, None])[:, :, 0]


# ---- successes and trials ----


def _binomial(stacked: _Stacked, row: NewRow) -> np.ndarray:
    """(S, K + 1): candidates from the normal law at the mode, one chosen by its importance weight."""
    rng = row.stream
    if not len(row.values):
        return stacked.mean + rng.standard_normal(stacked.mean.shape) / np.sqrt(stacked.precision)
    assert row.trials is not None
    mode = stacked.mean.copy()
    for _ in range(_NEWTON):
        target, precision = _newton(stacked, row, mode)
        step = np.linalg.solve(precision, target[:, :, None])[:, :, 0] - mode
        mode = mode + _shortened(stacked, row, mode, step)[:, None] * step
    _, precision = _newton(stacked, row, mode)
    noise = rng.standard_normal((_CANDIDATES, *mode.shape))
    zero = np.zeros_like(mode)
    apart = np.stack([_from_precision(precision, zero, e) for e in noise])
    log_weight = np.stack([_log_density(stacked, row, mode + part) for part in apart]) + 0.5 * (noise**2).sum(axis=2)
    weight = np.exp(log_weight - log_weight.max(axis=0))
    share = np.cumsum(weight, axis=0) / weight.sum(axis=0)
    chosen = np.minimum((share < rng.random(len(mode))).sum(axis=0), _CANDIDATES - 1)
    return mode + apart[chosen, np.arange(len(mode))]


def _newton(stacked: _Stacked, row: NewRow, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Right-hand side and precision of the quadratic form that touches the log density at beta."""
    f = stacked.base + np.einsum("snk,sk->sn", stacked.x, beta)
    hits, misses = row.values, row.trials - row.values
    ratio = -0.5 * f * f - 0.5 * np.log(2 * np.pi)
    up, down = np.exp(ratio - log_ndtr(f)), np.exp(ratio - log_ndtr(-f))  # phi / Phi on either side
    slope = hits * up - misses * down
    curve = np.maximum(hits * up * (up + f) + misses * down * (down - f), 1e-12)
    precision = np.einsum("snk,sn,snl->skl", stacked.x, curve, stacked.x)
    precision[:, np.arange(precision.shape[1]), np.arange(precision.shape[1])] += stacked.precision
    pull = np.einsum("snk,sn->sk", stacked.x, slope + curve * (f - stacked.base))
    return stacked.precision * stacked.mean + pull, precision


def _log_density(stacked: _Stacked, row: NewRow, beta: np.ndarray) -> np.ndarray:
    f = stacked.base + np.einsum("snk,sk->sn", stacked.x, beta)
    said = row.values * log_ndtr(f) + (row.trials - row.values) * log_ndtr(-f)
    return said.sum(axis=1) - 0.5 * (stacked.precision * (beta - stacked.mean) ** 2).sum(axis=1)


def _shortened(stacked: _Stacked, row: NewRow, beta: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(S,) 1, or as many halves as it takes for the log density not to fall."""
    here, length = _log_density(stacked, row, beta), np.ones(len(beta))
    for _ in range(30):
        worse = _log_density(stacked, row, beta + length[:, None] * step) < here - 1e-9
        if not worse.any():
            break
        length[worse] /= 2
    return length


def _grow(draw: Draw, side: str, new: list[tuple[np.ndarray, float, np.ndarray]]) -> Draw:
    k = draw.U.shape[1]
    factors = np.array([beta[:k] for beta, _, _ in new], dtype=np.float32).reshape(len(new), k)
    offset = np.array([beta[-1] for beta, _, _ in new], dtype=np.float32)
    noise = np.array([g for _, g, _ in new], dtype=np.float32)
    if side == "row":
        return replace(
            draw, U=np.concatenate([draw.U, factors]), row_offset=np.concatenate([draw.row_offset, offset]),
            row_noise=np.concatenate([draw.row_noise, noise]),
            row_stretch=np.concatenate([draw.row_stretch, np.array([r for _, _, r in new], dtype=np.float32)]),
        )  # fmt: skip
    return replace(
        draw, V=np.concatenate([draw.V, factors]), column_offset=np.concatenate([draw.column_offset, offset]),
        column_noise=np.concatenate([draw.column_noise, noise]),
    )  # fmt: skip
