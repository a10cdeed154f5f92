"""Sweeps over rows: the native kernels take every decision that the plain twins take."""

from copy import deepcopy

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.contract import BINARY, CATEGORICAL, COUNT, REAL, grow

CASES = [
    {"missing": 0.0, "classes": 1, "restaurants": 1},
    {"missing": 0.3, "classes": 2, "restaurants": 2},
    {"classes": 3, "empty_classes": 1, "alpha": 3.0},
    {"restaurants": 3, "crowded": True},
    {"missing": 0.6, "restaurants": 3, "listed": True},
    {"missing": 0.6, "classes": 3, "restaurants": 3, "n": 50},
    {"cap": 2, "groups": 2},
    {"cap": 3, "classes": 1, "restaurants": 3},
    {"cap": 2, "groups": 2, "alpha": 30.0, "missing": 0.6, "kinds": (BINARY,) * 4},  # full or not weighs on the class
    {"alpha": 20.0, "capacity": 48},
    {"finite": True},
    {"finite": True, "missing": 0.6, "classes": 3, "empty_classes": 1},
    {"finite": True, "cap": 3, "groups": 3, "kinds": (BINARY,) * 4},
    {"kinds": (BINARY,) * 6},
    {"kinds": (BINARY,) * 9, "entered": True, "crowded": True, "restaurants": 1},
    {"kinds": (BINARY,) * 150, "entered": True, "crowded": True, "restaurants": 2, "listed": True, "missing": 0.5},
    {"kinds": (BINARY,) * 9, "entered": True, "finite": True},
    {"kinds": (CATEGORICAL,) * 4},
    {"kinds": (COUNT,) * 3},
    {"kinds": (REAL,) * 3, "missing": 0.5},
]


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def problem(request, make):
    case, seed = request.param
    return make.chain(seed, **case)


def members(chain, c):
    return np.flatnonzero(chain.label == c)


def nobody():
    """A count of moved rows that begins at none."""
    return np.zeros(1, np.int64)


def both(problem, native, make, call):
    """Run `call(kernels, chain)` on two copies: results and chains must agree. Returns the twin's chain and result."""
    mine, theirs = deepcopy(problem.chain), deepcopy(problem.chain)
    result, other = call(reference, mine), call(native, theirs)
    assert result == other
    make.same(problem.layout, mine, theirs)
    return mine, result


def test_gibbs_sweep(problem, native, make):
    rng, layout, rows = problem.rng, problem.layout, problem.rows
    for _ in range(3):
        for r, c in np.ndindex(*problem.chain.used.shape):
            order = rng.permutation(members(problem.chain, c))
            jobs = r, c, order, rng.random(len(order))
            problem.chain, done = both(
                problem, native, make, lambda k, chain, jobs=jobs: k.gibbs_sweep(layout, rows, chain, *jobs)
            )
            assert done == len(order)
    assert (problem.chain.used <= problem.chain.cap).all()


def test_moves_are_counted_alike(problem, native):
    rng, C = problem.rng, problem.chain.used.shape[1]
    order = np.concatenate([rng.permutation(members(problem.chain, c)) for c in range(C)])
    offset = np.concatenate([[0], np.cumsum([len(members(problem.chain, c)) for c in range(C)])])
    uniforms = rng.random((problem.chain.z.shape[0], len(order)))
    counts = []
    for k in (reference, native):
        chain, moved = deepcopy(problem.chain), nobody()
        k.gibbs_sweeps(problem.layout, problem.rows, chain, order, offset, uniforms, moved, 0)
        counts.append(int(moved[0]))
    assert counts[0] == counts[1] <= uniforms.size


def test_gibbs_sweeps_equal_single_sweeps(problem, native, make):
    rng, C = problem.rng, problem.chain.used.shape[1]
    order = np.concatenate([rng.permutation(members(problem.chain, c)) for c in range(C)])
    offset = np.concatenate([[0], np.cumsum([len(members(problem.chain, c)) for c in range(C)])])
    uniforms = rng.random((problem.chain.z.shape[0], len(order)))
    single = deepcopy(problem.chain)
    for r, c in np.ndindex(*single.used.shape):
        part = slice(offset[c], offset[c + 1])
        reference.gibbs_sweep(problem.layout, problem.rows, single, r, c, order[part], uniforms[r, part])
    chain, job = both(
        problem,
        native,
        make,
        lambda k, chain: k.gibbs_sweeps(problem.layout, problem.rows, chain, order, offset, uniforms, nobody(), 0),
    )
    assert job == uniforms.size
    make.same(problem.layout, chain, single)


@pytest.mark.parametrize("seed", range(4))
def test_capacity_runs_out(seed, native, make):
    """A sweep stops where no slot is left, the caller makes room, and the rest goes on: the same in both."""
    problem = make.chain(seed, n=60, classes=2, restaurants=2, capacity=8, alpha=60.0)
    order = np.concatenate([members(problem.chain, c) for c in range(2)])
    offset = np.array([0, len(members(problem.chain, 0)), 60])
    uniforms, job, stops = problem.rng.random((2, 60)), 0, 0
    while job < uniforms.size:
        problem.chain, job = both(
            problem, native, make,
            lambda k, chain, j=job: k.gibbs_sweeps(
                problem.layout, problem.rows, chain, order, offset, uniforms, nobody(), j
            ),
        )  # fmt: skip
        if job < uniforms.size:
            stops += 1
            grow(problem.chain, problem.chain.capacity + 8)
    assert stops >= 1
    np.testing.assert_array_equal(problem.chain.size.sum(axis=(0, 2)), 2 * np.bincount(problem.chain.label))


