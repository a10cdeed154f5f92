"""Kernels of the Bayesian SVD's links and coordinate sampler: native and plain twins agree, tails included."""

import numpy as np
import pytest
from scipy.stats import norm

from partita.kernels import reference
from partita.kernels.svd_links_contract import BinomialRows, CoordinateRows, Levels, Lines

native = pytest.importorskip("partita.kernels._native")


def sparse(rng, n_rows, n_columns, share=0.6):
    """Row and column of observed cells, and the lines of both sides; one row and one column are empty."""
    seen = rng.random((n_rows, n_columns)) < share
    seen[1], seen[:, 2] = False, False
    row, column = (x.astype(np.int32) for x in np.nonzero(seen))
    order = np.lexsort((row, column)).astype(np.int64)
    first = [np.concatenate([[0], np.cumsum(seen.sum(axis=axis))]).astype(np.int64) for axis in (1, 0)]
    return row, column, Lines(first[0], column), Lines(first[1], row[order].copy(), order)


EDGES = np.array([-np.inf, -1.3, -0.2, -0.1999, 2.0, np.inf])


def ordinal_entries(rng, n=4000):
    value = rng.integers(0, 5, n).astype(float)
    fitted = rng.normal(0, 4, n)
    fitted[:40] = np.repeat([-300.0, -45.0, 45.0, 300.0], 10)  # whole levels in the far tails
    return Levels(value, fitted, rng.gamma(2.0, 0.5, n) + 0.05, EDGES[None].copy())


def ordinal_lines(rng):
    """The same where every one of three lines has edges of its own."""
    levels = ordinal_entries(rng)
    levels.edges = np.stack([EDGES, 0.5 * EDGES, EDGES + 1.0])
    levels.line = rng.integers(0, 3, len(levels.value)).astype(np.int32)
    return levels


KINDS = [ordinal_entries, ordinal_lines]


