"""Hyper-parameters, concentrations and views: the index drawn is that of the exact conditional on the grid."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.special import gammaln

from partita.kernels import reference
from partita.kernels.contract import BINARY, CATEGORICAL, COUNT, FIRST_RESTAURANT, REAL
from partita.kernels.reference.hyper import grid_of, log_hyper_posterior, log_seating_posterior
from partita.kernels.reference.views import log_view_posterior
from partita.priors.seating import all_laws, restaurant_laws

CASES = [
    {"missing": 0.0, "classes": 1, "restaurants": 1},
    {"missing": 0.3, "classes": 2, "restaurants": 2},
    {"classes": 3, "empty_classes": 1, "alpha": 3.0},
    {"restaurants": 3, "crowded": True},
    {"missing": 0.6, "classes": 3, "restaurants": 3},
    {"n": 120, "groups": 2},  # counts beyond the tabulated ones
    {"kinds": (CATEGORICAL, REAL, COUNT, BINARY)},
    {"missing": 1.0},
]


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def problem(request, make):
    case, seed = request.param
    return make.chain(seed, **case)


def test_move_hyper(problem, native, make):
    for _ in range(4):
        uniforms = problem.rng.random((problem.layout.n_columns, 3))
        mine, theirs = deepcopy(problem.chain), deepcopy(problem.chain)
        reference.move_hyper(problem.layout, mine, problem.grids, uniforms)
        native.move_hyper(problem.layout, theirs, problem.grids, uniforms)
        make.same(problem.layout, mine, theirs)
        problem.chain = mine


def expected_index(log_weight, u):
    reached = np.cumsum(np.exp(log_weight - log_weight.max()))
    return int(np.searchsorted(reached, u * reached[-1], side="right"))


def test_native_hyper_follows_the_posterior(problem, native):
    """Fine steps of u: every index comes up exactly where the cumulative posterior of the first column says."""
    d, layout, grids = 0, problem.layout, problem.grids
    log_posterior = log_hyper_posterior(layout, problem.chain, grids, d, 0)
    at, _ = grid_of(layout, problem.chain, grids, d, 0)
    for u in np.linspace(0.001, 0.999, 25):
        uniforms = np.full((layout.n_columns, 3), 0.5)
        uniforms[d, 0] = u
        chain = deepcopy(problem.chain)
        native.move_hyper(layout, chain, grids, uniforms)
        point = at[expected_index(log_posterior, u)]
        moved = [0] if layout.kind[d] in (REAL, CATEGORICAL) else [0, 1]
        np.testing.assert_array_equal(chain.at[d, moved], point[moved])


def test_hyper_posterior_by_brute_force(problem):
    """Prior times likelihood written out with loops, for a binary column."""
    layout, chain, grids = problem.layout, problem.chain, problem.grids
    d = int(np.flatnonzero(layout.kind == BINARY)[0])
    view, own = chain.view[d], reference.columns.own_stats(layout, d)
    places = {
        0: [(0, 0)],
        1: [(c, 0) for c in range(len(chain.stats))],
    }.get(int(view)) or [(c, g) for c in range(len(chain.stats)) for g in range(chain.used[view - FIRST_RESTAURANT, c])]
    expected = []
    for ia, a in enumerate(grids.beta):
        for ib, b in enumerate(grids.beta):
            others = sum(tuple(chain.at[e, :2]) == (ia, ib) for e in np.flatnonzero(layout.kind == BINARY) if e != d)
            total = np.log(others + 1.0 / len(grids.beta) ** 2)
            for c, g in places:
                ones, zeros = chain.stats[c, g, own]
                total += gammaln(a + ones) + gammaln(b + zeros) - gammaln(a + b + ones + zeros)
                total -= gammaln(a) + gammaln(b) - gammaln(a + b)
            expected.append(total)
    np.testing.assert_allclose(log_hyper_posterior(layout, chain, grids, d, 0), expected, rtol=1e-9, atol=1e-9)


def test_log_likelihood_and_tables(problem, backends, make):
    """Hyper-parameters set from outside: the ratio of likelihoods is that of the posterior over one column's grid."""
    layout, chain, d = problem.layout, problem.chain, 0
    at, hyper = grid_of(layout, chain, problem.grids, d, 0)
    log_posterior = log_hyper_posterior(layout, chain, problem.grids, d, 0)
    prior = log_posterior - [reference.columns.log_marginal(
        layout, d, h, reference.hyper.group_statistics(layout, chain, d)).sum() for h in hyper]  # fmt: skip
    for k in backends.values():
        found = []
        for point, values in zip(at, hyper, strict=True):
            moved = deepcopy(chain)
            moved.at[d], moved.hyper[d] = point, values
            found.append(k.log_likelihood(layout, moved))
            fresh = deepcopy(moved)
            k.refresh_tables(layout, moved)
            reference.rebuild(layout, problem.rows, fresh)
            make.same(layout, moved, fresh)
        difference = np.array(found) + prior - log_posterior
        np.testing.assert_allclose(difference, difference[0], rtol=1e-9, atol=1e-9)


