"""Binomial cells: so many successes out of so many trials, each with probability Phi(f_ij).

Behind every trial stands a normal latent around f_ij of variance 1, as in [1], integrated out: the trials of a cell
enter as two numbers, however many they are. Rows [u_i, b_i] move by a Metropolis step whose proposal lies around one
Newton step from the present row; the density of the way back enters the acceptance, so the step is exact in law, and
nearly always accepted as the proposal is nearly the posterior. Unlike [2], which scores with expected curvatures and
proposes normal laws: both fail where a fit is far off, and a row would never find back; here the curvatures are the
observed ones and the law a Student t. The global mean has a step of the same kind.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, section 5.4.3.
[2] D. Gamerman (1997), Sampling from the posterior distribution in generalized linear mixed models, Statistics and
Computing 7, 57-68.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from partita.kernels import kernel
from partita.kernels.svd_links_contract import BinomialRows, Lines

from .gauge import transform
from .pieces import cut_rows, run_pieces
from .problem import Problem
from .sides import ROWS, SIDES, Side
from .state import State

_PART = 200_000  # entries a kernel call treats: some tens of milliseconds
_SHORTEST = 0.01
_TAIL = 20.0  # degrees of freedom of proposals
_COST = 40  # what a probit costs, counted in multiplications


def start(problem: Problem) -> float:
    """The mean at which all trials together are as successful as they were."""
    entries = problem.entries
    trials = 0.0 if entries.trials is None else float(entries.trials.sum())
    return float(ndtri((entries.values.sum() + 0.5) / (trials + 1.0)))


def probits(problem: Problem) -> np.ndarray:
    """(m,) where a cell by itself would have its fit, half a success and half a failure added."""
    entries = problem.entries
    assert entries.trials is not None
    return np.asarray(ndtri((entries.values + 0.5) / (entries.trials + 1.0)))


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
        kernel.svd_binomial_working(fitted[part], entries.values[part], entries.trials[part], weight[part], score[part])
    return weight, score


def move_rows(problem: Problem, rng: np.random.Generator, state: State, side: Side, n_threads: int = 1) -> float:
    """One step of all [u_i, b_i], or of all [v_j, c_j]; returns the share that was accepted."""
    entries, k, last, there = problem.entries, state.n_components, int(problem.offsets), side.other
    assert entries.trials is not None
    lines = Lines(entries.first_in_row, entries.column)
    if side is not ROWS:
        lines = Lines(entries.first_in_column, entries.row_by_column, entries.place)
    own = np.concatenate([side.matrix(state), side.offset(state)[:, None][:, :last]], axis=1)
    n, width = own.shape
    met = there.matrix(state)
    moved = BinomialRows(
        entries.values,
        entries.trials,
        state.mean + there.offset(state),
        np.concatenate([met * state.gain, np.ones((len(met), last))], axis=1),
        np.ascontiguousarray(side.prior_mean(state)[:, :width]),
        np.ascontiguousarray(side.precision(problem, state)[:width]),
        _TAIL,
        rng.standard_normal((n, width)),
        np.sqrt(_TAIL / rng.chisquare(_TAIL, n)),
        np.asarray(1.0 - rng.random(n)),
        own,
        np.zeros(n, np.uint8),
    )
    pieces = cut_rows(lines.first, 2.0 * (width * width + _COST), 10.0 * width**2 + width**3)
    run_pieces(lambda _, piece: kernel.svd_binomial_rows(lines, moved, *piece), pieces, n_threads)
    side.put(state, np.ascontiguousarray(own[:, :k]), own[:, k].copy() if last else None)
    return float(moved.accepted.mean())


def move_mean(problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray) -> float:
    """mu ~ N(centre, (mean_width spread)^2) given the rest, by one scoring step; returns the log-likelihood there.

    `fitted` (m,) includes the present mean.
    """
    now = state.mean
    own = (problem.hyper.mean_width * problem.spread) ** -2.0
    noise, log_uniform = rng.standard_normal(), np.log1p(-rng.random())

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
        return float(there)
    return float(here)


def move_scales(problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray) -> None:
    """theta_k -> x theta_k, and with it u_k, v_k and what their features say times sqrt(x): one step of every k.

    Most rows have few trials, repeat what theta_k says, and hold it where it is; here they follow. What remains of the
    prior is that of log theta. Steps of log x have sizes from a hundredth to one, as the data may say much or nothing.
    """
    hyper, k, entries = problem.hyper, state.n_components, problem.entries
    size = np.exp(np.log(_SHORTEST) * rng.random(k))
    log_x, log_uniform = size * rng.standard_normal(k), np.log1p(-rng.random(k))
    now = float(log_likelihood(problem, fitted)[0])
    taken = np.zeros(k)
    for c in range(k):
        more = np.expm1(log_x[c])
        asked = fitted + more * (state.U[:, c].copy()[entries.row] * state.V[:, c].copy()[entries.column])
        then = float(log_likelihood(problem, asked)[0])
        law = -hyper.theta_shape * log_x[c]
        law -= hyper.theta_rate * problem.spread / state.theta[c] * np.expm1(-log_x[c])
        within = state.theta[c] * np.exp(log_x[c]) <= problem.most_theta
        if within and log_uniform[c] < then - now + law:
            fitted, now, taken[c] = asked, then, log_x[c]
    state.theta = state.theta * np.exp(taken)
    for side in SIDES:
        transform(state, side, np.exp(0.5 * taken))
