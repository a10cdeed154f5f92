"""The correlated block beside other columns: native kernels and plain twins decide alike and draw the same cells."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.contract import (
    BINARY,
    CLASS_ONLY,
    CORRELATED,
    COUNT,
    FIRST_RESTAURANT,
    REAL,
    Rows,
    grow,
    make_layout,
    pad,
)

CASES = [
    {"width": 1},
    {"width": 3, "classes": 1, "restaurants": 1},
    {"width": 4, "missing": 0.0},
    {"width": 6, "missing": 0.6, "classes": 3},
    {"width": 3, "cap": 3, "alpha": 5.0},
    {"width": 3, "alpha": 30.0},
    {"width": 2, "view": CLASS_ONLY},
    {"width": 3, "view": 0},
]


def with_block(make, seed, width, view=FIRST_RESTAURANT, missing=0.3, **options):
    """A chain of other columns with a block put after them, its reals between those of the others."""
    problem = make.chain(seed, missing=missing, kinds=(BINARY, COUNT, REAL, BINARY), **options)
    rng, chain, old = problem.rng, problem.chain, problem.layout
    n = len(problem.rows)
    block = rng.standard_normal((n, width)) @ rng.standard_normal((width, width)) + chain.z[0][:, None]
    block[rng.random(block.shape) < missing] = np.nan
    block[:2] = np.nan
    problem.rows = Rows(problem.rows.codes, np.ascontiguousarray(np.concatenate([problem.rows.reals, block], axis=1)))
    base = [np.full(int(k == COUNT), 2.5) for k in old.kind]
    problem.layout = layout = make_layout(
        [*old.kind, CORRELATED], [*old.source, 2], [*old.levels, width], [*base, np.zeros(0)]
    )
    grids, at = problem.grids, rng.integers(3, size=3)
    h = [grids.kappa[at[0]], width + 1 + grids.nu[at[1]], grids.sigma[at[2]], 0.4]
    chain.hyper, chain.at = np.vstack([chain.hyper, h]), np.vstack([chain.at, [*at, 0]]).astype(np.int32)
    chain.view = np.append(chain.view, view).astype(np.int32)
    classes, capacity = chain.stats.shape[:2]
    chain.stats = np.zeros((classes, capacity, layout.n_stats))
    chain.table = np.zeros((classes, layout.n_table, capacity))
    chain.filled = rng.standard_normal((n, width))
    reference.rebuild(layout, problem.rows, chain)
    return problem


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def problem(request, make):
    case, seed = request.param
    return with_block(make, seed, **case)


def both(problem, native, make, call):
    """Run `call(kernels, chain)` on two copies; results, chains and drawn cells must agree. Keeps the twin's chain."""
    mine, theirs = deepcopy(problem.chain), deepcopy(problem.chain)
    result, other = call(reference, mine), call(native, theirs)
    assert result == other
    make.same(problem.layout, mine, theirs)
    np.testing.assert_allclose(mine.filled, theirs.filled, rtol=1e-8, atol=1e-8)
    problem.chain = mine
    return result


def members(chain, c):
    return np.flatnonzero(chain.label == c)


def test_sweeps_and_moves(problem, native, make):
    layout, rows, rng = problem.layout, problem.rows, problem.rng
    counts = np.bincount(problem.chain.label, minlength=problem.chain.used.shape[1]).astype(float)
    for t in range(2):
        for r, c in np.ndindex(*problem.chain.used.shape):
            grow(problem.chain, 64)
            order = rng.permutation(members(problem.chain, c))
            u, mine = rng.random(len(order)), members(problem.chain, c)
            both(problem, native, make, lambda k, s, r=r, c=c, o=order, u=u: k.gibbs_sweep(layout, rows, s, r, c, o, u))
            both(
                problem, native, make, lambda k, s, r=r, c=c, m=mine, t=t: k.split_merge(layout, rows, s, r, c, m, 3, t)
            )
        order, u = rng.permutation(len(rows))[:15], rng.random((15, 1 + problem.chain.z.shape[0]))
        kept = {k: counts.copy() for k in (reference, native)}
        both(
            problem, native, make, lambda k, s, o=order, u=u, n=kept: k.relabel_sweep(layout, rows, s, n[k], 1.0, o, u)
        )
        counts = kept[reference]
        u = rng.random((layout.n_columns, 3))
        both(problem, native, make, lambda k, s, u=u: k.move_hyper(layout, s, problem.grids, u))
        u = rng.random(layout.n_columns)
        both(problem, native, make, lambda k, s, u=u: k.move_views(layout, rows, s, u))
    before = deepcopy(problem.chain)
    both(problem, native, make, lambda k, s: k.rebuild(layout, rows, s))
    make.same(layout, before, problem.chain)


def test_densities(problem, native, make):
    layout, rows, chain = problem.layout, problem.rows, problem.chain
    state = make.predictive(chain)
    a, b = np.empty((len(rows), len(chain.stats))), np.empty((len(rows), len(chain.stats)))
    for name, what in (("log_density", state), ("leave_one_out", chain)):
        getattr(reference, name)(layout, rows, what, a)
        getattr(native, name)(layout, rows, what, b)
        np.testing.assert_allclose(a, b, err_msg=name, rtol=1e-8, atol=1e-8)
    n = int(state.used[0, 0])
    a, b = np.empty((len(rows), n)), np.empty((len(rows), n))
    reference.group_scores(layout, rows, state, 0, 0, a)
    native.group_scores(layout, rows, state, 0, 0, b)
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.6])
def test_filter(missing, native, make):
    problem = with_block(make, 3, width=3, missing=missing)
    layout, rows, rng = problem.layout, problem.rows, problem.rng
    n, particles, width, capacity = len(rows), 6, 3, pad(400)
    mine = make.filter(rng, layout, particles=particles, capacity=capacity, room=40, window=n)
    mine.filled = np.full((particles, n, width), np.nan)
    theirs, u = deepcopy(mine), rng.random((n, particles + 1))
    for k, f in ((reference, mine), (native, theirs)):
        args = layout, problem.chain.hyper, rows, f, np.arange(n), np.arange(n), u, 0.5, 0
        assert k.filter_rows(*args) == n
    for name in ("used", "history"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    for name in ("log_weight", "totals", "filled"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), err_msg=name, rtol=1e-7, atol=1e-7)
    assert mine.totals[2] > 0
    for p in range(particles):
        groups = [f.stats[f.seats[p, : f.used[p]]] for f in (mine, theirs)]
        np.testing.assert_allclose(*groups, rtol=1e-7, atol=1e-7)
        nothing = np.isnan(rows.reals[:, 2:]).all(axis=1)
        np.testing.assert_array_equal(np.isnan(mine.filled[p]).sum(axis=1), 3 * nothing)
    seats = [theirs.seats[p, : theirs.used[p]] for p in range(particles)]
    held, count = np.unique(np.concatenate(seats), return_counts=True)
    np.testing.assert_array_equal(theirs.refs[held], count)
    assert theirs.refs[1:].sum() == count.sum()
