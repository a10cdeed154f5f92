"""Where levels begin and end, and how probable they are: for all rows alike, or for every row in its own way.

Raters do not use a scale alike. The gaps between the cut points of row i are those of all rows times exp(r_il), with
r_il ~ N(0, spread_l^2) and the spreads learnt; one cut, the anchor, is common, since the row's offset moves it. Where
rows do alike, the spreads say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from partita.kernels import kernel
from partita.kernels.svd_links_contract import Levels

from .problem import Problem
from .state import State

_FIRST_SPREAD = 0.3
_PART = 200_000  # entries a kernel call treats: some tens of milliseconds


def anchor(n_cuts: int) -> int:
    return (n_cuts - 1) // 2


def edges(cuts: np.ndarray) -> np.ndarray:
    """(..., L + 1) cut points between infinities."""
    end = np.full((*cuts.shape[:-1], 1), np.inf)
    return np.concatenate([-end, cuts, end], axis=-1)


def own_cuts(cuts: np.ndarray, stretch: np.ndarray) -> np.ndarray:
    """(..., n, L - 1) of rows with stretches (..., n, L - 2), or with (..., n, 0), which are alike, (..., 1, L - 1)."""
    if not stretch.shape[-1]:
        return cuts[..., None, :]
    at = anchor(cuts.shape[-1])
    gaps = np.diff(cuts)[..., None, :] * np.exp(stretch)
    along = np.concatenate([np.zeros((*gaps.shape[:-1], 1)), np.cumsum(gaps, axis=-1)], axis=-1)
    return cuts[..., None, at : at + 1] + along - along[..., at : at + 1]


def levels_in_parts(
    problem: Problem, fitted: np.ndarray, scale: np.ndarray, cuts: np.ndarray, stretch: np.ndarray
) -> Iterator[tuple[slice, Levels]]:
    """All entries as the kernels take them, in short pieces."""
    entries, table = problem.entries, edges(own_cuts(cuts, stretch))
    for begin in range(0, len(entries), _PART):
        part = slice(begin, begin + _PART)
        line = entries.row[part] if len(table) > 1 else np.empty(0, np.int32)
        yield part, Levels(entries.values[part], fitted[part], scale[part], table, line)


def log_masses(
    problem: Problem, fitted: np.ndarray, scale: np.ndarray, cuts: np.ndarray, stretch: np.ndarray
) -> np.ndarray:
    """(m,) log probability of the level of every cell, latents integrated out."""
    out = np.empty(len(problem.entries))
    for part, levels in levels_in_parts(problem, fitted, scale, cuts, stretch):
        kernel.svd_ordinal_masses(levels, out[part])
    return out


def start_stretch(problem: Problem, rng: np.random.Generator, state: State) -> None:
    n = max(problem.n_levels - 2, 0) if problem.row_cuts else 0
    state.stretch_spread = np.full(n, _FIRST_SPREAD)
    # not all 0: the spreads would follow at once, and leave no room to the stretches
    state.row_stretch = state.stretch_spread * rng.standard_normal((problem.n_rows, n))
