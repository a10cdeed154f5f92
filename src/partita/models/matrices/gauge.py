"""Steps 4 and 5 of a sweep: moves along which U V' stays as it is, the scales theta integrated out; then theta.

With theta_k integrated out the prior of component k is (rate + Q_kk / 2)^-(shape + n / 2), where Q is the sum of
squares of factors about their prior means and of coefficients, and n their number. Rotating a pair of components keeps
U V' and changes Q_kk and Q_ll; multiplying u_k by c and dividing v_k by it changes the shares of the two sides.
Rotations are what makes the rank forget where the chain began.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...kernels import kernel
from .bounds import draw_theta, law_of_theta, log_share
from .pieces import cut_evenly, run_pieces
from .problem import Problem
from .regression import coefficient_gram
from .sides import SIDES, Side
from .state import State

N_ANGLES = 64
SCALINGS = 4  # random-walk steps of every component
_ANGLES = math.pi * np.arange(N_ANGLES) / N_ANGLES  # rotation by pi is a change of sign, which no law here can see
_COSINE, _SINE = np.cos(_ANGLES), np.sin(_ANGLES)


def draw_gauge(problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1) -> None:
    """Rotations, scalings and theta: together they leave the law of the state given the data as it is."""
    if not state.n_components:
        return
    grams = [side_gram(state, side, n_threads) for side in SIDES]
    turn = rotation(problem, rng, grams[0] + grams[1])
    squares = [np.einsum("ij,ik,kj->j", turn, gram, turn) for gram in grams]
    log_c = scaling(problem, rng, *squares)
    for side, by in zip(SIDES, (np.exp(log_c), np.exp(-log_c)), strict=True):
        transform(state, side, turn * by, n_threads)
    total = np.exp(2.0 * log_c) * squares[0] + np.exp(-2.0 * log_c) * squares[1]
    state.theta = draw_theta(problem, rng, total, component_count(problem))


def component_count(problem: Problem) -> int:
    """Numbers in one column of the factors and of the coefficients of both sides."""
    return sum(side_count(problem, side) for side in SIDES)


def side_count(problem: Problem, side: Side) -> int:
    """Numbers in one column of the factors and of the coefficients."""
    return side.size(problem) + side.features(problem).n_coefficients


def side_gram(state: State, side: Side, n_threads: int = 1) -> np.ndarray:
    """(K, K) products of the factors about their prior means, and of the coefficients."""
    k, matrix, regression = state.n_components, side.matrix(state), side.regression(state)
    pieces = cut_evenly(len(matrix), 2.0 * k * k)
    parts = np.empty((len(pieces), k, k))

    def work(number: int, piece: tuple[int, int]) -> None:
        apart = matrix[slice(*piece)]
        if regression.coefficients:
            apart = apart - side.prior_mean(state)[slice(*piece), :k]
        parts[number] = apart.T @ apart

    run_pieces(work, pieces, n_threads)
    return parts.sum(axis=0) + coefficient_gram(regression, k)


def rotation(problem: Problem, rng: np.random.Generator, gram: np.ndarray) -> np.ndarray:
    """R (K, K) orthogonal, to be multiplied from the right: the angle of every pair from its conditional law."""
    if np.isfinite(problem.most_theta):
        return bounded_rotation(problem, rng, gram)
    return free_rotation(problem, rng, gram)


def free_rotation(problem: Problem, rng: np.random.Generator, gram: np.ndarray) -> np.ndarray:
    k = len(gram)
    gram, turn = np.ascontiguousarray(gram), np.eye(k)
    shape, rate = law_of_theta(problem, component_count(problem))
    kernel.svd_rotate(gram, shape, rate, rng.random(k * (k - 1) // 2), _COSINE, _SINE, turn)
    return turn


def bounded_rotation(problem: Problem, rng: np.random.Generator, gram: np.ndarray) -> np.ndarray:
    """The same as a proposal, accepted by what the bound on theta makes of it, nearly always.

    The pairs of components in a random order: the way back takes them in the opposite order, which is as likely.
    """
    count, order = component_count(problem), rng.permutation(len(gram))
    turn = np.eye(len(gram))
    turn[np.ix_(order, order)] = free_rotation(problem, rng, gram[np.ix_(order, order)])
    after = np.einsum("ij,ik,kj->j", turn, gram, turn)
    gain = log_share(problem, after, count).sum() - log_share(problem, np.diagonal(gram), count).sum()
    return turn if np.log1p(-rng.random()) < gain else np.eye(len(gram))


def scaling(problem: Problem, rng: np.random.Generator, of_rows: np.ndarray, of_columns: np.ndarray) -> np.ndarray:
    """log c (K,) by a few Metropolis steps, p(c) ~ c^(n_rows - n_columns) (rate + (c^2 q_u + q_v / c^2) / 2)^-shape,
    times the share of theta's law below its bound."""
    rows, columns = (side_count(problem, side) for side in SIDES)
    shape, rate = law_of_theta(problem, rows + columns)

    def log_law(x: np.ndarray) -> np.ndarray:
        total = np.exp(2 * x) * of_rows + np.exp(-2 * x) * of_columns
        return (rows - columns) * x - shape * np.log(rate + 0.5 * total) + log_share(problem, total, rows + columns)

    log_c = np.zeros(len(of_rows))
    for _ in range(SCALINGS):
        asked = log_c + rng.standard_normal(len(log_c)) * 1.5 / math.sqrt(rows + columns)
        taken = np.log1p(-rng.random(len(log_c))) < log_law(asked) - log_law(log_c)
        log_c = np.where(taken, asked, log_c)
    return log_c


def transform(state: State, side: Side, by: np.ndarray, n_threads: int = 1) -> None:
    """Factors, prior means and coefficients of one side times `by`: a matrix (K, K), or a number of each component."""
    matrix, mean, regression = side.matrix(state), side.prior_mean(state), side.regression(state)
    times: Callable[..., np.ndarray] = np.matmul if by.ndim == 2 else np.multiply
    out = np.empty_like(matrix)

    def work(_: int, piece: tuple[int, int]) -> None:
        part = slice(*piece)
        times(matrix[part], by, out=out[part])
        if regression.coefficients:
            mean[part, :-1] = times(mean[part, :-1], by)

    run_pieces(work, cut_evenly(len(matrix), 2.0 * by.size), n_threads)
    side.put(state, out, None)
    regression.coefficients = [np.column_stack([times(g[:, :-1], by), g[:, -1]]) for g in regression.coefficients]