def relabel_both(problem, native, make, counts, gamma, order, uniforms):
    """Relabel with both: the twin's chain, the rows done, and the class counts, which must agree."""
    kept = {}

    def call(k, chain):
        kept[k] = counts.copy()
        return k.relabel_sweep(problem.layout, problem.rows, chain, kept[k], gamma, order, uniforms)

    chain, done = both(problem, native, make, call)
    np.testing.assert_array_equal(kept[reference], kept[native])
    return chain, done, kept[reference]


def test_relabel_sweep(problem, native, make):
    rng = problem.rng
    counts = np.bincount(problem.chain.label, minlength=problem.chain.used.shape[1]).astype(float)
    for _ in range(3):
        order = rng.permutation(len(problem.rows))[:20]
        uniforms = rng.random((20, 1 + problem.chain.z.shape[0]))
        problem.chain, done, counts = relabel_both(problem, native, make, counts, 1.0, order, uniforms)
        np.testing.assert_array_equal(counts, np.bincount(problem.chain.label, minlength=len(counts)))
        if done < 20:
            grow(problem.chain, problem.chain.capacity + 8)


@pytest.mark.parametrize("seed", range(3))
def test_relabel_runs_out_of_capacity(seed, native, make):
    problem = make.chain(seed, n=60, classes=2, restaurants=2, capacity=8, alpha=60.0)
    counts = np.bincount(problem.chain.label).astype(float)
    order, uniforms, stops = np.arange(60), problem.rng.random((60, 3)), 0
    while len(order):
        problem.chain, done, counts = relabel_both(problem, native, make, counts, 0.5, order, uniforms)
        order, uniforms = order[done:], uniforms[done:]
        stops += len(order) > 0
        grow(problem.chain, problem.chain.capacity + 8)
    assert stops >= 1


def test_split_merge(problem, native, make):
    accepted = 0
    for seed in range(2):
        for r, c in np.ndindex(*problem.chain.used.shape):
            grow(problem.chain, int(problem.chain.used[r, c]) + 7)
            rows = members(problem.chain, c)
            if seed:  # all in one group: it can be split even where no more than two are allowed
                problem.chain.z[r, rows], problem.chain.used[r, c] = 0, min(len(rows), 1)
                problem.chain.size[r, c] = 0.0
                problem.chain.size[r, c, 0] = len(rows)
                reference.rebuild(problem.layout, problem.rows, problem.chain)
            problem.chain, yes = both(
                problem, native, make,
                lambda k, chain, r=r, c=c, s=seed, m=rows: k.split_merge(
                    problem.layout, problem.rows, chain, r, c, m, 6, 2**63 + s
                ),
            )  # fmt: skip
            accepted += yes
    assert accepted > 0
    assert (problem.chain.used <= problem.chain.cap).all()


def test_split_merge_needs_two_rows(native, make):
    problem = make.chain(0)
    for kernels in (reference, native):
        assert kernels.split_merge(problem.layout, problem.rows, problem.chain, 0, 0, np.array([3]), 5, 1) == 0


def test_rebuild_equals_updates(problem, native, make):
    """Statistics kept up to date through many moves are those counted anew."""
    chain, rng = problem.chain, problem.rng
    counts = np.bincount(chain.label, minlength=chain.used.shape[1]).astype(float)
    for t in range(6):
        for r, c in np.ndindex(*chain.used.shape):
            rows = members(chain, c)
            grow(chain, 64)
            native.gibbs_sweep(problem.layout, problem.rows, chain, r, c, rows, rng.random(len(rows)))
            native.split_merge(problem.layout, problem.rows, chain, r, c, rows, 2, t)
        some = rng.permutation(len(problem.rows))[:8]
        native.relabel_sweep(
            problem.layout, problem.rows, chain, counts, 1.0, some, rng.random((8, 1 + chain.z.shape[0]))
        )
    for kernels in (reference, native):
        anew = deepcopy(chain)
        anew.stats[:] = np.nan
        kernels.rebuild(problem.layout, problem.rows, anew)
        make.same(problem.layout, anew, chain)
    for r, c in np.ndindex(*chain.used.shape):
        sizes = np.bincount(chain.z[r, chain.label == c], minlength=chain.capacity)
        np.testing.assert_array_equal(chain.size[r, c], sizes)
        assert (sizes[: chain.used[r, c]] > 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_rows_no_longer_there(seed, native, make):
    """A bounded reservoir: groups remember rows that left it (z = -1, some without a label), and keep them."""
    problem = make.chain(seed, n=60, classes=2, restaurants=1, capacity=32)
    gone = problem.rng.random(60) < 0.5
    problem.chain.z[:, gone] = -1
    problem.chain.label[gone & (np.arange(60) % 2 == 0)] = -1
    total = problem.chain.size.sum(axis=2)
    layout, rows = problem.layout, problem.rows
    for _ in range(3):
        for c in range(2):
            order = np.flatnonzero((problem.chain.label == c) & ~gone)
            jobs = 0, c, order, problem.rng.random(len(order))
            problem.chain, _ = both(
                problem, native, make, lambda k, chain, j=jobs: k.gibbs_sweep(layout, rows, chain, *j)
            )
        np.testing.assert_array_equal(problem.chain.size.sum(axis=2), total)
        counts = problem.chain.size[0].sum(axis=1)
        order = problem.rng.permutation(np.flatnonzero(~gone))[:10]
        problem.chain, _, _ = relabel_both(problem, native, make, counts, 1.0, order, problem.rng.random((10, 2)))
        total = problem.chain.size.sum(axis=2)
    assert (problem.chain.z[:, gone] == -1).all()
