"""Densities: native, twin, and the definition: a ratio of marginal likelihoods of raw cells."""

import copy

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from partita.kernels import reference
from partita.kernels.contract import BACKGROUND, BINARY, CATEGORICAL, CLASS_ONLY, COUNT, FIRST_RESTAURANT, REAL

CASES = [
    {"missing": 0.0, "classes": 1, "restaurants": 1},
    {"missing": 0.3, "classes": 2, "restaurants": 2},
    {"classes": 3, "empty_classes": 1, "alpha": 3.0},
    {"restaurants": 3, "crowded": True},
    {"missing": 0.6, "restaurants": 3, "listed": True},
    {"missing": 0.6, "classes": 3, "restaurants": 3},
    {"cap": 2, "groups": 2},
    {"cap": 4, "groups": 4, "restaurants": 3},
    {"kinds": (BINARY,) * 20, "missing": 0.1},
    {"kinds": (BINARY,) * 6, "classes": 70, "n": 30, "restaurants": 1},
    {"kinds": (BINARY,) * 30, "missing": 0.5, "listed": True, "entered": True, "restaurants": 3, "classes": 3},
    {"finite": True, "missing": 0.3},
    {"finite": True, "missing": 0.3, "classes": 3, "empty_classes": 1, "cap": 4},
    {"kinds": (REAL,) * 3},
    {"kinds": (CATEGORICAL, COUNT) * 2},
]


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def problem(request, make):
    case, seed = request.param
    return make.chain(seed, **{"n": 30, **case})


def log_evidence(layout, hyper, d, cells):
    """log p(cells of column d that share a group), by the textbook formula, from the raw cells."""
    kind, h, n = layout.kind[d], hyper[d], len(cells)
    if kind == BINARY:
        a, b, ones = h[0], h[1], np.sum(cells == 1)
        return (gammaln(a + ones) + gammaln(b + n - ones) - gammaln(a + b + n)) - (
            gammaln(a) + gammaln(b) - gammaln(a + b)
        )
    if kind == CATEGORICAL:
        first, k = layout.base_first[d], layout.levels[d]
        a = h[0] * layout.base[first : first + k]
        counts = np.bincount(cells.astype(int), minlength=k)
        return np.sum(gammaln(a + counts) - gammaln(a)) + gammaln(a.sum()) - gammaln(a.sum() + n)
    if kind == COUNT:
        shape, rate = h[0], h[1]
        total = shape * np.log(rate) - gammaln(shape) + gammaln(shape + cells.sum())
        return total - (shape + cells.sum()) * np.log(rate + n) - np.sum(gammaln(cells + 1.0))
    kappa, nu, sigma2, mean = h
    if n == 0:
        return 0.0
    squares = nu * sigma2 + np.sum((cells - cells.mean()) ** 2)
    squares += kappa * n / (kappa + n) * (cells.mean() - mean) ** 2
    return (
        gammaln((nu + n) / 2) - gammaln(nu / 2) + 0.5 * np.log(kappa / (kappa + n))
        + nu / 2 * np.log(nu * sigma2) - (nu + n) / 2 * np.log(squares) - n / 2 * np.log(np.pi)
    )  # fmt: skip


def cells_of(problem, d):
    discrete = problem.layout.kind[d] in (BINARY, CATEGORICAL)
    x = (problem.rows.codes if discrete else problem.rows.reals)[:, problem.layout.source[d]].astype(float)
    return np.where(x < 0, np.nan, x) if discrete else x


def log_predictive(problem, view, i, others):
    """log p(row i in a view | rows `others` are in its group)."""
    total = 0.0
    for d in np.flatnonzero(problem.chain.view == view):
        x = cells_of(problem, d)
        if np.isnan(x[i]):
            continue
        seen = x[others][~np.isnan(x[others])]
        total += log_evidence(problem.layout, problem.chain.hyper, d, np.append(seen, x[i]))
        total -= log_evidence(problem.layout, problem.chain.hyper, d, seen)
    return total


def log_mixture(problem, r, c, i, there):
    """log p(row i in restaurant r | class c), the rows `there` (a mask) being seated; and the groups it sums over."""
    chain, parts, weights = problem.chain, [], []
    for g in range(chain.used[r, c]):
        others = np.flatnonzero(there & (chain.label == c) & (chain.z[r] == g))
        if len(others):
            parts.append(log_predictive(problem, FIRST_RESTAURANT + r, i, others))
            weights.append(len(others) - chain.discount[r, c])
    return parts, weights


def by_definition(problem, i, c, there, capped):
    chain = problem.chain
    total = log_predictive(problem, BACKGROUND, i, np.flatnonzero(there))
    total += log_predictive(problem, CLASS_ONLY, i, np.flatnonzero(there & (chain.label == c)))
    for r in range(len(chain.z)):
        parts, weights = log_mixture(problem, r, c, i, there)
        if not capped or len(parts) < chain.cap:
            parts.append(log_predictive(problem, FIRST_RESTAURANT + r, i, np.zeros(0, int)))
            weights.append(max(chain.alpha[r, c] + chain.discount[r, c] * (len(parts) - 1), 0.0))
        total += logsumexp(parts, b=weights) - np.log(np.sum(weights))
    return total


