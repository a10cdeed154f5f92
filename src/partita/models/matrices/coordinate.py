"""The sampler of [1] for the Bayesian SVD, one number at a time: equations (5.4) to (5.14).

y_ij = mu + b_i + c_j + sum_k s_k z_k u_ik v_jk + (R G_R' + G_C C')_ij + N(0, 1 / alpha); mu, b and c only where the
problem has offsets, R and C where it has features. Residuals y - fit are kept through a sweep, in row order; what [1]
calls X^{-k} is the residual with component k put back.

Unlike [1], pi_k is integrated out, which leaves the odds a / (b (K - 1)) in (5.6) and nothing of (5.7): given z_k = 1
a drawn pi_k is nearly uniform, and components would never leave. The rank this sampler finds still depends on its
start, since components with signal do not die and births from the prior hardly happen: it is here as a reference.
Ordinal cells have latents in the place of y (section 5.4.3); those of binomial ones, one behind every trial, are
integrated out (`matrices.coordinate_counts`).

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr, ndtri_exp

from partita.kernels import kernel
from partita.kernels.svd_links_contract import CoordinateRows, Lines

from .binomial import log_likelihood, move_mean
from .binomial_gains import move_gains
from .coordinate_counts import move_numbers
from .coordinate_start import init, kept
from .effects import draw_precisions, feature_columns
from .noise import log_likelihood_of
from .ordinal import adapt_steps, move_latents
from .pieces import cut_rows, run_pieces
from .problem import Problem
from .sides import COLUMNS, ROWS, SIDES, Side
from .start import state_values
from .state import State

__all__ = ["adapt", "init", "kept", "resize", "step"]

HELD = 20  # first sweeps of burn-in, see `_waiting`
_FAR = -1e3  # standard deviations below zero where a cut normal is exponential to all digits


@dataclass
class Sweep:
    """A sweep under way: `residual` is kept equal to y - fit."""

    problem: Problem
    rng: np.random.Generator
    state: State
    residual: np.ndarray
    row_features: np.ndarray  # R (I, F_R), without columns while features wait
    column_features: np.ndarray  # C (J, F_C), likewise

    @classmethod
    def begin(cls, problem: Problem, rng: np.random.Generator, state: State) -> Sweep:
        known_sides = [feature_columns(side.features(problem), side.size(problem)) for side in SIDES]
        if _waiting(state):
            known_sides = [features[:, :0] for features in known_sides]
        sweep = cls(problem, rng, state, np.empty(0), *known_sides)
        sweep.residual = state_values(problem, state) - sweep.fitted()
        return sweep

    def fitted(self) -> np.ndarray:
        """(m,) fit at the observed cells, from nothing but the state."""
        entries, state = self.problem.entries, self.state
        own, others, weight, _ = known(self, ROWS)
        fit = state.mean + state.column_offset[entries.column]
        if state.column_effects is not None and self.row_features.shape[1]:
            fit += np.einsum("pf,pf->p", self.row_features[entries.row], state.column_effects[entries.column])
        for k in np.flatnonzero(weight):
            fit += weight[k] * own[entries.row, k] * others[entries.column, k]
        return fit


def known(sweep: Sweep, side: Side) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What a side is drawn with: its own numbers, those they multiply, weights, prior precisions.

    Columns of the first two: the K factors, effects of the other side's features, the offset.
    """
    state, problem = sweep.state, sweep.problem
    features = sweep.column_features if side is ROWS else sweep.row_features
    n, others, q, last = side.size(problem), side.other.size(problem), features.shape[1], int(problem.offsets)
    effects, precision = _effects(state, side) if q else (np.zeros((n, 0)), np.zeros(0))
    own = np.concatenate([side.matrix(state), effects, side.offset(state)[:, None][:, :last]], axis=1)
    met = np.concatenate([side.other.matrix(state), features, np.ones((others, last))], axis=1)
    weight = np.concatenate([state.gain, np.ones(q + last)])
    # u_ik ~ N(0, 1/I), v_jk ~ N(0, 1/J)
    priors = np.concatenate([np.full(state.n_components, float(n)), precision, np.full(last, side.tau(state))])
    return own, met, weight, priors


def _effects(state: State, side: Side) -> tuple[np.ndarray, np.ndarray]:
    return getattr(state, f"{side.name}_effects"), getattr(state, f"{side.name}_effect_precision")


