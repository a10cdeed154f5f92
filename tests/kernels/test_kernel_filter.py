"""The particle filter: the same particles, group by group, whatever the slots of the groups."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.special import logsumexp

from partita.kernels import reference
from partita.kernels.contract import (
    BINARY,
    CATEGORICAL,
    COUNT,
    MULTINOMIAL,
    REAL,
    RESIDUAL,
    STRATIFIED,
    SYSTEMATIC,
    Rows,
)

CASES = [
    {},
    {"missing": 0.6, "particles": 8},
    {"missing": 0.6, "listed": True},
    {"cap": 2, "room": 2},
    {"cap": 3, "room": 3, "missing": 0.0},
    {"particles": 1},
    {"kinds": (BINARY,) * 12, "particles": 12, "capacity": 128},
    {"kinds": (REAL, COUNT), "particles": 6},
    {"kinds": (CATEGORICAL,) * 4, "alpha": 5.0, "capacity": 256, "room": 30},
]


def filter_problem(make, seed, case):
    keys = ("missing", "kinds", "listed")
    problem = make.chain(seed, n=40, classes=1, restaurants=1, **{k: v for k, v in case.items() if k in keys})
    rest = {k: v for k, v in case.items() if k not in (*keys, "alpha")}
    problem.filter = make.filter(problem.rng, problem.layout, **{"capacity": 128, "room": 24, **rest})
    problem.filter.alpha *= case.get("alpha", 1.0)
    return problem


def by_particle(filter, name):
    """Of each particle, an attribute of the groups at its seats."""
    return [np.asarray(getattr(filter, name))[filter.seats[p, :n]] for p, n in enumerate(filter.used)]


def sharing(filter):
    """Which seats share a group, whatever its slot: groups named in order of appearance."""
    names: dict[int, int] = {}
    return [[names.setdefault(int(g), len(names)) for g in filter.seats[p, :n]] for p, n in enumerate(filter.used)]


def assert_same_filter(a, b, close):
    for name in ("used", "history"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert sharing(a) == sharing(b)
    for name in ("log_weight", "alpha", "totals"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), err_msg=name, **close)
    for name in ("stats", "size", "refs"):
        for x, y in zip(by_particle(a, name), by_particle(b, name), strict=True):
            np.testing.assert_allclose(x, y, err_msg=name, **close)
    for p, n in enumerate(a.used):
        np.testing.assert_allclose(a.table[:, a.seats[p, :n]], b.table[:, b.seats[p, :n]], **close)
    np.testing.assert_allclose(a.table[:, 0], b.table[:, 0], **close)
    assert (a.refs > 0).sum() == (b.refs > 0).sum()
    np.testing.assert_array_equal(a.stats[0], 0.0)
    np.testing.assert_array_equal(b.stats[0], 0.0)


def run(kernels, problem, filter, order, place, uniforms, scheme=SYSTEMATIC, threshold=0.6):
    return kernels.filter_rows(
        problem.layout, problem.chain.hyper, problem.rows, filter, order, place, uniforms, threshold, scheme
    )


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_filter_rows(case, seed, native, make):
    problem = filter_problem(make, seed, case)
    window = problem.filter.history.shape[1]
    order = problem.rng.permutation(40)
    place = np.where(np.arange(40) % 3 == 0, np.arange(40) % window, -1)
    uniforms = problem.rng.random((40, len(problem.filter.used) + 1))
    mine, theirs = deepcopy(problem.filter), deepcopy(problem.filter)
    for first in (0, 15):  # in two calls: the state carries over
        part = slice(first, 15 if first == 0 else 40)
        done = [
            run(k, problem, f, order[part], place[part], uniforms[part])
            for k, f in ((reference, mine), (native, theirs))
        ]
        assert done[0] == done[1] == len(order[part])
        assert_same_filter(mine, theirs, make.close)
    assert mine.totals[0] == 40
    for f in (mine, theirs):
        for n in by_particle(f, "size"):
            assert n.sum() == 40
        holders = np.bincount(np.concatenate([f.seats[p, :n] for p, n in enumerate(f.used)]), minlength=len(f.refs))
        np.testing.assert_array_equal(holders[1:], f.refs[1:])
        assert (f.used <= f.cap).all()
        np.testing.assert_allclose(logsumexp(f.log_weight) - np.log(len(f.used)), 0.0, atol=1e-9)


@pytest.mark.parametrize("scheme", [SYSTEMATIC, STRATIFIED, RESIDUAL, MULTINOMIAL])
def test_every_scheme(scheme, native, make):
    problem = filter_problem(make, 5, {"particles": 10, "capacity": 256})
    uniforms = problem.rng.random((40, 11))
    mine, theirs = deepcopy(problem.filter), deepcopy(problem.filter)
    order, place = np.arange(40), np.full(40, -1)
    assert run(reference, problem, mine, order, place, uniforms, scheme, 0.9) == 40
    assert run(native, problem, theirs, order, place, uniforms, scheme, 0.9) == 40
    assert_same_filter(mine, theirs, make.close)
    assert mine.totals[2] >= 1  # some resampling took place


def enlarged(filter, groups=0, room=0):
    filter.stats = np.pad(filter.stats, ((0, groups), (0, 0)))
    filter.table = np.pad(filter.table, ((0, 0), (0, groups)))
    filter.size, filter.refs = np.pad(filter.size, (0, groups)), np.pad(filter.refs, (0, groups))
    filter.seats = np.pad(filter.seats, ((0, 0), (0, room)))
    return filter


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("short_of", ["groups", "room"])
def test_runs_out(seed, short_of, native, make):
    """Too few groups or seats: both stop at the same row, and go on when there is room."""
    size = {"capacity": 16, "room": 24} if short_of == "groups" else {"capacity": 256, "room": 2}
    problem = filter_problem(make, seed, {"particles": 6, "alpha": 3.0, **size})
    uniforms = problem.rng.random((40, 7))
    mine, theirs, done, stops = problem.filter, deepcopy(problem.filter), 0, 0
    while done < 40:
        rest = np.arange(done, 40)
        steps = [
            run(k, problem, f, rest, np.full(len(rest), -1), uniforms[done:])
            for k, f in ((reference, mine), (native, theirs))
        ]
        assert steps[0] == steps[1]
        assert_same_filter(mine, theirs, make.close)
        done += steps[0]
        if done < 40:
            stops += 1
            for f in (mine, theirs):
                enlarged(f, **({"groups": 8} if short_of == "groups" else {"room": 2}))
    assert stops >= 1


def test_evidence_of_two_rows(backends, make):
    """One particle, two rows: log evidence is log p(x1) + log p(x2 | x1) averaged over seats, by hand."""
    problem = filter_problem(make, 3, {"particles": 1, "missing": 0.2})
    layout, hyper, rows = problem.layout, problem.chain.hyper, problem.rows
    columns, alpha = np.arange(layout.n_columns), float(problem.filter.alpha[0])
    empty, one = np.zeros((1, layout.n_stats)), np.zeros((1, layout.n_stats))
    first, second = (reference.cells.observed(layout, rows, columns, i) for i in (0, 1))
    reference.cells.count_in(layout, one[0], first, 1.0)
    with_first = reference.cells.log_predictive(layout, hyper, one, second)[0]
    alone = reference.cells.log_predictive(layout, hyper, empty, second)[0]
    expected = reference.cells.log_predictive(layout, hyper, empty, first)[0]
    expected += np.logaddexp(with_first, np.log(alpha) + alone) - np.log(1.0 + alpha)
    for k in backends.values():
        filter = deepcopy(problem.filter)
        run(k, problem, filter, np.arange(2), np.full(2, -1), np.full((2, 2), 0.5))
        np.testing.assert_allclose(filter.totals[1], expected, rtol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_filter_density(case, backends, make):
    """What the filter says of the next row is the evidence that it gains when it then sees that row."""
    problem = filter_problem(make, 2, case)
    uniforms = problem.rng.random((30, len(problem.filter.used) + 1))
    run(reference, problem, problem.filter, np.arange(30), np.full(30, -1), uniforms)
    next_row, gained = np.array([33]), deepcopy(problem.filter)
    run(reference, problem, gained, next_row, np.array([-1]), uniforms[:1])
    expected = gained.totals[1] - problem.filter.totals[1]
    for k in backends.values():
        filter, out = deepcopy(problem.filter), np.full(40, np.nan)
        filter.table[:, 0] = np.nan
        k.filter_density(problem.layout, problem.chain.hyper, problem.rows, filter, out)
        np.testing.assert_allclose(out[33], expected, **make.close)
        mine = np.full(40, np.nan)
        reference.filter_density(problem.layout, problem.chain.hyper, problem.rows, deepcopy(filter), mine)
        np.testing.assert_allclose(out, mine, **make.close)
        assert np.isfinite(filter.table[:, 0]).all()
        np.testing.assert_array_equal(filter.totals, problem.filter.totals)
        nothing = Rows(np.zeros((0, 0), np.int32), np.zeros((0, 0)))
        k.filter_density(problem.layout, problem.chain.hyper, nothing, filter, np.empty(0))
