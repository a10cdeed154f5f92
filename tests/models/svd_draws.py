"""Draws made by hand, with which answers can be computed another way."""

import numpy as np

from partita.models.matrices.draw import Draw
from partita.models.matrices.posterior import Posterior

N_ROWS, N_COLUMNS, K = 6, 5, 2


def make_draw(rng, link="gaussian", k=K, n=N_ROWS, p=N_COLUMNS, coefficients=((), ()), df=float("nan"), own=False):
    """`own`: rows have cut points of their own."""
    single = np.float32
    cuts = np.sort(rng.normal(size=3)).astype(single) if link == "ordinal" else np.zeros(0, single)
    spread = np.full(2 if own else 0, 0.6, single)
    stretch = (spread * rng.normal(size=(n, len(spread)))).astype(single)
    return Draw(
        link, float(rng.normal()), rng.normal(size=n).astype(single), rng.normal(size=p).astype(single),
        rng.normal(size=(n, k)).astype(single), rng.normal(size=(p, k)).astype(single),
        rng.gamma(2.0, size=k).astype(single), rng.gamma(2.0, size=k).astype(single), 2.0, 3.0,
        1.0 if link != "gaussian" else 1.7, rng.gamma(3.0, 1 / 3, size=n).astype(single),
        rng.gamma(3.0, 1 / 3, size=p).astype(single), *coefficients, cuts, stretch, spread, k, df, df,
    )  # fmt: skip


def make_posterior(link="gaussian", n_draws=40, seed=0, noise_df=3.0, offsets=True, components=None, own=False):
    rng = np.random.default_rng(seed)
    sizes = [K] * n_draws if components is None else components
    levels = np.array([1.0, 2.0, 3.5, 5.0]) if link == "ordinal" else np.zeros(0)
    df = float("nan") if link == "binomial" or noise_df is None else noise_df
    return Posterior(tuple(make_draw(rng, link, k, df=df, own=own) for k in sizes), levels, offsets)
