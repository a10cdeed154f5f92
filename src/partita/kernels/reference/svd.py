"""Matrices with holes: rows drawn whole, residual sums, rotations (see `kernels/svd_contract.py`)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..svd_contract import LEAST_PIVOT, GainSums, ResidualPass, RowDraw, ScaleSteps, SideCells


def svd_draw_rows(begin: int, end: int, given: RowDraw, sums: GainSums | None) -> None:
    """One row after the other, every matrix written out."""
    k, q = len(given.gain), len(given.precision)
    for i in range(begin, end):
        part = slice(given.cells.first[i], given.cells.first[i + 1])
        j = given.cells.other[part]
        z = np.column_stack([given.Z[j, :k], given.root[j]])[:, :q]
        r = given.root[j] * (given.cells.y[part] - given.shift[j])
        x = z * np.append(given.gain, 1.0)[:q]
        by = given.alpha * given.weight[i]
        precision = np.diag(given.precision) + by * x.T @ x
        upper = factorise(precision)
        right = given.precision * given.prior[i] + by * x.T @ r
        whitened = solve_triangular(upper, right, trans="T") + given.noise[i]
        given.out[i] = solve_triangular(upper, whitened)
        if given.residual is not None:
            given.residual[i] = np.sum((r - x @ given.out[i]) ** 2)
        if sums is not None:
            add_products(sums, z[:, :k], r - (given.root[j] * given.out[i, k] if q > k else 0.0), given.out[i, :k],
                         given.weight[i])  # fmt: skip


def factorise(matrix: np.ndarray) -> np.ndarray:
    """Upper U with U'U = matrix, no pivot below its share of the diagonal."""
    upper = np.zeros_like(matrix)
    for a in range(len(matrix)):
        row = matrix[a, a:] - upper[:a, a] @ upper[:a, a:]
        row[0] = max(row[0], LEAST_PIVOT * matrix[a, a])
        upper[a, a:] = row / np.sqrt(row[0])
    return upper


def add_products(sums: GainSums, z: np.ndarray, r: np.ndarray, u: np.ndarray, weight: float) -> None:
    w = z * u
    sums.gram += np.triu(weight * w.T @ w)
    sums.linear += weight * w.T @ r
    sums.square += weight * (r @ r)


def svd_squares(
    begin: int, end: int, given: ResidualPass, column_noise: np.ndarray, squares: np.ndarray, row_sum: np.ndarray
) -> None:
    fitted = np.zeros(len(given.cells.y))
    svd_fitted(begin, end, given, fitted)
    for i in range(begin, end):
        part = slice(given.cells.first[i], given.cells.first[i + 1])
        squares[part] = (given.cells.y[part] - fitted[part]) ** 2
        row_sum[i] = column_noise[given.cells.other[part]] @ squares[part]


def svd_column_sums(
    begin: int, end: int, cells: SideCells, row_noise: np.ndarray, squares: np.ndarray, column_sum: np.ndarray
) -> None:
    for i in range(begin, end):
        part = slice(cells.first[i], cells.first[i + 1])
        np.add.at(column_sum, cells.other[part], row_noise[i] * squares[part])


def svd_fitted(begin: int, end: int, given: ResidualPass, out: np.ndarray) -> None:
    for i in range(begin, end):
        part = slice(given.cells.first[i], given.cells.first[i + 1])
        j = given.cells.other[part]
        out[part] = given.V[j] @ given.U[i] + given.row_offset[i] + given.shift[j]


def svd_gather_sums(begin: int, end: int, cells: SideCells, X: np.ndarray, out: np.ndarray) -> None:
    for i in range(begin, end):
        out[i] = X[cells.other[cells.first[i] : cells.first[i + 1]]].sum(axis=0)


def svd_noise_law(counts: np.ndarray, halves: np.ndarray, nu: np.ndarray, law: np.ndarray) -> None:
    for a, df in enumerate(nu):
        law[a] -= (df + 0.5 * counts) @ np.log(df + halves)


def svd_rotate(
    Q: np.ndarray, shape: float, rate: float, uniform: np.ndarray, cosine: np.ndarray, sine: np.ndarray, R: np.ndarray
) -> None:
    """Angle of every pair (k, l) on a cyclic grid, p(phi) ~ [(rate + q_k(phi) / 2) (rate + q_l(phi) / 2)]^-shape."""
    n, t = len(Q), 0
    for k in range(n):
        for l in range(k):  # noqa: E741
            q = np.maximum(cosine**2 * Q[k, k] + sine**2 * Q[l, l] + 2.0 * sine * cosine * Q[k, l], 0.0)
            rest = np.maximum(Q[k, k] + Q[l, l] - q, 0.0)
            log_weight = -shape * np.log(np.maximum((rate + 0.5 * q) * (rate + 0.5 * rest), 1e-290))
            weight = np.exp(log_weight - log_weight.max())
            j = min(int(np.searchsorted(np.cumsum(weight), uniform[t] * weight.sum(), side="right")), len(weight) - 1)
            t += 1
            turn = np.array([[cosine[j], -sine[j]], [sine[j], cosine[j]]])
            Q[:, [k, l]] = Q[:, [k, l]] @ turn
            R[:, [k, l]] = R[:, [k, l]] @ turn
            Q[[k, l]] = turn.T @ Q[[k, l]]


def svd_scale_steps(gram: np.ndarray, linear: np.ndarray, given: ScaleSteps, gain: np.ndarray) -> None:
    for steps, log_uniform in zip(given.steps, given.log_uniform, strict=True):
        for c, step in enumerate(steps):
            more = gain[c] * np.expm1(step)
            slope = linear[c] - gram[c] @ gain
            likelihood = given.alpha * more * (slope - 0.5 * more * gram[c, c])
            # of log theta
            law = -given.shape * step - given.rate / (given.theta[c] * gain[c]) * np.expm1(-step)
            within = given.theta[c] * gain[c] * np.exp(step) <= given.most
            if within and log_uniform[c] < likelihood + law:
                gain[c] += more
