"""The posterior mode of a log-linear model: L-BFGS around a preconditioner, every product written out."""

from __future__ import annotations

import numpy as np

from ..modes_contract import Solver
from .interactions import softmax_loss

ENOUGH, SHRINKS = 1e-4, 12  # share of the linear decrease that a step must keep; how often it is shortened
ROUNDING = 1e-9  # of the objective, relative: what a step may seem to lose


def precondition(solver: Solver, x: np.ndarray, out: np.ndarray) -> None:
    """out = about B^-1 x, x (p, K)."""
    old = len(solver.variance)
    y = x * solver.ratio[:, None]
    out[old:] = y[old:] / solver.tail
    for k, factor in enumerate(solver.factors):
        m = factor.stored.T if factor.by_columns else factor.stored
        columns = slice(old) if factor.columns is None else factor.columns
        part = y[columns, k].astype(np.float32)
        solved = m.T @ (m @ part)
        out[:old, k] = y[:old, k] * solver.variance[:, k]
        out[columns, k] = part - solved if factor.dual else solved
    out *= solver.ratio[:, None]


def dense_mode(
    design: np.ndarray, scale: np.ndarray, label: np.ndarray, weight: np.ndarray, solver: Solver, max_steps: int,
    tolerance: float, loss: float, u: np.ndarray, logits: np.ndarray, residual: np.ndarray,
) -> float:  # fmt: skip
    """Minimise loss + |u|^2 / 2, the logits being `design` (scale u), until the Newton decrement as the solver sees it
    is at most `tolerance`, for at most so many steps. u (p, K), logits and residual (n, K) change in place."""
    s, x = scale[:, None], design.astype(np.float64)
    gradient = s * (x.T @ residual) + u
    history: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(max_steps):
        direction = _direction(gradient, history, solver)
        slope = float((gradient * direction).sum())
        if not slope > tolerance:
            break
        along, value = x @ (s * direction), loss + 0.5 * float((u**2).sum())
        step, found = 1.0, False
        for _ in range(SHRINKS):
            there, left = logits - step * along, np.empty_like(residual)
            loss_there = softmax_loss(there, label, weight, left)
            value_there = loss_there + 0.5 * float(((u - step * direction) ** 2).sum())
            found = value_there <= value - ENOUGH * step * slope + ROUNDING * abs(value)
            if found:
                break
            parabola = 0.5 * slope * step * step / max(value_there - value + step * slope, 1e-30)
            step = max(0.15 * step, min(0.6 * step, parabola))
        if not found:
            break
        u -= step * direction
        logits[:], residual[:], loss = there, left, loss_there
        before, gradient = gradient, s * (x.T @ residual) + u
        if -step * float((direction * (gradient - before)).sum()) > 0:
            history.append((-step * direction, gradient - before))
    return loss


def _direction(gradient: np.ndarray, history: list[tuple[np.ndarray, np.ndarray]], solver: Solver) -> np.ndarray:
    """The two loops of L-BFGS."""
    q, shares = gradient.copy(), []
    for moved, bend in reversed(history):
        shares.append(float((moved * q).sum() / (moved * bend).sum()))
        q -= shares[-1] * bend
    out = np.empty_like(q)
    precondition(solver, q, out)
    for (moved, bend), share in zip(history, reversed(shares), strict=True):
        out += moved * (share - float((bend * out).sum() / (moved * bend).sum()))
    return out


def column_information(design: np.ndarray, information: np.ndarray, out: np.ndarray) -> None:
    """out (p, K) = sum over rows of the squares of the design times the rows' information (n, K)."""
    out[:] = (design.astype(np.float64) ** 2).T @ information


def informed_rows(
    design: np.ndarray, scale: np.ndarray, rows: np.ndarray | None, columns: np.ndarray | None, root: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """out[i, j] = root[i] design[rows[i], columns[j]] scale[columns[j]]; None: all rows, all columns."""
    scaled = design * scale
    scaled = scaled if rows is None else scaled[rows]
    scaled = scaled if columns is None else scaled[:, columns]
    out[:] = root[:, None] * scaled
