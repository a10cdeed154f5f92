"""Gaussian gates with missing cells, row by row and component by component (symbols: kernels/gates_contract.py)."""

from __future__ import annotations

import numpy as np

from ..gates_contract import NEGLIGIBLE, Conditioned, GateSums, Patterns


def missing_cells(patterns: Patterns):
    """(row, its missing cells) of every row."""
    for g in range(len(patterns)):
        for i in range(patterns.first_row[g], patterns.first_row[g + 1]):
            yield i, patterns.cells[patterns.first[g] : patterns.first[g + 1]]


def mean_given_observed(x: np.ndarray, r: np.ndarray, Q: np.ndarray, m: np.ndarray) -> np.ndarray:
    """x with its missing cells at Q_mm^-1 (r_m - Q_mo x_o)."""
    filled = x.copy()
    filled[m] = np.linalg.solve(Q[np.ix_(m, m)], r[m] - Q[m] @ x)
    return filled


def spread(w: np.ndarray, m: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """(K, P) Q_mm^-1 w_m of every side w (K, P), 0 on observed cells."""
    cw = np.zeros(w.shape)
    cw[:, m] = w[:, m] @ covariance
    return cw


def gate_condition(
    patterns: Patterns,
    x: np.ndarray,
    r: np.ndarray,
    Q: np.ndarray,
    S: np.ndarray,
    logdet_Q: np.ndarray,
    w: np.ndarray,
    V: np.ndarray,
    out: Conditioned,
) -> None:
    """Integrate the missing cells of every row out of every component. Here S and logdet_Q are not needed."""
    for i, m in missing_cells(patterns):
        block = np.ix_(m, m)
        for h in range(Q.shape[2]):
            q, own, sides = Q[:, :, h], r[i % len(r), :, h], w[:, :, h]
            covariance = np.linalg.inv(q[block])
            b = own[m] - q[m] @ x[i]
            out.quad[i, h] = own @ x[i] - 0.5 * x[i] @ q @ x[i] + 0.5 * b @ covariance @ b
            out.logdet[i, h] = np.linalg.slogdet(q[block])[1]
            filled = mean_given_observed(x[i], own, q, m)
            out.wx[i, :, h] = sides @ filled
            out.wcw[i, :, :, h] = sides[:, m] @ covariance @ sides[:, m].T
            if len(out.xhat):
                out.xhat[i, :, h] = filled
                out.cw[i, :, :, h] = spread(sides, m, covariance)
            if len(V):
                out.trace[i, h] = (V[:, :, h][block] * covariance).sum()


def gate_accumulate(
    patterns: Patterns,
    Q: np.ndarray,
    S: np.ndarray,
    xhat: np.ndarray,
    cw: np.ndarray,
    rho: np.ndarray,
    f: np.ndarray,
    out: GateSums,
) -> None:
    """Add the first and second moments of every row, weighted by rho (n, H).

    xhat is the mean of a row given everything, its covariance pad(Q_mm^-1) + sum_kl f_kl cw_k cw_l' with f (n, K, K, H)
    symmetric in k and l, or (n, 0, 0, H). cw is what `gate_condition` gave: the same for all rows with one pattern.
    """
    for i, m in missing_cells(patterns):
        for h in np.flatnonzero(rho[i] >= NEGLIGIBLE):
            second = np.outer(xhat[i, :, h], xhat[i, :, h])
            second[np.ix_(m, m)] += np.linalg.inv(Q[:, :, h][np.ix_(m, m)])
            if f.shape[1]:
                second += cw[i, :, :, h].T @ f[i, :, :, h] @ cw[i, :, :, h]
            out.first[:, h] += rho[i, h] * xhat[i, :, h]
            out.second[:, :, h] += rho[i, h] * second


def gate_moments(
    patterns: Patterns,
    x: np.ndarray,
    r: np.ndarray,
    Q: np.ndarray,
    S: np.ndarray,
    w: np.ndarray,
    rho: np.ndarray,
    shift: np.ndarray,
    f: np.ndarray,
    extra: np.ndarray,
    tie: np.ndarray,
    out: GateSums,
) -> None:
    """Add the moments of every row, weighted by rho (n, H), and those with other numbers.

    With xhat and cw_k of `gate_condition`, in a component a row has the mean xhat + sum_k shift_k cw_k, shift
    (n, K, H), and the covariance pad(Q_mm^-1) + sum_kl f_kl cw_k cw_l', f (n, K, K, H) symmetric in k and l. The product
    of the row with the number e is expected to be extra_e times its mean + sum_k tie_ek cw_k; extra (n, E, H), tie
    (n, E, K, H).
    """
    for i, m in missing_cells(patterns):
        block = np.ix_(m, m)
        for h in np.flatnonzero(rho[i] >= NEGLIGIBLE):
            q = Q[:, :, h]
            covariance = np.linalg.inv(q[block])
            cw = spread(w[:, :, h], m, covariance)
            mean = mean_given_observed(x[i], r[i % len(r), :, h], q, m) + shift[i, :, h] @ cw
            second = np.outer(mean, mean) + cw.T @ f[i, :, :, h] @ cw
            second[block] += covariance
            out.first[:, h] += rho[i, h] * mean
            out.second[:, :, h] += rho[i, h] * second
            out.cross[:, :, h] += rho[i, h] * (np.outer(extra[i, :, h], mean) + tie[i, :, :, h] @ cw)


def gate_draw_missing(
    patterns: Patterns,
    x: np.ndarray,
    r: np.ndarray,
    Q: np.ndarray,
    z: np.ndarray,
    noise: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[i] = x_i, its missing cells drawn given the observed ones in component z[i] (int32).

    noise (n, P) holds standard normals; with the lower triangle L, LL' = Q_mm, the draw is the mean + L'^-1 noise_m.
    """
    for i, m in missing_cells(patterns):
        q = Q[:, :, z[i]]
        out[i] = mean_given_observed(x[i], r[i % len(r), :, z[i]], q, m)
        out[i, m] += np.linalg.solve(np.linalg.cholesky(q[np.ix_(m, m)]).T, noise[i, m])