def draw_side(sweep: Sweep, side: Side, n_threads: int = 1) -> None:
    """(5.8)-(5.11) and the same for effects and offsets, which are components with one side known."""
    entries, state = sweep.problem.entries, sweep.state
    own, met, weight, precision = known(sweep, side)
    lines = Lines(entries.first_in_row, entries.column)
    if side is COLUMNS:
        lines = Lines(entries.first_in_column, entries.row_by_column, entries.place)
    noise = sweep.rng.standard_normal(own.shape)
    given = CoordinateRows(weight, precision, float(state.alpha), met, noise, own, sweep.residual)
    pieces = cut_rows(lines.first, 4.0 * own.shape[1], 10.0 * own.shape[1])
    run_pieces(lambda _, piece: kernel.svd_coordinate_rows(lines, given, *piece), pieces, n_threads)
    _put(sweep, side, own)


def _put(sweep: Sweep, side: Side, own: np.ndarray) -> None:
    """The numbers of a side, in the columns of `known`, into the state."""
    state, k, last = sweep.state, sweep.state.n_components, own.shape[1] - int(sweep.problem.offsets)
    side.put(state, np.ascontiguousarray(own[:, :k]), own[:, last].copy() if sweep.problem.offsets else None)
    if last > k:
        setattr(state, f"{side.name}_effects", own[:, k:last].copy())


def _sums(sweep: Sweep, k: int) -> tuple[float, float]:
    """Sums over the cells of (u_ik v_jk)^2 and of X^{-k}_ij u_ik v_jk."""
    entries, out = sweep.problem.entries, np.empty(2)
    u, v = sweep.state.U[:, k].copy(), sweep.state.V[:, k].copy()
    kernel.svd_component_sums(entries.row, entries.column, sweep.residual, u, v, out)
    return float(out[0]), float(out[1] + sweep.state.gain[k] * out[0])


def _take_off(sweep: Sweep, k: int, amount: float) -> None:
    if amount != 0.0:
        entries = sweep.problem.entries
        u, v = sweep.state.U[:, k].copy(), sweep.state.V[:, k].copy()
        kernel.svd_component_shift(entries.row, entries.column, sweep.residual, u, v, amount)


def positive_normal(uniform: float, mean: float, precision: float) -> float:
    """N(mean, 1 / precision) given that it is positive, at a share `uniform` of its mass counted from the right."""
    height = mean * np.sqrt(precision)
    if height < _FAR:
        return float(-np.log1p(-uniform) / (precision * -mean))
    x = mean - ndtri_exp(np.log1p(-uniform) + log_ndtr(height)) / np.sqrt(precision)
    return float(max(x, np.finfo(float).tiny))


def draw_scales(sweep: Sweep) -> None:
    """s_k by (5.4) and (5.5); those of components that are off come from the prior."""
    state = sweep.state
    assert state.s is not None and state.z is not None
    for k, uniform in enumerate(sweep.rng.random(state.n_components)):
        squares, products = _sums(sweep, k) if state.z[k] else (0.0, 0.0)
        precision = state.alpha_s + state.alpha * squares
        new = positive_normal(uniform, state.alpha * products / precision, precision)
        _take_off(sweep, k, state.z[k] * (new - state.s[k]))
        state.s[k] = new


def draw_switches(sweep: Sweep) -> None:
    """z_k by (5.6), pi_k integrated out."""
    state, hyper = sweep.state, sweep.problem.hyper
    assert state.s is not None and state.z is not None
    k_max = state.n_components
    log_odds = np.log(hyper.a / (hyper.b * (k_max - 1))) if k_max > 1 else np.inf
    for k, uniform in enumerate(sweep.rng.random(k_max)):
        squares, products = _sums(sweep, k)
        gain = state.alpha * (state.s[k] * products - 0.5 * state.s[k] ** 2 * squares)
        new = float(uniform < expit(log_odds + gain))
        _take_off(sweep, k, (new - state.z[k]) * state.s[k])
        state.z[k] = new


def draw_noise(sweep: Sweep) -> None:
    """alpha by (5.12)."""
    hyper, residual = sweep.problem.hyper, sweep.residual
    shape = hyper.c + 0.5 * len(residual)
    sweep.state.alpha = float(sweep.rng.gamma(shape) / (hyper.d + 0.5 * (residual @ residual)))


def draw_scale_precision(sweep: Sweep) -> None:
    """alpha_s by (5.13)."""
    hyper, s = sweep.problem.hyper, sweep.state.s
    assert s is not None
    sweep.state.alpha_s = float(sweep.rng.gamma(hyper.e + 0.5 * len(s)) / (hyper.f + 0.5 * (s @ s)))


