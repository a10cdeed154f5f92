"""Kernels of matrices with holes: native and twin agree, and rows have the mean and covariance they should have."""

from dataclasses import replace

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.svd_contract import GainSums, ResidualPass, RowDraw, ScaleSteps, SideCells, pad, padded

native = pytest.importorskip("partita.kernels._native")


def some_cells(rng, n, n_other, degree):
    counts = np.minimum(rng.poisson(degree, n), n_other)
    counts[0] = 0  # an empty row is drawn from its prior
    other = np.concatenate([rng.choice(n_other, c, replace=False) for c in counts]).astype(np.int32)
    return SideCells(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), other, rng.normal(size=counts.sum()))


def row_draw(rng, k, offset, n=9, n_other=40, degree=20.0):
    cells = some_cells(rng, n, n_other, degree)
    q = k + offset
    root = np.sqrt(rng.gamma(3.0, 1.0, n_other))
    return RowDraw(
        cells, pad(root[:, None] * rng.normal(size=(n_other, k))), root, rng.normal(size=n_other),
        rng.gamma(3.0, 1.0, n), 1.7, rng.random(k) + 0.5, rng.random(q) + 0.1, rng.normal(size=(n, q)),
        rng.normal(size=(n, q)), np.zeros((n, q)),
    )  # fmt: skip


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("k", [1, 3, 7, 8, 9, 12, 16, 20, 23, 32, 36, 50])
def test_rows_are_those_of_the_twin(k, offset):
    given = row_draw(np.random.default_rng(k), k, offset, degree=20.0 if k < 50 else 300.0, n_other=400)
    found, expected = [], []
    for kernel, results in ((native, found), (reference, expected)):
        given.out, given.residual = np.zeros_like(given.out), np.full(9, np.nan)
        sums = GainSums.room(k)
        kernel.svd_draw_rows(0, 5, given, sums)
        kernel.svd_draw_rows(5, 9, given, sums)
        results += [given.out, given.residual, np.triu(sums.gram), sums.linear, sums.square]
    assert expected[1][0] == found[1][0] == 0.0  # of the empty row
    for a, b in zip(found, expected):
        assert np.allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("k", [1, 4, 10, 16, 22, 28, 33, 36, 50, 57, 66, 71])
def test_single_precision_is_near(k):
    given = row_draw(np.random.default_rng(k), k, True, degree=100.0, n_other=400, n=21)
    exact, squares = np.zeros_like(given.out), np.zeros(21)
    reference.svd_draw_rows(0, 21, replace(given, out=exact, residual=squares), None)
    given.Z, given.residual = pad(given.Z[:, :k], single=True), np.zeros(21)
    assert given.Z.dtype == np.float32
    sums, expected = GainSums.room(k), GainSums.room(k)
    native.svd_draw_rows(0, 21, given, sums)
    reference.svd_draw_rows(0, 21, replace(given, out=exact.copy()), expected)
    assert np.abs(given.out - exact).max() < 1e-4
    assert np.allclose(given.residual, squares, rtol=1e-3)
    assert np.allclose(np.triu(sums.gram), expected.gram, rtol=1e-3, atol=1e-3)


def test_rows_have_their_conditional_law():
    rng = np.random.default_rng(5)
    k, n = 2, 4000
    once = row_draw(rng, k, True, n=2)
    j = once.cells.other
    first = np.arange(n + 1) * len(j)
    cells = SideCells(first.astype(np.int64), np.tile(j, n), np.tile(once.cells.y, n))
    given = RowDraw(
        cells, once.Z, once.root, once.shift, np.full(n, once.weight[1]), once.alpha, once.gain, once.precision,
        np.tile(once.prior[1], (n, 1)), rng.normal(size=(n, k + 1)), np.zeros((n, k + 1)),
    )  # fmt: skip
    native.svd_draw_rows(0, n, given, None)
    x = np.column_stack([once.Z[j, :k] * once.gain, once.root[j]])
    by = once.alpha * once.weight[1]
    covariance = np.linalg.inv(np.diag(once.precision) + by * x.T @ x)
    mean = covariance @ (once.precision * once.prior[1] + by * x.T @ (once.root[j] * (once.cells.y - once.shift[j])))
    standard = (given.out - mean) @ np.linalg.cholesky(np.linalg.inv(covariance))
    assert np.abs(standard.mean(axis=0) * np.sqrt(n)).max() < 4
    assert np.abs(standard.T @ standard / n - np.eye(3)).max() < 0.12


