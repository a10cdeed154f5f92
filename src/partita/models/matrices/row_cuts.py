"""Moves of cut points where every row has its own (see `levels`), latents integrated out.

A sweep moves one cut of all rows, the stretches held, or one spread together with its stretches, which given these
could hardly move; then one gap of every row, rows side by side, since cells of other rows have no part in it. Given the
gaps of the rows, those common to all and the spreads need no cell.
"""

from __future__ import annotations

import math

import numpy as np

from .levels import anchor, edges, log_masses
from .problem import Problem
from .state import State

_SHORTEST = 0.03  # sizes of steps of the logarithm of a spread go from this to 1
_TOLD = 0.25  # what a cell tells of the logarithm of a gap, about: sizes of steps follow it


def move_row_cuts(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray
) -> float:
    """Returns the log-likelihood of the levels."""
    assert state.cuts is not None
    state.cut_taken = np.full(len(state.cuts), np.nan)
    now = log_masses(problem, fitted, scale, state.cuts, state.row_stretch)
    move = _move_one_cut if rng.random() < 0.5 else _move_one_spread
    now = move(problem, rng, state, fitted, scale, now)
    now = _move_one_gap(problem, rng, state, fitted, scale, now)
    follow_rows(problem, rng, state)
    return float(now.sum())


def _move_one_cut(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray, now: np.ndarray
) -> np.ndarray:
    """A random walk of one cut point of all rows; those of the rows follow by their stretches."""
    assert state.cuts is not None and state.cut_step is not None and state.cut_taken is not None
    cuts, c = state.cuts, int(rng.integers(len(state.cuts)))
    proposal, between = cuts.copy(), edges(cuts)
    proposal[c] += state.cut_step[c] * rng.standard_normal()
    log_uniform = math.log1p(-rng.random())
    state.cut_taken[c] = 0.0
    if not between[c] < proposal[c] < between[c + 2]:
        return now
    then = log_masses(problem, fitted, scale, proposal, state.row_stretch)
    gain = float((then - now).sum()) + 0.5 * (cuts[c] ** 2 - proposal[c] ** 2) / problem.hyper.cut_width**2
    if log_uniform >= gain:
        return now
    state.cuts, state.cut_taken[c] = proposal, 1.0
    return then


def _move_one_spread(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray, now: np.ndarray
) -> np.ndarray:
    """(spread, r) -> (x spread, x r) of one gap: in units of the spread the stretches stay as they are."""
    assert state.cuts is not None
    hyper, g = problem.hyper, int(rng.integers(len(state.stretch_spread)))
    log_x = _SHORTEST ** rng.random() * rng.standard_normal()
    log_uniform = math.log1p(-rng.random())
    proposal, spread = state.row_stretch.copy(), state.stretch_spread.copy()
    proposal[:, g] *= math.exp(log_x)
    spread[g] *= math.exp(log_x)
    then = log_masses(problem, fitted, scale, state.cuts, proposal)
    law = -2.0 * hyper.stretch_shape * log_x - hyper.stretch_rate * (spread[g] ** -2 - state.stretch_spread[g] ** -2)
    if log_uniform >= float((then - now).sum()) + law:
        return now
    state.row_stretch, state.stretch_spread = proposal, spread
    return then


def _move_one_gap(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray, now: np.ndarray
) -> np.ndarray:
    """A random walk of the logarithm of one gap of every row."""
    assert state.cuts is not None
    entries, g = problem.entries, int(rng.integers(len(state.stretch_spread)))
    precision = state.stretch_spread[g] ** -2.0
    step = state.stretch_step / np.sqrt(precision + _TOLD * entries.row_counts)
    proposal = state.row_stretch.copy()
    proposal[:, g] += step * rng.standard_normal(len(proposal))
    then = log_masses(problem, fitted, scale, state.cuts, proposal)
    gain = np.bincount(entries.row, then - now, minlength=len(proposal))
    gain += 0.5 * precision * (state.row_stretch[:, g] ** 2 - proposal[:, g] ** 2)
    taken = np.log1p(-rng.random(len(proposal))) < gain
    state.row_stretch = np.where(taken[:, None], proposal, state.row_stretch)
    state.stretch_taken = float(taken.mean())
    return np.where(taken[entries.row], then, now)


def follow_rows(problem: Problem, rng: np.random.Generator, state: State) -> None:
    """Common gaps given those of the rows, which stay as they are, and the spreads of the stretches.

    Without their prior the logarithms of the gaps would be normal around the mean of the rows': that is proposed, and
    the prior of the cut points decides.
    """
    assert state.cuts is not None
    hyper, cuts, n = problem.hyper, state.cuts, len(state.row_stretch)
    log_gaps = np.log(np.diff(cuts))
    asked = log_gaps + state.row_stretch.mean(axis=0)
    asked = asked + state.stretch_spread * rng.standard_normal(len(asked)) / math.sqrt(n)
    along, at = np.concatenate([[0.0], np.cumsum(np.exp(asked))]), anchor(len(cuts))
    proposal = cuts[at] + along - along[at]
    gain = float((asked - log_gaps).sum()) + 0.5 * float(cuts @ cuts - proposal @ proposal) / hyper.cut_width**2
    if math.log1p(-rng.random()) < gain:
        state.cuts, state.row_stretch = proposal, state.row_stretch - (asked - log_gaps)
    squares = (state.row_stretch**2).sum(axis=0)
    drawn = rng.standard_gamma(hyper.stretch_shape + 0.5 * n, len(squares))
    state.stretch_spread = np.sqrt((hyper.stretch_rate + 0.5 * squares) / drawn)
