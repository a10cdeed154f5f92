"""Small random chains and filters of all kinds, and what it means that two of them are the same."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import gammaln

from partita.kernels import BACKEND, reference
from partita.kernels.contract import (
    BINARY,
    CATEGORICAL,
    COUNT,
    FIRST_RESTAURANT,
    REAL,
    Chain,
    Filter,
    Grids,
    Layout,
    Predictive,
    Rows,
    make_layout,
    pad,
)

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(scope="session")
def backends():
    """The kernels there are, by name: a definition must hold for each of them."""
    found = {"reference": reference}
    if BACKEND == "native":
        from partita.kernels import _native

        found["native"] = _native
    return found


@pytest.fixture(scope="session")
def native():
    if BACKEND != "native":
        pytest.skip(f"BACKEND is {BACKEND!r}: there are no native kernels to compare the twins with")
    from partita.kernels import _native

    return _native


def random_table(rng, n, missing, kinds) -> tuple[Layout, Rows]:
    kind = np.array(kinds)
    levels = np.array([{BINARY: 2, CATEGORICAL: int(rng.integers(2, 7))}.get(k, 1) for k in kind])
    discrete = np.isin(kind, (BINARY, CATEGORICAL))
    source = np.where(discrete, np.cumsum(discrete) - 1, np.cumsum(~discrete) - 1)
    codes = np.stack([rng.integers(0, k, n) for k in levels[discrete]] or [np.zeros(n)], 1)[:, : discrete.sum()]
    means = rng.uniform(0.5, 6.0, (~discrete).sum())
    reals = np.stack(
        [rng.poisson(m, n) if k == COUNT else rng.normal(0, 1, n) for m, k in zip(means, kind[~discrete], strict=True)]
        or [np.zeros(n)], 1
    )[:, : (~discrete).sum()].astype(float)  # fmt: skip
    codes[rng.random(codes.shape) < missing] = -1
    reals[rng.random(reals.shape) < missing] = np.nan
    base = [rng.dirichlet(np.full(k, 3.0)) if t == CATEGORICAL else np.ones(int(t == COUNT)) * 2.5
            for t, k in zip(kind, levels, strict=True)]  # fmt: skip
    layout = make_layout(kind, source, levels, base)
    return layout, Rows(np.ascontiguousarray(codes, np.int32), np.ascontiguousarray(reals))


def small_grids(n_counts=12) -> Grids:
    """Small grids, and tables of rising factorials too short for the largest groups."""
    beta = np.array([0.1, 0.5, 1.0, 4.0])
    sums = (beta[:, None] + beta)[np.triu_indices(len(beta))]

    def rise(a):
        table = np.zeros((n_counts, pad(len(a))))
        table[:, : len(a)] = gammaln(a + np.arange(n_counts)[:, None]) - gammaln(a)
        return table

    return Grids(
        beta=beta, strength=np.array([0.3, 1.0, 3.0, 10.0]), shape=np.array([0.5, 1.0, 4.0]),
        scale=np.array([0.5, 1.0, 2.0]), kappa=np.array([0.05, 0.3, 1.0]), nu=np.array([1.0, 3.0, 8.0, 20.0]),
        sigma=np.array([0.1, 0.5, 1.0, 2.0]), sums=sums, rise=rise(beta), rise_sum=rise(sums),
    )  # fmt: skip


def random_hyper(rng, layout, grids) -> tuple[np.ndarray, np.ndarray]:
    at, hyper = np.zeros((layout.n_columns, 4), np.int32), np.zeros((layout.n_columns, 4))
    for d, kind in enumerate(layout.kind):
        axes = {BINARY: (grids.beta, grids.beta), CATEGORICAL: (grids.strength,), COUNT: (grids.shape, grids.scale),
                REAL: (grids.kappa, grids.nu, grids.sigma)}[kind]  # fmt: skip
        for j, axis in enumerate(axes):
            at[d, j] = rng.integers(len(axis))
            hyper[d, j] = axis[at[d, j]]
        if kind == COUNT:
            hyper[d, 1] = hyper[d, 0] / (layout.base[layout.base_first[d]] * hyper[d, 1])
        elif kind == REAL:
            hyper[d, 3] = rng.normal()
    return hyper, at


ALL_KINDS = (BINARY, CATEGORICAL, COUNT, REAL) * 3 + (BINARY,) * 9


def random_chain(
    seed, n=40, classes=2, restaurants=2, missing=0.3, cap=50, capacity=16, alpha=1.0, groups=4, kinds=ALL_KINDS,
    empty_classes=0, crowded=False, listed=False, finite=False, entered=False,
):  # fmt: skip
    """A chain with a random state. `empty_classes` hold no row; `crowded`: all columns in the first restaurant.

    `listed`: the rows carry the list of their observed codes. `entered`: and of their table entries.
    `finite`: finite mixtures with a place or two to spare.
    """
    rng = np.random.default_rng(seed)
    layout, rows = random_table(rng, n, missing, kinds)
    if listed:
        rows = rows.listed(0.0)
        assert rows.first is not None
    if entered:
        rows = rows.entered(layout)
        assert rows.entries is not None
    grids = small_grids()
    hyper, at = random_hyper(rng, layout, grids)
    label = rng.integers(0, classes - empty_classes, n).astype(np.int32)
    z, used = np.zeros((restaurants, n), np.int32), np.zeros((restaurants, classes), np.int32)
    size = np.zeros((restaurants, classes, pad(capacity)))
    for r, c in np.ndindex(restaurants, classes):
        mine = np.flatnonzero(label == c)
        names, z[r, mine] = np.unique(rng.integers(0, min(groups, cap), len(mine)), return_inverse=True)
        used[r, c] = len(names)
        size[r, c, : len(names)] = np.bincount(z[r, mine], minlength=len(names))
    view = rng.integers(0, FIRST_RESTAURANT + restaurants, layout.n_columns).astype(np.int32)
    view[:restaurants] = FIRST_RESTAURANT + np.arange(min(restaurants, layout.n_columns))
    if crowded:
        view[:] = FIRST_RESTAURANT
    chain = Chain(
        hyper, at, view, label, z, used, size, rng.uniform(0.5, 2.0, used.shape) * alpha,
        np.zeros((classes, pad(capacity), layout.n_stats)), np.zeros((classes, layout.n_table, pad(capacity))),
        np.zeros((n, 0)), cap,
    )  # fmt: skip
    if finite:
        chain.discount[:] = -(2.0 ** rng.integers(-1, 3, used.shape))
        chain.alpha[:] = -chain.discount * np.maximum(used + rng.integers(0, 3, used.shape), 1)
    reference.rebuild(layout, rows, chain)
    return SimpleNamespace(layout=layout, rows=rows, chain=chain, grids=grids, rng=rng)


def random_filter(rng, layout, particles=5, capacity=64, room=8, cap=50, window=10) -> Filter:
    table = np.zeros((layout.n_table, pad(capacity)))
    return Filter(
        np.zeros((pad(capacity), layout.n_stats)), table, np.zeros(pad(capacity)), np.zeros(pad(capacity), np.int32),
        np.zeros((particles, room), np.int32), np.zeros(particles, np.int32), np.zeros(particles),
        rng.uniform(0.5, 2.0, particles), np.full((particles, window), -1, np.int32), np.zeros(3), cap,
    )  # fmt: skip


def predictive_of(chain: Chain) -> Predictive:
    """The predictive state of a chain: groups weighted by size, a new one by alpha."""
    R, C = chain.used.shape
    log_weight = np.full(chain.size.shape, -1e300)
    for r, c in np.ndindex(R, C):
        n = chain.used[r, c]
        opening = max(chain.alpha[r, c] + chain.discount[r, c] * n, 0.0)
        weight = np.append(chain.size[r, c, :n] - chain.discount[r, c], opening)
        with np.errstate(divide="ignore"):
            log_weight[r, c, : n + 1] = np.log(weight / weight.sum())
    return Predictive(chain.view, chain.hyper, chain.stats, chain.table, log_weight, chain.used + np.int32(1))


def live(chain: Chain, layout: Layout, c: int, d: int) -> int:
    """Groups of column d in class c that must be ready: those in use and the empty one after them, within capacity."""
    view = chain.view[d]
    used = 0 if view < FIRST_RESTAURANT else chain.used[view - FIRST_RESTAURANT, c]
    return min(used + 1, chain.capacity)


def assert_same_chain(layout: Layout, a: Chain, b: Chain) -> None:
    for name in ("label", "z", "used", "view", "at"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for name in ("hyper", "alpha", "discount", "size"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), err_msg=name, **CLOSE)
    for c in range(len(a.stats)):
        for d in range(layout.n_columns):
            n = live(a, layout, c, d)
            stats, table = reference.columns.own_stats(layout, d), reference.columns.own_table(layout, d)
            np.testing.assert_allclose(a.stats[c, :n, stats], b.stats[c, :n, stats], err_msg=f"stats of {d}", **CLOSE)
            np.testing.assert_allclose(a.table[c, table, :n], b.table[c, table, :n], err_msg=f"table of {d}", **CLOSE)


@pytest.fixture(scope="session")
def make():
    """The builders and comparisons above, for the tests of this folder."""
    return SimpleNamespace(
        chain=random_chain, filter=random_filter, predictive=predictive_of, same=assert_same_chain, close=CLOSE
    )