def test_log_density(problem, backends, make):
    chain, state, n = problem.chain, make.predictive(problem.chain), 30
    out = {}
    for name, k in backends.items():
        out[name] = np.full((n, len(chain.stats)), np.nan)
        k.log_density(problem.layout, problem.rows, state, out[name])
    everyone = np.ones(n, bool)
    expected = [
        [by_definition(problem, i, c, everyone, False) for c in range(len(chain.stats))] for i in range(0, n, 6)
    ]
    for result in out.values():
        np.testing.assert_allclose(result, out["reference"], **make.close)
        np.testing.assert_allclose(result[::6], expected, **make.close)


def test_leave_one_out(problem, backends, make):
    chain, n = problem.chain, 30
    before = chain.stats.copy(), chain.table.copy(), chain.size.copy()
    out = {}
    for name, k in backends.items():
        out[name] = np.full((n, len(chain.stats)), np.nan)
        k.leave_one_out(problem.layout, problem.rows, chain, out[name])
    rows = range(0, n, 6)
    expected = [[by_definition(problem, i, c, np.arange(n) != i, True) for c in range(len(chain.stats))] for i in rows]
    for result in out.values():
        np.testing.assert_allclose(result, out["reference"], **make.close)
        np.testing.assert_allclose(result[::6], expected, **make.close)
    for was, now in zip(before, (chain.stats, chain.table, chain.size), strict=True):
        np.testing.assert_array_equal(was, now)


def test_leave_one_out_of_a_row_that_sits_nowhere(problem, backends, make):
    """A copy of a seated row that no class has (a stream's reservoir that is not full yet): nothing is taken out."""
    chain, n, more = problem.chain, 30, 5
    rows = type(problem.rows)(*(np.concatenate([x, x[:more]]) for x in (problem.rows.codes, problem.rows.reals)))
    wider = copy.copy(chain)
    wider.label = np.append(chain.label, np.full(more, -1, np.int32))
    wider.z = np.concatenate([chain.z, np.full((len(chain.z), more), -1, np.int32)], axis=1)
    expected = [
        [by_definition(problem, i, c, np.ones(n, bool), True) for c in range(len(chain.stats))] for i in range(more)
    ]
    for k in backends.values():
        seated, out = np.empty((n, len(chain.stats))), np.empty((n + more, len(chain.stats)))
        k.leave_one_out(problem.layout, problem.rows, chain, seated)
        k.leave_one_out(problem.layout, rows, wider, out)
        np.testing.assert_array_equal(out[:n], seated)
        np.testing.assert_allclose(out[n:], expected, **make.close)


def test_group_scores(problem, backends, make):
    state = make.predictive(problem.chain)
    for r, c in np.ndindex(*problem.chain.used.shape):
        out = {}
        for name, k in backends.items():
            out[name] = np.full((30, state.used[r, c]), np.nan)
            k.group_scores(problem.layout, problem.rows, state, r, c, out[name])
        for result in out.values():
            np.testing.assert_allclose(result, out["reference"], **make.close)
        for g in range(problem.chain.used[r, c]):
            others = np.flatnonzero((problem.chain.label == c) & (problem.chain.z[r] == g))
            expected = state.log_weight[r, c, g] + log_predictive(problem, FIRST_RESTAURANT + r, 7, others)
            np.testing.assert_allclose(out["reference"][7, g], expected, **make.close)


@pytest.mark.parametrize("kind", [BINARY, CATEGORICAL, COUNT])
def test_predictive_sums_to_one(kind, backends, make):
    """Over all values of a discrete cell (counts: up to a far tail) the densities add up to one."""
    problem = make.chain(1, kinds=(kind,), classes=1, restaurants=1, missing=0.0)
    values = np.arange({BINARY: 2, CATEGORICAL: problem.layout.levels[0], COUNT: 2000}[kind])[:, None]
    rows = problem.rows.take(np.zeros(len(values), int))
    if kind == COUNT:
        rows.reals[:] = values
    else:
        rows.codes[:] = values
    for k in backends.values():
        out = np.zeros((len(values), 1))
        k.log_density(problem.layout, rows, make.predictive(problem.chain), out)
        np.testing.assert_allclose(np.exp(out).sum(), 1.0, rtol=1e-9)


def test_log_marginal_is_the_evidence(problem):
    """The twin's log marginal of group statistics is the evidence of the raw cells (counts: less their factorials)."""
    chain, layout = problem.chain, problem.layout
    for d in range(layout.n_columns):
        view = chain.view[d]
        if view < FIRST_RESTAURANT:
            continue
        own = reference.columns.own_stats(layout, d)
        for c in range(len(chain.stats)):
            for g in range(chain.used[view - FIRST_RESTAURANT, c]):
                x = cells_of(problem, d)[(chain.label == c) & (chain.z[view - FIRST_RESTAURANT] == g)]
                x = x[~np.isnan(x)]
                expected = log_evidence(layout, chain.hyper, d, x)
                if layout.kind[d] == COUNT:
                    expected += gammaln(x + 1.0).sum()
                found = reference.columns.log_marginal(layout, d, chain.hyper[d], chain.stats[c, g, own])
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_seat_weights(problem, native, make):
    """Of a chain as it is, and where the cap leaves no room for a new group."""
    for cap in (problem.chain.cap, int(problem.chain.used.max())):
        chain = copy.deepcopy(problem.chain)
        chain.cap = cap
        shape = (*chain.used.shape, chain.capacity)
        mine, theirs = np.empty(shape), np.empty(shape)
        reference.seat_weights(chain, mine)
        native.seat_weights(chain, theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
        seated = chain.used > 0
        np.testing.assert_allclose(np.exp(theirs).sum(axis=2)[seated], 1.0)
