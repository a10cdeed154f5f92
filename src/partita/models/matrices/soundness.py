"""Whether a loaded matrix model fits together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..soundness import need
from .draw import Draw
from .entries import Entries
from .missingness import Side
from .posterior import Posterior
from .problem import LINKS
from .state import State


def check_matrix_model(
    posterior: Posterior, entries: Entries, states: Sequence[State], row_side: Side, column_side: Side
) -> None:
    """Raise where arrays of a file do not fit together."""
    n, p = entries.n_rows, entries.n_columns
    need(len(posterior.draws) > 0, "no draws")
    need(posterior.link in LINKS and (posterior.link == "ordinal") == (len(posterior.levels) > 1), "link and levels")
    need(bool(np.isfinite(entries.values).all()), "cells should be finite")
    need((entries.trials is not None) == (posterior.link == "binomial"), "trials")
    for draw in posterior.draws:
        _check_draw(draw, n, p, row_side, column_side, posterior)
    for state in states:  # a model with rows folded in has more of them than its chains
        need(state.U.shape[0] <= n and state.V.shape[0] <= p, "rows and columns of a chain")
        need(state.U.shape[1] == state.V.shape[1] == len(state.theta), "components of a chain")


def _check_draw(draw: Draw, n: int, p: int, row_side: Side, column_side: Side, posterior: Posterior) -> None:
    k = draw.U.shape[1]
    need(draw.link == posterior.link, "links of draws")
    need(draw.U.shape == (n, k) and draw.V.shape == (p, k), "factors of a draw")
    need(draw.row_offset.shape == draw.row_noise.shape == (n,), "rows of a draw")
    need(draw.column_offset.shape == draw.column_noise.shape == (p,), "columns of a draw")
    need(draw.theta.shape == draw.column_theta.shape == (k,), "scales of a draw")
    need(len(draw.cuts) == max(len(posterior.levels) - 1, 0), "cut points of a draw")
    gaps = len(draw.stretch_spread)
    need(gaps in (0, len(draw.cuts) - 1) and draw.row_stretch.shape == (n, gaps), "cut points of rows")
    for side, coefficients in ((row_side, draw.row_coefficients), (column_side, draw.column_coefficients)):
        need(len(coefficients) == len(side.features.blocks), "blocks of features")
        for block, g in zip(side.features.blocks, coefficients):
            need(g.shape == (len(block), k + 1), "coefficients of features")
    for array in (draw.U, draw.V, draw.row_offset, draw.column_offset, draw.row_noise, draw.column_noise):
        need(bool(np.isfinite(array).all()), "numbers of a draw should be finite")