def test_move_views(problem, native, make):
    for _ in range(3):
        uniforms = problem.rng.random(problem.layout.n_columns)
        mine, theirs = deepcopy(problem.chain), deepcopy(problem.chain)
        reference.move_views(problem.layout, problem.rows, mine, uniforms)
        native.move_views(problem.layout, problem.rows, theirs, uniforms)
        make.same(problem.layout, mine, theirs)
        problem.chain = mine


def test_native_views_follow_the_posterior(problem, native):
    log_posterior = log_view_posterior(problem.layout, problem.rows, problem.chain, 0)
    assert len(log_posterior) == FIRST_RESTAURANT + len(problem.chain.z)
    for u in np.linspace(0.001, 0.999, 20):
        chain = deepcopy(problem.chain)
        uniforms = np.full(problem.layout.n_columns, 0.5)
        uniforms[0] = u
        native.move_views(problem.layout, problem.rows, chain, uniforms)
        assert chain.view[0] == expected_index(log_posterior, u)


@pytest.mark.parametrize("laws", [restaurant_laws(), all_laws()], ids=["restaurants", "all laws"])
def test_move_concentration(problem, native, make, laws):
    for u in np.linspace(0.0, 0.999, 12):
        uniforms = (u + np.arange(problem.chain.used.size) * 0.37) % 1.0
        uniforms = uniforms.reshape(problem.chain.used.shape)
        mine, theirs = deepcopy(problem.chain), deepcopy(problem.chain)
        reference.move_concentration(mine, laws, uniforms)
        native.move_concentration(theirs, laws, uniforms)
        make.same(problem.layout, mine, theirs)
        for r, c in np.ndindex(*mine.used.shape):
            p = expected_index(log_seating_posterior(mine.size[r, c, : mine.used[r, c]], laws), uniforms[r, c])
            assert (mine.alpha[r, c], mine.discount[r, c]) == (laws.alpha[p], laws.discount[p])


def test_seating_posterior_is_prior_times_partition():
    """Sizes 3, 2, 1 dealt one by one: size - discount for a seat, alpha + discount k for a new group beside k."""
    laws = all_laws()
    alpha, less = laws.alpha, laws.discount
    by_dealing, sizes = laws.log_prior.copy(), []
    with np.errstate(divide="ignore"):
        for n, seat in enumerate([None, 0, 0, None, 1, None]):
            weight = np.maximum(alpha + less * len(sizes), 0.0) if seat is None else sizes[seat] - less
            by_dealing += np.log(weight / (n + alpha))
            sizes = [*sizes, 1] if seat is None else [s + (k == seat) for k, s in enumerate(sizes)]
    found = log_seating_posterior(np.array([3.0, 2.0, 1.0]), laws)
    possible = np.isfinite(by_dealing)
    np.testing.assert_array_equal(possible, np.isfinite(found))
    np.testing.assert_allclose(found[possible], by_dealing[possible], rtol=1e-9)
