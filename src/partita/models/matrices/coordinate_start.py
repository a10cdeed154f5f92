"""Where a chain of the coordinate sampler begins, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import binomial as svd_binomial
from . import ordinal as svd_ordinal
from .draw import Draw
from .effects import coefficients_of, feature_columns, start_effects
from .levels import start_stretch
from .problem import Problem
from .rank import cell_matrix, leading_pairs
from .start import state_values
from .state import State

_SHRUNK = 0.3  # share of a singular value of the observed cells that is signal, for a start
_KNOWN = 1e-8  # variance of what a feature gives a row: none, but for divisions by it


def init(problem: Problem, rng: np.random.Generator, start: str | int = "random") -> State:
    """`max_rank` candidates with factors from the prior, all of them on, or only as many as `start` says.

    Scales are such that together the components spread as the cells do; `start="svd"` takes factors and scales from
    the leading singular triplets of the observed cells.
    """
    k, spread = problem.max_rank, problem.spread
    rows, columns = problem.n_rows, problem.n_columns
    on = k if isinstance(start, str) else min(int(start), k)
    scale = spread * np.sqrt(rows * columns / max(on, 1))
    state = State(
        U=rng.standard_normal((rows, k)) / np.sqrt(rows),
        V=rng.standard_normal((columns, k)) / np.sqrt(columns),
        theta=np.ones(k),
        row_offset=np.zeros(rows),
        column_offset=np.zeros(columns),
        row_noise=np.ones(rows),
        column_noise=np.ones(columns),
        row_mean=np.zeros((rows, k + 1)),
        column_mean=np.zeros((columns, k + 1)),
        mean=problem.centre if problem.offsets else 0.0,
        alpha=spread**-2.0,
        tau_row=spread**-2.0,
        tau_column=spread**-2.0,
        s=np.full(k, scale),
        z=(np.arange(k) < on).astype(float),
        alpha_s=scale**-2.0,
        held=True,
        rank=on,
    )
    start_effects(problem, state)
    start_stretch(problem, rng, state)
    if problem.link == "ordinal":
        state.alpha, state.mean = 1.0, 0.0
        state.cuts, state.cut_step, state.latent = svd_ordinal.start(problem)
    if problem.link == "binomial":
        state.alpha, state.mean = 1.0, svd_binomial.start(problem) if problem.offsets else 0.0
    if start == "svd" and len(problem.entries):
        residual = state_values(problem, state) - state.mean
        u, size, v = leading_pairs(cell_matrix(problem, residual), k, rng)
        found = len(size)
        state.U[:, :found], state.V[:, :found] = u, v
        assert state.s is not None
        # unobserved cells count as zero: the values are those of the whole matrix when divided by the share observed
        state.s[:found] = np.maximum(_SHRUNK * size * rows * columns / len(residual), 1e-8 * scale)
    return state


def kept(problem: Problem, state: State) -> Draw:
    """A kept draw; effects of features become factors with one side known.

    R G_R' is U V' with R in the place of U: an unseen row has its features there, an unseen column the prior of G_R.
    """
    plain = Draw.of(problem, state)
    if state.row_effects is None or state.column_effects is None:
        return plain
    assert state.row_effect_precision is not None and state.column_effect_precision is not None
    rows, columns = problem.row_features, problem.column_features
    known_rows, known_columns = feature_columns(rows, problem.n_rows), feature_columns(columns, problem.n_columns)
    n_row, n_column = known_rows.shape[1], known_columns.shape[1]
    if not n_row + n_column:
        return plain
    return replace(
        plain,
        U=_joined(plain.U, known_rows, state.row_effects),
        V=_joined(plain.V, state.column_effects, known_columns),
        theta=_joined(plain.theta, np.full(n_row, _KNOWN), 1.0 / state.row_effect_precision),
        column_theta=_joined(plain.column_theta, 1.0 / state.column_effect_precision, np.full(n_column, _KNOWN)),
        row_coefficients=_prior_means(coefficients_of(rows), plain.U.shape[1], n_column),
        column_coefficients=_prior_means(coefficients_of(columns), plain.U.shape[1] + n_row, 0),
    )


def _joined(*parts: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate(parts, axis=-1), dtype=np.float32)


def _prior_means(coefficients: list[np.ndarray], before: int, after: int) -> tuple[np.ndarray, ...]:
    """Per block (r, K + 1): zero but where the side's own features stand; `after` columns follow, then the offset."""
    return tuple(
        _joined(np.zeros((len(part), before)), part, np.zeros((len(part), after + 1))) for part in coefficients
    )
