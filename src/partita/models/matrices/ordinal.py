"""Ordinal cells: level l where cut_l < x <= cut_{l+1}, x normal around the fit; the cut points are learnt.

The fit f has no mean of its own (the cut points carry it) and the noise of x has precision g_i d_j, alpha = 1, which
fixes the scale. Cut points c_1 < .. < c_{L-1} have the prior N(0, cut_width^2) each, given their order. [1] holds the
first at 0, which identifies the model only with a free mean; here all are free and the offsets have mean zero, which
is the same family of laws.

A sweep moves the cut points with the latents x integrated out, every second one at a time: a level lies between an
even and an odd cut, so the even ones are independent given the odd ones (where rows have cut points of their own, see
`matrices.row_cuts`). Cut points and offsets together may shift by
the same amount without a change of the fit to the data; that direction is drawn exactly. Then x is drawn anew.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, section 5.4.3.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from partita.kernels import kernel

from .levels import edges, levels_in_parts, log_masses
from .problem import Problem
from .row_cuts import move_row_cuts
from .sides import SIDES, Side
from .state import State

_WIDER, _NARROWER = 1.15, 0.93  # a step grows when accepted and shrinks when not: level where a third is accepted
_WANTED, _FASTER = 0.35, 0.3  # share of rows that accept, and how fast steps follow it
_START_SPREAD = 1.3  # standard deviation of the latents at the start: noise of 1 and some signal


def start(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut points, their steps and latents from the levels' frequencies alone."""
    values, n_levels = problem.entries.values, problem.n_levels
    # half an entry more in every level: a level that never occurs has a place too
    counts = np.bincount(values.astype(np.intp), minlength=n_levels) + 0.5
    below = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    cuts = _START_SPREAD * ndtri(below[1:-1])
    latent = _START_SPREAD * ndtri(0.5 * (below[1:] + below[:-1]))[values.astype(np.intp)]
    step = np.full(n_levels - 1, 2.4 / np.sqrt(1.0 + len(values) / n_levels))
    return cuts, step, latent


def evidence(problem: Problem, fitted: np.ndarray, scale: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """(L,) log probability of the cells of each level, latents integrated out."""
    alike = np.zeros((problem.n_rows, 0))
    each = log_masses(problem, fitted, scale, cuts, alike)
    return np.bincount(problem.entries.values.astype(np.intp), each, minlength=problem.n_levels)


def noise_scale(problem: Problem, state: State) -> np.ndarray:
    """(m,) square root of a cell's precision g_i d_j."""
    entries = problem.entries
    if not problem.unequal_noise:
        return np.ones(len(entries))
    return np.sqrt(state.row_noise)[entries.row] * np.sqrt(state.column_noise)[entries.column]


def move_cuts(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray
) -> float:
    """Random walks of the even and then of the odd cut points, given the fit alone; returns the log-likelihood."""
    assert state.cuts is not None and state.cut_step is not None
    cuts, width = state.cuts.copy(), problem.hyper.cut_width
    state.cut_taken = np.zeros(len(cuts))
    now = evidence(problem, fitted, scale, cuts)
    for parity in (0, 1):
        chosen = np.arange(parity, len(cuts), 2)
        noise, log_uniform = rng.standard_normal(len(chosen)), np.log1p(-rng.random(len(chosen)))
        if not len(chosen):
            continue
        proposal = cuts.copy()
        proposal[chosen] += state.cut_step[chosen] * noise
        between = edges(cuts)
        ordered = (between[chosen] < proposal[chosen]) & (proposal[chosen] < between[chosen + 2])
        proposal[chosen] = np.where(ordered, proposal[chosen], cuts[chosen])
        then = evidence(problem, fitted, scale, proposal)
        gain = (then - now)[chosen] + (then - now)[chosen + 1]
        gain += 0.5 * (cuts[chosen] ** 2 - proposal[chosen] ** 2) / width**2
        accepted = ordered & (log_uniform < gain)
        cuts[chosen] = np.where(accepted, proposal[chosen], cuts[chosen])
        touched = np.concatenate([chosen[accepted], chosen[accepted] + 1])
        now[touched] = then[touched]
        state.cut_taken[chosen] = accepted
    state.cuts = cuts
    return float(now.sum())


def adapt_steps(state: State) -> None:
    """Random steps of cut points longer where the last was accepted; for burn-in only."""
    if state.cut_step is not None and state.cut_taken is not None:
        factor = np.where(state.cut_taken > 0.5, _WIDER, _NARROWER)
        state.cut_step = state.cut_step * np.where(np.isnan(state.cut_taken), 1.0, factor)
    if not np.isnan(state.stretch_taken):
        state.stretch_step *= float(np.exp(_FASTER * (state.stretch_taken - _WANTED)))


def shift(problem: Problem, rng: np.random.Generator, state: State, side: Side) -> None:
    """Cut points, latents and the offsets of one side, all by the same amount: a normal law, which no cell can see."""
    assert state.cuts is not None and state.latent is not None
    own, tau, offset = problem.hyper.cut_width**-2.0, side.tau(state), side.offset(state)
    precision = own * len(state.cuts) + tau * len(offset)
    pull = -own * float(state.cuts.sum()) - tau * float((offset - side.prior_mean(state)[:, -1]).sum())
    amount = pull / precision + rng.standard_normal() / np.sqrt(precision)
    state.cuts, state.latent = state.cuts + amount, state.latent + amount
    side.put(state, side.matrix(state), offset + amount)


def draw_latents(
    problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray, scale: np.ndarray
) -> None:
    """x of every cell, normal between the cut points of its level."""
    assert state.cuts is not None
    latent = np.empty(len(fitted))
    uniform = 1.0 - rng.random(len(fitted))  # never 0
    for part, levels in levels_in_parts(problem, fitted, scale, state.cuts, state.row_stretch):
        kernel.svd_ordinal_latents(levels, uniform[part], latent[part])
    state.latent = latent


def move_latents(problem: Problem, rng: np.random.Generator, state: State, fitted: np.ndarray) -> float:
    """Cut points, latents and the shifts, given everything else; `fitted` (m,) is the fit at the cells.

    Returns the log-likelihood of the levels, latents integrated out.
    """
    scale = noise_scale(problem, state)
    move = move_row_cuts if state.row_stretch.shape[1] else move_cuts
    log_likelihood = move(problem, rng, state, fitted, scale)
    draw_latents(problem, rng, state, fitted, scale)
    if problem.offsets:
        for side in SIDES:
            shift(problem, rng, state, side)
    return log_likelihood
