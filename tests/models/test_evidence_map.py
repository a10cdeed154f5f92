"""Modes, curvatures and variances of log-linear models against independent computations."""

import numpy as np
import pytest
from evidence_tables import table
from scipy.optimize import minimize

from partita.kernels import kernel
from partita.kernels.modes_contract import Solver
from partita.models.evidence.curvature import Curvature
from partita.models.evidence.design import Block, DenseDesign, LookUpDesign, dense_design, region_block
from partita.models.evidence.map import Target, find_mode, objective
from partita.models.evidence.scales import Groups, fit_scales, leave_one_out, row_moments, updated_variance
from partita.models.evidence.settings import Settings


class Exact:
    """A design in double precision."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, float)

    def times(self, w):
        return self.matrix @ w

    def transposed_times(self, r):
        return self.matrix.T @ r


def problem(n_classes, seed=0, n=160, weighted=True):
    codes, levels, _, label = table(seed, n=n, n_reals=0, n_classes=n_classes)
    blocks = [region_block(codes, levels, region)[1] for region in [(0,), (1,), (2,), (3,), (1, 3)]]
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    target = Target(label, weight, 1 if n_classes == 2 else n_classes)
    of_column = np.repeat(np.arange(5), [b.width for b in blocks])
    return blocks, target, Groups(of_column, np.array([0, 0, 0, 0, 1]))


def plain(start):
    """No preconditioner."""
    return Solver(np.ones(len(start)), np.ones(start.shape), np.zeros((0, start.shape[1])), [])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_equals_finite_differences(n_classes):
    blocks, target, groups = problem(n_classes)
    design = Exact(dense_design(blocks, slice(None), 160))
    scale = groups.scale(np.linspace(0.2, 1.5, 5), 100.0)
    rng = np.random.default_rng(1)
    u = rng.normal(size=(len(scale), target.n_logits))
    gradient = objective(design, scale, target, u)[1]
    for _ in range(10):
        along = rng.normal(size=u.shape)
        ahead, behind = (objective(design, scale, target, u + e * along)[0] for e in (1e-5, -1e-5))
        np.testing.assert_allclose((ahead - behind) / 2e-5, (gradient * along).sum(), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mode_equals_an_independent_optimiser(n_classes):
    blocks, target, groups = problem(n_classes)
    matrix = dense_design(blocks, slice(None), 160)
    scale = groups.scale(np.linspace(0.2, 1.5, 5), 100.0)
    start = np.zeros((len(scale), target.n_logits))

    def flat(z):
        value, gradient = objective(Exact(matrix), scale, target, z.reshape(start.shape))
        return value, gradient.ravel()

    theirs = minimize(flat, start.ravel(), jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    exact = find_mode(Exact(matrix), scale, target, start, plain(start), 500, 1e-12)
    np.testing.assert_allclose(exact.value, theirs.fun, rtol=1e-9)
    np.testing.assert_allclose(exact.u, theirs.x.reshape(start.shape), atol=1e-4)
    single = find_mode(DenseDesign(matrix), scale, target, start, plain(start), 100, 1e-6 * target.total)
    assert theirs.fun - 1e-6 <= single.value <= theirs.fun + 1e-4
    np.testing.assert_allclose(single.logits, exact.logits, atol=0.02)


def test_look_up_design_equals_the_dense_one():
    codes, levels, _, _ = table(n_reals=0)
    rng = np.random.default_rng(0)
    blocks = [region_block(codes, levels, region)[1] for region in [(0,), (2, 3)]]
    blocks.append(Block(3, cells=rng.integers(0, 5, 240).astype(np.int32), map=rng.normal(size=(5, 3))))
    blocks.append(Block(2, columns=rng.normal(size=(240, 2)).astype(np.float32)))
    dense, look_up = DenseDesign(dense_design(blocks, slice(None), 240)), LookUpDesign(blocks, 240)
    w, r = rng.normal(size=(dense.matrix.shape[1], 3)), rng.normal(size=(240, 3))
    np.testing.assert_allclose(look_up.times(w), dense.times(w), atol=1e-5)
    np.testing.assert_allclose(look_up.transposed_times(r), dense.transposed_times(r), atol=1e-4)


@pytest.mark.parametrize("n", [12, 160])  # the factor has a row per row of the table, or per column
def test_curvature_equals_the_inverse_hessian(n):
    blocks, target, groups = problem(2, n=n)
    matrix = dense_design(blocks, slice(None), n)
    scale = groups.scale(np.full(5, 0.7), 100.0)
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, (n, 1))
    curvature = Curvature(matrix, scale, p * (1 - p), p - 0.5, target.weight)
    s = matrix * scale
    hessian = np.eye(len(scale)) + s.T @ (s * (target.weight[:, None] * p * (1 - p)))
    inverse = np.linalg.inv(hessian)
    kept = np.diag(hessian) > 1.02
    np.testing.assert_allclose(curvature.variance[kept, 0], np.diag(inverse)[kept], rtol=2e-3)
    np.testing.assert_allclose(curvature.leverage(matrix)[:, 0], np.einsum("ij,jk,ik->i", s, inverse, s), rtol=2e-3)
    np.testing.assert_allclose(curvature.log_determinant, np.linalg.slogdet(hessian)[1], rtol=1e-3)
    x = rng.normal(size=(len(scale), 1))
    solved = np.empty_like(x)
    kernel.precondition(curvature.preconditioner(scale, np.ones((0, 1))), x, solved)
    np.testing.assert_allclose(solved, inverse @ x, atol=2e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_variances_settle_at_a_fixed_point_of_the_update(n_classes):
    blocks, target, groups = problem(n_classes, n=400)
    matrix = dense_design(blocks, slice(None), 400)
    w = np.zeros((matrix.shape[1], target.n_logits))
    fit = fit_scales(matrix, groups, target, np.full(5, 0.5), w, None, Settings(), rounds=60)
    squares = groups.sums((fit.w[1:] ** 2).sum(axis=1))
    determined = groups.sums((1 - fit.curvature.variance[1:]).sum(axis=1))
    again = updated_variance(fit.variance, squares, determined, groups, Settings(), target.n_logits)
    # the modes in between are found less exactly than the last
    np.testing.assert_allclose(np.log(again / fit.variance), 0.0, atol=0.05)


def test_better_variances_have_more_evidence():
    blocks, target, groups = problem(2, n=400)
    matrix = dense_design(blocks, slice(None), 400)
    w = np.zeros((matrix.shape[1], 1))
    one = fit_scales(matrix, groups, target, np.full(5, 30.0), w, None, Settings(), rounds=1)
    many = fit_scales(matrix, groups, target, np.full(5, 30.0), w, None, Settings(), rounds=30)
    assert many.evidence > one.evidence + 5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leave_one_out_logits_are_close_to_really_leaving_out(n_classes):
    """How leaving a row out moves its logits: the closed form errs by less than a quarter of that for two classes; for
    more, whose logits it takes apart, it exaggerates by up to C / (C - 1), in the same direction."""
    n = 80
    blocks, target, groups = problem(n_classes, n=n, weighted=False)
    matrix = dense_design(blocks, slice(None), n)
    scale = groups.scale(np.full(5, 0.5), 100.0)
    start = np.zeros((len(scale), target.n_logits))
    mode = find_mode(Exact(matrix), scale, target, start, plain(start), 500, 1e-10)
    residual, spread = row_moments(mode.residual, target, target.indicator())
    curvature = Curvature(matrix, scale, spread, residual, target.weight)
    closed = leave_one_out(mode.logits, residual, spread, curvature.leverage(matrix), target.weight)
    really = np.empty_like(closed)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        without = find_mode(Exact(matrix[rest]), scale, target.take(rest), mode.u, plain(mode.u), 500, 1e-10)
        really[i] = matrix[i] @ (scale[:, None] * without.u)

    def contrast(z):
        return z if n_classes == 2 else z - z.mean(axis=1, keepdims=True)

    moved, found = contrast(really - mode.logits).ravel(), contrast(closed - mode.logits).ravel()
    assert np.corrcoef(moved, found)[0, 1] > 0.97
    slope = (moved @ found) / (moved @ moved)
    assert 0.95 < slope < (1.1 if n_classes == 2 else 1.05 * n_classes / (n_classes - 1))
    assert np.sqrt(np.mean((slope * moved - found) ** 2)) < 0.25 * np.sqrt(np.mean(moved**2))