def draw_effect_precisions(sweep: Sweep) -> None:
    """lambda of every feature of (5.14), and the precisions of the offsets."""
    state, problem, rng = sweep.state, sweep.problem, sweep.rng
    for side in SIDES:
        if not _waiting(state):
            setattr(state, f"{side.name}_effect_precision", draw_precisions(rng, problem, _effects(state, side)[0]))
        if problem.offsets:
            hyper, offset = problem.hyper, side.offset(state)
            rate = hyper.offset_rate * problem.spread**2 + 0.5 * float(offset @ offset)
            drawn = rng.standard_gamma(hyper.offset_shape + 0.5 * len(offset)) / rate
            setattr(state, f"tau_{side.name}", float(drawn))


def draw_mean(sweep: Sweep) -> None:
    """mu ~ N(centre, (mean_width spread)^2) given the rest; cut points of levels take its part."""
    problem, state, n = sweep.problem, sweep.state, len(sweep.residual)
    if problem.offsets and problem.link != "ordinal":
        own = (problem.hyper.mean_width * problem.spread) ** -2.0
        precision = own + state.alpha * n
        pull = own * problem.centre + state.alpha * (sweep.residual.sum() + n * state.mean)
        new = float(pull / precision + sweep.rng.standard_normal() / np.sqrt(precision))
        sweep.residual -= new - state.mean
        state.mean = new


def step(
    problem: Problem, rng: np.random.Generator, state: State, n_threads: int = 1
) -> tuple[State, Mapping[str, float]]:
    """One sweep in the order of [1]."""
    moves = _step_counts if problem.link == "binomial" else _step_values
    logs = moves(problem, rng, state, n_threads)
    assert state.z is not None
    state.sweep += 1
    state.rank = int(state.z.sum())
    return state, {
        "rank": float(state.rank),
        "components": float(state.rank),
        "noise": float(state.alpha),
        "log_likelihood": logs,
    }


def _step_values(problem: Problem, rng: np.random.Generator, state: State, n_threads: int) -> float:
    """Gaussian cells, or ordinal ones and their latents; returns the log-likelihood."""
    of_levels = draw_levels(problem, rng, state) if problem.link == "ordinal" else None
    sweep = Sweep.begin(problem, rng, state)
    draw_scales(sweep)
    if not _waiting(state):
        draw_switches(sweep)
    for side in SIDES:
        draw_side(sweep, side, n_threads)
    draw_mean(sweep)
    if problem.link == "gaussian":
        draw_noise(sweep)
    draw_scale_precision(sweep)
    draw_effect_precisions(sweep)
    squares = float(sweep.residual @ sweep.residual)
    return log_likelihood_of(problem, state, squares) if of_levels is None else of_levels


def _step_counts(problem: Problem, rng: np.random.Generator, state: State, n_threads: int) -> float:
    """Binomial cells; returns the log-likelihood."""
    sweep = Sweep.begin(problem, rng, state)
    move_gains(problem, rng, state, sweep.fitted(), switching=not _waiting(state))
    for side in SIDES:
        move_side(sweep, side)
    draw_effect_precisions(sweep)
    fit = sweep.fitted()
    return move_mean(problem, rng, state, fit) if problem.offsets else float(log_likelihood(problem, fit)[0])


def move_side(sweep: Sweep, side: Side) -> None:
    """As `draw_side`, of binomial cells."""
    own, met, weight, precision = known(sweep, side)
    move_numbers(sweep.problem, sweep.rng, side, own, met, weight, precision, sweep.fitted())
    _put(sweep, side, own)


def _waiting(state: State) -> bool:
    """Whether z still stays as it began and effects of features at zero, so that components find a signal first.

    With features from the first sweep on, components that have not formed by then find little left to explain.
    """
    return state.held and state.sweep < HELD


def draw_levels(problem: Problem, rng: np.random.Generator, state: State) -> float:
    """Section 5.4.3 of [1]: cut points and latents of ordinal cells, noise of precision 1; the log-likelihood."""
    return move_latents(problem, rng, state, Sweep.begin(problem, rng, state).fitted())


def adapt(
    problem: Problem, rng: np.random.Generator, state: State, births: bool, held: bool = False, n_threads: int = 1
) -> None:
    """After a sweep of burn-in; components and features wait within births only."""
    adapt_steps(state)
    state.held = state.held and births


def resize(problem: Problem, rng: np.random.Generator, state: State, wanted: int) -> None:
    """Nothing to do: all chains have `max_rank` candidates."""
    assert wanted == state.n_components
