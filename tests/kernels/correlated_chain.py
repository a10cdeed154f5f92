"""One class in one restaurant with a correlated block over all columns: what the tests of the block are made of."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from partita.families import NormalInverseWishart
from partita.kernels import kernel
from partita.kernels.contract import CORRELATED, FIRST_RESTAURANT, Chain, Rows, make_layout, pad

HYPER = np.array([0.5, 9.0, 0.7, 0.3])  # kappa, nu, sigma^2, mean


def family(h, width) -> NormalInverseWishart:
    """The block's prior as the contract lays it down."""
    return NormalInverseWishart(np.full(width, h[3]), h[0], h[1], h[2] * (h[1] - width - 1) * np.eye(width))


def block_chain(reals, hyper=HYPER, z=None, alpha=1.0, cap=50) -> SimpleNamespace:
    """One class, one restaurant, one block over all columns of `reals`."""
    n, width = reals.shape
    layout = make_layout([CORRELATED], [0], [width], [np.zeros(0)])
    rows = Rows(np.zeros((n, 0), np.int32), np.ascontiguousarray(reals))
    z = np.zeros(n, np.int32) if z is None else np.asarray(z, np.int32)
    used, capacity = int(z.max()) + 1, pad(n + 2)
    size = np.bincount(z, minlength=capacity).astype(float)
    chain = Chain(
        np.array(hyper, float).reshape(1, 4), np.zeros((1, 4), np.int32), np.full(1, FIRST_RESTAURANT, np.int32),
        np.zeros(n, np.int32), z[None].copy(), np.full((1, 1), used, np.int32), size[None, None],
        np.full((1, 1), alpha), np.zeros((1, capacity, layout.n_stats)), np.zeros((1, 0, capacity)),
        np.full((n, width), np.nan), cap,
    )  # fmt: skip
    kernel.rebuild(layout, rows, chain)
    return SimpleNamespace(layout=layout, rows=rows, chain=chain)


def sweep(p, rng, order=None):
    order = np.arange(len(p.rows)) if order is None else order
    assert kernel.gibbs_sweep(p.layout, p.rows, p.chain, 0, 0, order, rng.random(len(order))) == len(order)