def test_without_cells_a_row_is_its_prior():
    given = row_draw(np.random.default_rng(6), 4, True)
    native.svd_draw_rows(0, 1, given, None)
    assert np.allclose(given.out[0], given.prior[0] + given.noise[0] / np.sqrt(given.precision))


@pytest.mark.parametrize("k", [0, 1, 8, 35])
def test_residual_sums_are_those_of_the_twin(k):
    rng = np.random.default_rng(k)
    cells = some_cells(rng, 9, 40, 12.0)
    u, v = pad(rng.normal(size=(9, k))), pad(rng.normal(size=(40, k)))
    given = ResidualPass(cells, u, v, np.arange(9.0), np.arange(40.0) / 7)
    results = []
    for kernel in (native, reference):
        squares, row_sum, column_sum = np.zeros(len(cells.y)), np.zeros(9), np.zeros(40)
        fitted, gathered = np.zeros(len(cells.y)), np.zeros((9, v.shape[1]))
        for begin, end in ((0, 4), (4, 9)):
            kernel.svd_squares(begin, end, given, np.linspace(0.5, 2, 40), squares, row_sum)
            kernel.svd_column_sums(begin, end, cells, np.linspace(0.3, 0.9, 9), squares, column_sum)
            kernel.svd_fitted(begin, end, given, fitted)
            kernel.svd_gather_sums(begin, end, cells, v, gathered)
        assert np.allclose(squares, (cells.y - fitted) ** 2)
        results.append((squares, row_sum, column_sum, fitted, gathered))
    for a, b in zip(*results):
        assert np.allclose(a, b)


def test_the_law_of_degrees_of_freedom_is_that_of_the_twin():
    rng = np.random.default_rng(3)
    counts, halves, nu = rng.poisson(5.0, 43).astype(float), rng.gamma(2.0, 3.0, 43), np.geomspace(1, 1000, 7)
    found, expected = np.zeros(7), np.zeros(7)
    native.svd_noise_law(counts, halves, nu, found)
    reference.svd_noise_law(counts, halves, nu, expected)
    assert np.allclose(found, expected, rtol=1e-12)


def test_rotations_are_those_of_the_twin_and_orthogonal():
    rng = np.random.default_rng(7)
    k, angles = 7, 64
    x = rng.normal(size=(30, k)) * np.geomspace(1, 1e-4, k)
    phi = np.pi * np.arange(angles) / angles
    results = []
    for kernel in (native, reference):
        gram, turned = x.T @ x, np.eye(k)
        kernel.svd_rotate(gram, 15.05, 1e-10, np.random.default_rng(8).random(k * k), np.cos(phi), np.sin(phi), turned)
        assert np.allclose(turned.T @ turned, np.eye(k))
        assert np.allclose(turned.T @ (x.T @ x) @ turned, gram)
        results.append((gram, turned))
    assert np.allclose(results[0][0], results[1][0]) and np.allclose(results[0][1], results[1][1])


@pytest.mark.parametrize("k", [0, 1, 6])
@pytest.mark.parametrize("most", [np.inf, 0.8])
def test_scales_are_those_of_the_twin(k, most):
    rng = np.random.default_rng(k)
    x = rng.normal(size=(30, k))
    gram, linear = x.T @ x, rng.normal(size=k) + (x.T @ x).sum(axis=0)
    steps = 3.0 * rng.normal(size=(40, k)) ** 3
    given = ScaleSteps(rng.gamma(2.0, 0.2, k), steps, np.log(rng.random((40, k))), 0.7, 0.05, 1e-3, most)
    found, expected = np.ones(k), np.ones(k)
    native.svd_scale_steps(gram, linear, given, found)
    reference.svd_scale_steps(gram, linear, given, expected)
    assert np.allclose(found, expected, rtol=1e-9)
    assert not k or ((found != 1.0).any() and (given.theta * found <= max(most, given.theta.max())).all())


def test_widths():
    assert [padded(k) for k in (0, 1, 8, 9)] == [8, 8, 8, 16]
