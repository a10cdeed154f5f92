"""Binomial cells: so many successes out of so many trials, each with probability Phi(f_ij).

Behind every trial stands a normal latent around f_ij of variance 1, as in [1], integrated out: the trials of a cell
enter as two numbers, however many they are. Rows [u_i, b_i] move by a Metropolis step whose proposal is the normal law
of one Fisher scoring step from the present row [2]; the density of the way back enters the acceptance, so the step is
exact in law, and nearly always accepted as the proposal is nearly the posterior. The global mean has a step of the
same kind, and a direction that the data do not see (up with the mean, down with the offsets) is drawn exactly.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, section 5.4.3.
[2] D. Gamerman (1997), Sampling from the posterior distribution in generalized linear mixed models, Statistics and
Computing 7, 57-68.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from partita.kernels import kernel
from partita.kernels.svd_links_contract import BinomialRows, Lines

from .svd_coordinate import pieces
from .svd_problem import Problem
from .svd_state import State

_PART = 200_000  # entries a kernel call treats: some tens of milliseconds
_COST = 40  # what a probit costs, counted in multiplications


def start(problem: Problem) -> float:
    """The mean at which all trials together are as successful as they were."""
    entries = problem.entries
    trials = 0.0 if entries.trials is None else float(entries.trials.sum())
    return float(ndtri((entries.values.sum() + 0.5) / (trials + 1.0)))


def log_likelihood(problem: Problem, fitted: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """(3,) log-likelihood without binomial coefficients of f + shift, its slope and expected curvature in the shift."""
    entries, out = problem.entries, np.zeros(3)
    assert entries.trials is not None
    for begin in range(0, len(entries), _PART):
        part = slice(begin, begin + _PART)
        kernel.svd_binomial_sums(fitted[part], shift, entries.values[part], entries.trials[part], out)
    return out


def working(problem: Problem, fitted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) expected curvature and slope of the log-likelihood of every cell in its f: weights, weighted residuals."""
    entries = problem.entries
    assert entries.trials is not None
    weight, score = np.empty(len(entries)), np.empty(len(entries))
    for begin in range(0, len(entries), _PART):
        part = slice(begin, begin + _PART)
        kernel.svd_binomial_working(
            fitted[part], entries.values[part], entries.trials[part], weight[part], score[part]
        )
    return weight, score


def move_side(
    problem: Problem, rng: np.random.Generator, state: State, rows: bool, centre: np.ndarray, precision: np.ndarray
) -> float:
    """One step of all [u_i, b_i] (or [v_j, c_j]), prior N(centre, diag(precision)^-1); returns the share accepted.

    centre (n, D), precision (D,): D is K, and one more where the problem has offsets.
    """
    entries, last = problem.entries, int(problem.offsets)
    factors, offset = (state.U, state.row_offset) if rows else (state.V, state.column_offset)
    met, known = (state.V * state.gain, state.column_offset) if rows else (state.U * state.gain, state.row_offset)
    lines = (
        Lines(entries.first_in_row, entries.column)
        if rows
        else Lines(entries.first_in_column, entries.row_by_column, entries.place)
    )
    own = np.concatenate([factors, offset[:, None][:, :last]], axis=1)
    moved = BinomialRows(
        entries.values, entries.trials, state.mean + known,
        np.concatenate([met, np.ones((len(met), last))], axis=1),
        np.ascontiguousarray(centre), np.ascontiguousarray(precision),
        rng.standard_normal(own.shape), 1.0 - rng.random(len(own)), own, np.zeros(len(own), np.uint8),
    )  # fmt: skip
    width = own.shape[1]
    for begin, end in pieces(lines.first, width * width + _COST):
        kernel.svd_binomial_rows(lines, moved, begin, end)
    k = state.n_components
    factors, offset = np.ascontiguousarray(own[:, :k]), own[:, k].copy() if last else offset
    if rows:
        state.U, state.row_offset = factors, offset
    else:
        state.V, state.column_offset = factors, offset
    return float(moved.accepted.mean())


def move_mean(problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray) -> float:
    """mu ~ N(centre, (mean_width spread)^2) given the rest, by one scoring step; returns the log-likelihood there.

    `fitted` (m,) includes the present mean.
    """
    own = (problem.hyper.mean_width * problem.spread) ** -2.0
    noise, log_uniform, now = rng.standard_normal(), np.log1p(-rng.random()), state.mean

    def scored(mean: float) -> tuple[float, float, float, float]:
        """Log-likelihood and log posterior at the mean; centre and precision of a step from there."""
        value, slope, curvature = log_likelihood(problem, fitted, mean - now)
        away, precision = mean - problem.centre, own + curvature
        return value, value - 0.5 * own * away**2, mean + (slope - own * away) / precision, precision

    here, at_here, centre, precision = scored(now)
    new = centre + noise / np.sqrt(precision)
    there, at_there, back_centre, back_precision = scored(new)
    back = 0.5 * np.log(back_precision) - 0.5 * back_precision * (now - back_centre) ** 2
    if log_uniform < at_there - at_here + back - 0.5 * np.log(precision) + 0.5 * noise**2:
        state.mean = float(new)
        return there
    return here


def shift(problem: Problem, rng: np.random.Generator, state: State) -> None:
    """The mean up, all offsets of one side down by the same amount: a normal law, as the data do not see it."""
    own = (problem.hyper.mean_width * problem.spread) ** -2.0
    for offset, centre, tau in (
        (state.row_offset, state.row_mean[:, -1], state.tau_row),
        (state.column_offset, state.column_mean[:, -1], state.tau_column),
    ):
        precision = own + tau * len(offset)
        pull = tau * (offset - centre).sum() - own * (state.mean - problem.centre)
        amount = float(pull / precision + rng.standard_normal() / np.sqrt(precision))
        state.mean += amount
        offset -= amount