@pytest.mark.parametrize("make", KINDS)
def test_log_probabilities_of_levels_equal_their_twins(make):
    levels = make(np.random.default_rng(1))
    ours, theirs = np.empty((2, len(levels.value)))
    native.svd_ordinal_masses(levels, ours)
    reference.svd_ordinal_masses(levels, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("module", [native, reference])
def test_probabilities_of_levels_add_up_to_one(module):
    log_mass = np.zeros(5)
    module.svd_ordinal_masses(Levels(np.arange(5.0), np.full(5, 0.7), np.full(5, 1.4), EDGES[None].copy()), log_mass)
    assert np.exp(log_mass).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("make", KINDS)
def test_ordinal_latents_equal_their_twins_and_lie_in_their_levels(make):
    rng = np.random.default_rng(2)
    levels = make(rng)
    fitted = levels.fitted
    uniform = rng.random(len(fitted))
    uniform[:2000:7] = 1e-300
    uniform[3:2000:7] = 1 - 2.0**-53
    ours, theirs = np.empty_like(fitted), np.empty_like(fitted)
    native.svd_ordinal_latents(levels, uniform, ours)
    reference.svd_ordinal_latents(levels, uniform, theirs)
    usual = (uniform > 1e-12) & (uniform < 1 - 1e-6)  # beyond, the last digits of a uniform number decide
    np.testing.assert_allclose(ours[usual], theirs[usual], rtol=1e-6, atol=1e-7)
    low, high = levels.ends()
    slack = 1e-12 * (1 + np.abs(fitted))
    for latent in (ours, theirs):
        assert np.isfinite(latent).all()
        assert (latent >= low - slack).all() and (latent <= high + slack).all()


def test_latents_follow_the_cut_normal():
    """Equal shares of uniform numbers give the quantiles of the normal law between the edges."""
    uniform = (np.arange(2000) + 0.5) / 2000
    edges = np.array([-np.inf, 0.5, 1.5, np.inf])
    for level in range(3):
        latent, n = np.empty(2000), 2000
        cells = Levels(np.full(n, float(level)), np.full(n, 0.2), np.full(n, 2.0), edges[None].copy())
        native.svd_ordinal_latents(cells, uniform, latent)
        low, high = norm.cdf((edges[level : level + 2] - 0.2) * 2.0)
        np.testing.assert_allclose(
            np.sort(norm.cdf((latent - 0.2) * 2.0)), low + (high - low) * uniform, rtol=1e-10, atol=1e-13
        )


def binomial_entries(rng, n):
    trials = rng.integers(0, 9, n).astype(float)
    trials[:3] = 4e6
    return np.floor(trials * rng.random(n)), trials


def test_binomial_sums_equal_their_twins():
    rng = np.random.default_rng(3)
    successes, trials = binomial_entries(rng, 500)
    fitted = rng.normal(0, 3, 500)
    fitted[10:14] = [-60.0, 60.0, -11.0, 11.0]
    results = []
    for module in (native, reference):
        out, weight, score = np.zeros(3), np.empty(500), np.empty(500)
        module.svd_binomial_sums(fitted, 0.3, successes, trials, out)
        module.svd_binomial_working(fitted + 0.3, successes, trials, weight, score)
        np.testing.assert_allclose([score.sum(), weight.sum()], out[1:], rtol=1e-10)
        results.append((out, weight, score))
    for ours, theirs in zip(*results):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_the_slope_is_that_of_the_log_likelihood():
    rng = np.random.default_rng(4)
    successes, trials = binomial_entries(rng, 60)
    trials[:3], successes[:3] = 7, 3
    fitted, step, value = rng.normal(size=60), 1e-5, []
    for shift in (-step, 0.0, step):
        out = np.zeros(3)
        native.svd_binomial_sums(fitted, shift, successes, trials, out)
        value.append(out)
    assert (value[2][0] - value[0][0]) / (2 * step) == pytest.approx(value[1][1], rel=1e-6)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("side", [0, 1])
def test_binomial_rows_equal_their_twins(width, side):
    rng = np.random.default_rng(5)
    row, _, *sides = sparse(rng, 30, 25)
    lines, n, others = sides[side], (30, 25)[side], (25, 30)[side]
    successes, trials = binomial_entries(rng, len(row))
    given = dict(
        successes=successes, trials=trials, base=rng.normal(size=others), design=rng.normal(size=(others, width)),
        centre=rng.normal(size=(n, width)), precision=rng.gamma(2.0, 1.0, width), df=7.0,
        noise=rng.normal(size=(n, width)), stretch=rng.gamma(5.0, 0.2, n), uniform=rng.random(n),
    )  # fmt: skip
    start = rng.normal(size=(n, width))
    start[3] = 40.0  # a row far off
    results = []
    for module in (native, reference):
        rows = BinomialRows(**given, own=start.copy(), accepted=np.zeros(n, np.uint8))
        module.svd_binomial_rows(lines, rows, 0, n // 2)
        module.svd_binomial_rows(lines, rows, n // 2, n)
        results.append(rows)
    np.testing.assert_array_equal(results[0].accepted, results[1].accepted)
    near = np.arange(n) != 3
    np.testing.assert_allclose(results[0].own[near], results[1].own[near], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(results[0].own[3], results[1].own[3], rtol=1e-4)
    assert 0 < results[0].accepted.sum()


@pytest.mark.parametrize("off", [-15.0, 15.0])
def test_a_row_far_off_finds_back(off):
    """Successes and failures both, the fit far in a tail: the next few proposals must be near the data, and taken."""
    rng = np.random.default_rng(9)
    lines = Lines(np.array([0, 6], np.int64), np.arange(6, dtype=np.int32))
    rows = BinomialRows(
        np.array([1.0, 0, 1, 2, 0, 1]), np.full(6, 3.0), np.zeros(6), rng.normal(size=(6, 2)) + 1, np.zeros((1, 2)),
        np.full(2, 1.0), 20.0, np.empty((1, 2)), np.ones(1), np.empty(1), np.full((1, 2), off), np.zeros(1, np.uint8),
    )  # fmt: skip
    for _ in range(20):
        rows.noise[:], rows.uniform[:] = rng.normal(size=(1, 2)), 1 - rng.random(1)
        native.svd_binomial_rows(lines, rows, 0, 1)
    assert np.abs(rows.own).max() < 5


@pytest.mark.parametrize("side", [0, 1])
def test_coordinate_rows_equal_their_twins_and_keep_the_residuals(side):
    rng = np.random.default_rng(6)
    row, column, *sides = sparse(rng, 40, 30)
    lines, n, others = sides[side], (40, 30)[side], (30, 40)[side]
    weight = np.array([1.5, 0.0, 0.4])
    start, v, y = rng.normal(size=(n, 3)), rng.normal(size=(others, 3)), rng.normal(size=len(row))
    mine, theirs = (row, column) if side == 0 else (column, row)
    residual = y - (start[mine] * v[theirs] * weight).sum(axis=1)
    results = []
    noise = rng.normal(size=(n, 3))
    for module in (native, reference):
        rows = CoordinateRows(weight, np.full(3, 30.0), 2.5, v, noise, start.copy(), residual.copy())
        module.svd_coordinate_rows(lines, rows, 0, n // 2)
        module.svd_coordinate_rows(lines, rows, n // 2, n)
        np.testing.assert_allclose(rows.residual, y - (rows.own[mine] * v[theirs] * weight).sum(axis=1), atol=1e-12)
        results.append(rows)
    np.testing.assert_allclose(results[0].own, results[1].own, rtol=1e-10, atol=1e-12)


def test_component_sums_and_shifts_equal_their_twins():
    rng = np.random.default_rng(7)
    row, column, *_ = sparse(rng, 20, 30)
    u, v, residual = rng.normal(size=20), rng.normal(size=30), rng.normal(size=len(row))
    results = []
    for module in (native, reference):
        sums, left = np.empty(2), residual.copy()
        module.svd_component_sums(row, column, left, u, v, sums)
        module.svd_component_shift(row, column, left, u, v, 0.7)
        results.append((sums, left))
    for ours, theirs in zip(*results):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)
