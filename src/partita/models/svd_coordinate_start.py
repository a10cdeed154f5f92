"""Where a chain of the coordinate sampler begins, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .svd_draw import Draw
from .svd_effects import coefficients_of, scaled_features
from .svd_problem import Problem
from .svd_state import State

_KNOWN = 1e-8  # variance of what a feature gives a row: none, but for divisions by it


def start(problem: Problem, rng: np.random.Generator, n_components: int) -> State:
    """Factors from the prior, every component on, scales such that together they spread as the cells do."""
    k, rows, columns = n_components, problem.n_rows, problem.n_columns
    spread = problem.spread if problem.spread > 0 else 1.0
    effects = [problem.column_features.n_coefficients, problem.row_features.n_coefficients]
    return State(
        rng.standard_normal((rows, k)) / np.sqrt(rows),
        rng.standard_normal((columns, k)) / np.sqrt(columns),
        np.ones(k),
        np.zeros(rows),
        np.zeros(columns),
        np.ones(rows),
        np.ones(columns),
        np.zeros((rows, k + 1)),
        np.zeros((columns, k + 1)),
        mean=problem.centre if problem.offsets else 0.0,
        alpha=spread**-2.0,
        tau_row=spread**-2.0,
        tau_column=spread**-2.0,
        s=np.full(k, spread * np.sqrt(rows * columns / max(k, 1))),
        z=np.ones(k),
        alpha_s=max(k, 1) / (spread**2 * rows * columns),
        row_effects=np.zeros((rows, effects[0])),
        column_effects=np.zeros((columns, effects[1])),
        row_effect_precision=np.full(effects[0], 10.0 * spread**-2.0),
        column_effect_precision=np.full(effects[1], 10.0 * spread**-2.0),
        rank=k,
    )


def draw_of(problem: Problem, state: State) -> Draw:
    """A kept draw; effects of features become factors with one side known.

    R G_R' is U V' with R in the place of U: an unseen row has its features there, an unseen column the prior of G_R.
    """
    plain = Draw.of(problem, state)
    if state.row_effects is None or state.column_effects is None:
        return plain
    assert state.row_effect_precision is not None and state.column_effect_precision is not None
    rows, columns = problem.row_features, problem.column_features
    n_row, n_column = rows.n_coefficients, columns.n_coefficients
    if not n_row + n_column:
        return plain
    known_rows = scaled_features(rows, problem.n_rows)
    known_columns = scaled_features(columns, problem.n_columns)
    return replace(
        plain,
        U=_joined(plain.U, known_rows, state.row_effects),
        V=_joined(plain.V, state.column_effects, known_columns),
        theta=_joined(plain.theta, np.full(n_row, _KNOWN), 1.0 / state.row_effect_precision),
        column_theta=_joined(plain.column_theta, 1.0 / state.column_effect_precision, np.full(n_column, _KNOWN)),
        row_coefficients=_prior_means(coefficients_of(rows, problem.n_rows), plain.U.shape[1], n_column),
        column_coefficients=_prior_means(
            coefficients_of(columns, problem.n_columns), plain.U.shape[1] + n_row, 0
        ),
    )


def _joined(*parts: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate(parts, axis=-1), dtype=np.float32)


def _prior_means(coefficients: list[np.ndarray], before: int, after: int) -> tuple[np.ndarray, ...]:
    """Per block (r, K + 1): zero but where the side's own features stand; `after` columns follow, then the offset."""
    return tuple(
        _joined(np.zeros((len(part), before)), part, np.zeros((len(part), after + 1))) for part in coefficients
    )
