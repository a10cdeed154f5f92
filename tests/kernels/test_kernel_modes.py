"""Kernels of modes and curvatures: native and plain twins agree; a mode is where the gradient is nought."""

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.modes_contract import Factor, Solver

native = pytest.importorskip("partita.kernels._native")


def a_solver(rng, p, old, n_logits, kinds):
    """Factors of every form: by rows or columns, dual or not, of all columns or of some."""
    factors = []
    for k in range(n_logits if old else 0):
        kind = kinds[k % len(kinds)]
        columns = np.sort(rng.choice(old, old - 2, replace=False)) if "some" in kind else None
        width = old if columns is None else len(columns)
        m = rng.normal(size=(width + 3 if "dual" in kind else width, width)).astype(np.float32) * 0.1
        m = m if "dual" in kind else np.asfortranarray(np.tril(m) + np.eye(width, dtype=np.float32))
        factors.append(Factor.of(m, "dual" in kind, columns))
    tail, variance = rng.uniform(1, 3, (p - old, n_logits)), rng.uniform(0.1, 1, (old, n_logits))
    return Solver(rng.uniform(0.5, 1.5, p), tail, variance, factors)


@pytest.mark.parametrize("n_logits", [1, 4])
@pytest.mark.parametrize("old", [0, 9, 40])
@pytest.mark.parametrize("kinds", [["all"], ["all dual", "some", "some dual", "all"]])
def test_preconditioner_equals_its_twin(n_logits, old, kinds):
    rng = np.random.default_rng(old)
    solver, x = a_solver(rng, 40, old, n_logits, kinds), rng.normal(size=(40, n_logits))
    ours, theirs = np.empty_like(x), np.empty_like(x)
    native.precondition(solver, x, ours)
    reference.precondition(solver, x, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def a_problem(rng, n, p, n_logits):
    design = rng.normal(size=(n, p)).astype(np.float32)
    design[:, p // 2 :] = rng.integers(0, 2, (n, p - p // 2))
    label = rng.integers(0, max(2, n_logits), n).astype(np.int32)
    return design, rng.uniform(0.2, 1.5, p), label, rng.uniform(0.5, 2.0, n)


def from_nought(module, design, scale, label, weight, n_logits, steps, tolerance):
    n, p = design.shape
    u, logits, residual = np.zeros((p, n_logits)), np.zeros((n, n_logits)), np.empty((n, n_logits))
    loss = module.softmax_loss(logits, label, weight, residual)
    solver = Solver(np.ones(p), np.full((p, n_logits), 20.0), np.zeros((0, n_logits)), [])
    loss = module.dense_mode(design, scale, label, weight, solver, steps, tolerance, loss, u, logits, residual)
    return loss, u, logits, residual


@pytest.mark.parametrize("n_logits", [1, 3])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_steps_towards_the_mode_equal_their_twin(n_logits, steps):
    rng = np.random.default_rng(n_logits)
    problem = a_problem(rng, 150, 37, n_logits)
    ours, theirs = (from_nought(module, *problem, n_logits, steps, 0.0) for module in (native, reference))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n_logits", [1, 3])
def test_the_gradient_is_nought_at_the_mode(n_logits):
    design, scale, label, weight = a_problem(np.random.default_rng(5), 130, 21, n_logits)
    loss, u, logits, residual = from_nought(native, design, scale, label, weight, n_logits, 200, 1e-9)
    np.testing.assert_allclose(scale[:, None] * (design.T.astype(float) @ residual) + u, 0.0, atol=1e-3)
    np.testing.assert_allclose(design @ (scale[:, None] * u), logits, atol=1e-3)
    again = np.empty_like(residual)
    assert loss == pytest.approx(reference.softmax_loss(logits, label, weight, again), rel=1e-10)
    np.testing.assert_allclose(residual, again, atol=1e-10)


def test_parts_of_a_curvature_equal_their_twins():
    rng = np.random.default_rng(2)
    design, scale, _, _ = a_problem(rng, 140, 19, 1)
    information = rng.uniform(0.0, 0.3, (140, 3))
    sums = np.empty((2, 19, 3))
    native.column_information(design, information, sums[0])
    reference.column_information(design, information, sums[1])
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-5)
    some_rows, some_columns = np.sort(rng.choice(140, 50, replace=False)), np.sort(rng.choice(19, 8, replace=False))
    for rows in (None, some_rows):
        for columns in (None, some_columns):
            root = rng.uniform(0.1, 1.0, 140 if rows is None else 50)
            out = np.empty((2, len(root), 19 if columns is None else 8), np.float32)
            native.informed_rows(design, scale, rows, columns, root, out[0])
            reference.informed_rows(design, scale, rows, columns, root, out[1])
            np.testing.assert_allclose(out[0], out[1], rtol=1e-5)


@pytest.mark.parametrize("members", [1, 4])
def test_shares_of_a_pool_equal_their_twin(members):
    rng = np.random.default_rng(members)
    likelihood, weight = rng.uniform(0.01, 1.0, (members, 75)), rng.uniform(0.5, 2.0, 75)
    prior = np.full(members, 2.5)
    shares = np.full((2, members), 1 / members)
    native.pool_shares(likelihood, weight, prior, 40, 1e-6, shares[0])
    reference.pool_shares(likelihood, weight, prior, 40, 1e-6, shares[1])
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-10)
    assert shares[0].sum() == pytest.approx(1.0)
